import type { MetricDefinition } from '../metric-definitions.ts';
import type { FilledMetricOptions } from '../options.ts';
import { type ComparedMeasure, gapOf, largest, smallest, valuesOf } from './gap.ts';

/** The groups of a gap by index, the one with the higher value first; `second` is null where it is all rows together. */
export type GapPair = readonly [first: number, second: number | null];

type Comparison = MetricDefinition['comparison'];

/**
 * Returns the two groups that make the gap of one measure: the highest and the lowest, or under `to_reference` the
 * reference group and the one farthest from it. Under `to_overall` it is the farthest group alone.
 *
 * Of groups that tie, the one with the fewest rows in the denominator is taken, since it shows least; of those with
 * equally many the first, in the order of the labels. So the order of the rows changes nothing.
 */
export function pairOfMeasure(compared: ComparedMeasure, comparison: Comparison): GapPair {
  const { measure, groups, anchor, anchorGroup } = compared;
  const valueOf = (group: number): number => measure.values[group] as number;
  if (anchor === undefined) {
    const values = valuesOf(compared);
    const at = (value: number, except?: number): readonly number[] =>
      groups.filter((group) => valueOf(group) === value && group !== except);
    const high = withFewestRows(compared, at(largest(values)));
    return [high, withFewestRows(compared, at(smallest(values), high))];
  }
  const others = groups.filter((group) => group !== anchorGroup);
  const distances = others.map((group) => distanceFrom(anchor, valueOf(group), comparison));
  const farthest = largest(distances);
  const group = withFewestRows(
    compared,
    others.filter((_, place) => distances[place] === farthest),
  );
  if (anchorGroup === undefined) return [group, null];
  return valueOf(group) >= anchor ? [group, anchorGroup] : [anchorGroup, group];
}

/**
 * Returns the two groups that make a metric: those of the measure with the worst gap, of the first measure where
 * several tie. A mean of gaps has them only where all of its measures have the same two.
 * @returns undefined where no two groups stand for the value
 */
export function pairOfMetric(
  compared: readonly ComparedMeasure[],
  definition: MetricDefinition,
  options: FilledMetricOptions,
): GapPair | undefined {
  const { comparison } = definition;
  const pairOf = (one: ComparedMeasure): GapPair =>
    options.compat === 'aif360' ? signedPair(one) : pairOfMeasure(one, comparison);
  const isMean = compared.length > 1 && (definition.agg ?? options.agg) === 'mean';
  if (isMean || compared.some(({ className }) => className !== undefined)) {
    const pairs = compared.map(pairOf);
    const [first] = pairs;
    return pairs.every((pair) => pair.join() === first?.join()) ? first : undefined;
  }
  const gaps = compared.map((one) => unevenness(gapOf(one, definition, options), comparison));
  const worst = compared[gaps.indexOf(largest(gaps))];
  return worst === undefined ? undefined : pairOf(worst);
}

/** AIF360's gaps have a sign: unprivileged minus, or over, privileged. */
function signedPair({ groups, anchorGroup }: ComparedMeasure): GapPair {
  const other = groups.find((group) => group !== anchorGroup);
  return [other as number, anchorGroup as number];
}

function withFewestRows({ measure }: ComparedMeasure, groups: readonly number[]): number {
  const rowsOf = (group: number): number => measure.denominatorCounts[group] as number;
  return groups.reduce((least, group) => (rowsOf(group) < rowsOf(least) ? group : least), groups[0] as number);
}

function distanceFrom(anchor: number, value: number, comparison: Comparison): number {
  return unevenness(comparison === 'ratio' ? value / anchor : value - anchor, comparison);
}

/** Returns a gap so that more is worse: the size of a difference, or how far a ratio or its inverse is below 1. */
function unevenness(gap: number, comparison: Comparison): number {
  if (comparison === 'difference') return Math.abs(gap);
  // A ratio of 0 to 0 is no gap.
  return Number.isNaN(gap) ? 0 : 1 - Math.min(gap, 1 / gap);
}
