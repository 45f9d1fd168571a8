import { TrainingError, ValueError } from '../../exceptions/index.ts';
import { encodedWidth, type FeatureSpec } from '../data/feature-encoder.ts';
import { ConstantClassifier } from '../estimators/constant-classifier.ts';
import { type Estimator, type EstimatorJson, isEstimator } from '../estimators/estimator.ts';
import { LinearRegression } from '../estimators/linear-regression.ts';
import { LogisticRegression } from '../estimators/logistic-regression.ts';
import { MlLogisticRegression } from '../estimators/ml-logistic-regression.ts';
import type { FittedNetwork } from '../networks/fitted-network.ts';
import { LagrangianFairnessTrainer } from '../networks/lagrangian-fairness-trainer.ts';
import type { NetworkTask } from '../networks/network-task.ts';
import { RegularizedFairnessTrainer } from '../networks/regularized-fairness-trainer.ts';
import type { LayerWeights } from '../networks/stacked-network.ts';
import { cut, type LossRange } from '../reductions/constraint-names.ts';
import { GridSearchReduction } from '../reductions/grid-search-reduction.ts';
import { ReductionsWrapper } from '../reductions/reductions-wrapper.ts';
import { MODEL_METHODS, type ModelMethod, type ModelOutput } from './model-card.ts';
import { type DenseLayer, denseLayer } from './write-layers.ts';

/** Predictors and their probabilities. */
interface WeightedPool {
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
function mixtureLayers(
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

/** Whatever {@link saveModel} saves; it must have been fitted. */
export type SavableModel =
  LagrangianFairnessTrainer | RegularizedFairnessTrainer | ReductionsWrapper | GridSearchReduction | Estimator;

/** What a model says of itself, and how it is written. */
export interface ModelParts {
  readonly method: ModelMethod;
  readonly task: NetworkTask;
  readonly output: ModelOutput;
  /** The encoding that the model carries itself; undefined where it takes columns as they are. */
  readonly specs: readonly FeatureSpec[] | undefined;
  /** Inputs; undefined where any number will do. */
  readonly inputs: number | undefined;
  /** The layers for a number of inputs; undefined where no layers can say it. */
  readonly layersFor: (inputs: number) => readonly DenseLayer[] | undefined;
  /** What the model's own `toJSON` gives; null where the layers hold everything. */
  readonly json: EstimatorJson | null;
  readonly constraint: Readonly<Record<string, unknown>> | null;
  readonly seed: number | null;
  readonly backend: string | null;
}

/**
 * Takes a fitted model apart.
 * @throws {TrainingError} where it has not been fitted
 * @throws {ValueError} for anything that is no model
 */
export function describeModel(model: SavableModel): ModelParts {
  if (model instanceof LagrangianFairnessTrainer || model instanceof RegularizedFairnessTrainer) {
    return describeTrainer(model);
  }
  if (model instanceof ReductionsWrapper) return describeReductions(model);
  if (model instanceof GridSearchReduction) return describeGridSearch(model);
  if (isEstimator(model)) return describeEstimator(model);
  throw new ValueError('The model parameter must be a trainer, a reduction or an estimator.', {
    context: { parameter: 'model' },
    suggestion: 'Give what fit returned.',
  });
}

/** The layers of a network, with what follows each; a regression's last one gives values in the target's units. */
export function networkLayers(
  layers: readonly LayerWeights[],
  task: NetworkTask,
  target: FittedNetwork['target'] = { mean: 0, scale: 1 },
): DenseLayer[] {
  return layers.map((layer, index) => {
    if (index < layers.length - 1) return { ...layer, activation: 'relu' };
    if (task === 'binary') return { ...layer, activation: 'sigmoid' };
    const { inputs, outputs, kernel, bias } = layer;
    return denseLayer(
      [inputs, outputs],
      kernel.map((value) => value * target.scale),
      bias.map((value) => value * target.scale + target.mean),
      'linear',
    );
  });
}

function describeTrainer(model: LagrangianFairnessTrainer | RegularizedFairnessTrainer): ModelParts {
  const network = model.state?.network;
  if (network === undefined) throw notFitted(model.constructor.name);
  const isLagrangian = model instanceof LagrangianFairnessTrainer;
  const { task } = network;
  return {
    method: isLagrangian ? 'lagrangian' : 'regularized',
    task,
    output: task === 'binary' ? 'probability of the positive label' : 'value',
    specs: network.specs,
    inputs: encodedWidth(network.specs),
    layersFor: () => networkLayers(network.layers, task, network.target),
    json: null,
    constraint: isLagrangian
      ? { fairness: model.options.fairness, dp_tol: model.options.dpTol, eo_tol: model.options.eoTol }
      : { penalty: model.options.penalty, eta: model.options.eta },
    seed: model.options.seed,
    backend: network.backend,
  };
}

function describeReductions(model: ReductionsWrapper): ModelParts {
  const { predictors, weights } = model.result;
  const json = model.toJSON();
  const areValues = givesValues(json);
  const range = areValues ? givenRange(json) : ([0, 1] as const);
  return {
    method: 'reductions',
    task: areValues ? 'regression' : 'binary',
    output: areValues ? 'value' : 'probability of a positive randomised decision',
    specs: undefined,
    inputs: inputsOf(predictors),
    layersFor: (inputs) => mixtureLayers({ predictors, weights, areValues, range }, inputs),
    json,
    ...constraintOf(json, { eps: 0.01 }),
    backend: null,
  };
}

function describeGridSearch(model: GridSearchReduction): ModelParts {
  const json = model.toJSON();
  const areValues = givesValues(json);
  const { best } = model;
  return {
    method: 'grid_search',
    task: areValues ? 'regression' : 'binary',
    output: areValues ? 'value' : 'score, positive from 0.5',
    specs: undefined,
    inputs: inputsOf([best]),
    layersFor: (inputs) => estimatorLayers(best, inputs),
    json,
    ...constraintOf(json, {}),
    backend: null,
  };
}

function describeEstimator(model: Estimator): ModelParts {
  const json = model.toJSON();
  if (json.state === null && linearPart(model)?.coefficients !== null) throw notFitted('estimator');
  const isRegression = model instanceof LinearRegression || json.params['task'] === 'regression';
  return {
    method: MODEL_METHODS.find((name) => name === json.kind) ?? 'estimator',
    task: isRegression ? 'regression' : 'binary',
    output: isRegression ? 'value' : 'probability of the positive label',
    specs: undefined,
    inputs: inputsOf([model]),
    layersFor: (inputs) => estimatorLayers(model, inputs),
    json,
    constraint: null,
    seed: null,
    backend: null,
  };
}

/** One layer for an estimator's probability or value. */
function estimatorLayers(estimator: Estimator, inputs: number): DenseLayer[] | undefined {
  const part = linearPart(estimator);
  if (part === undefined) return undefined;
  const { coefficients, intercept, predicts } = part;
  // A constant's intercept is its probability less a half.
  if (coefficients === null) return [denseLayer([inputs, 1], new Float32Array(inputs), [intercept + 0.5], 'linear')];
  return [denseLayer([inputs, 1], coefficients, [intercept], predicts === 'decisions' ? 'sigmoid' : 'linear')];
}

/** The features of the first predictor that has any. */
function inputsOf(predictors: readonly Estimator[]): number | undefined {
  for (const predictor of predictors) {
    const coefficients = linearPart(predictor)?.coefficients;
    if (coefficients) return coefficients.length;
  }
  return undefined;
}

/** What was constrained and the seed, from the options that were given. */
function constraintOf(
  { params }: EstimatorJson,
  defaults: Readonly<Record<string, unknown>>,
): Pick<ModelParts, 'constraint' | 'seed'> {
  const { estimator: _, seed, randomization: __, ...constraint } = params;
  return {
    constraint: { constraint: 'demographic_parity', ...defaults, ...constraint },
    seed: typeof seed === 'number' ? seed : 42,
  };
}

function notFitted(name: string): TrainingError {
  return new TrainingError(`The ${name} has not been fitted, so there is nothing to save.`, {
    suggestion: 'Call fit first.',
  });
}

/** An estimator whose predictions are a function of x b + b0. */
interface LinearPart {
  /** b; null where any number of features will do, and none counts. */
  readonly coefficients: Float64Array | null;
  readonly intercept: number;
  /** What `predict` makes of the score: 1 where it is 0 or more, or the score itself. */
  readonly predicts: 'decisions' | 'values';
}

/** What an estimator computes, if that is linear in its features; undefined for others. */
export function linearPart(estimator: Estimator): LinearPart | undefined {
  if (estimator instanceof LogisticRegression || estimator instanceof MlLogisticRegression) {
    return { coefficients: estimator.coefficients, intercept: estimator.intercept, predicts: 'decisions' };
  }
  if (estimator instanceof LinearRegression) {
    return { coefficients: estimator.coefficients, intercept: estimator.intercept, predicts: 'values' };
  }
  if (estimator instanceof ConstantClassifier) {
    // It decides 1 from a probability of 0.5.
    return { coefficients: null, intercept: estimator.probability - 0.5, predicts: 'decisions' };
  }
  return undefined;
}

/** Whether a reduction, as its `toJSON` tells it, predicts values and not decisions. */
export function givesValues({ params }: EstimatorJson): boolean {
  return params['constraint'] === 'bounded_group_loss' && params['loss'] !== 'zero_one';
}

/** What a reduction's values are cut to. */
function givenRange({ params }: EstimatorJson): LossRange {
  return (params['range'] as LossRange | undefined) ?? [0, 1];
}
