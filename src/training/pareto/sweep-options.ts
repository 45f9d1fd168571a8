import { oneOf, type OptionNames } from '../../internal/arguments.ts';
import type { OnProgress } from '../../internal/progress.ts';
import { DEFAULT_MIN_GROUP_SIZE } from '../../schemas/min-group-size.ts';
import {
  assertOption,
  type FilledNetworkOptions,
  fillNetworkOptions,
  isCount,
  NETWORK_OPTION_NAMES,
  type NetworkOptions,
} from '../networks/network-options.ts';
import { FAIRNESS_PENALTIES, type FairnessPenaltyName } from '../networks/penalties.ts';

/** Options of `sweepPareto`. */
export interface SweepOptions extends NetworkOptions {
  /**
   * The weights of the penalty, each 0 or more. With `auto`, they are found on the training rows: 0, and eight in
   * equal ratios, from no effect on the gap to the last before a constant model.
   * @defaultValue [0, 0.2, 0.5, 1]
   */
  readonly etas?: readonly number[] | 'auto' | undefined;
  /** @defaultValue 'covariance' */
  readonly penalty?: FairnessPenaltyName | undefined;
  /**
   * The share of the rows used for training; the rest is held out.
   * @defaultValue 0.8
   */
  readonly trainSize?: number | undefined;
  /** The number of folds, 2 or more, for cross-fitting on small data: every row is held out once. */
  readonly folds?: number | undefined;
  /**
   * Groups with fewer held-out rows are excluded from the gaps.
   * @defaultValue 30
   */
  readonly minGroupSize?: number | undefined;
  /**
   * The maximum number of threads. If omitted: the machine's cores, or one for a small amount of work. It does not
   * change the result.
   */
  readonly threads?: number | undefined;
  /** The path of the plot (.svg, .png or .html); the points are saved next to it as JSON. */
  readonly savePath?: string | undefined;
  /** The folder in which to save the networks, one sub-folder per eta. */
  readonly modelPath?: string | undefined;
  readonly onProgress?: OnProgress | undefined;
  /** Stops the work. The promise then rejects with the signal's reason, and nothing is written. */
  readonly signal?: AbortSignal | undefined;
}

/** Lists the options of {@link SweepOptions}. */
export const SWEEP_OPTION_NAMES: OptionNames<SweepOptions> = {
  ...NETWORK_OPTION_NAMES,
  etas: true,
  penalty: true,
  trainSize: true,
  folds: true,
  minGroupSize: true,
  threads: true,
  savePath: true,
  modelPath: true,
  onProgress: true,
  signal: true,
};

/** {@link SweepOptions} with every default filled in. */
export type FilledSweepOptions = FilledNetworkOptions &
  Pick<SweepOptions, 'folds' | 'threads' | 'savePath' | 'modelPath' | 'onProgress' | 'signal'> & {
    readonly etas: readonly number[] | 'auto';
    readonly penalty: FairnessPenaltyName;
    readonly minGroupSize: number;
    readonly trainSize: number;
  };

/** Options with a list of etas. */
export type SweepPlan = Omit<FilledSweepOptions, 'etas'> & { readonly etas: readonly number[] };

/**
 * Fills in the defaults and checks the options.
 * @throws {ValueError} if a value is out of range
 */
export function fillSweepOptions(options: SweepOptions): FilledSweepOptions {
  const filled = {
    ...options,
    ...fillNetworkOptions(options),
    etas: options.etas ?? [0, 0.2, 0.5, 1],
    penalty: oneOf('penalty', options.penalty ?? 'covariance', FAIRNESS_PENALTIES),
    trainSize: options.trainSize ?? 0.8,
    minGroupSize: options.minGroupSize ?? DEFAULT_MIN_GROUP_SIZE,
  };
  const { etas, trainSize, minGroupSize, folds, threads } = filled;
  if (etas !== 'auto') {
    const areWeights = Array.isArray(etas) && etas.length > 0 && etas.every((eta) => eta >= 0 && Number.isFinite(eta));
    assertOption('etas', etas, "be 'auto' or a list of at least one number, each 0 or more", areWeights);
    assertOption('etas', etas, 'be different numbers', new Set(etas).size === etas.length);
  }
  assertOption('minGroupSize', minGroupSize, 'be a whole number of at least 1', isCount(minGroupSize));
  assertOption('trainSize', trainSize, 'be between 0 and 1', trainSize > 0 && trainSize < 1);
  assertOption('folds', folds, 'be a whole number of at least 2', folds === undefined || (isCount(folds) && folds > 1));
  assertOption('threads', threads, 'be a whole number of at least 1', threads === undefined || isCount(threads));
  return filled;
}
