import { counted, formatShare } from '../internal/format.ts';
import { finiteOrNull, own, sumOf } from '../internal/values.ts';
import type { MetricResult } from '../metrics/metric-result.ts';
import { type Share, sharesDiffer } from '../stats/share-difference.ts';
import type { GateVerdict } from './gates.ts';
import type { AttributeMetrics, FileValidation } from './measure-attributes.ts';
import { validationFromJson, type ValidationJson } from './validation-from-json.ts';
import type { ReportManifest } from '../document/provenance.ts';

/** What changed between two validations. */
export interface ValidationChanges {
  /**
   * Descriptions of differences in data, options and version, and of metrics that only one of the two validations has.
   * Such differences can change a value even if the decisions are the same.
   */
  readonly warnings: readonly string[];
  readonly gates: readonly GateChange[];
  /** The metrics that both validations have. */
  readonly metrics: readonly MetricChange[];
  /** The attributes whose groups changed. */
  readonly groups: readonly GroupChange[];
}

/** A gate in the earlier and in the current validation; null if the gate was not applied. */
export interface GateChange extends Pick<GateVerdict, 'attribute' | 'metric'> {
  readonly before: JudgedGate | null;
  readonly after: JudgedGate | null;
}

type JudgedGate = Pick<GateVerdict, 'status' | 'comparator' | 'threshold'>;

/** A metric in the earlier and in the current validation; an undefined value is null. */
export interface MetricChange {
  readonly attribute: string;
  readonly metric: string;
  readonly before: number | null;
  readonly after: number | null;
  /** `after` minus `before`. */
  readonly change: number | null;
  readonly ciBefore: MetricResult['ci'];
  readonly ciAfter: MetricResult['ci'];
  /** Whether the two intervals overlap; null if one interval is not available. */
  readonly intervalsOverlap: boolean | null;
  /** Whether the two groups of the gap have changed places: a gap of the same size has the opposite direction. */
  readonly reversed: boolean;
}

/** The groups of an attribute that only one of the two validations has. */
interface GroupChange {
  readonly attribute: string;
  readonly new: readonly string[];
  readonly gone: readonly string[];
}

/**
 * Compares a validation with an earlier one.
 * @param earlierNotes what to consider about the earlier validation, which becomes the first warnings
 */
export function validationChanges(
  now: Pick<FileValidation, 'attributes' | 'gates'>,
  earlier: ValidationJson,
  manifest: ReportManifest,
  earlierNotes: readonly string[] = [],
): ValidationChanges {
  // Earlier versions did not write the name of a single attribute.
  const then = validationFromJson(earlier, Object.keys(now.attributes)[0] ?? '');
  const attributes = [...new Set([...Object.keys(now.attributes), ...Object.keys(then.attributes)])];
  return {
    warnings: [
      ...earlierNotes,
      ...differences(earlier.manifest, manifest),
      ...attributes.flatMap((attribute) => unmatched(attribute, then, now)),
      ...attributes.flatMap((attribute) => otherShares(attribute, then, now)),
    ],
    gates: gateChanges(then.gates, now.gates),
    metrics: attributes.flatMap((attribute) => metricChanges(attribute, then, now)),
    groups: attributes.flatMap((attribute) => groupChange(attribute, then, now)),
  };
}

function differences(then: ReportManifest | undefined, now: ReportManifest): string[] {
  if (then === undefined) return ['The earlier file does not name its data and options, so they may differ.'];
  const names = [...new Set([...Object.keys(then.options), ...Object.keys(now.options)])];
  return [
    ...dataDifference(then, now),
    ...names.flatMap((name) => {
      const [before, after] = [optionText(own(then.options, name)), optionText(own(now.options, name))];
      if (before === after) return [];
      return [`--${name.replaceAll('_', '-')} was ${before ?? 'not given'}, and is ${after ?? 'not given'}.`];
    }),
    ...(then.evenhand === now.evenhand
      ? []
      : [`The version of evenhand was ${then.evenhand}, and is ${now.evenhand}.`]),
  ];
}

function dataDifference(earlier: ReportManifest, later: ReportManifest): string[] {
  const [then, now] = [filesOf(earlier, false), filesOf(later, false)];
  const known = [...then, ...now].every(({ sha256 }) => sha256 !== null);
  if (!known) return ['A file has no checksum, so the data may differ.'];
  const sums = (inputs: ReportManifest['inputs']): string => inputs.map(({ sha256 }) => sha256).join();
  const words = (inputs: ReportManifest['inputs']): string =>
    inputs.map(({ path, sha256 }) => `${path} (SHA-256 ${sha256?.slice(0, 8) ?? ''}…)`).join(', ');
  const [gatesThen, gatesNow] = [filesOf(earlier, true), filesOf(later, true)];
  return [
    ...(sums(then) === sums(now) ? [] : [`The data differ: then ${words(then)}, now ${words(now)}.`]),
    ...(gatesThen.length === 0 || gatesNow.length === 0 || sums(gatesThen) === sums(gatesNow)
      ? []
      : [`The gates differ: then ${words(gatesThen)}, now ${words(gatesNow)}.`]),
  ];
}

/** Returns the input files of a run: the file of gates, or the other files. */
function filesOf({ inputs, options }: ReportManifest, areGates: boolean): ReportManifest['inputs'] {
  return inputs.filter(({ path }) => (path === own(options, 'gate')) === areGates);
}

/** Returns the value of an option as text in command-line notation; undefined if the option was not given. */
function optionText(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  return Array.isArray(value) ? value.join(' ') : typeof value === 'string' ? value : JSON.stringify(value);
}

/** Pairs the gates of the same metric and attribute, in their order. */
function gateChanges(then: readonly GateVerdict[], now: readonly GateVerdict[]): GateChange[] {
  const keyed = (gates: readonly GateVerdict[]): Map<string, GateVerdict> => {
    const seen = new Map<string, number>();
    return new Map(
      gates.map((gate) => {
        const key = JSON.stringify([gate.attribute, gate.metric]);
        const index = seen.get(key) ?? 0;
        seen.set(key, index + 1);
        return [`${key}${String(index)}`, gate];
      }),
    );
  };
  const [before, after] = [keyed(then), keyed(now)];
  return [...new Set([...after.keys(), ...before.keys()])].map((key) => {
    const [old, current] = [before.get(key), after.get(key)];
    const { attribute, metric } = (current ?? old) as GateVerdict;
    return { attribute, metric, before: judged(old), after: judged(current) };
  });
}

function judged(gate: GateVerdict | undefined): JudgedGate | null {
  return gate === undefined ? null : { status: gate.status, comparator: gate.comparator, threshold: gate.threshold };
}

type Attributes = Pick<FileValidation, 'attributes'>;

function metricChanges(attribute: string, then: Attributes, now: Attributes): MetricChange[] {
  return Object.entries(own(now.attributes, attribute) ?? {}).flatMap(([metric, current]) => {
    const old = own(own(then.attributes, attribute), metric);
    if (old === undefined) return [];
    const [before, after] = [finiteOrNull(old.value), finiteOrNull(current.value)];
    const [ciBefore, ciAfter] = [old.ci, current.ci];
    return [
      {
        attribute,
        metric,
        before,
        after,
        change: before === null || after === null ? null : after - before,
        ciBefore,
        ciAfter,
        intervalsOverlap:
          ciBefore === null || ciAfter === null ? null : ciBefore[0] <= ciAfter[1] && ciAfter[0] <= ciBefore[1],
        reversed: current.first !== null && current.first === old.second && current.second === old.first,
      },
    ];
  });
}

/** Lists the metrics of an attribute that occur in only one of the two validations. */
function unmatched(attribute: string, then: Attributes, now: Attributes): string[] {
  const [before, after] = [then, now].map((all) => Object.keys(own(all.attributes, attribute) ?? {})) as [
    string[],
    string[],
  ];
  const lacking = (names: readonly string[], others: readonly string[], words: string): string[] =>
    names.filter((name) => !others.includes(name)).map((name) => `${name} by ${attribute} ${words}.`);
  return [...lacking(after, before, 'was not measured then'), ...lacking(before, after, 'is not measured now')];
}

/** The factor from which another share of a group can matter. */
const OTHER_SHARE = 1.25;

/** The maximum number of groups in a warning. */
const MAX_GROUPS = 3;

/** Names the groups whose share of the rows changed by more than chance: the two validations measured other people. */
function otherShares(attribute: string, then: Attributes, now: Attributes): string[] {
  const [before, after] = [own(then.attributes, attribute) ?? {}, own(now.attributes, attribute) ?? {}];
  const metric = Object.keys(after).find((name) => own(before, name) !== undefined);
  if (metric === undefined) return [];
  const [old, current] = [shareOf(before[metric]), shareOf(after[metric])];
  const changed = [...groupsOf(after)]
    .map((label) => ({ label, then: old(label), now: current(label) }))
    .filter((one) => {
      const [smaller, larger] = [one.then.share, one.now.share].sort((a, b) => a - b) as [number, number];
      return smaller > 0 && larger >= OTHER_SHARE * smaller && sharesDiffer(one.then, one.now);
    })
    .sort((a, b) => Math.abs(b.now.share - b.then.share) - Math.abs(a.now.share - a.then.share))
    .map((one) => `'${one.label}' had ${formatShare(one.then.share)}, and has ${formatShare(one.now.share)}`);
  if (changed.length === 0) return [];
  const rest = changed.length - MAX_GROUPS;
  return [
    `By ${attribute}, groups have another share of the rows: ${changed.slice(0, MAX_GROUPS).join('; ')}${rest > 0 ? `; and ${counted(rest, 'more group')}` : ''}. A metric can change because other people were measured.`,
  ];
}

/**
 * Returns a function for the share of a group, compared or excluded, among all rows with a group; of clusters instead of
 * rows, among those of the compared groups, if rows depend on each other.
 */
function shareOf(result: MetricResult | undefined): (label: string) => Share {
  const excluded = Object.entries(result?.excluded ?? {}).map(([label, { n }]) => [label, n] as const);
  const sizes: Readonly<Record<string, number>> = result?.nClusters ?? {
    ...Object.fromEntries(excluded),
    ...result?.nPerGroup,
  };
  const total = sumOf(Object.values(sizes));
  return (label) => ({ n: total, share: total === 0 ? 0 : (own(sizes, label) ?? 0) / total });
}

function groupChange(attribute: string, then: Attributes, now: Attributes): GroupChange[] {
  const metrics = [own(then.attributes, attribute), own(now.attributes, attribute)];
  // If only one validation has the attribute, the warnings already name its metrics.
  if (metrics.includes(undefined)) return [];
  const [before = new Set<string>(), after = new Set<string>()] = metrics.map(groupsOf);
  const added = [...after].filter((label) => !before.has(label));
  const gone = [...before].filter((label) => !after.has(label));
  return added.length + gone.length === 0 ? [] : [{ attribute, new: added, gone }];
}

/** Returns the groups of the metrics of an attribute, compared or excluded. */
function groupsOf(metrics: AttributeMetrics = {}): Set<string> {
  return new Set(
    Object.values(metrics).flatMap(({ nPerGroup, excluded }) => [...Object.keys(nPerGroup), ...Object.keys(excluded)]),
  );
}
