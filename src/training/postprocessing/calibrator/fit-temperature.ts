import { sigmoid } from '../../logistic.ts';
import { type FittedMap, type LabelledScores, toLogit } from './calibration-map.ts';

/** The sharpest and the flattest that a temperature makes scores. */
const LEAST = 0.01;
const MOST = 100;

const MAX_STEPS = 200;

/** Relative steps of this size are the rounding of long sums. */
const TOLERANCE = 1e-12;

/**
 * The temperature T of least log loss of sigmoid(logit(score) / T) (Guo et al.
 * 2017), from 0.01 to 100.
 *
 * In b = 1 / T the loss is convex with derivative sum w (sigmoid(b x) - y) x,
 * which rises with b: Newton's steps are kept inside the bracket of its zero,
 * and halve it where they would leave it. On separable scores the loss falls
 * for ever with T, and on scores that rank rows the wrong way round with 1 / T;
 * then T is the end of its range, with a warning.
 */
export function fitTemperature({ scores, y, weights }: LabelledScores, margin: number): FittedMap {
  const x = scores.map((score) => toLogit(score, margin));
  if (x.every((value) => value === 0)) {
    return fitted(1, 'every score is 0.5, which no temperature changes, so that it is 1');
  }
  // Shares, so that the unit of weights neither overflows nor loses digits.
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
  if (derivatives(1 / LEAST)[0] <= 0) {
    return fitted(LEAST, `scores separate the labels, so that the temperature is ${String(LEAST)}, the least allowed`);
  }
  if (derivatives(1 / MOST)[0] >= 0) {
    return fitted(
      MOST,
      `scores do not rank rows, or rank them the wrong way round, so that the temperature is ${String(MOST)}, the most allowed`,
    );
  }
  return fitted(1 / zeroOf(derivatives, 1 / MOST, 1 / LEAST), null);
}

/** The zero of a rising function between two places where it is below and above 0. */
function zeroOf(derivatives: (b: number) => readonly [number, number], from: number, to: number): number {
  let [low, high, b] = [from, to, 1];
  for (let step = 0; step < MAX_STEPS && high - low > TOLERANCE * high; step++) {
    const [first, second] = derivatives(b);
    if (first === 0) return b;
    if (first < 0) low = b;
    else high = b;
    const newton = b - first / second;
    // Also where it is NaN, because the curvature left float64.
    const next = newton > low && newton < high ? newton : (low + high) / 2;
    if (Math.abs(next - b) <= TOLERANCE * b) return next;
    b = next;
  }
  return b;
}

function fitted(temperature: number, warning: string | null): FittedMap {
  return { map: { kind: 'temperature', temperature }, warning };
}
