import { invalidParameter, type OptionNames } from '../../internal/arguments.ts';
import type { OnProgress } from '../../internal/progress.ts';
import { DEFAULT_MIN_GROUP_SIZE } from '../../schemas/min-group-size.ts';
import { isCount } from '../networks/network-options.ts';

/** Options shared by all training jobs on a table. */
export interface TrainingJobOptions {
  /**
   * The share of the rows used for training; the rest is held out. It has no effect if the source has test rows.
   * @defaultValue 0.8
   */
  readonly trainSize?: number | undefined;
  /**
   * The number of folds, 2 or more, for cross-fitting on small data: every row is held out once. The model that is
   * kept is trained once more on all rows.
   */
  readonly folds?: number | undefined;
  /**
   * Groups with fewer held-out rows are excluded from the gaps that are measured.
   * @defaultValue 30
   */
  readonly minGroupSize?: number | undefined;
  /**
   * The seed of the split and of everything else that is random.
   * @defaultValue 42
   */
  readonly seed?: number | undefined;
  /** The folder in which to save the constrained model; see `saveModel`. */
  readonly modelPath?: string | undefined;
  readonly onProgress?: OnProgress | undefined;
  /** Stops the work. The promise then rejects with the signal's reason, and nothing is written. */
  readonly signal?: AbortSignal | undefined;
}

/** Lists the options of {@link TrainingJobOptions}. */
export const TRAINING_JOB_OPTION_NAMES: OptionNames<TrainingJobOptions> = {
  trainSize: true,
  folds: true,
  minGroupSize: true,
  seed: true,
  modelPath: true,
  onProgress: true,
  signal: true,
};

/** {@link TrainingJobOptions} with every default filled in. */
export type FilledJobOptions = Pick<TrainingJobOptions, 'folds' | 'modelPath' | 'onProgress' | 'signal'> & {
  readonly trainSize: number;
  readonly minGroupSize: number;
  readonly seed: number;
};

/**
 * Fills in the defaults and checks the options.
 * @throws {ValueError} if a value is out of range
 */
export function fillJobOptions(options: TrainingJobOptions): FilledJobOptions {
  const { folds, modelPath, onProgress, signal } = options;
  const [trainSize, minGroupSize, seed] = [
    options.trainSize ?? 0.8,
    options.minGroupSize ?? DEFAULT_MIN_GROUP_SIZE,
    options.seed ?? 42,
  ];
  if (!(trainSize > 0 && trainSize < 1)) throw invalidParameter('trainSize', 'be between 0 and 1', trainSize);
  if (folds !== undefined && !(isCount(folds) && folds > 1)) {
    throw invalidParameter('folds', 'be a whole number of at least 2', folds);
  }
  if (!isCount(minGroupSize)) {
    throw invalidParameter('minGroupSize', 'be a whole number of at least 1', minGroupSize);
  }
  if (!Number.isFinite(seed)) throw invalidParameter('seed', 'be a finite number', seed);
  return { trainSize, folds, minGroupSize, seed, modelPath, onProgress, signal };
}
