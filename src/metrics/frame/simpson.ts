import { inPlainWords } from '../compare/exclusions.ts';
import { measureDefinition, type GroupMeasure, type MeasureName } from '../measures/index.ts';
import type { FilledMetricOptions } from '../options.ts';
import type { GroupStats } from '../statistics/group-stats.ts';
import { rowsPerGroup } from '../statistics/rows-per-group.ts';
import type { StatsByKind } from './cross-control.ts';

/** A gap over all rows that has the opposite sign within the levels of a control feature. */
export interface SimpsonFinding {
  readonly measure: MeasureName;
  /** The groups with the larger value (`high`) and the smaller value (`low`) over all rows. */
  readonly high: string;
  readonly low: string;
  /** The value of `high` minus the value of `low`, over all rows. */
  readonly gap: number;
  /** The value of `high` minus the value of `low` within each level in which both groups are large enough. */
  readonly gapPerLevel: Readonly<Record<string, number>>;
  /**
   * The weighted mean of the gaps within levels. The weights are those of the Mantel-Haenszel method, n_high n_low /
   * (n_high + n_low), where n is the number of rows in a group's denominator.
   */
  readonly adjustedGap: number;
  /** The levels in which the gap has the opposite sign. */
  readonly reversed: readonly string[];
  /** The total number of levels, including those with too few rows for a comparison. */
  readonly levels: number;
}

/** The maximum number of findings per measure; more findings add no information. */
const MAX_FINDINGS = 3;

/** The maximum number of groups whose pairs are checked. The groups with the most rows are used. */
const MAX_GROUPS = 100;

/**
 * Detects Simpson's paradox: pairs of groups whose gap over all rows has the opposite sign of the mean gap within
 * levels of the control feature. A single level with the opposite sign is not a finding, since this often happens by
 * chance if there are many levels.
 * @returns the findings with the largest gaps; an empty list if there is no control feature
 */
export function simpsonFindings(
  name: MeasureName,
  statsByKind: StatsByKind,
  levels: ReadonlyMap<string, StatsByKind>,
  options: FilledMetricOptions,
): SimpsonFinding[] {
  if (levels.size === 0) return [];
  const all = measured(name, statsByKind, options);
  const inside = Array.from(levels, ([level, stats]) => ({ level, groups: measured(name, stats, options) }));
  const groups = [...all].sort(([, a], [, b]) => b.n - a.n).slice(0, MAX_GROUPS);
  const findings = groups.flatMap(([a, left], index) =>
    groups.slice(index + 1).flatMap(([b, right]) => {
      const [high, low] = left.value > right.value ? [a, b] : [b, a];
      const gap = Math.abs(left.value - right.value);
      return gap === 0 ? [] : (compareInside(name, { high, low, gap }, inside) ?? []);
    }),
  );
  return findings.sort((a, b) => b.gap - a.gap).slice(0, MAX_FINDINGS);
}

/** A group's value, and the number of rows in its denominator. */
interface Measured {
  readonly value: number;
  readonly n: number;
}

/** Returns the values of the groups that are large enough to compare, by label. */
function measured(
  name: MeasureName,
  statsByKind: StatsByKind,
  { minGroupSize, minDenominator }: FilledMetricOptions,
): Map<string, Measured> {
  const { kind, measure, needsTruth } = measureDefinition(name);
  const stats = statsByKind[kind] as GroupStats;
  const { values, denominatorCounts }: GroupMeasure = measure(stats);
  const rows = rowsPerGroup(stats, needsTruth);
  return new Map(
    stats.labels.flatMap((label, group): [string, Measured][] => {
      const [value, n] = [values[group] as number, denominatorCounts[group] as number];
      const isLarge = (rows[group] as number) >= minGroupSize && n >= minDenominator;
      return isLarge && Number.isFinite(value) ? [[label, { value, n }]] : [];
    }),
  );
}

function compareInside(
  measure: MeasureName,
  { high, low, gap }: Pick<SimpsonFinding, 'high' | 'low' | 'gap'>,
  levels: readonly { readonly level: string; readonly groups: ReadonlyMap<string, Measured> }[],
): SimpsonFinding | undefined {
  const inside = levels.flatMap(({ level, groups }) => {
    const [a, b] = [groups.get(high), groups.get(low)];
    return a === undefined || b === undefined
      ? []
      : [{ level, gap: a.value - b.value, weight: (a.n * b.n) / (a.n + b.n) }];
  });
  const total = inside.reduce((sum, { weight }) => sum + weight, 0);
  const adjustedGap = inside.reduce((sum, one) => sum + one.gap * (one.weight / total), 0);
  if (!(adjustedGap < 0)) return undefined;
  return Object.freeze({
    measure,
    high,
    low,
    gap,
    gapPerLevel: Object.freeze(Object.fromEntries(inside.map((one) => [one.level, one.gap]))),
    adjustedGap,
    reversed: Object.freeze(inside.filter((one) => one.gap < 0).map(({ level }) => level)),
    levels: levels.length,
  });
}

/** Describes the finding in one sentence. */
export function simpsonWarning(finding: SimpsonFinding): string {
  const { measure, high, low, gap, gapPerLevel, adjustedGap, reversed, levels } = finding;
  const compared = Object.keys(gapPerLevel).length;
  const others = compared === levels ? '' : `; ${String(levels - compared)} of ${String(levels)} cannot be compared`;
  return (
    `the ${inPlainWords(measure)} of ${high} is above that of ${low} by ${gap.toFixed(3)} over all rows, but below it in ` +
    `${String(reversed.length)} of ${String(compared)} levels of the control feature (${reversed.join(', ')}${others}); ` +
    `averaged over levels the difference is ${adjustedGap.toFixed(3)} (Simpson's paradox)`
  );
}
