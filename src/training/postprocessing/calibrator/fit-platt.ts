import { TrainingError } from '../../../exceptions/index.ts';
import { sigmoid } from '../../logistic.ts';
import { type FittedMap, type LabelledScores, type PlattInput, toLogit } from './calibration-map.ts';

const MAX_STEPS = 100;

/**
 * If a step is predicted to decrease the loss by at most this value, rounding errors hide the decrease. The distance
 * from the minimum is then about 1e-6. Each step of Newton's method squares the distance, so two full steps are enough
 * to finish the descent.
 */
const HIDDEN_BY_ROUNDING = 1e-12;

/**
 * A step must decrease the loss by at least this share of the decrease that the gradient predicts (Armijo's condition).
 */
const SUFFICIENT = 1e-4;
const SHORTEST = 1e-10;

/** Rows for Platt's method: standardised inputs, smoothed targets and weights. */
interface PlattRows {
  readonly z: Float64Array;
  readonly targets: Float64Array;
  readonly weights: Float64Array;
  readonly total: number;
}

/** The slope and intercept of the line, for standardised inputs. */
type Line = readonly [slope: number, intercept: number];

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
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const mean = weightedMean(x, weights, total);
  const spread = Math.sqrt(
    weightedMean(
      x.map((value) => (value - mean) ** 2),
      weights,
      total,
    ),
  );
  const isFlat = !(spread > Number.EPSILON * Math.max(1, Math.abs(mean)));
  const z = x.map((value) => (isFlat ? 0 : (value - mean) / spread));
  const yes = weights.reduce((sum, weight, row) => sum + weight * (y[row] as number), 0);
  const [target0, target1] = [1 / (total - yes + 2), (yes + 1) / (yes + 2)];
  const targets = Float64Array.from(y, (label) => (label === 1 ? target1 : target0));
  const [slope, intercept] = descend({ z, targets, weights, total }, [0, Math.log((yes + 1) / (total - yes + 1))]);
  const own = isFlat ? 0 : slope / spread;
  return {
    map: { kind: 'platt', input, slope: own, intercept: intercept - own * mean },
    warning: own < 0 ? 'scores rank rows in reverse order (the slope is negative)' : null,
  };
}

/** Minimises the loss with Newton's method. Each step is halved until the loss decreases sufficiently. */
function descend(rows: PlattRows, start: Line): Line {
  let line = start;
  let loss = meanLoss(rows, line);
  for (let step = 0; step < MAX_STEPS; step++) {
    const { gradient, direction } = newtonStep(rows, line);
    const slope = gradient[0] * direction[0] + gradient[1] * direction[1];
    if (-slope <= HIDDEN_BY_ROUNDING) {
      const nearer = along(line, direction, 1);
      return along(nearer, newtonStep(rows, nearer).direction, 1);
    }
    let length = 1;
    let nextLoss = meanLoss(rows, along(line, direction, length));
    while (!(nextLoss <= loss + SUFFICIENT * length * slope) && length >= SHORTEST) {
      length /= 2;
      nextLoss = meanLoss(rows, along(line, direction, length));
    }
    if (length < SHORTEST) break;
    line = along(line, direction, length);
    loss = nextLoss;
  }
  throw new TrainingError('The sigmoid did not converge.', {
    context: { slope: line[0], intercept: line[1], steps: MAX_STEPS },
    suggestion: "Try the method 'isotonic', or check for weights that differ by many orders of magnitude.",
  });
}

function newtonStep(
  { z, targets, weights, total }: PlattRows,
  [slope, intercept]: Line,
): {
  readonly gradient: Line;
  readonly direction: Line;
} {
  let [g0, g1, h00, h01, h11] = [0, 0, 0, 0, 0];
  for (let row = 0; row < z.length; row++) {
    const value = z[row] as number;
    const p = sigmoid(slope * value + intercept);
    const share = (weights[row] as number) / total;
    const error = share * (p - (targets[row] as number));
    const curvature = share * p * (1 - p);
    g0 += error * value;
    g1 += error;
    h00 += curvature * value * value;
    h01 += curvature * value;
    h11 += curvature;
  }
  // The ridge of Lin, Lin and Weng keeps the system solvable if all z are 0.
  h00 += 1e-12;
  h11 += 1e-12;
  const determinant = h00 * h11 - h01 * h01;
  return {
    gradient: [g0, g1],
    direction: [-(h11 * g0 - h01 * g1) / determinant, -(h00 * g1 - h01 * g0) / determinant],
  };
}

/** Computes the mean cross-entropy from logits f: log(1 + exp(-|f|)) + max(f, 0) - t f. */
function meanLoss({ z, targets, weights, total }: PlattRows, [slope, intercept]: Line): number {
  let sum = 0;
  for (let row = 0; row < z.length; row++) {
    const f = slope * (z[row] as number) + intercept;
    const loss = Math.log1p(Math.exp(-Math.abs(f))) + Math.max(f, 0) - (targets[row] as number) * f;
    sum += (weights[row] as number) * loss;
  }
  return sum / total;
}

function along([slope, intercept]: Line, [slopeStep, interceptStep]: Line, length: number): Line {
  return [slope + length * slopeStep, intercept + length * interceptStep];
}

function weightedMean(values: Float64Array, weights: Float64Array, total: number): number {
  return values.reduce((sum, value, row) => sum + value * (weights[row] as number), 0) / total;
}
