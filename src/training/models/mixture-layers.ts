import type { Estimator } from '../estimators/estimator.ts';
import { cut, type LossRange } from '../reductions/group-loss.ts';
import { type DenseLayer, denseLayer } from './dense-layer.ts';
import { type LinearPart, linearPart } from './linear-part.ts';

/** Predictors and their probabilities. */
export interface WeightedPool {
  readonly predictors: readonly Estimator[];
  readonly weights: readonly number[];
  /** Whether values are predicted; else each predictor decides, a regression from 0.5. */
  readonly areValues: boolean;
  /** What predictions are cut to. */
  readonly range: LossRange;
}

/**
 * What scores are multiplied by before they are cut to [0, 1]. A power of two
 * moves no digit of a score, and is so large that only scores nearer to 0 than
 * float32 can tell come out between 0 and 1.
 */
const STEEP = 2 ** 40;

/** Makes a score of exactly 0 a decision for 1, under either definition of a hard sigmoid in use. */
const TIE = 3;

/**
 * Two layers that give the mixture's mean prediction,
 *
 *     sum_k w_k 1[x b_k + c_k >= 0]  or  sum_k w_k cut(x b_k + c_k):
 *
 * one unit per predictor with a hard sigmoid, steep for decisions, and the
 * fixed sum of them. Predictors of probability 0 are left out.
 * @returns undefined where a predictor is not linear
 */
export function mixtureLayers(
  { predictors, weights, areValues, range }: WeightedPool,
  inputs: number,
): DenseLayer[] | undefined {
  const units: Unit[] = [];
  for (const [index, predictor] of predictors.entries()) {
    const weight = weights[index] as number;
    if (!(weight > 0)) continue;
    const part = linearPart(predictor);
    if (part === undefined) return undefined;
    units.push({ ...unitOf(areValues ? part : deciding(part), range), weight });
  }
  const k = units.length;
  const kernel = new Float64Array(inputs * k);
  units.forEach(({ slopes }, unit) => {
    slopes?.forEach((value, input) => (kernel[input * k + unit] = value));
  });
  const intercepts = units.map(({ intercept }) => intercept);
  const heights = units.map(({ weight, height }) => weight * height);
  const floor = units.reduce((sum, unit) => sum + unit.weight * unit.floor, 0);
  return [denseLayer([inputs, k], kernel, intercepts, 'hardSigmoid'), denseLayer([k, 1], heights, [floor], 'linear')];
}

/** One predictor: floor + height x hard sigmoid of x slopes + intercept. */
interface Unit {
  readonly weight: number;
  readonly slopes: Float64Array | undefined;
  readonly intercept: number;
  readonly height: number;
  readonly floor: number;
}

/** A regression decides 1 from a value of 0.5. */
function deciding(part: LinearPart): LinearPart {
  return part.predicts === 'decisions' ? part : { ...part, intercept: part.intercept - 0.5, predicts: 'decisions' };
}

function unitOf({ coefficients, intercept, predicts }: LinearPart, range: LossRange): Omit<Unit, 'weight'> {
  const [low, high] = predicts === 'decisions' ? [cut(0, range), cut(1, range)] : range;
  const steepness = predicts === 'decisions' ? STEEP : 5 / (high - low);
  return {
    slopes: coefficients?.map((value) => value * steepness),
    // A hard sigmoid is 0 from -2.5 down and 1 from 2.5 up.
    intercept: predicts === 'decisions' ? intercept * STEEP + TIE : (intercept - low) * steepness - 2.5,
    height: high - low,
    floor: low,
  };
}
