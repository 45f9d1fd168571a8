import { snakeFields } from '../../internal/arguments.ts';
import { countGroups, type Split } from '../data/row-splits.ts';
import type { TrainingData, TrainingRows } from '../data/training-data.ts';
import type { SavableModel } from '../models/describe-model.ts';
import type { ModelData } from '../models/model-card.ts';
import { type ModelDescription, saveModel } from '../models/save-model.ts';
import type { TensorBackend } from '../../tensor/index.ts';
import { type DecisionQuality, qualityToJson } from '../decision-quality.ts';
import type { FilledJobOptions } from './job-options.ts';

/** The rows of a job, split for training and testing. */
export interface JobRows {
  readonly training: TrainingData;
  /** A single split, or one per fold. */
  readonly splits: readonly Split[];
  /** All rows, on which the returned model is trained if there are folds; undefined if there are no folds. */
  readonly complete: TrainingRows | undefined;
  /** Warnings about groups that cannot be compared or constrained. */
  readonly warnings: readonly string[];
}

/** The fields that the results of all training jobs have in common. */
export interface TrainingJobResult extends ModelData {
  /** The quality, on the held-out rows, of the same kind of model trained without the constraint. */
  readonly baseline: DecisionQuality;
  /**
   * The quality of the constrained model on the held-out rows. If the model is randomised, the quality is the exact
   * expectation.
   */
  readonly final: DecisionQuality;
  /**
   * The quality of both models on the training rows, to which the constraint applies. If there are folds, this is the
   * quality of the returned models on all rows.
   */
  readonly train: { readonly baseline: DecisionQuality; readonly final: DecisionQuality };
  /** The constraint, in the format of the model's card. */
  readonly constraint: Readonly<Record<string, unknown>>;
  /** The number of training rows of the returned model, by group. */
  readonly groups: Readonly<Record<string, number>>;
  /**
   * The number of folds; null if there are no folds. With folds, `nTrain` is the number of training rows of the first
   * fold, and `nTest` is the number of all rows.
   */
  readonly folds: number | null;
  readonly seed: number;
  readonly backend: TensorBackend;
  readonly warnings: readonly string[];
}

/** The quality of both models of a job. */
export type JudgedModels = Pick<TrainingJobResult, 'baseline' | 'final' | 'train'>;

/** The rows of a job, as results and cards describe them. */
export type DescribedRows = ModelData & Pick<TrainingJobResult, 'groups' | 'folds'>;

/** Describes the rows of a job for results and cards. */
export function describeRows({ training, splits, complete }: Omit<JobRows, 'warnings'>): DescribedRows {
  const [first] = splits;
  const fitted = complete ?? first?.train ?? training.rows;
  return {
    target: training.target,
    positiveLabel: training.positiveLabel,
    sensitive: training.sensitive,
    naValues: training.naValues ?? null,
    nTrain: first?.train.y.length ?? 0,
    nTest: splits.reduce((sum, { test }) => sum + test.y.length, 0),
    nDropped: training.rows.nDropped,
    groups: countGroups(fitted),
    folds: complete === undefined ? null : splits.length,
  };
}

/** Saves the model of a job if the job has a model path. The card describes the job's rows and result. */
export async function saveJob(
  model: SavableModel,
  result: Pick<TrainingJobResult, 'final' | 'train'>,
  rows: DescribedRows,
  { modelPath, signal }: FilledJobOptions,
  description: Pick<ModelDescription, 'features' | 'backend'> = {},
): Promise<void> {
  signal?.throwIfAborted();
  if (modelPath === undefined) return;
  const { groups, folds: _, ...data } = rows;
  const metrics = [
    { rows: 'test', ...qualityToJson(result.final) },
    { rows: 'train', ...qualityToJson(result.train.final) },
  ];
  await saveModel(model, modelPath, { ...description, data, groups, metrics });
}

/** Converts a result to JSON. Keys are in snake_case, and an undefined gap is null. */
export function jobToJson(result: TrainingJobResult): Record<string, unknown> {
  const { baseline, final, train, constraint, groups, folds, nTrain, nTest, nDropped } = result;
  const { target, positiveLabel, sensitive, seed, backend, warnings } = result;
  return {
    baseline: qualityToJson(baseline),
    final: qualityToJson(final),
    train: { baseline: qualityToJson(train.baseline), final: qualityToJson(train.final) },
    ...snakeFields({ constraint, groups, folds, nTrain, nTest, nDropped }),
    ...snakeFields({ target, positiveLabel, sensitive, seed, backend, warnings }),
  };
}
