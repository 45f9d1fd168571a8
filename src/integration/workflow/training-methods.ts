import type { CategoricalColumn, Table } from '../../table/index.ts';
import type { FeatureSpec } from '../../training/data/feature-encoder.ts';
import type { Matrix } from '../../training/data/read-matrix.ts';
import { decide } from '../../training/estimators/estimator-rows.ts';
import { LinearRegression } from '../../training/estimators/linear-regression.ts';
import { LogisticRegression } from '../../training/estimators/logistic-regression.ts';
import type { SavableModel } from '../../training/models/describe-model.ts';
import type { NetworkFitOptions } from '../../training/networks/fit-inputs.ts';
import { LagrangianFairnessTrainer, toleranceWarnings } from '../../training/networks/lagrangian-fairness-trainer.ts';
import { fitUnlogged } from '../../training/networks/network-trainer.ts';
import { RegularizedFairnessTrainer } from '../../training/networks/regularized-fairness-trainer.ts';
import type { LossRange } from '../../training/reductions/constraint-names.ts';
import { type ReductionsOptions, unmetWarnings } from '../../training/reductions/reductions-options.ts';
import { ReductionsWrapper } from '../../training/reductions/reductions-wrapper.ts';
import type { TrainingMethod } from '../../schemas/pipeline/pipeline-document.ts';
import { type ModelOutputs, outputsOf } from './measure-predictions.ts';
import type { FilledWorkflowOptions } from './workflow-options.ts';

/** Rows ready for a model. */
export interface EncodedRows {
  /** The columns of the features. */
  readonly table: Table;
  /** The same columns, encoded. */
  readonly x: Matrix;
}

/** The training rows of a method. */
interface MethodRows extends EncodedRows {
  /** The encoding of columns, which was learned before and is only applied here. */
  readonly specs: readonly FeatureSpec[];
  /** 0 or 1, or numbers: [rows]. */
  readonly y: Uint8Array | Float64Array;
  readonly groups: CategoricalColumn;
  /** Weights from the pipeline, with mean 1; undefined if the pipeline gives no weights. */
  readonly sampleWeight: Float64Array | undefined;
}

/** The configuration of a training method, and the options of the workflow. */
interface MethodSettings extends FilledWorkflowOptions {
  /** The constructor options of the method, as given in the configuration. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly task: 'binary' | 'regression';
}

/** A model that a method trained. */
export interface TrainedModel {
  readonly model: SavableModel;
  /** The encoding of columns; undefined if the model contains it. */
  readonly features: readonly FeatureSpec[] | undefined;
  /**
   * Predicts rows. Decisions come from a threshold on scores, or from the model's own `predict` if the threshold is
   * null.
   */
  predict(rows: EncodedRows, threshold: number | null): Promise<ModelOutputs>;
  /** Returns the decisions of the predictors of a mixture; an empty list for other models. */
  candidates(rows: EncodedRows): Promise<readonly Uint8Array[]>;
  readonly warnings: readonly string[];
}

/** Trains a model with a fairness constraint. A new method also needs a schema of its parameters. */
type TrainMethod = (rows: MethodRows, settings: MethodSettings) => Promise<TrainedModel>;

/** All training methods that a configuration can name. */
export const TRAINING_METHODS: Readonly<Record<TrainingMethod, TrainMethod>> = {
  reductions: trainReductions,
  regularized: (rows, settings) => {
    const { params, task, randomState: seed, backend } = settings;
    return trainNetwork(new RegularizedFairnessTrainer({ backend, ...params, task, seed }), rows, settings);
  },
  lagrangian: async (rows, settings) => {
    const { params, task, randomState: seed, backend } = settings;
    const trainer = new LagrangianFairnessTrainer({ backend, ...params, task, seed });
    const trained = await trainNetwork(trainer, rows, settings);
    return { ...trained, warnings: [...trained.warnings, ...toleranceWarnings(trainer)] };
  },
};

/** Trains a mixture of linear models by the exponentiated gradient reduction. */
async function trainReductions(
  { x, y, specs, groups, sampleWeight }: MethodRows,
  settings: MethodSettings,
): Promise<TrainedModel> {
  const { signal, onProgress, task } = settings;
  const options = optionsOf(settings, y);
  const wrapper = new ReductionsWrapper(options);
  await wrapper.fit(x, y, { sensitive: groups, sampleWeight, signal, onProgress });
  // The search may end before its last iteration.
  onProgress?.({ stage: 'exponentiated gradient', done: 1, total: 1 });
  return {
    model: wrapper,
    features: specs,
    predict: (rows, threshold) => predict(wrapper, rows, threshold, task),
    candidates: async (rows) => (task === 'binary' ? candidates(wrapper, rows) : []),
    warnings: [
      ...wrapper.warnings,
      ...rangeWarning(options, y),
      ...thresholdWarning(settings),
      ...unmetWarnings(wrapper.result, options),
    ],
  };
}

function optionsOf(
  { params, task, classWeight, randomState: seed }: MethodSettings,
  y: MethodRows['y'],
): ReductionsOptions {
  const given: ReductionsOptions = { ...params, seed };
  // The estimators are fitted on the host. The result does not depend on the backend, and no rows are uploaded.
  if (task === 'regression') {
    return {
      constraint: 'bounded_group_loss',
      loss: 'square',
      // Predictions are clipped to this range.
      range: extentOf(y),
      ...given,
      estimator: new LinearRegression({ precision: 'float64' }),
    };
  }
  // The class weight becomes the cost of an error, by the true label. A class weight in the method's parameters has
  // priority.
  const isLossBound = given.constraint === 'bounded_group_loss';
  const isWeighed = !isLossBound && given.classWeight === undefined;
  const estimator = new LogisticRegression({ precision: 'float64', classWeight: isWeighed ? classWeight : null });
  return { ...(isLossBound ? { loss: 'zero_one' as const } : {}), ...given, estimator };
}

function extentOf(y: ArrayLike<number>): LossRange {
  let [low, high] = [Infinity, -Infinity];
  for (let row = 0; row < y.length; row++) {
    low = Math.min(low, y[row] as number);
    high = Math.max(high, y[row] as number);
  }
  return [low, high];
}

/**
 * Returns a warning if a threshold replaces the random decisions of a mixture, because only the random decisions meet
 * the constraint.
 */
function thresholdWarning({ decisionThreshold }: MethodSettings): string[] {
  if (decisionThreshold === null) return [];
  return ['the constraint was met with randomised decisions; with a decision threshold it may not hold'];
}

/** Returns a warning if there are targets outside the range of values that the model can predict. */
function rangeWarning({ constraint, range }: ReductionsOptions, y: ArrayLike<number>): string[] {
  if (constraint !== 'bounded_group_loss' || range === undefined) return [];
  let outside = 0;
  for (let row = 0; row < y.length; row++) {
    outside += Number((y[row] as number) < range[0] || (y[row] as number) > range[1]);
  }
  if (outside === 0) return [];
  return [
    `${outside.toLocaleString('en-US')} training rows have a target outside the range [${range.join(', ')}] to which predictions are clipped`,
  ];
}

async function predict(
  wrapper: ReductionsWrapper,
  { x }: EncodedRows,
  threshold: number | null,
  task: MethodSettings['task'],
): Promise<ModelOutputs> {
  if (task === 'regression') return { decisions: await wrapper.predictMean(x), scores: null };
  const scores = await wrapper.predictProba(x);
  const decisions = threshold === null ? Uint8Array.from(await wrapper.predict(x)) : decide(scores, threshold);
  return { decisions, scores };
}

async function candidates(wrapper: ReductionsWrapper, { x }: EncodedRows): Promise<Uint8Array[]> {
  const drawn = wrapper.predictors.filter((_, index) => (wrapper.weights[index] as number) > 0);
  return Promise.all(drawn.map(async (predictor) => Uint8Array.from(await predictor.predict(x, { threshold: 0.5 }))));
}

/** Trains a network on rows with an encoding that was learned before. */
async function trainNetwork(
  trainer: LagrangianFairnessTrainer | RegularizedFairnessTrainer,
  { table, y, specs, groups, sampleWeight }: MethodRows,
  { task, onProgress, signal }: MethodSettings,
): Promise<TrainedModel> {
  const options: NetworkFitOptions = { sensitive: groups, features: specs, sampleWeight, onProgress, signal };
  await fitUnlogged(trainer, table, y, options);
  return {
    model: trainer,
    features: undefined,
    predict: async (encoded, threshold) => outputsOf(await trainer.predictProba(encoded.table), task, threshold),
    candidates: () => Promise.resolve([]),
    warnings: trainer.warnings,
  };
}
