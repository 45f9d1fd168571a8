import { type FilledOptions, invalidParameter, oneOf } from '../../internal/arguments.ts';
import { TRAINING_DEFAULTS } from '../../schemas/training-job.ts';
import { requireInteger } from '../../stats/parameters.ts';
import type { BackendChoice, BatchSize } from '../../tensor/index.ts';
import type { NetworkFactory } from './user-network.ts';

/** The names of the learning rate schedules. */
export const SCHEDULES = ['constant', 'linear', 'cosine'] as const;

/** One of {@link SCHEDULES}. */
export type Schedule = (typeof SCHEDULES)[number];

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
   * The number of rows per step. `auto` chooses a size from the number of rows and the device. The size is at most 512
   * on a CPU and 8,192 on a GPU, and an epoch has at least 50 steps.
   * @defaultValue 128
   */
  readonly batchSize?: BatchSize | undefined;
  /**
   * The number of units of each hidden layer. An empty list makes the model linear.
   * @defaultValue [32]
   */
  readonly hidden?: readonly number[] | undefined;
  /**
   * A function that creates your own network in place of a plain one with `hidden` units: `(inputs, seed) => model`.
   * `inputs` is the number of encoded features. Each network is trained on its own, by automatic differentiation, in one
   * thread.
   * @defaultValue none: a plain network
   */
  readonly network?: NetworkFactory | undefined;
  /**
   * The number of epochs without a better validation loss after which training stops.
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

/** {@link NetworkOptions} with every default filled in. */
export type FilledNetworkOptions = FilledOptions<NetworkOptions, 'backend' | 'network'>;

/** The defaults of {@link NetworkOptions}. */
export const NETWORK_DEFAULTS: FilledNetworkOptions = {
  epochs: 20,
  lr: 1e-3,
  batchSize: 128,
  hidden: Object.freeze([32]),
  network: undefined,
  patience: 5,
  weightDecay: 0,
  schedule: 'constant',
  seed: TRAINING_DEFAULTS.seed,
  backend: undefined,
};

/**
 * Checks options with defaults filled in, and returns them with a copy of `hidden`.
 * @param lrName the name of the learning rate in errors
 * @throws {ValueError} if a value is out of range
 */
export function checkNetworkOptions<Filled extends FilledNetworkOptions>(filled: Filled, lrName = 'lr'): Filled {
  const { epochs, patience, batchSize, hidden, seed, lr, weightDecay } = filled;
  oneOf('schedule', filled.schedule, SCHEDULES);
  const isSize = batchSize === 'auto' || isCount(batchSize);
  assertOption('batchSize', batchSize, "be 'auto' or a whole number of at least 1", isSize);
  requireInteger('epochs', epochs, 1);
  requireInteger('patience', patience, 1);
  assertOption('hidden', hidden, 'hold whole numbers of at least 1', [...hidden].every(isCount));
  const isFunction = filled.network === undefined || typeof filled.network === 'function';
  assertOption('network', filled.network, 'be a function that returns a TensorFlow.js model', isFunction);
  const isAlone = filled.network === undefined || hidden === NETWORK_DEFAULTS.hidden;
  assertOption('hidden', hidden, 'be left out if network is given', isAlone);
  assertOption('seed', seed, 'be a whole number', Number.isSafeInteger(seed));
  assertOption(lrName, lr, 'be above 0', lr > 0 && Number.isFinite(lr));
  const isDecay = weightDecay >= 0 && weightDecay < 1 / lr;
  assertOption('weightDecay', weightDecay, `be from 0 to below 1 / ${lrName}`, isDecay);
  // The default stays the same list, so that the options of a trainer with its own network can be used again.
  return { ...filled, hidden: hidden === NETWORK_DEFAULTS.hidden ? hidden : Object.freeze([...hidden]) };
}

/** The number of rows per step with which work is estimated if the batch size is 'auto'. */
const USUAL_BATCH = 512;

/** Estimates the number of multiplications of one training step, in the first layer of one network. */
export function multiplicationsPerStep(
  inputs: number,
  { batchSize, hidden }: Pick<FilledNetworkOptions, 'batchSize' | 'hidden'>,
): number {
  return (batchSize === 'auto' ? USUAL_BATCH : batchSize) * inputs * (hidden[0] ?? 1);
}

/** @throws {ValueError} if a number is negative or not finite */
export function assertNonNegative(parameter: string, given: number): void {
  assertOption(parameter, given, 'be finite, 0 or more', given >= 0 && Number.isFinite(given));
}

/** @throws {ValueError} if a number is not finite or not above 0 */
export function assertPositive(parameter: string, given: number): void {
  assertOption(parameter, given, 'be finite, above 0', given > 0 && Number.isFinite(given));
}

/** Returns whether a number is an integer of at least 1. */
function isCount(value: number): boolean {
  return Number.isInteger(value) && value >= 1;
}

/**
 * @throws {ValueError} if a parameter does not meet its requirement: "The lr parameter must be above 0. Got -1
 * instead."
 */
export function assertOption(parameter: string, given: unknown, required: string, holds: boolean): void {
  if (!holds) throw invalidParameter(parameter, required, Array.isArray(given) ? `[${given.join(', ')}]` : given);
}
