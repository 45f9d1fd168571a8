import { ValueError } from '../../exceptions/index.ts';
import { oneOf } from '../../internal/one-of.ts';
import type { OnProgress } from '../../internal/progress.ts';
import type { BackendChoice } from '../../tensor/index.ts';
import { FAIRNESS_PENALTIES, type FairnessPenaltyName } from '../networks/fairness-penalty.ts';
import type { TrainStackOptions } from '../networks/train-stack.ts';

/** Options of `sweepPareto`. */
export interface SweepOptions {
  /**
   * The weights of the penalty, each 0 or more.
   * @defaultValue [0, 0.2, 0.5, 1]
   */
  readonly etas?: readonly number[] | undefined;
  /** @defaultValue 'covariance' */
  readonly penalty?: FairnessPenaltyName | undefined;
  /** @defaultValue 20 */
  readonly epochs?: number | undefined;
  /**
   * Adam's learning rate.
   * @defaultValue 1e-3
   */
  readonly lr?: number | undefined;
  /** @defaultValue 128 */
  readonly batchSize?: number | undefined;
  /**
   * Units of each hidden layer.
   * @defaultValue [32]
   */
  readonly hidden?: readonly number[] | undefined;
  /**
   * A network rests after so many epochs without a better validation loss.
   * @defaultValue 5
   */
  readonly patience?: number | undefined;
  /**
   * Share of the rows that is trained on; the rest is held out.
   * @defaultValue 0.8
   */
  readonly trainSize?: number | undefined;
  /** With 2 or more, every row is held out once, by cross-fitting; for small data. */
  readonly folds?: number | undefined;
  /**
   * Groups with fewer held-out rows take no part in the gaps.
   * @defaultValue 30
   */
  readonly minGroupSize?: number | undefined;
  /** @defaultValue 'auto' */
  readonly backend?: BackendChoice | undefined;
  /** @defaultValue 42 */
  readonly seed?: number | undefined;
  /** Where to save the plot (.svg, .png or .html); the points go beside it as JSON. */
  readonly savePath?: string | undefined;
  /** A folder to save the networks in, one folder per eta. */
  readonly modelPath?: string | undefined;
  readonly onProgress?: OnProgress | undefined;
}

/** {@link SweepOptions} with every default filled in. */
export type FilledSweepOptions = Required<Pick<SweepOptions, 'minGroupSize' | 'trainSize'>> &
  TrainStackOptions &
  Pick<SweepOptions, 'folds' | 'backend' | 'savePath' | 'modelPath'> & {
    readonly minGroupSize: number;
    readonly trainSize: number;
  };

/**
 * Fills in the defaults and checks what was given.
 * @throws {ValueError} for a value out of range
 */
export function fillSweepOptions(options: SweepOptions): FilledSweepOptions {
  const filled = {
    ...options,
    etas: options.etas ?? [0, 0.2, 0.5, 1],
    penalty: oneOf('penalty', options.penalty ?? 'covariance', FAIRNESS_PENALTIES),
    epochs: options.epochs ?? 20,
    lr: options.lr ?? 1e-3,
    batchSize: options.batchSize ?? 128,
    hidden: options.hidden ?? [32],
    patience: options.patience ?? 5,
    trainSize: options.trainSize ?? 0.8,
    minGroupSize: options.minGroupSize ?? 30,
    seed: options.seed ?? 42,
  };
  const isCount = (value: number): boolean => Number.isInteger(value) && value >= 1;
  assertOption(
    'etas',
    filled.etas,
    'one or more numbers of 0 or more',
    filled.etas.length > 0 && filled.etas.every((eta) => eta >= 0 && Number.isFinite(eta)),
  );
  assertOption('etas', filled.etas, 'different numbers', new Set(filled.etas).size === filled.etas.length);
  assertOption('epochs', filled.epochs, 'a whole number of at least 1', isCount(filled.epochs));
  assertOption('batchSize', filled.batchSize, 'a whole number of at least 1', isCount(filled.batchSize));
  assertOption('patience', filled.patience, 'a whole number of at least 1', isCount(filled.patience));
  assertOption('minGroupSize', filled.minGroupSize, 'a whole number of at least 1', isCount(filled.minGroupSize));
  assertOption('hidden', filled.hidden, 'whole numbers of at least 1', filled.hidden.every(isCount));
  assertOption('lr', filled.lr, 'above 0', filled.lr > 0);
  assertOption('trainSize', filled.trainSize, 'between 0 and 1', filled.trainSize > 0 && filled.trainSize < 1);
  assertOption(
    'folds',
    filled.folds,
    'a whole number of at least 2',
    filled.folds === undefined || (isCount(filled.folds) && filled.folds >= 2),
  );
  return filled;
}

/** @throws {ValueError} where a parameter is not as required */
export function assertOption(parameter: string, given: unknown, required: string, holds: boolean): void {
  if (holds) return;
  throw new ValueError(`The ${parameter} parameter must be ${required}. Got ${JSON.stringify(given)} instead.`, {
    context: { parameter, value: given },
  });
}
