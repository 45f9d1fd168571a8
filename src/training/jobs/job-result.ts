import { numberOrNull } from '../../internal/values.ts';
import { countGroups } from '../data/row-splits.ts';
import type { ModelData } from '../models/save-model.ts';
import type { TensorBackend } from '../../tensor/index.ts';
import type { DecisionQuality } from '../decision-quality.ts';
import type { JobRows } from './job-rows.ts';

/** The part of a training job's result that all methods share. */
export interface TrainingJobResult extends ModelData {
  /** The quality of the model of the same kind without the constraint, on the held-out rows. */
  readonly baseline: DecisionQuality;
  /** The quality of the constrained model on the held-out rows; the exact expectation if it is randomised. */
  readonly final: DecisionQuality;
  /**
   * Both on the training rows, to which the constraint applies; with folds, on all rows, by the models that are kept.
   */
  readonly train: { readonly baseline: DecisionQuality; readonly final: DecisionQuality };
  /** The constraint, as in the model's card. */
  readonly constraint: Readonly<Record<string, unknown>>;
  /** Training rows of the model that is kept, by group. */
  readonly groups: Readonly<Record<string, number>>;
  /** The number of folds. With folds, `nTrain` counts the training rows of the first fold, and `nTest` all rows. */
  readonly folds: number | null;
  readonly seed: number;
  readonly backend: TensorBackend;
  readonly warnings: readonly string[];
}

/** The quality of both models of a job. */
export type JudgedModels = Pick<TrainingJobResult, 'baseline' | 'final' | 'train'>;

/** Describes the rows of a job for results and cards. */
export function describeRows({
  training,
  splits,
  complete,
}: JobRows): ModelData & Pick<TrainingJobResult, 'groups' | 'folds'> {
  const [first] = splits;
  const fitted = complete ?? first?.train ?? training.rows;
  return {
    target: training.target,
    positiveLabel: training.positiveLabel,
    sensitive: training.sensitive,
    nTrain: first?.train.y.length ?? 0,
    nTest: splits.reduce((sum, { test }) => sum + test.y.length, 0),
    nDropped: training.rows.nDropped,
    groups: countGroups(fitted),
    folds: complete === undefined ? null : splits.length,
  };
}

/** Returns the entries of a card's metrics, the held-out rows first. */
export function cardMetrics(result: Pick<TrainingJobResult, 'final' | 'train'>): Record<string, unknown>[] {
  return [
    { rows: 'test', ...qualityToJson(result.final) },
    { rows: 'train', ...qualityToJson(result.train.final) },
  ];
}

/** Converts a result to JSON: snake_case, with null for an undefined gap. */
export function jobToJson(result: TrainingJobResult): Record<string, unknown> {
  return {
    baseline: qualityToJson(result.baseline),
    final: qualityToJson(result.final),
    train: { baseline: qualityToJson(result.train.baseline), final: qualityToJson(result.train.final) },
    constraint: result.constraint,
    groups: result.groups,
    folds: result.folds,
    n_train: result.nTrain,
    n_test: result.nTest,
    n_dropped: result.nDropped,
    target: result.target,
    positive_label: result.positiveLabel,
    sensitive: result.sensitive,
    seed: result.seed,
    backend: result.backend,
    warnings: result.warnings,
  };
}

function qualityToJson(quality: DecisionQuality): Record<string, unknown> {
  return {
    n: quality.n,
    accuracy: quality.accuracy,
    accuracy_ci: quality.accuracyCi,
    dp_diff: numberOrNull(quality.dpDiff),
    dp_diff_ci: quality.dpDiffCi,
    eo_diff: numberOrNull(quality.eoDiff),
    eo_diff_ci: quality.eoDiffCi,
    groups: quality.groups.map(({ group, n, ...rates }) => ({
      group,
      n,
      selection_rate: numberOrNull(rates.selectionRate),
      true_positive_rate: numberOrNull(rates.truePositiveRate),
      false_positive_rate: numberOrNull(rates.falsePositiveRate),
    })),
  };
}
