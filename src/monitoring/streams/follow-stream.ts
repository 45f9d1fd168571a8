import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { DataValidationError } from '../../exceptions/index.ts';
import { optionChanges } from '../../internal/option-changes.ts';
import { openRedis, type Redis } from '../../io/redis/open-redis.ts';
import type { AlertEvent } from '../alarms/alert-event.ts';
import type { EngineUpdate, FairnessDriftAndAlertEngine } from '../alarms/fairness-drift-and-alert-engine.ts';
import { fillTrackerOptions } from '../tracker/tracker-options.ts';
import type { RealTimeFairnessTracker } from '../tracker/real-time-fairness-tracker.ts';
import { AlertFeed } from './alert-feed.ts';
import type { EventSource, OpenSource } from './event-source.ts';
import { MergedMonitor, type MergedView } from './merged-monitor.ts';
import { OutageWatch } from './outage-watch.ts';
import { OwnedPartitions } from './owned-partitions.ts';
import { type FollowStreamOptions, planOf, type StreamPlan } from './stream-options.ts';
import { StreamStore } from './stream-store.ts';

export type { FollowStreamOptions, MergedStream } from './stream-options.ts';

/** The interval at which partitions are saved if that is due, in milliseconds. */
const SAVE_MILLIS = 200;

/** Work at intervals pauses for at least this multiple of its own time, so that most of the time is left for counting. */
const MIN_PAUSES = 2;

/** The time that the last check may take at the end of a complete stream, in addition to three leases. */
const LAST_CHECK_MILLIS = 30_000;

/** The result of {@link followStream}. */
export interface FollowStreamResult {
  /** The merged stream over all partitions, processes and runs. */
  readonly tracker: RealTimeFairnessTracker;
  /** The alert engine after the last check. */
  readonly engine: FairnessDriftAndAlertEngine;
  /** Alarms that were raised or repeated during this run, by any process, in order. */
  readonly alerts: readonly AlertEvent[];
  readonly watches: readonly AlertEvent[];
  readonly states: EngineUpdate['states'];
  /** The findings in counts that no check has read yet; null if a check has read everything. */
  readonly preview: EngineUpdate | null;
  /**
   * The numbers of messages that this process has counted as events or labels, could not count, and could not read
   * because the broker had deleted them. If a partition was taken over by another process, some were counted again.
   */
  readonly counts: {
    readonly messages: number;
    readonly events: number;
    readonly labels: number;
    readonly refused: number;
    readonly deleted: number;
  };
  /** The numbers of messages that could not be counted, over all partitions, processes and runs. */
  readonly refused: number;
  readonly deleted: number;
}

/**
 * Counts the events of a stream at a broker, together with all other processes that follow the same stream. Every
 * message is counted exactly once, also if processes are killed: the counts of a partition are saved together with the
 * position up to which they reach. One of the processes merges the counts and raises the alarms. See docs/scaling.md.
 * @throws {ConfigValidationError | ValueError} if an option is invalid
 * @throws {DataValidationError} if a server does not answer at the start, or the stream was started with other options
 * @throws {FairnessToolkitError} if a server does not answer for longer than `outageMillis`
 * @throws {DependencyError} if ioredis or kafkajs is not installed
 * @example
 * ```text
 * import { followStream, KafkaSource } from 'evenhand/monitoring';
 *
 * const source = new KafkaSource({ brokers: ['127.0.0.1:9092'], topic: 'decisions' });
 * const { alerts } = await followStream(source, {
 *   redis: 'redis://127.0.0.1:6379',
 *   tracker: { columns: { yPred: 'approved', protected: ['sex'] } },
 *   onAlert: ({ change, alert }) => console.log(change, alert.reason),
 * });
 * ```
 */
export async function followStream(source: EventSource, options: FollowStreamOptions): Promise<FollowStreamResult> {
  const plan = planOf(source, options);
  options.signal?.throwIfAborted();
  const redis = await openRedis(plan.redis, { env: plan.env });
  try {
    return await new StreamRun(source, options, plan, redis).run();
  } finally {
    await redis.close();
  }
}

/** One process that follows a stream. */
class StreamRun {
  readonly #source: EventSource;
  readonly #options: FollowStreamOptions;
  readonly #plan: StreamPlan;
  readonly #redis: Redis;
  readonly #store: StreamStore;
  readonly #owned: OwnedPartitions;
  readonly #monitor: MergedMonitor;
  readonly #feed: AlertFeed;
  /** The name of this process in the lock of the leader. */
  readonly #token = randomUUID();
  /** Aborted when the run ends, for any reason. */
  readonly #ending = new AbortController();
  #failure: { readonly cause: unknown } | undefined;
  #isComplete = false;
  #nextRefresh = 0;

  constructor(source: EventSource, options: FollowStreamOptions, plan: StreamPlan, redis: Redis) {
    this.#source = source;
    this.#options = options;
    this.#plan = plan;
    this.#redis = redis;
    this.#nextRefresh = performance.now() + plan.refreshMillis;
    this.#store = new StreamStore(redis, plan.prefix, source.stream);
    const { shards: tracker, engine, restartEvery } = plan;
    this.#owned = new OwnedPartitions(this.#store, fillTrackerOptions(tracker), plan, {
      onRefused: (partition, position, reason) => options.onRefused?.(partition, position, reason),
    });
    this.#monitor = new MergedMonitor(this.#store, { tracker, engine, restartEvery });
    this.#feed = new AlertFeed(this.#store, plan.engine.sinks ?? [], options);
  }

  async run(): Promise<FollowStreamResult> {
    const outages = new OutageWatch(this.#plan.outageMillis, this.#warn, this.#fail);
    outages.watchRedis(this.#redis.name, this.#redis.client);
    const stop = (): void => {
      this.#ending.abort();
    };
    this.#options.signal?.addEventListener('abort', stop, { once: true });
    try {
      await this.#assertOptions();
      await this.#feed.begin();
      const open = await this.#source.open(this.#contextFor(outages));
      try {
        await this.#follow(open);
      } finally {
        await open.close();
      }
      outages.stop();
      return await this.#result();
    } finally {
      outages.stop();
      this.#options.signal?.removeEventListener('abort', stop);
    }
  }

  #contextFor(outages: OutageWatch): Parameters<EventSource['open']>[0] {
    const { leaseMillis, untilEnd } = this.#plan;
    return {
      consumer: this.#owned,
      store: { redis: this.#redis, root: this.#store.root },
      signal: this.#ending.signal,
      leaseMillis,
      untilEnd,
      env: this.#plan.env,
      onOutage: (problem) => {
        if (problem === null) outages.back(this.#source.name);
        else outages.lost(this.#source.name, problem);
      },
      onWarning: this.#warn,
    };
  }

  readonly #warn = (warning: string): void => {
    this.#options.onWarning?.(warning);
  };

  readonly #fail = (cause: unknown): void => {
    this.#failure ??= { cause };
    this.#ending.abort();
  };

  /** Runs the source, the saves and the checks until the run ends. Then saves and gives up all partitions. */
  async #follow(open: OpenSource): Promise<void> {
    const { checkMillis } = this.#plan;
    const work = [
      open.run(),
      this.#repeat(SAVE_MILLIS, () => this.#owned.saveDue()),
      this.#repeat(checkMillis, () => this.#check(open)),
    ].map((one) => one.catch(this.#fail));
    await Promise.all(work.map((one) => this.#orFailure(one)));
    await this.#orFailure(this.#owned.releaseAll().catch(this.#fail));
    if (this.#failure !== undefined) throw this.#failure.cause;
  }

  /** Waits for work. If the run fails, waits only a short time, since a lost server may never answer. */
  async #orFailure(work: Promise<void>): Promise<void> {
    let isDone = false;
    const patience = async (): Promise<void> => {
      while (!isDone && this.#failure === undefined) await sleep(100, undefined, { ref: false });
      if (!isDone) await sleep(Math.min(5000, this.#plan.leaseMillis), undefined, { ref: false });
    };
    await Promise.race([work.finally(() => (isDone = true)), patience()]);
  }

  /** Repeats work at intervals. Work that takes long is repeated less often. */
  async #repeat(millis: number, work: () => Promise<void>): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      const start = performance.now();
      await work();
      const pause = Math.max(millis, MIN_PAUSES * (performance.now() - start));
      await sleep(pause, undefined, { signal }).catch(() => undefined);
    }
  }

  async #check(open: OpenSource): Promise<void> {
    await this.#checkOnce();
    this.#owned.beginWindows(await this.#store.window());
    this.#options.onProgress?.(this.#owned.counts.messages);
    await this.#refresh();
    if (!this.#plan.untilEnd) return;
    const positions = (await this.#store.partitions()).map(({ partition, position }) => [partition, position] as const);
    if (!(await open.hasReachedEnd(new Map(positions)))) return;
    this.#isComplete = true;
    this.#ending.abort();
  }

  async #refresh(): Promise<void> {
    const { onRefresh } = this.#options;
    if (onRefresh === undefined || performance.now() < this.#nextRefresh) return;
    this.#nextRefresh = performance.now() + this.#plan.refreshMillis;
    const { tracker, engine } = await this.#monitor.view();
    await onRefresh({ tracker, engine });
  }

  /** Checks the merged stream if this process is the leader, and reports the changes of alerts. */
  async #checkOnce(): Promise<void> {
    const { leaseMillis } = this.#plan;
    let renewed = performance.now();
    const epoch = await this.#store.lead(this.#token, leaseMillis);
    if (epoch === null) this.#feed.handOver();
    else {
      const records = await this.#monitor.check(epoch, async () => {
        if (performance.now() - renewed < leaseMillis / 3) return;
        renewed = performance.now();
        await this.#store.lead(this.#token, leaseMillis);
      });
      if (records !== null && records.length > 0) this.#plan.tracker.store?.append(records);
      await this.#feed.deliver();
    }
    await this.#feed.report();
  }

  async #result(): Promise<FollowStreamResult> {
    const view = await this.#lastView();
    // The leader may have checked the stream between the last report and the view.
    await this.#feed.report();
    await this.#feed.finish();
    await this.#store.resign(this.#token);
    const { tracker, engine, refused, deleted, isChecked } = view;
    const update = engine.update(tracker);
    if (this.#isComplete && !isChecked)
      this.#warn('The last events were counted, but no process has checked them yet. The next run does.');
    return Object.freeze({
      tracker,
      engine,
      alerts: Object.freeze([...this.#feed.alerts]),
      watches: Object.freeze([...this.#feed.watches]),
      states: update.states,
      preview: isChecked ? null : update,
      counts: Object.freeze({ ...this.#owned.counts }),
      refused,
      deleted,
    });
  }

  /** At the end of a complete stream, waits until a check has read everything. */
  async #lastView(): Promise<MergedView> {
    const limit = performance.now() + (this.#isComplete ? 3 * this.#plan.leaseMillis + LAST_CHECK_MILLIS : 0);
    for (;;) {
      await this.#checkOnce();
      const view = await this.#monitor.view();
      if (view.isChecked || performance.now() > limit) return view;
      await sleep(100);
    }
  }

  /** @throws {DataValidationError} if the stream was started with other options */
  async #assertOptions(): Promise<void> {
    const { shared } = this.#plan;
    const started = JSON.parse(await this.#store.optionsOf(JSON.stringify(shared))) as object;
    const changes = optionChanges(started, shared);
    if (changes.length === 0) return;
    throw new DataValidationError(
      `The stream '${this.#source.stream}' in ${this.#redis.name} was started with other options: ${changes.join('; ')}.`,
      {
        code: 'invalid-state',
        context: { engine: this.#redis.name, stream: this.#source.stream, changes },
        suggestion:
          'Use the same options in all processes and runs, or start a new stream with another consumer group.',
      },
    );
  }
}
