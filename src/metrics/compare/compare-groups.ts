import { ValueError } from '../../exceptions/index.ts';
import { groupsOfCompat, measureOfCompat, overallOfCompat, referenceIndex } from './compat.ts';
import { effectSizeOf } from './effect-size.ts';
import { inPlainWords, participation, thinWarnings, whyUndefined } from './exclusions.ts';
import { canPermute, detectableGap, permutationOfGap } from './gap-evidence.ts';
import { compareMeasures, type ComparedMeasure, gapOf } from './gap.ts';
import { groupInterval } from './group-intervals.ts';
import type { GroupStats } from '../statistics/group-stats.ts';
import { type GroupMeasure, measureDefinition, type MeasureName } from '../measures/index.ts';
import type { MetricDefinition } from '../metric-definitions.ts';
import { MetricResult } from '../metric-result.ts';
import type { GroupIntervals, GroupRates } from '../metric-result-fields.ts';
import { missingColumn } from '../metric-rows.ts';
import type { FilledMetricOptions } from '../options.ts';
import { resampledInterval } from './resample-cells.ts';
import { rowsPerGroup, rowsWithoutTruth } from '../statistics/rows-per-group.ts';
import { type SimultaneousInterval, simultaneousInterval } from './simultaneous-interval.ts';

/** The statistics of one class of a multiclass outcome, counted as that class against the rest. */
export interface ClassStats {
  readonly stats: GroupStats;
  /** The class; undefined for an outcome that is binary or a number. */
  readonly className: string | undefined;
}

/**
 * Compares groups by a metric: the one place where statistics become a
 * {@link MetricResult}. Several classes are averaged (macro).
 * @param classes statistics of the same rows and groups, one for each class
 * @throws {MetricComputationError} where true labels are needed and none were counted
 */
export function compareGroups(
  classes: readonly ClassStats[],
  definition: MetricDefinition,
  options: FilledMetricOptions,
): MetricResult {
  for (const { stats: own } of classes) assertKind(own, definition);
  assertTruth(
    classes.map(({ stats: own }) => own),
    definition.metric,
    definition.measures,
  );
  const grouped = classes.map((one) => ({ ...one, stats: groupsOfCompat(one.stats, options) }));
  const { stats } = grouped[0] as ClassStats;
  const needsTruth = definition.measures.some((name) => measureDefinition(name).needsTruth);
  const rows = rowsPerGroup(stats, needsTruth);
  const measured = grouped.flatMap((one) => measuresOf(one, definition, options));
  const taking = participation(
    measured.map(({ measure }) => measure),
    stats.labels,
    rows,
    options,
  );
  const compared = measured.map(({ measure, className, overall }, index): ComparedMeasure => {
    const groups = taking.groups[index] as readonly number[];
    const anchorGroup = options.method === 'to_reference' ? referenceIndex(stats, rows, options) : undefined;
    const anchor = anchorGroup === undefined ? overall : (measure.values[anchorGroup] as number);
    return { measure, className, groups, anchor, anchorGroup };
  });
  const outcome = evaluate(compared, taking.large.length, definition, options);
  const isDefined = outcome.undefinedReason === null;
  const evidence = isDefined ? gather(grouped, outcome.usable, definition, options) : NO_EVIDENCE;
  const effectSize = isDefined && options.withEffectSize ? effectSizeOf(outcome.usable) : null;
  const label = (group: number): string => stats.labels[group] as string;
  return new MetricResult({
    metric: definition.metric,
    value: outcome.value,
    ci: evidence.ci === null ? null : widen(evidence.ci, outcome.value),
    ciLevel: evidence.ci === null ? null : options.ciLevel,
    ciMethod: evidence.ciMethod,
    effectSize: effectSize?.value ?? null,
    effectSizeName: effectSize?.name ?? null,
    pValue: evidence.pValue,
    pValueMethod: evidence.pValueMethod,
    minimumDetectableGap:
      isDefined && options.withCi && classes.length === 1 ? detectableGap(outcome.usable, definition, options) : null,
    method: options.method,
    referenceGroup: referenceLabel(stats.labels, compared),
    agg: definition.measures.length > 1 ? (definition.agg ?? options.agg) : null,
    compat: options.compat ?? null,
    nPerGroup: Object.fromEntries(taking.large.map((group) => [label(group), rows[group] as number])),
    perGroup: perGroup(compared, taking.large, label, classes.length),
    perGroupCi:
      options.withCi && classes.length === 1 ? intervalsPerGroup(compared, taking.large, label, options) : null,
    excluded: Object.fromEntries(taking.excluded),
    nDropped: stats.nDropped + (needsTruth ? rowsWithoutTruth(stats) : 0),
    undefinedReason: outcome.undefinedReason,
    warnings: [
      ...thinWarnings(compared, stats.labels),
      ...compared.flatMap(({ measure }) => measure.notes ?? []),
      ...outcome.warnings,
      ...(isDefined && options.withEffectSize && effectSize === null ? noEffectSize(outcome.usable) : []),
      ...evidence.warnings,
    ],
    seed: evidence.isRandom ? options.seed : null,
  });
}

/** @throws {ValueError} where the statistics are not of the kind that the metric is computed from */
function assertKind(stats: GroupStats, { metric, measures }: MetricDefinition): void {
  const { kind } = measureDefinition(measures[0] ?? 'selection_rate');
  if (stats.kind === kind) return;
  throw new ValueError(`${metric} is computed from statistics of ${kind}; got those of ${stats.kind}.`, {
    context: { metric, kind: stats.kind },
    suggestion: 'Reduce the rows with reduceClassification, reduceRegression or reduceScores.',
  });
}

/** @throws {MetricComputationError} where a measure needs true labels and none were counted */
export function assertTruth(statistics: readonly GroupStats[], metric: string, measures: readonly MeasureName[]): void {
  const needy = measures.map(measureDefinition).filter(({ needsTruth }) => needsTruth);
  const blind = needy.some(({ kind }) => statistics.some((stats) => stats.kind === kind && !stats.hasTruth));
  if (blind) throw missingColumn(metric, 'true labels', 'yTrue, --y-true');
}

/** A measure of each group, and of all rows where groups are compared with these. */
interface Measured {
  readonly measure: GroupMeasure;
  readonly className: string | undefined;
  readonly overall: number | undefined;
}

function measuresOf(
  { stats, className }: ClassStats,
  definition: MetricDefinition,
  options: FilledMetricOptions,
): Measured[] {
  return definition.measures.map((measureName) => {
    const { measure } = measureDefinition(measureName);
    const own = measureOfCompat(measure(stats), options);
    const overall = options.method === 'to_overall' ? overallOfCompat(measure, stats, options) : undefined;
    const name = className === undefined ? own.name : `${own.name} of '${className}'`;
    return { measure: { ...own, name }, className, overall };
  });
}

/** The metric's value, or the reason why it has none. */
interface Outcome {
  readonly value: number;
  readonly undefinedReason: string | null;
  /** The measures that make the value: all, but for those whose ratio is 0 to 0 beside another. */
  readonly usable: readonly ComparedMeasure[];
  readonly warnings: readonly string[];
}

function evaluate(
  compared: readonly ComparedMeasure[],
  large: number,
  definition: MetricDefinition,
  options: FilledMetricOptions,
): Outcome {
  const undefinedReason = whyUndefined(compared, large, options);
  if (undefinedReason !== null) return { value: NaN, undefinedReason, usable: [], warnings: [] };
  const isNative = options.compat === undefined || options.compat === 'aequitas';
  const lost = compared.filter((one) => Number.isNaN(gapOf(one, definition, options)));
  const usable = isNative && lost.length < compared.length ? compared.filter((one) => !lost.includes(one)) : compared;
  const value = compareMeasures(usable, definition, options);
  const names = lost.map(({ measure }) => inPlainWords(measure.name)).join(' and the ');
  const why =
    definition.comparison === 'ratio'
      ? `the ${names} is 0 in all groups or changes sign, so that it has no ratio`
      : `a group has no ${names}`;
  if (Number.isNaN(value)) return { value, undefinedReason: why, usable, warnings: [] };
  if (!Number.isFinite(value)) {
    return {
      value,
      undefinedReason: 'the rate of the privileged group is 0, so that the ratio is infinite',
      usable,
      warnings: [],
    };
  }
  return { value, undefinedReason: null, usable, warnings: usable.length < compared.length ? [why] : [] };
}

/** What speaks for and against the value. */
interface Evidence {
  readonly ci: readonly [number, number] | null;
  readonly ciMethod: string | null;
  readonly pValue: number | null;
  readonly pValueMethod: string | null;
  readonly isRandom: boolean;
  readonly warnings: readonly string[];
}

const NO_EVIDENCE: Evidence = {
  ci: null,
  ciMethod: null,
  pValue: null,
  pValueMethod: null,
  isRandom: false,
  warnings: [],
};

function gather(
  classes: readonly ClassStats[],
  compared: readonly ComparedMeasure[],
  definition: MetricDefinition,
  options: FilledMetricOptions,
): Evidence {
  const byPermutation = options.withPValue && classes.length === 1 && canPermute(compared, options);
  const needsMaxT = (options.withCi && options.ciMethod === 'simultaneous') || (options.withPValue && !byPermutation);
  const simultaneous = needsMaxT ? simultaneousInterval(compared, definition, options) : undefined;
  const interval = options.withCi ? intervalOf(classes, compared, simultaneous, definition, options) : undefined;
  const maxT = typeof simultaneous === 'object' ? simultaneous.pValue : null;
  const pValue = byPermutation ? permutationOfGap(compared, definition, options) : maxT;
  const isDrawn = typeof simultaneous === 'object' && !isBound(simultaneous.method);
  const hasPValue = options.withPValue && pValue !== null;
  const withoutPValue = options.withPValue && !hasPValue;
  return {
    ci: interval?.ci ?? null,
    ciMethod: interval?.method ?? null,
    pValue: hasPValue ? pValue : null,
    pValueMethod: hasPValue ? (byPermutation ? 'permutation' : isDrawn ? 'max-t' : 'bonferroni') : null,
    isRandom: (hasPValue && (byPermutation || isDrawn)) || (interval?.ci !== undefined && !isBound(interval.method)),
    warnings: [
      ...(interval?.reason === undefined ? [] : [`no interval: ${interval.reason}`]),
      ...(withoutPValue
        ? [`no p-value: ${typeof simultaneous === 'string' ? simultaneous : 'not available here'}`]
        : []),
    ],
  };
}

/** Whether an interval is computed and not drawn, so that no seed made it. */
function isBound(method: string | undefined): boolean {
  return method?.startsWith('bonferroni') === true;
}

interface IntervalOutcome {
  readonly ci?: readonly [number, number];
  readonly method?: string;
  readonly reason?: string;
}

function intervalOf(
  classes: readonly ClassStats[],
  compared: readonly ComparedMeasure[],
  simultaneous: SimultaneousInterval | string | undefined,
  definition: MetricDefinition,
  options: FilledMetricOptions,
): IntervalOutcome {
  if (typeof simultaneous === 'object' && options.ciMethod === 'simultaneous') return simultaneous;
  if (typeof simultaneous === 'string' && options.ciMethod === 'simultaneous') return { reason: simultaneous };
  const [only] = classes;
  if (classes.length > 1 || only?.stats.kind !== 'classification') {
    return { reason: `'${options.ciMethod}' resamples counts of binary decisions; use 'simultaneous'` };
  }
  const ci = resampledInterval(
    only.stats,
    (drawn) => {
      const measures = compared.map((one): ComparedMeasure => {
        const [name] = definition.measures.filter((measure) => measure === one.measure.name);
        const { measure } = measureDefinition(name ?? definition.measures[0] ?? 'selection_rate');
        const overall = options.method === 'to_overall' ? overallOfCompat(measure, drawn, options) : undefined;
        const own = measureOfCompat(measure(drawn), options);
        const anchor = one.anchorGroup === undefined ? overall : own.values[one.anchorGroup];
        return { ...one, measure: own, anchor };
      });
      return compareMeasures(measures, definition, options);
    },
    options,
  );
  return ci === null ? { reason: 'most resamples have no value' } : { ci, method: options.ciMethod };
}

/** The group that all others are compared with. */
function referenceLabel(labels: readonly string[], [first]: readonly ComparedMeasure[]): string | null {
  return first?.anchorGroup === undefined ? null : (labels[first.anchorGroup] ?? null);
}

/** An interval holds its point, whatever chance did. */
function widen([low, high]: readonly [number, number], value: number): readonly [number, number] {
  return [Math.min(low, value), Math.max(high, value)];
}

function perGroup(
  compared: readonly ComparedMeasure[],
  large: readonly number[],
  label: (group: number) => string,
  classes: number,
): Record<string, GroupRates> {
  const rates = new Map<number, Record<string, number | null>>(large.map((group) => [group, {}]));
  for (const { measure, groups, anchor, anchorGroup } of compared) {
    for (const own of rates.values()) own[measure.name] ??= null;
    for (const group of groups) {
      const own = rates.get(group) as Record<string, number | null>;
      const value = measure.values[group] as number;
      own[measure.name] = Number.isFinite(value) ? value : null;
      if (anchorGroup === undefined || anchor === undefined || classes > 1) continue;
      const disparity = value / anchor;
      own[`${measure.name}_disparity`] = Number.isFinite(disparity) ? disparity : null;
    }
  }
  return Object.fromEntries(Array.from(rates, ([group, own]) => [label(group), own]));
}

function intervalsPerGroup(
  compared: readonly ComparedMeasure[],
  large: readonly number[],
  label: (group: number) => string,
  { ciLevel }: FilledMetricOptions,
): Record<string, GroupIntervals> {
  const intervals = new Map<number, Record<string, readonly [number, number] | null>>(
    large.map((group) => [group, {}]),
  );
  for (const { measure, groups } of compared) {
    for (const own of intervals.values()) own[measure.name] ??= null;
    for (const group of groups) {
      const own = intervals.get(group) as Record<string, readonly [number, number] | null>;
      own[measure.name] = groupInterval(measure, group, ciLevel);
    }
  }
  return Object.fromEntries(Array.from(intervals, ([group, own]) => [label(group), own]));
}

function noEffectSize(compared: readonly ComparedMeasure[]): string[] {
  return compared.every(({ measure }) => measure.sampling.kind === 'rates')
    ? ['no risk ratio: the smallest rate is 0']
    : [];
}
