import { sigmoid } from '../../logistic.ts';
import { countAtMost } from '../grouped-scores.ts';

/** The methods of calibration. */
export const CALIBRATION_METHODS = ['platt', 'isotonic', 'temperature'] as const;

/** One of {@link CALIBRATION_METHODS}. */
export type CalibrationMethod = (typeof CALIBRATION_METHODS)[number];

/** The inputs of Platt's line: the log-odds of scores, or the scores themselves. */
export const PLATT_INPUTS = ['logit', 'score'] as const;

/** One of {@link PLATT_INPUTS}. */
export type PlattInput = (typeof PLATT_INPUTS)[number];

/** p = sigmoid(slope x + intercept), where x is the logit of the score or the score itself. */
interface PlattMap {
  readonly kind: 'platt';
  readonly input: PlattInput;
  readonly slope: number;
  readonly intercept: number;
}

/** Linear interpolation between (score, rate) points, with scores and rates ascending; constant beyond the ends. */
interface IsotonicMap {
  readonly kind: 'isotonic';
  readonly scores: readonly number[];
  readonly rates: readonly number[];
}

/** p = sigmoid(logit(score) / temperature). */
interface TemperatureMap {
  readonly kind: 'temperature';
  readonly temperature: number;
}

/** A map from scores to calibrated probabilities, as plain data. */
export type CalibrationMap = PlattMap | IsotonicMap | TemperatureMap;

/**
 * Converts a map to a function of one score.
 * @param margin the minimum distance of a score from 0 or 1 before its logit is taken
 */
export function calibrationFunction(map: CalibrationMap, margin: number): (score: number) => number {
  switch (map.kind) {
    case 'platt': {
      const { slope, intercept } = map;
      return map.input === 'logit'
        ? (score) => sigmoid(slope * toLogit(score, margin) + intercept)
        : (score) => sigmoid(slope * score + intercept);
    }
    case 'isotonic':
      return (score) => interpolate(map, score);
    case 'temperature':
      return (score) => sigmoid(toLogit(score, margin) / map.temperature);
  }
}

function interpolate({ scores, rates }: IsotonicMap, score: number): number {
  const above = countAtMost(scores, score);
  const last = scores.length - 1;
  if (above === 0) return rates[0] as number;
  if (above > last) return rates[last] as number;
  const [fromScore, toScore] = [scores[above - 1] as number, scores[above] as number];
  const [fromRate, toRate] = [rates[above - 1] as number, rates[above] as number];
  // Interpolates with a share of the distance, because the slope between nearly equal scores can overflow.
  const share = (score - fromScore) / (toScore - fromScore);
  // Rounding must not raise the value above the next rate.
  return Math.min(toRate, fromRate + (toRate - fromRate) * share);
}

/** The rows of one group, or of all groups. */
export interface LabelledScores {
  /** [n], from 0 to 1. */
  readonly scores: Float64Array;
  /** [n], 0 or 1; both occur. */
  readonly y: Uint8Array;
  /** [n], above 0. */
  readonly weights: Float64Array;
}

/** A fitted map. Includes a warning if there is a problem with the fit. */
export interface FittedMap {
  readonly map: CalibrationMap;
  readonly warning: string | null;
}

/** Computes log(s / (1 - s)) of a score that is kept at least `margin` away from 0 and 1. */
export function toLogit(score: number, margin: number): number {
  const kept = Math.min(1 - margin, Math.max(margin, score));
  return Math.log(kept / (1 - kept));
}

/**
 * Returns the minimum distance from 0 or 1 that a score may have before its logit is taken.
 *
 * A score of exactly 0 or 1 has an infinite logit. If it were clipped at the spacing of floats, its logit would be
 * about 36, far from all others, and a few such rows would dominate the fit. If such scores occur, the margin is
 * therefore half the distance of the nearest other score from 0 or 1. This is similar to replacing a count of 0 by one
 * half. Otherwise the margin is the spacing of floats.
 */
export function endMargin(scores: Float64Array): number {
  const distances = scores.map((score) => Math.min(score, 1 - score));
  if (!distances.includes(0)) return Number.EPSILON;
  const nearest = distances.reduce((min, distance) => (distance > 0 ? Math.min(min, distance) : min), 0.5);
  return Math.max(Number.EPSILON, nearest / 2);
}

/** The range of temperatures. The lowest sharpens scores the most, and the highest flattens them the most. */
const MIN = 0.01;
const MOST = 100;

const MAX_STEPS = 200;

/** Relative steps below this size are smaller than the rounding errors of long sums, so the search stops. */
const TOLERANCE = 1e-12;

/**
 * Finds the temperature T, from 0.01 to 100, that minimises the log loss of sigmoid(logit(score) / T) (Guo et al.
 * 2017).
 *
 * The loss is convex in b = 1 / T. Its derivative, sum w (sigmoid(b x) - y) x, increases with b. If a Newton step would
 * leave the current bracket of the root, a bisection step replaces it.
 *
 * If the scores separate the labels, the loss keeps falling as T falls. If the scores rank rows in reverse order, the
 * loss keeps falling as T rises. In both cases T is set to the end of its range, with a warning.
 */
export function fitTemperature({ scores, y, weights }: LabelledScores, margin: number): FittedMap {
  const x = scores.map((score) => toLogit(score, margin));
  if (x.every((value) => value === 0)) {
    return fitted(1, 'every score is 0.5, which no temperature changes, so the temperature is 1');
  }
  // Weights are normalised to shares, so that their unit causes neither overflow nor loss of precision.
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const derivatives = (b: number): [first: number, second: number] => {
    let [first, second] = [0, 0];
    for (let row = 0; row < x.length; row++) {
      const value = x[row] as number;
      const p = sigmoid(b * value);
      const share = (weights[row] as number) / total;
      first += share * (p - (y[row] as number)) * value;
      second += share * p * (1 - p) * value * value;
    }
    return [first, second];
  };
  if (derivatives(1 / MIN)[0] <= 0) {
    return fitted(MIN, `scores separate the labels, so the temperature is ${String(MIN)}, the lowest allowed`);
  }
  if (derivatives(1 / MOST)[0] >= 0) {
    return fitted(
      MOST,
      `scores do not rank rows, or rank them in reverse order, so the temperature is ${String(MOST)}, the highest allowed`,
    );
  }
  return fitted(1 / zeroOf(derivatives, 1 / MOST, 1 / MIN), null);
}

/** Finds the root of an increasing function, given a point where it is below 0 and a point where it is above 0. */
function zeroOf(derivatives: (b: number) => readonly [number, number], from: number, to: number): number {
  let [low, high, b] = [from, to, 1];
  for (let step = 0; step < MAX_STEPS && high - low > TOLERANCE * high; step++) {
    const [first, second] = derivatives(b);
    if (first === 0) return b;
    if (first < 0) low = b;
    else high = b;
    const newton = b - first / second;
    // The comparison is also false if `newton` is NaN, because the curvature exceeded the range of float64.
    const next = newton > low && newton < high ? newton : (low + high) / 2;
    if (Math.abs(next - b) <= TOLERANCE * b) return next;
    b = next;
  }
  return b;
}

function fitted(temperature: number, warning: string | null): FittedMap {
  return { map: { kind: 'temperature', temperature }, warning };
}
