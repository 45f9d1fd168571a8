import { numberOrNull } from '../../internal/values.ts';
import { countGroups } from '../data/row-splits.ts';
import type { ModelData } from '../models/save-model.ts';
import type { TensorBackend } from '../../tensor/index.ts';
import type { DecisionQuality } from '../decision-quality.ts';
import type { JobRows } from './job-rows.ts';

/** What a training job found, beside what is its method's own. */
export interface TrainingJobResult extends ModelData {
  /** The model of the same kind without the constraint, on the held-out rows. */
  readonly baseline: DecisionQuality;
  /** The constrained model on the held-out rows; of a randomised one the exact expectation. */
  readonly final: DecisionQuality;
  /** Both on the rows trained on, where the constraint was imposed: with folds on all rows, by the models that are kept. */
  readonly train: { readonly baseline: DecisionQuality; readonly final: DecisionQuality };
  /** What was constrained, as the model's card has it. */
  readonly constraint: Readonly<Record<string, unknown>>;
  /** Rows that the model that is kept was trained on, by group. */
  readonly groups: Readonly<Record<string, number>>;
  /** With folds `nTrain` counts the rows of the first fold's training, and `nTest` all rows. */
  readonly folds: number | null;
  readonly seed: number;
  readonly backend: TensorBackend;
  readonly warnings: readonly string[];
}

/** Both models of a job, judged. */
export type JudgedModels = Pick<TrainingJobResult, 'baseline' | 'final' | 'train'>;

/** What the rows of a job say of themselves. */
export function describeRows({
  training,
  splits,
  whole,
}: JobRows): ModelData & Pick<TrainingJobResult, 'groups' | 'folds'> {
  const [first] = splits;
  const fitted = whole ?? first?.train ?? training.rows;
  return {
    target: training.target,
    positiveLabel: training.positiveLabel,
    sensitive: training.sensitive,
    nTrain: first?.train.y.length ?? 0,
    nTest: splits.reduce((sum, { test }) => sum + test.y.length, 0),
    nDropped: training.rows.nDropped,
    groups: countGroups(fitted),
    folds: whole === undefined ? null : splits.length,
  };
}

/** The entries of a card's metrics: the held-out rows first. */
export function cardMetrics(result: Pick<TrainingJobResult, 'final' | 'train'>): Record<string, unknown>[] {
  return [
    { rows: 'test', ...qualityToJson(result.final) },
    { rows: 'train', ...qualityToJson(result.train.final) },
  ];
}

/** A result as JSON has it: snake_case, an undefined gap as null. */
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
