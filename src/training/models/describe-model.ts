import type { LayersModel } from '@tensorflow/tfjs';

import { TrainingError, ValueError } from '../../exceptions/index.ts';
import { invalidParameter } from '../../internal/arguments.ts';
import { encodedWidth, type FeatureSpec, type StandardScore } from '../data/feature-encoder.ts';
import { ConstantClassifier } from '../estimators/constant-classifier.ts';
import { type Estimator, type EstimatorJson, isEstimator } from '../estimators/estimator.ts';
import { LinearRegression } from '../estimators/linear-regression.ts';
import { LogisticRegression } from '../estimators/logistic-regression.ts';
import { MlLogisticRegression } from '../estimators/ml-logistic-regression.ts';
import type { FittedNetwork } from '../networks/fitted-network.ts';
import { LagrangianFairnessTrainer } from '../networks/lagrangian-fairness-trainer.ts';
import type { NetworkTask } from '../networks/network-task.ts';
import { RegularizedFairnessTrainer } from '../networks/regularized-fairness-trainer.ts';
import { type LayerWeights, type SavedLayers, isSavedLayers } from '../networks/network-weights.ts';
import { isLayersModel, outputActivation } from '../networks/user-network.ts';
import { cut, type LossRange } from '../reductions/constraint-names.ts';
import { GridSearchReduction } from '../reductions/grid-search-reduction.ts';
import { REDUCTIONS_DEFAULTS } from '../reductions/reductions-options.ts';
import { ReductionsWrapper } from '../reductions/reductions-wrapper.ts';
import { MODEL_METHODS, type ModelMethod, type ModelOutput } from './model-card.ts';
import { type DenseLayer, denseLayer } from './write-layers.ts';

/** Predictors with their probabilities. */
interface WeightedPool {
  readonly predictors: readonly Estimator[];
  readonly weights: readonly number[];
  /**
   * Whether the mixture predicts values instead of decisions. If it predicts decisions, a regression decides 1 for a
   * value of at least 0.5.
   */
  readonly areValues: boolean;
  /** The range to which predictions are clipped. */
  readonly range: LossRange;
}

/**
 * The factor applied to scores before they are clipped to [0, 1]. The factor is a power of two, so the multiplication
 * is exact. It is so large that every clipped score is 0 or 1, unless float32 cannot distinguish the score from 0.
 */
const STEEP = 2 ** 40;

/**
 * An offset that is added to scores, so that a score of exactly 0 leads to the decision 1 under both common definitions
 * of a hard sigmoid.
 */
const TIE = 3;

/**
 * Builds two layers that compute the mixture's mean prediction,
 *
 *     sum_k w_k 1[x b_k + c_k >= 0]  or  sum_k w_k cut(x b_k + c_k).
 *
 * The first layer has one unit with a hard sigmoid per predictor (steep for decisions). The second computes the
 * weighted sum of the units. Predictors with probability 0 are excluded.
 * @returns undefined if a predictor is not linear
 */
function mixtureLayers(pool: WeightedPool, inputs: number): DenseLayer[] | undefined {
  const units: Unit[] = [];
  for (const [index, predictor] of pool.predictors.entries()) {
    const weight = pool.weights[index] as number;
    if (!(weight > 0)) continue;
    const part = linearPart(predictor);
    if (part === undefined) return undefined;
    units.push({ ...unitOf(part, pool), weight });
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

/** One predictor, written as floor + height x hard sigmoid of (x slopes + intercept). */
interface Unit {
  readonly weight: number;
  readonly slopes: Float64Array | undefined;
  readonly intercept: number;
  readonly height: number;
  readonly floor: number;
}

function unitOf(part: LinearPart, { areValues, range }: WeightedPool): Omit<Unit, 'weight'> {
  const isDecision = !areValues || part.predicts === 'decisions';
  // The decision of a regression is 1 if its value is at least 0.5.
  const intercept = isDecision && part.predicts === 'values' ? part.intercept - 0.5 : part.intercept;
  const [low, high] = isDecision ? [cut(0, range), cut(1, range)] : range;
  const steepness = isDecision ? STEEP : 5 / (high - low);
  return {
    slopes: part.coefficients?.map((value) => value * steepness),
    // A hard sigmoid is 0 at -2.5 and below, and 1 at 2.5 and above.
    intercept: isDecision ? intercept * STEEP + TIE : (intercept - low) * steepness - 2.5,
    height: high - low,
    floor: low,
  };
}

/** A fitted model that {@link saveModel} can save. */
export type SavableModel =
  | LagrangianFairnessTrainer
  | RegularizedFairnessTrainer
  | ReductionsWrapper
  | GridSearchReduction
  | Estimator
  | LayersModel;

/** The description of a model, with the parts of the model to save. */
export interface ModelParts {
  readonly method: ModelMethod;
  readonly task: NetworkTask;
  readonly output: ModelOutput;
  /** The encoding of columns, if it is part of the model; undefined if the model uses columns without encoding. */
  readonly specs: readonly FeatureSpec[] | undefined;
  /** The number of inputs; undefined if any number is accepted. */
  readonly inputs: number | undefined;
  /** Returns the layers for the given number of inputs; undefined if layers cannot represent the model. */
  readonly layersFor: (inputs: number) => readonly DenseLayer[] | undefined;
  /**
   * The user's own TensorFlow.js model, which is saved unchanged instead of layers that are built from a description.
   */
  readonly userModel?: LayersModel | SavedLayers;
  /** The target whose units the saved model gives, if the user's own model gives standardised values. */
  readonly target?: StandardScore;
  /** The output of the model's `toJSON`; null if the layers contain everything. */
  readonly json: EstimatorJson | null;
  readonly constraint: Readonly<Record<string, unknown>> | null;
  readonly seed: number | null;
  readonly backend: string | null;
}

/**
 * Describes a fitted model, and returns the parts of the model that are saved.
 * @throws {TrainingError} if the model has not been fitted
 * @throws {ValueError} if the value is not a model
 */
export function describeModel(model: SavableModel): ModelParts {
  if (model instanceof LagrangianFairnessTrainer || model instanceof RegularizedFairnessTrainer) {
    return describeTrainer(model);
  }
  if (model instanceof ReductionsWrapper) return describeReductions(model);
  if (model instanceof GridSearchReduction) return describeGridSearch(model);
  if (isLayersModel(model)) return describeLayersModel(model);
  if (isEstimator(model)) return describeEstimator(model);
  throw new ValueError('The model parameter must be a trainer, a reduction, an estimator or a LayersModel.', {
    context: { parameter: 'model' },
    suggestion: 'Pass the model that fit returned.',
  });
}

/**
 * Converts a network to dense layers with activations. The last layer of a regression gives values in the target's
 * units.
 */
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

function describeLayersModel(model: LayersModel): ModelParts {
  const [input, output] = [model.inputs, model.outputs].map((symbols) => symbols.map(({ shape }) => shape));
  const inputs = input?.[0]?.[1] ?? undefined;
  const isMatrix = input?.length === 1 && input[0]?.length === 2 && inputs !== undefined;
  if (!isMatrix || output?.length !== 1 || output[0]?.length !== 2 || output[0][1] !== 1) {
    const shapes = [input, output].map((one) => JSON.stringify(one)).join(' and ');
    throw invalidParameter(
      'model',
      'have one input of shape [null, features] and one output of shape [null, 1]',
      shapes,
    );
  }
  const isProbability = outputActivation(model) === 'sigmoid';
  return {
    method: 'layers_model',
    task: isProbability ? 'binary' : 'regression',
    output: isProbability ? 'probability of the positive label' : 'value',
    specs: undefined,
    inputs,
    layersFor: () => undefined,
    userModel: model,
    json: null,
    constraint: null,
    seed: null,
    backend: null,
  };
}

function describeTrainer(model: LagrangianFairnessTrainer | RegularizedFairnessTrainer): ModelParts {
  const network = model.state?.network;
  if (network === undefined) throw notFitted(model.constructor.name);
  const isLagrangian = model instanceof LagrangianFairnessTrainer;
  const { task, layers } = network;
  const saved = isSavedLayers(layers)
    ? ({
        method: 'layers_model',
        layersFor: () => undefined,
        userModel: layers,
        ...(task === 'regression' ? { target: network.target } : {}),
      } as const)
    : ({
        method: isLagrangian ? 'lagrangian' : 'regularized',
        layersFor: () => networkLayers(layers, task, network.target),
      } as const);
  return {
    ...saved,
    task,
    output: task === 'binary' ? 'probability of the positive label' : 'value',
    specs: network.specs,
    inputs: encodedWidth(network.specs),
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
  const range = (areValues ? (json.params['range'] as LossRange | undefined) : undefined) ?? ([0, 1] as const);
  return {
    ...describeReduction(json, { eps: REDUCTIONS_DEFAULTS.eps }),
    method: 'reductions',
    output: areValues ? 'value' : 'probability of a positive randomised decision',
    inputs: inputsOf(predictors),
    layersFor: (inputs) => mixtureLayers({ predictors, weights, areValues, range }, inputs),
  };
}

function describeGridSearch(model: GridSearchReduction): ModelParts {
  const { best } = model;
  const json = model.toJSON();
  return {
    ...describeReduction(json, {}),
    method: 'grid_search',
    output: givesValues(json) ? 'value' : 'score, positive from 0.5',
    inputs: inputsOf([best]),
    layersFor: (inputs) => estimatorLayers(best, inputs),
  };
}

/**
 * Returns the parts of the description that both reductions share. The constraint and the seed come from `json`.
 */
function describeReduction(
  json: EstimatorJson,
  defaults: Readonly<Record<string, unknown>>,
): Omit<ModelParts, 'method' | 'output' | 'inputs' | 'layersFor'> {
  const { estimator: _, seed, randomization: __, ...constraint } = json.params;
  return {
    task: givesValues(json) ? 'regression' : 'binary',
    specs: undefined,
    json,
    constraint: { constraint: 'demographic_parity', ...defaults, ...constraint },
    seed: typeof seed === 'number' ? seed : REDUCTIONS_DEFAULTS.seed,
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

/** Builds one layer that computes an estimator's probability or value. */
function estimatorLayers(estimator: Estimator, inputs: number): DenseLayer[] | undefined {
  const part = linearPart(estimator);
  if (part === undefined) return undefined;
  const { coefficients, intercept, predicts } = part;
  // The intercept of a constant predictor is its probability minus 0.5.
  if (coefficients === null) return [denseLayer([inputs, 1], new Float32Array(inputs), [intercept + 0.5], 'linear')];
  return [denseLayer([inputs, 1], coefficients, [intercept], predicts === 'decisions' ? 'sigmoid' : 'linear')];
}

/** Returns the number of features of the first predictor that has coefficients. */
function inputsOf(predictors: readonly Estimator[]): number | undefined {
  for (const predictor of predictors) {
    const coefficients = linearPart(predictor)?.coefficients;
    if (coefficients) return coefficients.length;
  }
  return undefined;
}

function notFitted(name: string): TrainingError {
  return new TrainingError(`The ${name} has not been fitted, so there is nothing to save.`, {
    suggestion: 'Call fit first.',
  });
}

/** An estimator whose predictions are a function of x b + b0. */
interface LinearPart {
  /** The coefficients b; null for a constant predictor, which accepts any number of features. */
  readonly coefficients: Float64Array | null;
  readonly intercept: number;
  /** The kind of predictions. A decision is 1 if the score is 0 or more. A value is the score itself. */
  readonly predicts: 'decisions' | 'values';
}

/** Returns the linear function that an estimator computes; undefined if it is not linear in its features. */
export function linearPart(estimator: Estimator): LinearPart | undefined {
  if (estimator instanceof LogisticRegression || estimator instanceof MlLogisticRegression) {
    return { coefficients: estimator.coefficients, intercept: estimator.intercept, predicts: 'decisions' };
  }
  if (estimator instanceof LinearRegression) {
    return { coefficients: estimator.coefficients, intercept: estimator.intercept, predicts: 'values' };
  }
  if (estimator instanceof ConstantClassifier) {
    // The decision is 1 if the probability is at least 0.5.
    return { coefficients: null, intercept: estimator.probability - 0.5, predicts: 'decisions' };
  }
  return undefined;
}

/** Returns whether a reduction, given the output of its `toJSON`, predicts values instead of decisions. */
export function givesValues({ params }: EstimatorJson): boolean {
  return params['constraint'] === 'bounded_group_loss' && params['loss'] !== 'zero_one';
}
