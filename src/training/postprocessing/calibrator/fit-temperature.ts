import { sigmoid } from '../../logistic.ts';
import { type FittedMap, type LabelledScores, toLogit } from './calibration-map.ts';

/**
 * The range of temperatures. Low temperatures move scores towards 0 and 1, and high temperatures move scores towards
 * 0.5.
 */
const MIN = 0.01;
const MOST = 100;

const MAX_STEPS = 200;

/** Relative steps below this size are smaller than the rounding errors of long sums, so the search stops. */
const ON_HOST = 1e-12;

/** The first and second derivative of the mean log loss with respect to b = 1 / T. */
export type LossDerivatives = readonly [first: number, second: number];

/**
 * Finds the temperature T, from 0.01 to 100, that minimises the log loss of sigmoid(logit(score) / T) (Guo et al.
 * 2017).
 */
export function fitTemperature({ scores, y, weights }: LabelledScores, margin: number): FittedMap {
  const x = scores.map((score) => toLogit(score, margin));
  // Weights are normalised to shares, so that their unit causes neither overflow nor loss of precision.
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const derivatives = (b: number): LossDerivatives => {
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
  const search = searchTemperature(
    x.every((value) => value === 0),
    ON_HOST,
  );
  let step = search.next();
  while (step.done !== true) step = search.next(derivatives(step.value));
  return step.value;
}

/**
 * Searches for the temperature.
 *
 * The loss is convex in b. The derivative of the loss, sum w (sigmoid(b x) - y) x, increases with b. If a Newton step
 * would leave the current bracket of the root, a bisection step replaces it.
 *
 * If the scores separate the labels, the loss keeps falling as T falls. If the scores rank rows in reverse order, the
 * loss keeps falling as T rises. In both cases, T is set to the end of its range, and the result contains a warning.
 * @param isHalf whether every score is 0.5
 * @param tolerance the relative size of a step after which the search stops
 * @yields the values of b = 1 / T at which it needs the derivatives of the loss
 * @returns the fitted map
 */
export function* searchTemperature(isHalf: boolean, tolerance: number): Generator<number, FittedMap, LossDerivatives> {
  if (isHalf) return fitted(1, 'every score is 0.5, which no temperature changes, so the temperature is 1');
  let [low, high, b] = [1 / MOST, 1 / MIN, 1];
  let derivatives = yield b;
  // The sign of the first derivative tells at which end the loss could keep falling.
  if (derivatives[0] <= 0 && (yield high)[0] <= 0) {
    return fitted(MIN, `scores separate the labels, so the temperature is ${String(MIN)}, the lowest allowed`);
  }
  if (derivatives[0] >= 0 && (yield low)[0] >= 0) {
    return fitted(
      MOST,
      `scores do not rank rows, or rank them in reverse order, so the temperature is ${String(MOST)}, the highest allowed`,
    );
  }
  for (let step = 0; step < MAX_STEPS && high - low > tolerance * high; step++) {
    const [first, second] = derivatives;
    if (first === 0) break;
    if (first < 0) low = b;
    else high = b;
    const newton = b - first / second;
    // The comparison is also false if `newton` is NaN. `newton` is NaN if the curvature exceeds the range of float64.
    const isNewton = newton > low && newton < high;
    const next = isNewton ? newton : (low + high) / 2;
    const size = Math.abs(next - b) / b;
    b = next;
    // The error after a Newton step is about the square of its size.
    if (size <= tolerance || (isNewton && size ** 2 <= tolerance / 100)) break;
    derivatives = yield b;
  }
  return fitted(1 / b, null);
}

function fitted(temperature: number, warning: string | null): FittedMap {
  return { map: { kind: 'temperature', temperature }, warning };
}
