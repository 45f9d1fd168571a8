import { type RateName, RATES } from './rates.ts';
import { countsAt, operationAt, type ScoreCurve } from './score-curve.ts';
import type { ThresholdInterpolation, ThresholdOperation } from './threshold-rules.ts';

/** The best trade-offs between two rates among all mixtures of thresholds on the scores of one group. */
export interface TradeoffHull {
  /** The constrained rate at the hull's points, ascending from 0 to 1. */
  readonly x: Float64Array;
  /** The maximum of the other rate at the hull's points. The maximum is concave in x. */
  readonly y: Float64Array;
  readonly operations: readonly ThresholdOperation[];
}

/** A position between two neighbouring points of a hull. */
interface HullPosition {
  /** The index of the left point. The right point has the next index. */
  readonly left: number;
  /** The weight of the left point, in [0, 1]. */
  readonly p0: number;
}

/**
 * Computes the upper hull over all thresholds of one group. If `flip` is true, thresholds that select low scores are
 * also used.
 * @param curve the curve of a group that has the labels needed for both rates
 */
export function tradeoffHull(curve: ScoreCurve, xRate: RateName, yRate: RateName, flip: boolean): TradeoffHull {
  const directions: readonly ('>' | '<')[] = flip ? ['>', '<'] : ['>'];
  const size = curve.truePositives.length * directions.length;
  const x = new Float64Array(size);
  const y = new Float64Array(size);
  for (let point = 0; point < size; point++) {
    const counts = countsAt(curve, thresholdOf(point), directionOf(point));
    x[point] = RATES[xRate](counts);
    y[point] = RATES[yRate](counts);
  }
  const order = Int32Array.from(x.keys()).sort(
    (a, b) => (x[a] as number) - (x[b] as number) || (y[a] as number) - (y[b] as number),
  );
  const sorted = {
    x: Float64Array.from(order, (point) => x[point] as number),
    y: Float64Array.from(order, (point) => y[point] as number),
  };
  const indices = upperHull(sorted.x, sorted.y);
  const points = indices.map((index) => order[index] as number);
  return {
    x: Float64Array.from(indices, (index) => sorted.x[index] as number),
    y: Float64Array.from(indices, (index) => sorted.y[index] as number),
    operations: points.map((point) => operationAt(curve, thresholdOf(point), directionOf(point))),
  };

  function thresholdOf(point: number): number {
    return Math.floor(point / directions.length);
  }
  function directionOf(point: number): '>' | '<' {
    return directions[point % directions.length] as '>' | '<';
  }
}

/** Returns the hull's y at each x of an ascending grid from 0 to 1. */
export function hullOnGrid(hull: TradeoffHull, grid: Float64Array): Float64Array {
  let from = 0;
  return grid.map((x) => {
    const { left, p0 } = positionAt(hull.x, x, from);
    from = left;
    return heightAt(hull, { left, p0 });
  });
}

/** Returns the hull's y at one x in [0, 1]. */
export function hullAt(hull: TradeoffHull, x: number): number {
  return heightAt(hull, positionAt(hull.x, x));
}

/** Returns the mixture of two thresholds that reaches the hull at x in [0, 1]. */
export function ruleAt(hull: TradeoffHull, x: number): ThresholdInterpolation {
  const { left, p0 } = positionAt(hull.x, x);
  return {
    p0,
    operation0: hull.operations[left] as ThresholdOperation,
    p1: 1 - p0,
    operation1: hull.operations[left + 1] as ThresholdOperation,
    pIgnore: 0,
    predictionConstant: 0,
  };
}

function heightAt({ y }: TradeoffHull, { left, p0 }: HullPosition): number {
  return p0 * (y[left] as number) + (1 - p0) * (y[left + 1] as number);
}

/**
 * Finds the segment of a hull that contains x: its left point is below x, and its right point is at or above x. For x =
 * 0, the position is the last (and highest) point of the hull with x = 0.
 * @param from the index of a point that is known to be at or below x
 */
function positionAt(points: Float64Array, x: number, from = 0): HullPosition {
  const last = points.length - 2;
  let left = from;
  if (x > (points[0] as number)) {
    while (left < last && (points[left + 1] as number) < x) left++;
  } else {
    while (left < last && (points[left + 1] as number) <= x) left++;
  }
  const [x0, x1] = [points[left] as number, points[left + 1] as number];
  return { left, p0: Math.min(1, Math.max(0, (x1 - x) / (x1 - x0))) };
}

/**
 * Returns the indexes of the points on the upper convex hull, left to right (Andrew's monotone chain). Points on the
 * line between two other points are omitted. If several points have the smallest x, the lowest and the highest of these
 * points are included. Takes O(points) time.
 * @param x ascending
 * @param y ascending among points of equal x
 */
export function upperHull(x: ArrayLike<number>, y: ArrayLike<number>): number[] {
  const kept: number[] = [];
  for (let index = 0; index < x.length; index++) {
    while (kept.length >= 2 && !isAbove(kept.at(-1) as number, kept.at(-2) as number, index)) kept.pop();
    kept.push(index);
  }
  return kept;

  /** Returns whether a point lies above the line between two other points. Slopes are compared without division. */
  function isAbove(middle: number, left: number, right: number): boolean {
    const [x0, y0] = [x[left] as number, y[left] as number];
    return (
      ((y[middle] as number) - y0) * ((x[right] as number) - x0) >
      ((y[right] as number) - y0) * ((x[middle] as number) - x0)
    );
  }
}
