import { TrainingError, ValueError } from '../../exceptions/index.ts';
import { type FeatureSpec, encodedWidth } from '../data/feature-encoder.ts';
import type { Estimator, EstimatorJson } from '../estimators/estimator.ts';
import { isEstimator } from '../estimators/is-estimator.ts';
import { LinearRegression } from '../estimators/linear-regression.ts';
import type { FittedNetwork } from '../networks/fitted-network.ts';
import { LagrangianFairnessTrainer } from '../networks/lagrangian-fairness-trainer.ts';
import type { NetworkTask } from '../networks/network-task.ts';
import { RegularizedFairnessTrainer } from '../networks/regularized-fairness-trainer.ts';
import type { LayerWeights } from '../networks/stacked-network.ts';
import { GridSearchReduction } from '../reductions/grid-search-reduction.ts';
import { ReductionsWrapper } from '../reductions/reductions-wrapper.ts';
import { type DenseLayer, denseLayer } from './dense-layer.ts';
import { linearPart } from './linear-part.ts';
import { mixtureLayers } from './mixture-layers.ts';
import { MODEL_METHODS, type ModelMethod, type ModelOutput } from './model-card.ts';
import { givenRange, givesValues } from './reduction-kind.ts';

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
