import { createRandom } from '../../internal/random.ts';
import { minimumDetectableGap, minimumDetectableMeanGap } from '../../stats/minimum-detectable-gap.ts';
import { permutationPValue } from '../../stats/permutation-test.ts';
import type { GroupMeasure, RateSampling } from '../measures/index.ts';
import type { MetricDefinition } from '../metric-definitions.ts';
import type { FilledMetricOptions } from '../options.ts';
import { clusterErrorBetween, errorsOf } from './cluster-evidence.ts';
import { type ComparedMeasure, compareMeasures, gapOf, largest, smallest, valuesOf } from './gap.ts';

/** The number of the random stream that permutations use; intervals use stream 0. */
const PERMUTATION_STREAM = 1;

/**
 * Returns whether a permutation p-value is available. A permutation test requires that the measures are rates with
 * integer counts, and that groups are compared with each other.
 */
export function canPermute(compared: readonly ComparedMeasure[], { method }: FilledMetricOptions): boolean {
  return (
    method === 'between_groups' &&
    compared.every(
      ({ measure: { sampling }, groups }) =>
        // Labels of dependent rows cannot be exchanged.
        sampling.kind === 'rates' &&
        sampling.clusters === undefined &&
        groups.every((group) => isInteger(sampling, group)),
    )
  );
}

/** Returns whether the numerator and the denominator of a rate are unweighted counts of rows. */
function isInteger({ numerators, denominators, effectiveCounts }: RateSampling, group: number): boolean {
  const rows = denominators[group] as number;
  return rows > 0 && rows === effectiveCounts[group] && Number.isSafeInteger(numerators[group]);
}

/**
 * Computes the p-value: the probability of a gap at least this large if group labels have no effect. Labels are
 * permuted within the rows of each rate's denominator. For equalized odds, labels are therefore permuted among rows
 * with the same true label.
 */
export function permutationOfGap(
  compared: readonly ComparedMeasure[],
  definition: MetricDefinition,
  options: FilledMetricOptions,
): number {
  const strata = compared.map(({ measure, groups }) => {
    const { numerators, denominators } = measure.sampling as RateSampling;
    return {
      successes: groups.map((group) => numerators[group] as number),
      trials: groups.map((group) => denominators[group] as number),
    };
  });
  const statistic = (successes: readonly Float64Array[]): number => {
    const drawn = compared.map((one, index): ComparedMeasure => {
      const { trials } = strata[index] as (typeof strata)[number];
      const own = successes[index] as Float64Array;
      const values = own.map((count, position) => count / (trials[position] as number));
      return { ...one, measure: { ...one.measure, values }, groups: trials.map((_, position) => position) };
    });
    const gap = compareMeasures(drawn, definition, options);
    // A smaller ratio means a larger disparity; a ratio of 0 to 0 counts as no gap.
    return definition.comparison === 'ratio' ? -(Number.isNaN(gap) ? 1 : gap) : gap;
  };
  const random = createRandom(options.seed, PERMUTATION_STREAM);
  return permutationPValue(strata, statistic, { samples: options.ciSamples, random });
}

/**
 * Computes the minimum detectable difference (80% power) between the two extreme groups at their sample sizes. For
 * several measures, returns the largest of these differences.
 */
export function detectableGap(
  compared: readonly ComparedMeasure[],
  definition: MetricDefinition,
  { method, ciLevel }: FilledMetricOptions,
): number | null {
  if (method !== 'between_groups' || definition.comparison !== 'difference') return null;
  const comparisons = compared.reduce((pairs, { groups: { length } }) => pairs + (length * (length - 1)) / 2, 0);
  const gaps = compared.map((one) => {
    const shared = { level: ciLevel, comparisons };
    const [high, low] = pairOfMeasure(one, definition.comparison);
    if (low === null) return null;
    const clusters = errorsOf(one.measure);
    if (clusters === undefined) return detectableBetween(one.measure, high, low, shared);
    const standardErrorA = clusterErrorBetween(one.measure, clusters, high, low);
    return standardErrorA === null ? null : minimumDetectableMeanGap({ standardErrorA, standardErrorB: 0, ...shared });
  });
  return gaps.every((gap) => gap !== null && Number.isFinite(gap)) ? largest(gaps as number[]) : null;
}

function detectableBetween(
  { sampling }: GroupMeasure,
  high: number,
  low: number,
  shared: { readonly level: number; readonly comparisons: number },
): number | null {
  if (sampling.kind === 'none') return null;
  if (sampling.kind === 'means') {
    const [standardErrorA, standardErrorB] = [sampling.standardErrors[high], sampling.standardErrors[low]] as [
      number,
      number,
    ];
    if (!Number.isFinite(standardErrorA) || !Number.isFinite(standardErrorB)) return null;
    return minimumDetectableMeanGap({ standardErrorA, standardErrorB, ...shared });
  }
  const [trialsA, trialsB] = [sampling.effectiveCounts[high], sampling.effectiveCounts[low]] as [number, number];
  const numerator = (sampling.numerators[high] as number) + (sampling.numerators[low] as number);
  const denominator = (sampling.denominators[high] as number) + (sampling.denominators[low] as number);
  if (!Number.isFinite(trialsA) || !Number.isFinite(trialsB) || trialsA === 0 || trialsB === 0) return null;
  return minimumDetectableGap({ rate: numerator / denominator, trialsA, trialsB, ...shared });
}

/**
 * The indexes of the two groups of a gap. `first` is the group with the higher value. `second` is null if the first
 * group is compared with all rows.
 */
type GapPair = readonly [first: number, second: number | null];

type Comparison = MetricDefinition['comparison'];

/**
 * Returns the two groups that determine the gap of one measure: the highest and the lowest. With `to_reference`,
 * returns the reference group and the group farthest from it. With `to_overall`, returns one group: the group farthest
 * from the overall value.
 *
 * If groups tie, the group with the fewest rows in the denominator is used, since it has the least evidence. If their
 * numbers of rows are equal too, the first group in the order of the labels is used. Therefore, the result does not
 * depend on the order of the rows.
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
    others.filter((_, index) => distances[index] === farthest),
  );
  if (anchorGroup === undefined) return [group, null];
  return valueOf(group) >= anchor ? [group, anchorGroup] : [anchorGroup, group];
}

/**
 * Returns the two groups that determine a metric: the two groups of the measure with the worst gap. If several measures
 * tie, the first measure is used. If the metric is a mean of gaps, a pair is returned only if all its measures have the
 * same two groups.
 * @returns undefined if no single pair of groups determines the value
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
  const gaps = compared.map((one) => distanceFromParity(gapOf(one, definition, options), comparison));
  const worst = compared[gaps.indexOf(largest(gaps))];
  return worst === undefined ? undefined : pairOf(worst);
}

/** Returns the two groups in the order of AIF360: first the unprivileged group, then the privileged group. */
function signedPair({ groups, anchorGroup }: ComparedMeasure): GapPair {
  const other = groups.find((group) => group !== anchorGroup);
  return [other as number, anchorGroup as number];
}

function withFewestRows({ measure }: ComparedMeasure, groups: readonly number[]): number {
  const rowsOf = (group: number): number => measure.denominatorCounts[group] as number;
  return groups.reduce((min, group) => (rowsOf(group) < rowsOf(min) ? group : min), groups[0] as number);
}

function distanceFrom(anchor: number, value: number, comparison: Comparison): number {
  return distanceFromParity(comparison === 'ratio' ? value / anchor : value - anchor, comparison);
}

/**
 * Returns how far a gap is from parity: the absolute difference, or 1 minus the smaller of the ratio and its inverse.
 */
function distanceFromParity(gap: number, comparison: Comparison): number {
  if (comparison === 'difference') return Math.abs(gap);
  // A ratio of 0 to 0 counts as no gap.
  return Number.isNaN(gap) ? 0 : 1 - Math.min(gap, 1 / gap);
}
