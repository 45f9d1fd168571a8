import { type FilledOptions, invalidParameter } from '../../internal/arguments.ts';
import type { OnProgress } from '../../internal/progress.ts';
import { TRAINING_DEFAULTS } from '../../schemas/training-job.ts';
import { requireInteger } from '../../stats/parameters.ts';

/** Options shared by all training jobs on a table. */
export interface TrainingJobOptions {
  /**
   * The share of the rows used for training. The other rows are held out. This option has no effect if the source has
   * test rows.
   * @defaultValue 0.8
   */
  readonly trainSize?: number | undefined;
  /**
   * The number of folds, 2 or more, for cross-fitting on small data. Every row is held out once. The returned model is
   * then trained on all rows.
   */
  readonly folds?: number | undefined;
  /**
   * The minimum number of held-out rows of a group. Smaller groups are excluded from the measured gaps.
   * @defaultValue 30
   */
  readonly minGroupSize?: number | undefined;
  /**
   * The seed of the split and of all other random steps.
   * @defaultValue 42
   */
  readonly seed?: number | undefined;
  /** The folder in which to save the constrained model. See `saveModel`. */
  readonly modelPath?: string | undefined;
  readonly onProgress?: OnProgress | undefined;
  /** Aborts the job. The promise then rejects with the signal's reason, and no files are written. */
  readonly signal?: AbortSignal | undefined;
}

/** {@link TrainingJobOptions} with every default filled in. */
export type FilledJobOptions = FilledOptions<TrainingJobOptions, 'folds' | 'modelPath' | 'onProgress' | 'signal'>;

/** The defaults of {@link TrainingJobOptions}. */
export const JOB_DEFAULTS: FilledJobOptions = {
  ...TRAINING_DEFAULTS,
  folds: undefined,
  modelPath: undefined,
  onProgress: undefined,
  signal: undefined,
};

/** @throws {ValueError} if a value is out of range */
export function checkJobOptions({ trainSize, folds, minGroupSize, seed }: FilledJobOptions): void {
  if (!(trainSize > 0 && trainSize < 1)) throw invalidParameter('trainSize', 'be between 0 and 1', trainSize);
  if (folds !== undefined) requireInteger('folds', folds, 2);
  requireInteger('minGroupSize', minGroupSize, 1);
  if (!Number.isFinite(seed)) throw invalidParameter('seed', 'be a finite number', seed);
}
