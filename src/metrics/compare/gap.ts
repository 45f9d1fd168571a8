import { pandasMean, pythonMin } from './compat.ts';
import { sum } from '../statistics/group-stats.ts';
import type { GroupMeasure } from '../measures/index.ts';
import type { MetricDefinition } from '../metric-definitions.ts';
import type { FilledMetricOptions } from '../options.ts';

/** A measure with the groups, by index, that take part in its comparison. */
export interface ComparedMeasure {
  readonly measure: GroupMeasure;
  /** The class counted against the rest, of a multiclass outcome. */
  readonly className: string | undefined;
  readonly groups: readonly number[];
  /** What every group is compared with; undefined where groups are compared with each other. */
  readonly anchor: number | undefined;
  /** The group that `anchor` is the value of. */
  readonly anchorGroup: number | undefined;
}

/** The metric: the gap of each measure, these as one number for each class, and the mean over classes. */
export function compareMeasures(
  compared: readonly ComparedMeasure[],
  definition: MetricDefinition,
  options: FilledMetricOptions,
): number {
  const gaps = compared.map((one) => gapOf(one, definition, options));
  return aggregateGaps(compared, gaps, definition, options);
}

/** Numbers of measures (gaps, or ends of their intervals) as one: aggregated within classes, then averaged over these. */
export function aggregateGaps(
  compared: readonly ComparedMeasure[],
  gaps: readonly number[],
  definition: MetricDefinition,
  options: FilledMetricOptions,
): number {
  const ofClass = new Map<string | undefined, number[]>();
  compared.forEach(({ className }, index) => {
    ofClass.set(className, [...(ofClass.get(className) ?? []), gaps[index] as number]);
  });
  const values = Array.from(ofClass.values(), (own) => aggregate(own, definition, options));
  return sum(values) / values.length;
}

/** The gap of one measure; NaN for a ratio of 0 to 0 or of signs that differ. */
export function gapOf(
  compared: ComparedMeasure,
  { comparison }: MetricDefinition,
  options: FilledMetricOptions,
): number {
  const values = valuesOf(compared);
  const { anchor } = compared;
  if (options.compat === 'aif360') return signedGap(compared, comparison);
  if (comparison === 'difference') {
    return anchor === undefined
      ? largest(values) - smallest(values)
      : largest(values.map((value) => Math.abs(value - anchor)));
  }
  // A group without a value is no ratio of 0 to 0, which is left out below.
  if ((anchor ?? 0) < 0 || !values.every((value) => value >= 0)) return NaN;
  if (anchor === undefined) return smallest(values) / largest(values);
  const ratios = values.map((value) => {
    const ratio = value / anchor;
    return ratio > 1 ? 1 / ratio : ratio;
  });
  // A ratio of 0 to 0 says nothing; pandas leaves it out too.
  const known = ratios.filter((ratio) => !Number.isNaN(ratio));
  return known.length === 0 ? NaN : smallest(known);
}

/** Unprivileged against privileged, with its sign. */
function signedGap({ measure, groups, anchor = NaN, anchorGroup }: ComparedMeasure, comparison: string): number {
  const other = groups.find((group) => group !== anchorGroup);
  const value = other === undefined ? NaN : (measure.values[other] as number);
  return comparison === 'difference' ? value - anchor : value / anchor;
}

/** Worst case or mean over measures; a single one is both. */
function aggregate(gaps: readonly number[], definition: MetricDefinition, options: FilledMetricOptions): number {
  const [only] = gaps;
  const sized = definition.absolute === true ? gaps.map(Math.abs) : gaps;
  if (gaps.length === 1 && only !== undefined) return only;
  if ((definition.agg ?? options.agg) === 'mean') {
    return options.compat === 'fairlearn' ? pandasMean(sized) : sum(sized) / sized.length;
  }
  if (definition.comparison === 'difference') return largest(gaps.map(Math.abs));
  return options.compat === 'fairlearn' ? pythonMin(gaps) : smallest(gaps);
}

/** The values of the groups that are compared. */
export function valuesOf({ measure, groups }: ComparedMeasure): number[] {
  return groups.map((group) => measure.values[group] as number);
}

/** The largest of many values, where spreading them would overflow the stack; NaN where one is NaN. */
export function largest(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), -Infinity);
}

/** The smallest of many values; NaN where one is NaN. */
export function smallest(values: readonly number[]): number {
  return values.reduce((least, value) => Math.min(least, value), Infinity);
}
