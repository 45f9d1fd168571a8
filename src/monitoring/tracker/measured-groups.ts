import { effectiveCount } from '../../metrics/measures/group-measure.ts';
import { CELLS_PER_GROUP } from '../../metrics/statistics/group-stats.ts';
import { ERROR, type GroupTable } from './group-table.ts';
import type { WatchedMeasure } from './watched-metric.ts';

/** The sums of one measure in one group and one window. */
export interface MeasureSums {
  /** The number of events in the denominator. */
  n: number;
  /** The weighted number of successes, or the weighted sum of errors. */
  sum: number;
  /** The sum of weights in the denominator; n without weights. */
  weight: number;
  squaredWeight: number;
  /** The weighted sum of squared errors. */
  squares: number;
  /**
   * For errors scaled to [0, 1]: the unweighted sum, and the sum of squared distances from guesses made before each
   * error was seen.
   */
  scaled: number;
  variance: number;
}

/** Returns sums of zero, to be filled by {@link sumMeasure}. */
export function emptySums(): MeasureSums {
  return { n: 0, sum: 0, weight: 0, squaredWeight: 0, squares: 0, scaled: 0, variance: 0 };
}

/**
 * Computes the sums of one group's measure over a window, from the table at the window's start and the current table.
 * It fills `into` instead of allocating, because alarms call it often.
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
export function effectiveEvents(sums: MeasureSums): number {
  return effectiveCount(sums.weight, sums.squaredWeight);
}
