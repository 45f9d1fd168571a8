import { ValueError } from '../../exceptions/index.ts';
import { type FilledOptions, fillOptions, oneOf } from '../../internal/arguments.ts';
import type { TaskQueue } from '../../io/queue/task-queue.ts';
import { requireInteger } from '../../stats/parameters.ts';
import { checkJobOptions, JOB_DEFAULTS, type TrainingJobOptions } from '../jobs/job-options.ts';
import {
  assertOption,
  checkNetworkOptions,
  NETWORK_DEFAULTS,
  type NetworkOptions,
} from '../networks/network-options.ts';
import { FAIRNESS_PENALTIES, type FairnessPenaltyName } from '../networks/penalties.ts';

/** Options of `sweepPareto`. */
export interface SweepOptions extends NetworkOptions, Omit<TrainingJobOptions, 'modelPath'> {
  /**
   * The weights of the penalty, each 0 or more. `auto` uses 0 and eight geometrically spaced weights. The range of the
   * weights is found on the training rows: from the largest weight without an effect on the gap to the last weight
   * before a constant model.
   * @defaultValue [0, 0.2, 0.5, 1]
   */
  readonly etas?: readonly number[] | 'auto' | undefined;
  /** @defaultValue 'covariance' */
  readonly penalty?: FairnessPenaltyName | undefined;
  /**
   * The maximum number of threads. The default is the number of the machine's cores, or 1 for a small amount of work.
   * The number of threads does not affect the result.
   */
  readonly threads?: number | undefined;
  /**
   * A queue whose workers train the networks, from `createQueue`. The workers use the backend of this process. The result
   * is that of a training in this process. Tensors and networks of your own cannot be sent to workers, and `threads` has
   * no effect.
   * @defaultValue none: the networks are trained in this process
   */
  readonly queue?: TaskQueue | undefined;
  /** The path of the plot (.svg, .png or .html). The points are saved next to it as JSON. */
  readonly savePath?: string | undefined;
  /** The folder in which to save the networks, one sub-folder per eta. */
  readonly modelPath?: string | undefined;
}

/** {@link SweepOptions} with every default filled in. */
export type FilledSweepOptions = FilledOptions<
  SweepOptions,
  'folds' | 'threads' | 'queue' | 'savePath' | 'modelPath' | 'onProgress' | 'signal' | 'backend' | 'network'
>;

const DEFAULTS: FilledSweepOptions = {
  ...NETWORK_DEFAULTS,
  ...JOB_DEFAULTS,
  etas: [0, 0.2, 0.5, 1],
  penalty: 'covariance',
  threads: undefined,
  queue: undefined,
  savePath: undefined,
};

/** {@link FilledSweepOptions} with a list of etas. */
export type SweepPlan = Omit<FilledSweepOptions, 'etas'> & { readonly etas: readonly number[] };

/**
 * Fills in the defaults and checks the options.
 * @throws {ValueError} if an option is unknown or a value is out of range
 */
export function fillSweepOptions(options: SweepOptions): FilledSweepOptions {
  const filled = checkNetworkOptions(fillOptions('sweepPareto', options, DEFAULTS));
  const { etas, threads } = filled;
  oneOf('penalty', filled.penalty, FAIRNESS_PENALTIES);
  if (etas !== 'auto') {
    const areWeights = Array.isArray(etas) && etas.length > 0 && etas.every((eta) => eta >= 0 && Number.isFinite(eta));
    assertOption('etas', etas, "be 'auto' or a list of at least one number, each 0 or more", areWeights);
    assertOption('etas', etas, 'be different numbers', new Set(etas).size === etas.length);
  }
  checkJobOptions(filled);
  if (threads !== undefined) requireInteger('threads', threads, 1);
  if (filled.queue !== undefined) assertQueue(filled.queue, filled.network);
  return filled;
}

function assertQueue(queue: TaskQueue, network: unknown): void {
  assertOption('queue', queue, 'be a queue from createQueue', typeof queue.run === 'function');
  if (network !== undefined) throw notSent('network', 'a function');
}

/** Returns the error for a part of a sweep that cannot be sent to the workers of a queue. */
export function notSent(parameter: string, received: string): ValueError {
  return new ValueError(`The ${parameter} parameter is ${received}, which cannot be sent to the workers of a queue.`, {
    context: { parameter, received },
    suggestion: `Leave out queue, so that the networks are trained in this process, or use ${parameter === 'network' ? 'hidden' : parameter === 'source' ? 'a table' : 'arrays'} instead.`,
  });
}
