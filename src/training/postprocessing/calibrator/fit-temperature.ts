import { sigmoid } from '../../logistic.ts';
import { type FittedMap, type LabelledScores, toLogit } from './calibration-map.ts';

/**
 * The range of temperatures. Low temperatures move scores towards 0 and 1, and high temperatures move scores towards
 * 0.5.
 */
const MIN = 0.01;
const MOST = 100;

const MAX_STEPS = 200;

/**
 * The search stops if a relative step is below this value, because such steps are smaller than the rounding errors of
 * long sums.
 */
const TOLERANCE = 1e-12;

/**
 * Finds the temperature T, from 0.01 to 100, that minimises the log loss of sigmoid(logit(score) / T) (Guo et al.
 * 2017).
 *
 * The loss is convex in b = 1 / T. The derivative of the loss, sum w (sigmoid(b x) - y) x, increases with b. If a
 * Newton step would leave the interval that is known to contain the root, a bisection step is taken instead.
 *
 * If the scores separate the labels, the loss keeps falling as T falls. If the scores rank rows in reverse order, the
 * loss keeps falling as T rises. In both cases, T is set to the end of its range, and the result contains a warning.
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
    // The comparison is also false if `newton` is NaN. `newton` is NaN if the curvature exceeds the range of float64.
    const next = newton > low && newton < high ? newton : (low + high) / 2;
    if (Math.abs(next - b) <= TOLERANCE * b) return next;
    b = next;
  }
  return b;
}

function fitted(temperature: number, warning: string | null): FittedMap {
  return { map: { kind: 'temperature', temperature }, warning };
}
