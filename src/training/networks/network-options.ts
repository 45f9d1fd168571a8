import { invalidParameter, oneOf, type OptionNames } from '../../internal/arguments.ts';
import type { BackendChoice, BatchSize } from '../../tensor/index.ts';
import { type Schedule, SCHEDULES, type TrainNetworksOptions } from './train-networks.ts';

/** Options shared by all trainers of networks. */
export interface NetworkOptions {
  /** @defaultValue 20 */
  readonly epochs?: number | undefined;
  /**
   * Adam's learning rate.
   * @defaultValue 1e-3
   */
  readonly lr?: number | undefined;
  /**
   * Rows per step. `auto` chooses a size from the number of rows and the device: at most 512 on a CPU and 8,192 on a
   * GPU, with at least 50 steps per epoch.
   * @defaultValue 128
   */
  readonly batchSize?: BatchSize | undefined;
  /**
   * Units of each hidden layer; an empty list makes the model linear.
   * @defaultValue [32]
   */
  readonly hidden?: readonly number[] | undefined;
  /**
   * Training stops after this many epochs without a better validation loss.
   * @defaultValue 5
   */
  readonly patience?: number | undefined;
  /**
   * Decoupled weight decay: the fraction of a weight that a step of learning rate 1 removes.
   * @defaultValue 0
   */
  readonly weightDecay?: number | undefined;
  /**
   * The learning rate schedule: `constant`, or a `linear` or `cosine` decay to 0 over the epochs.
   * @defaultValue 'constant'
   */
  readonly schedule?: Schedule | undefined;
  /** @defaultValue 'auto' */
  readonly backend?: BackendChoice | undefined;
  /** @defaultValue 42 */
  readonly seed?: number | undefined;
}

/** Lists the options of {@link NetworkOptions}. */
export const NETWORK_OPTION_NAMES: OptionNames<NetworkOptions> = {
  epochs: true,
  lr: true,
  batchSize: true,
  hidden: true,
  patience: true,
  weightDecay: true,
  schedule: true,
  backend: true,
  seed: true,
};

/** {@link NetworkOptions} with every default filled in. */
export type FilledNetworkOptions = Omit<TrainNetworksOptions, 'onProgress' | 'signal'> &
  Pick<NetworkOptions, 'backend'>;

/**
 * Fills in the defaults and checks the options.
 * @param lrName the name of the learning rate in errors
 * @throws {ValueError} if a value is out of range
 */
export function fillNetworkOptions(options: NetworkOptions, lrName = 'lr'): FilledNetworkOptions {
  const filled = {
    epochs: options.epochs ?? 20,
    lr: options.lr ?? 1e-3,
    batchSize: options.batchSize ?? 128,
    hidden: Object.freeze([...(options.hidden ?? [32])]),
    patience: options.patience ?? 5,
    weightDecay: options.weightDecay ?? 0,
    schedule: oneOf('schedule', options.schedule ?? 'constant', SCHEDULES),
    seed: options.seed ?? 42,
    backend: options.backend,
  };
  const { batchSize } = filled;
  const isSize = batchSize === 'auto' || isCount(batchSize);
  assertOption('batchSize', batchSize, "be 'auto' or a whole number of at least 1", isSize);
  for (const name of ['epochs', 'patience'] as const) {
    assertOption(name, filled[name], 'be a whole number of at least 1', isCount(filled[name]));
  }
  assertOption('hidden', filled.hidden, 'hold whole numbers of at least 1', filled.hidden.every(isCount));
  assertOption('seed', filled.seed, 'be a whole number', Number.isSafeInteger(filled.seed));
  assertOption(lrName, filled.lr, 'be above 0', filled.lr > 0 && Number.isFinite(filled.lr));
  const isDecay = filled.weightDecay >= 0 && filled.weightDecay < 1 / filled.lr;
  assertOption('weightDecay', filled.weightDecay, `be from 0 to below 1 / ${lrName}`, isDecay);
  return filled;
}

/** Returns whether a number is an integer of at least 1. */
export function isCount(value: number): boolean {
  return Number.isInteger(value) && value >= 1;
}

/**
 * @throws {ValueError} if a parameter does not meet its requirement: "The lr parameter must be above 0. Got -1
 * instead."
 */
export function assertOption(parameter: string, given: unknown, required: string, holds: boolean): void {
  if (!holds) throw invalidParameter(parameter, required, Array.isArray(given) ? `[${given.join(', ')}]` : given);
}
