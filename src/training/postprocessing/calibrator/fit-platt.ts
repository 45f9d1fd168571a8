import { TrainingError } from '../../../exceptions/index.ts';
import { type FittedMap, type LabelledScores, type PlattInput, toLogit } from './calibration-map.ts';

const MAX_STEPS = 100;

/** The minimum decrease of the loss, as a share of the decrease that the gradient predicts (Armijo). */
const SUFFICIENT = 1e-4;
const SHORTEST = 1e-10;

/** The slope and intercept of a line for standardised values. */
export type Line = readonly [slope: number, intercept: number];

/** The rounding errors of the sums that a descent reads. */
export interface DescentPrecision {
  /**
   * If the predicted decrease of the loss by a step is at most this value, two full Newton steps finish the descent.
   * Each step squares the distance from the minimum.
   */
  readonly hidden: number;
  /** The rounding error of the mean loss. A step may raise the loss by this value. */
  readonly rounding: number;
}

/** With float64 sums, the last steps start at a distance of about 1e-6 from the minimum. */
const ON_HOST: DescentPrecision = { hidden: 1e-12, rounding: 0 };

/** Sums over rows at a line, divided by the total weight. */
export interface PlattSums {
  /** The mean cross-entropy. */
  readonly loss: number;
  /** The gradient of the mean loss. */
  readonly gradient: Line;
  /** The second derivatives of the mean loss: slope twice, slope and intercept, intercept twice. */
  readonly curvature: readonly [number, number, number];
}

/** The statistics of rows from which a descent starts. */
export interface PlattStart {
  /** The weighted mean of x. */
  readonly mean: number;
  /** The weighted standard deviation of x. */
  readonly spread: number;
  /** Whether all x are equal, up to rounding. */
  readonly isFlat: boolean;
  /** The total weight. */
  readonly total: number;
  /** The weight of the rows with label 1. */
  readonly yes: number;
}

/**
 * Fits Platt's sigmoid (1999): the slope and intercept that minimise the cross-entropy to smoothed targets. The
 * targets are (N+ + 1) / (N+ + 2) for positives and 1 / (N- + 2) for negatives, where N+ and N- are the total weights
 * of the labels.
 *
 * The fit uses the guarded Newton steps of Lin, Lin and Weng (2007). The targets lie strictly between 0 and 1, so the
 * line is unique and finite even for separable scores. If all scores are equal, the slope is 0.
 * @throws {TrainingError} if the steps do not converge
 */
export function fitPlatt({ scores, y, weights }: LabelledScores, margin: number, input: PlattInput): FittedMap {
  const x = input === 'logit' ? scores.map((score) => toLogit(score, margin)) : scores;
  let [total, yes, sum] = [0, 0, 0];
  for (let row = 0; row < x.length; row++) {
    const weight = weights[row] as number;
    total += weight;
    yes += weight * (y[row] as number);
    sum += weight * (x[row] as number);
  }
  const mean = sum / total;
  let squares = 0;
  for (let row = 0; row < x.length; row++) squares += (weights[row] as number) * ((x[row] as number) - mean) ** 2;
  const spread = Math.sqrt(squares / total);
  const isFlat = !(spread > Number.EPSILON * Math.max(1, Math.abs(mean)));
  const start = { mean, spread, isFlat, total, yes };
  const z = x.map((value) => (isFlat ? 0 : (value - mean) / spread));
  const descent = descend(start, ON_HOST);
  let step = descent.next();
  while (step.done !== true) step = descent.next(sumsAt(z, y, weights, start, step.value));
  return plattMap(step.value, start, input);
}

/** Returns the smoothed targets of rows with label 0 and of rows with label 1. */
export function plattTargets({ total, yes }: PlattStart): readonly [no: number, yes: number] {
  return [1 / (total - yes + 2), (yes + 1) / (yes + 2)];
}

/** Converts a line for standardised values to a map of scores. */
export function plattMap([slope, intercept]: Line, { mean, spread, isFlat }: PlattStart, input: PlattInput): FittedMap {
  const own = isFlat ? 0 : slope / spread;
  return {
    map: { kind: 'platt', input, slope: own, intercept: intercept - own * mean },
    warning: own < 0 ? 'scores rank rows in reverse order (the slope is negative)' : null,
  };
}

/**
 * Minimises the loss with Newton's method. Each step is halved until the loss decreases sufficiently.
 * @yields the lines at which it needs the sums over rows
 * @returns the fitted line
 * @throws {TrainingError} if the steps do not converge
 */
export function* descend(
  { total, yes }: PlattStart,
  { hidden, rounding }: DescentPrecision,
): Generator<Line, Line, PlattSums> {
  let line: Line = [0, Math.log((yes + 1) / (total - yes + 1))];
  let sums = yield line;
  for (let step = 0; step < MAX_STEPS; step++) {
    const direction = newtonDirection(sums);
    const slope = sums.gradient[0] * direction[0] + sums.gradient[1] * direction[1];
    if (-slope <= hidden) {
      const nearer = along(line, direction, 1);
      return along(nearer, newtonDirection(yield nearer), 1);
    }
    let length = 1;
    let next = along(line, direction, length);
    let nextSums = yield next;
    while (!(nextSums.loss <= sums.loss + SUFFICIENT * length * slope + rounding) && length >= SHORTEST) {
      length /= 2;
      next = along(line, direction, length);
      nextSums = yield next;
    }
    if (length < SHORTEST) break;
    line = next;
    sums = nextSums;
  }
  throw new TrainingError('The sigmoid did not converge.', {
    context: { slope: line[0], intercept: line[1], steps: MAX_STEPS },
    suggestion: "Try the method 'isotonic', or check for weights that differ by many orders of magnitude.",
  });
}

/**
 * Sums over rows in one pass, which computes one exponential per row. The cross-entropy of a logit f and a target t is
 * log(1 + exp(-|f|)) + max(f, 0) - t f.
 */
function sumsAt(
  z: Float64Array,
  y: Uint8Array,
  weights: Float64Array,
  start: PlattStart,
  [slope, intercept]: Line,
): PlattSums {
  const [targetNo, targetYes] = plattTargets(start);
  let [loss, g0, g1, h00, h01, h11] = [0, 0, 0, 0, 0, 0];
  for (let row = 0; row < z.length; row++) {
    const value = z[row] as number;
    const f = slope * value + intercept;
    const power = Math.exp(-Math.abs(f));
    const p = (f >= 0 ? 1 : power) / (1 + power);
    const target = y[row] === 1 ? targetYes : targetNo;
    const share = (weights[row] as number) / start.total;
    const error = share * (p - target);
    const curvature = share * p * (1 - p);
    loss += share * (Math.log1p(power) + Math.max(f, 0) - target * f);
    g0 += error * value;
    g1 += error;
    h00 += curvature * value * value;
    h01 += curvature * value;
    h11 += curvature;
  }
  return { loss, gradient: [g0, g1], curvature: [h00, h01, h11] };
}

function newtonDirection({ gradient: [g0, g1], curvature }: PlattSums): Line {
  // The ridge of Lin, Lin and Weng keeps the system solvable if all z are 0.
  const [h00, h01, h11] = [curvature[0] + 1e-12, curvature[1], curvature[2] + 1e-12];
  const determinant = h00 * h11 - h01 * h01;
  return [-(h11 * g0 - h01 * g1) / determinant, -(h00 * g1 - h01 * g0) / determinant];
}

function along([slope, intercept]: Line, [slopeStep, interceptStep]: Line, length: number): Line {
  return [slope + length * slopeStep, intercept + length * interceptStep];
}
