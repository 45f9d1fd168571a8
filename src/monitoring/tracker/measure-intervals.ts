import { effectiveCount } from '../../metrics/measures/group-measure.ts';
import { CELLS_PER_GROUP } from '../../metrics/statistics/group-stats.ts';
import { ERROR, type GroupTable } from './group-table.ts';
import type { WatchedMeasure } from './watched-metric.ts';
import { gapRange } from '../../stats/gap-family.ts';
import { criticalValue } from '../../stats/normal.ts';
import { type Interval, wilsonInterval } from '../../stats/proportion-interval.ts';
import { betaBinomialSequence } from '../../stats/sequential/beta-binomial-sequence.ts';
import { empiricalBernsteinSequence } from '../../stats/sequential/empirical-bernstein-sequence.ts';
import { subGaussianSequence } from '../../stats/sequential/sub-gaussian-sequence.ts';

/** The sums of one measure for one group in one window. */
export interface MeasureSums {
  /** The number of events in the denominator. */
  n: number;
  /** The weighted number of successes, or the weighted sum of errors. */
  sum: number;
  /** The sum of weights in the denominator; equal to `n` if events have no weights. */
  weight: number;
  squaredWeight: number;
  /** The weighted sum of squared errors. */
  squares: number;
  /**
   * For errors scaled to [0, 1], the unweighted sum of errors. `variance` is the sum of squared distances between each
   * error and its prediction from earlier errors.
   */
  scaled: number;
  variance: number;
}

/** Returns an object in which all sums are 0. {@link sumMeasure} can fill it. */
export function emptySums(): MeasureSums {
  return { n: 0, sum: 0, weight: 0, squaredWeight: 0, squares: 0, scaled: 0, variance: 0 };
}

/**
 * Computes the sums of one group's measure over a window, from the table at the window's start and the current table.
 * The result is written to `into`, because alarms call this function often and new objects would be slow.
 */
export function sumMeasure(
  measure: WatchedMeasure,
  now: GroupTable,
  before: GroupTable | null,
  group: number,
  into: MeasureSums,
): MeasureSums {
  const at = group * now.stride;
  const had = before !== null && group < before.groups ? before.data : null;
  if (measure.kind === 'error') {
    const first = at + now.errorsAt;
    into.n = difference(now.data, had, first + ERROR.count);
    into.sum = difference(now.data, had, first + ERROR.sum);
    into.weight = difference(now.data, had, first + ERROR.weight);
    into.squaredWeight = difference(now.data, had, first + ERROR.squaredWeight);
    into.squares = difference(now.data, had, first + ERROR.squares);
    into.scaled = difference(now.data, had, first + ERROR.scaled);
    into.variance = difference(now.data, had, first + ERROR.variance);
    into.sum = Math.max(0, into.sum);
    return into;
  }
  into.n = addCells(now.data, had, at, measure.below);
  if (now.shape.hasWeights) {
    // Rounding can make differences of floating-point sums slightly too small or too large.
    into.weight = Math.max(0, addCells(now.data, had, at + CELLS_PER_GROUP, measure.below));
    into.sum = Math.min(into.weight, Math.max(0, addCells(now.data, had, at + CELLS_PER_GROUP, measure.above)));
    into.squaredWeight = Math.max(0, addCells(now.data, had, at + 2 * CELLS_PER_GROUP, measure.below));
  } else {
    into.sum = addCells(now.data, had, at, measure.above);
    into.weight = into.n;
    into.squaredWeight = into.n;
  }
  return into;
}

function difference(now: Float64Array, before: Float64Array | null, at: number): number {
  return (now[at] as number) - (before === null ? 0 : (before[at] as number));
}

function addCells(now: Float64Array, before: Float64Array | null, at: number, cells: readonly number[]): number {
  let total = 0;
  for (let index = 0; index < cells.length; index++) total += difference(now, before, at + (cells[index] as number));
  return total;
}

/** Returns a group's rate or mean error; NaN if its weight is 0. */
export function measureValue(sums: MeasureSums): number {
  return sums.weight > 0 ? sums.sum / sums.weight : NaN;
}

/** Returns Kish's effective number of events. */
function effectiveEvents(sums: MeasureSums): number {
  return effectiveCount(sums.weight, sums.squaredWeight);
}

/** The settings of a stream that determine its intervals, in addition to its sums. */
export interface IntervalBasis {
  readonly hasWeights: boolean;
  /** The largest possible error; null if it is unknown. Without it, errors have no anytime-valid interval. */
  readonly errorScale: number | null;
}

/**
 * Returns an interval of a group's measure that holds at all times simultaneously with probability 1 - alpha. The
 * method is the beta-binomial mixture for rates, the normal mixture for weighted rates, and the empirical Bernstein
 * mixture for errors. Returns null if no interval is available.
 */
export function anytimeInterval(
  measure: WatchedMeasure,
  sums: MeasureSums,
  alpha: number,
  { hasWeights, errorScale }: IntervalBasis,
): Interval | null {
  if (sums.n <= 0) return null;
  if (measure.kind === 'rate') {
    if (!hasWeights) return betaBinomialSequence(sums.sum, sums.n, alpha);
    const { sum, weight, squaredWeight } = sums;
    return weight > 0 ? subGaussianSequence({ sumW: weight, sumWD: sum, sumW2: squaredWeight }, alpha) : null;
  }
  // Weighted errors have no interval, because an interval would require bounded weights.
  if (errorScale === null || hasWeights) return null;
  const { n, scaled, variance } = sums;
  // Rounding can move the mean slightly outside [0, 1].
  const state = { n, mean: Math.min(1, Math.max(0, scaled / n)), predictableVariance: Math.max(0, variance) };
  const [low, high] = empiricalBernsteinSequence(state, alpha);
  return [low * errorScale, high * errorScale];
}

/**
 * Returns an ordinary interval of a group's measure, valid for one check: Wilson's interval for a rate, and a normal
 * interval for a mean. Returns null if no interval is available.
 */
export function ordinaryInterval(measure: WatchedMeasure, sums: MeasureSums, level: number): Interval | null {
  const value = measureValue(sums);
  const size = effectiveEvents(sums);
  if (!(size > 0)) return null;
  if (measure.kind === 'rate') return wilsonInterval(value * size, size, level);
  if (!(size > 1)) return null;
  const half = criticalValue(level) * Math.sqrt(meanVariance(sums, value, size));
  return [Math.max(0, value - half), value + half];
}

/** A group's part in the ordinary interval of a gap. */
export interface GapTerm {
  readonly value: number;
  /** The centre and the variance of the group in the intervals of pairs. */
  readonly centre: number;
  readonly variance: number;
}

/**
 * Returns a group's part in the ordinary interval of a gap. For rates, the interval of a pair is that of Agresti and
 * Caffo (2000). The variance is NaN if the group has too few events for a variance.
 */
export function gapTerm(measure: WatchedMeasure, sums: MeasureSums): GapTerm {
  const value = measureValue(sums);
  const size = effectiveEvents(sums);
  if (measure.kind === 'error') {
    return { value, centre: value, variance: size > 1 ? meanVariance(sums, value, size) : NaN };
  }
  const centre = (value * size + 1) / (size + 2);
  return { value, centre, variance: (centre * (1 - centre)) / (size + 2) };
}

/** The parts of several groups in the interval of their largest gap, as columns. */
export interface GapTerms {
  readonly centres: Float64Array;
  readonly variances: Float64Array;
  /** The largest gap between the values of the groups. */
  readonly point: number;
}

/**
 * Returns an ordinary interval of the largest gap between groups, valid for one check. The interval has a Bonferroni
 * correction over all pairs of groups.
 * @param level the confidence level of this interval
 */
export function gapIntervalOf(measure: WatchedMeasure, terms: GapTerms, level: number): Interval {
  const groups = terms.centres.length;
  const pairs = (groups * (groups - 1)) / 2;
  const ceiling = measure.kind === 'rate' ? 1 : Infinity;
  return gapRange({ ...terms, ceiling }, criticalValue(1 - (1 - level) / pairs));
}

/**
 * Returns an ordinary interval of the largest gap between groups, valid for one check. Returns null if a group has too
 * few events for a variance.
 * @param groups the sums of at least two groups
 * @param level the confidence level of this interval
 */
export function ordinaryGapInterval(
  measure: WatchedMeasure,
  groups: readonly { readonly sums: MeasureSums }[],
  level: number,
): Interval | null {
  const centres = new Float64Array(groups.length);
  const variances = new Float64Array(groups.length);
  let largest = -Infinity;
  let smallest = Infinity;
  for (const [index, { sums }] of groups.entries()) {
    const { value, centre, variance } = gapTerm(measure, sums);
    if (measure.kind === 'error' && Number.isNaN(variance)) return null;
    largest = Math.max(largest, value);
    smallest = Math.min(smallest, value);
    centres[index] = centre;
    variances[index] = variance;
  }
  return gapIntervalOf(measure, { centres, variances, point: largest - smallest }, level);
}

/** Returns the squared standard error of a weighted mean, from sums. */
function meanVariance({ squares, weight }: MeasureSums, mean: number, size: number): number {
  return Math.max(0, squares / weight - mean * mean) / (size - 1);
}
