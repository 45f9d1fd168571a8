import { countGroups } from '../data/row-splits.ts';
import type { ModelData } from '../models/save-model.ts';
import type { TensorBackend } from '../../tensor/index.ts';
import { type DecisionQuality, judgeDecisions } from '../decision-quality.ts';
import type { FilledJobOptions } from './job-options.ts';
import type { JobRows } from './job-rows.ts';

/** What a training job found, beside what is its method's own. */
export interface TrainingJobResult extends ModelData {
  /** The model of the same kind without the constraint, on the held-out rows. */
  readonly baseline: DecisionQuality;
  /** The constrained model on the held-out rows; of a randomised one the exact expectation. */
  readonly final: DecisionQuality;
  /** Both on the rows trained on, where the constraint was imposed. */
  readonly train: { readonly baseline: DecisionQuality; readonly final: DecisionQuality };
  /** What was constrained, as the model's card has it. */
  readonly constraint: Readonly<Record<string, unknown>>;
  /** Rows trained on, by group. */
  readonly groups: Readonly<Record<string, number>>;
  readonly seed: number;
  readonly backend: TensorBackend;
  readonly warnings: readonly string[];
}

/** What both models give rows: the probability of the decision 1. */
export interface JobDecisions {
  readonly baseline: ArrayLike<number>;
  readonly final: ArrayLike<number>;
}

/** Judges both models on both sets of rows. */
export function judgeJob(
  { train, test }: JobRows,
  decisions: { readonly train: JobDecisions; readonly test: JobDecisions },
  options: FilledJobOptions,
): Pick<TrainingJobResult, 'baseline' | 'final' | 'train'> {
  const judge = (part: 'train' | 'test', model: 'baseline' | 'final'): DecisionQuality => {
    const { y, groups } = part === 'train' ? train : test;
    return judgeDecisions(decisions[part][model], y, groups, options);
  };
  return {
    baseline: judge('test', 'baseline'),
    final: judge('test', 'final'),
    train: Object.freeze({ baseline: judge('train', 'baseline'), final: judge('train', 'final') }),
  };
}

/** What the rows of a job say of themselves. */
export function describeRows({ training, train, test }: JobRows): ModelData & Pick<TrainingJobResult, 'groups'> {
  return {
    target: training.target,
    positiveLabel: training.positiveLabel,
    sensitive: training.sensitive,
    nTrain: train.y.length,
    nTest: test.y.length,
    nDropped: training.rows.nDropped,
    groups: countGroups(train),
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
    dp_diff: orNull(quality.dpDiff),
    dp_diff_ci: quality.dpDiffCi,
    eo_diff: orNull(quality.eoDiff),
    eo_diff_ci: quality.eoDiffCi,
    groups: quality.groups.map(({ group, n, ...rates }) => ({
      group,
      n,
      selection_rate: orNull(rates.selectionRate),
      true_positive_rate: orNull(rates.truePositiveRate),
      false_positive_rate: orNull(rates.falsePositiveRate),
    })),
  };
}

function orNull(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}
