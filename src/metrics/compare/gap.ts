import { pandasMean, pythonMin } from './compat.ts';
import { groupBy, meanOf } from '../../internal/values.ts';
import type { GroupMeasure } from '../measures/index.ts';
import type { MetricDefinition } from '../metric-definitions.ts';
import type { FilledMetricOptions } from '../options.ts';

/** A measure, with the indexes of the groups that are included in its comparison. */
export interface ComparedMeasure {
  readonly measure: GroupMeasure;
  /** For a multiclass outcome: the class that is treated as positive; all other classes are negative. */
  readonly className: string | undefined;
  readonly groups: readonly number[];
  /** The value with which every group is compared; undefined if groups are compared with each other. */
  readonly anchor: number | undefined;
  /** The index of the group that has the value `anchor`; undefined if no single group has it. */
  readonly anchorGroup: number | undefined;
}

/** Computes the metric. The gaps of the measures are aggregated within each class, and then averaged over classes. */
export function compareMeasures(
  compared: readonly ComparedMeasure[],
  definition: MetricDefinition,
  options: FilledMetricOptions,
): number {
  const gaps = compared.map((one) => gapOf(one, definition, options));
  return aggregateGaps(compared, gaps, definition, options);
}

/**
 * Combines the numbers of all measures, which are gaps or ends of intervals. The numbers are aggregated within each
 * class, and then averaged over classes.
 */
export function aggregateGaps(
  compared: readonly ComparedMeasure[],
  gaps: readonly number[],
  definition: MetricDefinition,
  options: FilledMetricOptions,
): number {
  const ofClass = groupBy(compared.keys(), (index) => compared[index]?.className);
  const values = Array.from(ofClass.values(), (own) =>
    aggregate(
      own.map((index) => gaps[index] as number),
      definition,
      options,
    ),
  );
  return meanOf(values);
}

/** Returns the gap of one measure; NaN for a ratio of 0 to 0 or of values with different signs. */
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
  // A group without a value makes the gap undefined, unlike a ratio of 0 to 0, which is skipped below.
  if ((anchor ?? 0) < 0 || !values.every((value) => value >= 0)) return NaN;
  if (anchor === undefined) return smallest(values) / largest(values);
  const ratios = values.map((value) => {
    const ratio = value / anchor;
    return ratio > 1 ? 1 / ratio : ratio;
  });
  // A ratio of 0 to 0 is skipped, as in pandas.
  const known = ratios.filter((ratio) => !Number.isNaN(ratio));
  return known.length === 0 ? NaN : smallest(known);
}

/** Returns the signed gap between the unprivileged and the privileged group. */
function signedGap({ measure, groups, anchor = NaN, anchorGroup }: ComparedMeasure, comparison: string): number {
  const other = groups.find((group) => group !== anchorGroup);
  const value = other === undefined ? NaN : (measure.values[other] as number);
  return comparison === 'difference' ? value - anchor : value / anchor;
}

/** Returns the worst case or the mean of the values of several measures; a single value is returned unchanged. */
function aggregate(gaps: readonly number[], definition: MetricDefinition, options: FilledMetricOptions): number {
  const [only] = gaps;
  const sized = definition.absolute === true ? gaps.map(Math.abs) : gaps;
  if (gaps.length === 1 && only !== undefined) return only;
  if ((definition.agg ?? options.agg) === 'mean') {
    return options.compat === 'fairlearn' ? pandasMean(sized) : meanOf(sized);
  }
  if (definition.comparison === 'difference') return largest(gaps.map(Math.abs));
  return options.compat === 'fairlearn' ? pythonMin(gaps) : smallest(gaps);
}

/** Returns the values of the groups that are compared. */
export function valuesOf({ measure, groups }: ComparedMeasure): number[] {
  return groups.map((group) => measure.values[group] as number);
}

/**
 * Returns the largest value; NaN if a value is NaN. `Math.max(...values)` is not used, since spreading many values
 * would overflow the stack.
 */
export function largest(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), -Infinity);
}

/** Returns the smallest value; NaN if a value is NaN. */
export function smallest(values: readonly number[]): number {
  return values.reduce((min, value) => Math.min(min, value), Infinity);
}
