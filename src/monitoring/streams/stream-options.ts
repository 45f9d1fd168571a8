import { ValueError } from '../../exceptions/index.ts';
import {
  assertKnownOptions,
  type FilledOptions,
  invalidParameter,
  type OptionNames,
} from '../../internal/arguments.ts';
import { requireInteger } from '../../stats/parameters.ts';
import type { AlertEvent, AlertTransition } from '../alarms/alert-event.ts';
import { type AlertEngineOptions, fillEngineOptions, limitOf } from '../alarms/engine-options.ts';
import type { FairnessDriftAndAlertEngine } from '../alarms/fairness-drift-and-alert-engine.ts';
import { requireFields, requireMethods } from '../require-kind.ts';
import type { RealTimeFairnessTracker } from '../tracker/real-time-fairness-tracker.ts';
import { type FilledTrackerOptions, fillTrackerOptions, type TrackerOptions } from '../tracker/tracker-options.ts';
import type { EventSource } from './event-source.ts';

/** The merged stream at one time. */
export interface MergedStream {
  readonly tracker: RealTimeFairnessTracker;
  /** The engine after the last check. Changes of this copy have no effect on the stream. */
  readonly engine: FairnessDriftAndAlertEngine;
}

/** Options of {@link followStream}. */
export interface FollowStreamOptions {
  /** The tracker of the stream. Its store receives the records of the merged stream. */
  readonly tracker: TrackerOptions;
  /**
   * The alert policy. Drift detectors need the order of all events, and windows without restarts need a single process,
   * so `detectors` and `windows` cannot be set.
   */
  readonly engine?: Omit<AlertEngineOptions, 'detectors' | 'windows'> | undefined;
  /** The URL of the Redis server that holds the state of the stream, such as `redis://127.0.0.1:6379`. */
  readonly redis: string;
  /**
   * The first part of all names in Redis.
   * @defaultValue 'evenhand'
   */
  readonly prefix?: string | undefined;
  /**
   * The number of messages of a partition after which its counts are saved.
   * @defaultValue 10000
   */
  readonly checkpointEvents?: number | undefined;
  /**
   * The longest time between the arrival of a message and a save, in milliseconds.
   * @defaultValue 2000
   */
  readonly checkpointMillis?: number | undefined;
  /**
   * The time between two checks of the merged stream, in milliseconds.
   * @defaultValue 1000
   */
  readonly checkMillis?: number | undefined;
  /**
   * The time after which a process that does not answer loses its partitions and the leadership, in milliseconds.
   * @defaultValue 10000
   */
  readonly leaseMillis?: number | undefined;
  /**
   * The longest outage of a server, in milliseconds. After it, the promise rejects.
   * @defaultValue 300000
   */
  readonly outageMillis?: number | undefined;
  /**
   * Whether to stop when everything has been counted that is in the stream now.
   * @defaultValue false
   */
  readonly untilEnd?: boolean | undefined;
  /** Ends the run: the counts are saved, and the promise resolves. */
  readonly signal?: AbortSignal | undefined;
  /** Called with each change of an alarm, by whichever process it was found. */
  readonly onAlert?: ((transition: AlertTransition) => void) | undefined;
  readonly onWatch?: ((watch: AlertEvent) => void) | undefined;
  /** Called with each message that could not be counted, and the reason. */
  readonly onRefused?: ((partition: string, position: string, reason: string) => void) | undefined;
  /** Called with sentences about servers that do not answer, and about lost messages. */
  readonly onWarning?: ((warning: string) => void) | undefined;
  /** Called after each check, with the number of messages that this process has counted. */
  readonly onProgress?: ((messages: number) => void) | undefined;
  /**
   * The time between two calls of `onRefresh`, in milliseconds.
   * @defaultValue 60000
   */
  readonly refreshMillis?: number | undefined;
  /** Called regularly with the merged stream and a copy of the alert engine, for example to write a dashboard. */
  readonly onRefresh?: ((view: MergedStream) => Promise<void> | void) | undefined;
  /**
   * The environment variables with passwords: EVENHAND_REDIS_PASSWORD and EVENHAND_KAFKA_PASSWORD, or the same with
   * `_FILE` for the path of a file.
   * @defaultValue process.env
   */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

const NAMES: OptionNames<FollowStreamOptions> = {
  tracker: true,
  engine: true,
  redis: true,
  prefix: true,
  checkpointEvents: true,
  checkpointMillis: true,
  checkMillis: true,
  leaseMillis: true,
  outageMillis: true,
  untilEnd: true,
  signal: true,
  onAlert: true,
  onWatch: true,
  onRefused: true,
  onWarning: true,
  onProgress: true,
  refreshMillis: true,
  onRefresh: true,
  env: true,
};

const MAX_MILLIS = 2 ** 31 - 1;

/** The shortest lease. Leases are renewed by timers, which a busy process runs late. */
const MIN_LEASE_MILLIS = 500;

/** Shards begin no window by themselves: the windows of the merged stream begin in all shards. */
const NO_RESTARTS = Number.MAX_SAFE_INTEGER;

type Filled = FilledOptions<
  Omit<
    FollowStreamOptions,
    'engine' | 'signal' | 'onAlert' | 'onWatch' | 'onRefused' | 'onWarning' | 'onProgress' | 'onRefresh'
  >
>;

/** The options with defaults filled in. */
export interface StreamPlan extends Filled {
  readonly engine: AlertEngineOptions;
  /** The options of all shards and of the merged stream, without the store. */
  readonly shards: TrackerOptions;
  readonly restartEvery: number;
  /** The options that all processes and runs of a stream must share. */
  readonly shared: object;
}

/**
 * Checks the options and fills in defaults.
 * @throws {ValueError} if an option is invalid; the error names the option
 */
export function planOf(source: EventSource, options: FollowStreamOptions): StreamPlan {
  assertKnownOptions('followStream', options, NAMES);
  requireMethods('source', source, ['open'], 'be a source, such as a KafkaSource');
  requireFields('tracker', options.tracker);
  const engine = engineOptionsOf(options.engine ?? {});
  const { store: _, clock, ...tracker } = options.tracker;
  const filled = fillTrackerOptions(options.tracker);
  const policy = fillEngineOptions(engine);
  const limits = Object.fromEntries(filled.metrics.map((metric) => [metric.metric, limitOf(metric, policy)]));
  if (typeof options.redis !== 'string') throw invalidParameter('redis', 'be the URL of Redis', typeof options.redis);
  const millis = (
    name: 'checkpointMillis' | 'checkMillis' | 'leaseMillis' | 'outageMillis' | 'refreshMillis',
    usual: number,
    least = 1,
  ): number => requireInteger(name, options[name] ?? usual, least, MAX_MILLIS);
  return {
    tracker: options.tracker,
    engine,
    shards: { ...tracker, ...(clock === undefined ? {} : { clock }), restartEvery: NO_RESTARTS },
    restartEvery: filled.restartEvery,
    shared: { ...sharedOf(filled), alpha: policy.alpha, limits },
    redis: options.redis,
    prefix: prefixOf(options.prefix ?? 'evenhand'),
    checkpointEvents: requireInteger('checkpointEvents', options.checkpointEvents ?? 10_000, 1),
    checkpointMillis: millis('checkpointMillis', 2000),
    checkMillis: millis('checkMillis', 1000),
    leaseMillis: millis('leaseMillis', 10_000, MIN_LEASE_MILLIS),
    outageMillis: millis('outageMillis', 300_000),
    refreshMillis: millis('refreshMillis', 60_000),
    untilEnd: options.untilEnd ?? false,
    env: options.env ?? process.env,
  };
}

/** Returns the options of a tracker as plain data, however they were written. */
function sharedOf({ columns, attributes, metrics, ...others }: FilledTrackerOptions): object {
  return {
    ...others,
    columns: { ...columns, intersections: columns.intersections ?? [] },
    groups: Object.fromEntries(
      attributes.flatMap(({ name, declared }) => (declared === null ? [] : [[name, declared]])),
    ),
    metrics: metrics.map(({ metric }) => metric),
  };
}

function prefixOf(given: string): string {
  if (typeof given === 'string' && /^[\w.-]{1,100}$/.test(given)) return given;
  throw invalidParameter('prefix', 'have 1 to 100 letters, digits, dots, dashes and underscores', given);
}

function engineOptionsOf(given: AlertEngineOptions): AlertEngineOptions {
  const { detectors = [], windows = 'restarted', within } = given;
  if (detectors.length > 0) throw cannotShare('detectors', 'drift detectors need the order of all events');
  if (windows !== 'restarted') throw cannotShare('windows', 'only restarted windows can be merged');
  if (within !== undefined) throw cannotShare('within', 'pairs of events within strata need the order of all events');
  return { ...given, detectors: [] };
}

function cannotShare(parameter: string, reason: string): ValueError {
  return new ValueError(
    `The option '${parameter}' cannot be used for a stream that several processes share: ${reason}.`,
    {
      context: { parameter: `engine.${parameter}` },
      suggestion: `Leave out '${parameter}'. A single process that reads standard input can use it.`,
    },
  );
}
