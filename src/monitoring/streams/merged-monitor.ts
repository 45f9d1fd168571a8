import { z } from 'zod';

import { nextTurn } from '../../internal/next-turn.ts';
import type { AlertSink, AlertTransition } from '../alarms/alert-event.ts';
import type { AlertEngineOptions } from '../alarms/engine-options.ts';
import type { EngineSnapshot } from '../alarms/engine-snapshot.ts';
import { type EngineUpdate, FairnessDriftAndAlertEngine } from '../alarms/fairness-drift-and-alert-engine.ts';
import type { MonitoringRecord, RecordStore } from '../records/monitoring-record.ts';
import { RecordLog } from '../records/record-log.ts';
import { type EventStream, isRecordDue } from '../tracker/event-stream.ts';
import { type GroupOrder, mergeShards } from '../tracker/merge-shards.ts';
import { RealTimeFairnessTracker } from '../tracker/real-time-fairness-tracker.ts';
import { count, readSnapshot } from '../tracker/snapshot-schema.ts';
import { fillTrackerOptions, type TrackerOptions } from '../tracker/tracker-options.ts';
import { Shard } from './shard.ts';
import { decodeState, encodeState } from './state-bytes.ts';
import { badStreamState, type SavedCheck, type StreamStore } from './stream-store.ts';

/** The maximum number of records of the merged stream that are kept in Redis. */
const MAX_RECORDS = 20_000;

/** The state of the merged stream after a check. */
const CHECK = z.object({
  engine: z.unknown(),
  order: z
    .object({
      groups: z.array(z.union([z.array(z.string()), z.array(z.array(count))])),
      early: z.array(count).nullable(),
    })
    .nullable(),
  /** The number of events at the last record. */
  recordedAt: count,
});

const FIRST_CHECK: z.output<typeof CHECK> = { engine: null, order: null, recordedAt: 0 };

/** A change of an alert, or a watch, in the list of changes. */
export type AlertChangeEntry =
  ({ readonly kind: 'alert' } & AlertTransition) | { readonly kind: 'watch'; readonly alert: AlertTransition['alert'] };

/** The merged stream at one point. */
export interface MergedView {
  readonly tracker: RealTimeFairnessTracker;
  /** The engine after the last check. */
  readonly engine: FairnessDriftAndAlertEngine;
  /** The number of messages that could not be counted, and that the broker deleted before they were counted. */
  readonly refused: number;
  readonly deleted: number;
  /** Whether the last check has read everything in this view. */
  readonly isChecked: boolean;
}

/** How a view is loaded. */
interface LoadOptions {
  readonly sinks?: readonly AlertSink[];
  readonly store?: RecordStore;
  readonly withHistory?: boolean;
  /** Called regularly during the work. */
  readonly stayLeader?: () => Promise<void>;
}

/** A view, and what the next check needs. */
interface LoadedView extends MergedView {
  readonly covered: Readonly<Record<string, number>>;
  readonly order: GroupOrder;
  readonly recordedAt: number;
}

/** The options of the merged stream. */
export interface MergedOptions {
  readonly tracker: TrackerOptions;
  readonly engine: AlertEngineOptions;
  /** The number of events of the merged stream between two windows. */
  readonly restartEvery: number;
}

/** Merges the saved counts of all partitions, and checks them. */
export class MergedMonitor {
  readonly #store: StreamStore;
  readonly #options: MergedOptions;
  /** The partitions as they were read last, so that only changed partitions are read again. */
  readonly #shards = new Map<string, { readonly version: number; readonly shard: Shard }>();

  constructor(store: StreamStore, options: MergedOptions) {
    this.#store = store;
    this.#options = options;
  }

  /** Reads the saved counts and the result of the last check. Changes nothing. */
  async view(): Promise<MergedView> {
    return this.#load(await this.#store.lastCheck(), { withHistory: true });
  }

  /**
   * Checks the merged stream, if a partition was saved since the last check, and saves the result.
   * @param epoch the epoch in which this process is the leader
   * @param stayLeader called regularly during the work
   * @returns the new records; null if nothing was saved, because nothing has changed or there is another leader
   */
  async check(epoch: string, stayLeader: () => Promise<void>): Promise<readonly MonitoringRecord[] | null> {
    const last = await this.#store.lastCheck();
    const saved = await this.#store.partitions();
    if (saved.every(({ partition, version }) => version === (last.covered[partition] ?? 0))) return null;
    const transitions: AlertTransition[] = [];
    const records: MonitoringRecord[] = [];
    const loaded = await this.#load(last, {
      sinks: [collectorOf(transitions), ...(this.#options.engine.sinks ?? []).flatMap(gaugeOf)],
      store: { append: (taken) => records.push(...taken), status: () => NO_STATUS, close: () => undefined },
      stayLeader,
    });
    const { tracker, engine, order, covered } = loaded;
    const update = engine.update(tracker);
    this.#takeRecord(loaded);
    const recordedAt = records.length === 0 ? loaded.recordedAt : tracker.nEvents;
    const isSaved = await this.#store.saveCheck({
      epoch,
      version: last.version,
      window: Math.floor(tracker.nEvents / this.#options.restartEvery),
      covered,
      state: encodeState({ engine: engine.snapshot(), order, recordedAt }),
      history: records.length === 0 ? null : encodeState(tracker.history.state()),
      changes: entriesOf(transitions, update).map((entry) => JSON.stringify(entry)),
    });
    return isSaved ? records : null;
  }

  /** Takes a record, if one is due, and limits the history. */
  #takeRecord({ tracker, recordedAt }: LoadedView): void {
    const { history, stream } = tracker;
    if (!isRecordDue(recordedAt, stream.events, stream.options.recordEvery)) return;
    const before = history.length;
    tracker.flush();
    const added = history.length - before;
    if (history.length > MAX_RECORDS) history.thin(Math.max(2, Math.floor(MAX_RECORDS / added / 2)));
  }

  async #load(last: SavedCheck, how: LoadOptions): Promise<LoadedView> {
    const { tracker: trackerOptions, engine: engineOptions } = this.#options;
    const covered = await this.#readShards(how.stayLeader);
    const shards = Object.keys(covered).map((partition) => this.#shards.get(partition)?.shard as Shard);
    const check = this.#read('The last check', () =>
      last.state === null ? FIRST_CHECK : readSnapshot(CHECK, decodeState(last.state)),
    );
    const { recordEvery } = fillTrackerOptions(trackerOptions);
    const events = sumOf(shards, ({ stream }) => stream.events);
    // The history is large, and only needed if something is added to it.
    const needsHistory = how.withHistory === true || isRecordDue(check.recordedAt, events, recordEvery);
    const history = this.#read('The history', () =>
      last.history === null || !needsHistory ? new RecordLog() : RecordLog.restore(decodeState(last.history)),
    );
    const streams = shards.map(({ stream }) => stream);
    const [tracker, order] = this.#merge({ ...trackerOptions, store: how.store }, history, streams, check.order);
    const options = { ...engineOptions, sinks: how.sinks ?? [] };
    const engine = this.#read('The last check', () =>
      check.engine === null
        ? new FairnessDriftAndAlertEngine(options)
        : FairnessDriftAndAlertEngine.restore(check.engine as EngineSnapshot, tracker, options),
    );
    engine.watch(tracker);
    return {
      tracker,
      engine,
      refused: sumOf(shards, ({ refused }) => refused),
      deleted: sumOf(shards, ({ deleted }) => deleted),
      isChecked: Object.entries(covered).every(([partition, version]) => version === last.covered[partition]),
      covered,
      order,
      recordedAt: check.recordedAt,
    };
  }

  #merge(
    options: TrackerOptions,
    history: RecordLog,
    shards: readonly EventStream[],
    known: GroupOrder | null,
  ): readonly [RealTimeFairnessTracker, GroupOrder] {
    const orders: GroupOrder[] = [];
    const tracker = RealTimeFairnessTracker.filled(options, history, (stream) => {
      orders.push(mergeShards(stream, shards, known ?? undefined));
    });
    return [tracker, orders[0] as GroupOrder];
  }

  /** Reads the partitions that have changed, and returns the version of every partition. */
  async #readShards(stayLeader: (() => Promise<void>) | undefined): Promise<Record<string, number>> {
    const filled = fillTrackerOptions(this.#options.tracker);
    const covered: Record<string, number> = {};
    for (const { partition, version } of await this.#store.partitions()) {
      if (version > 0 && this.#shards.get(partition)?.version !== version) {
        const found = await this.#store.stateOf(partition);
        if (found === null) continue;
        const shard = this.#read(`The state of partition ${partition}`, () => Shard.restore(found.state, null, filled));
        this.#shards.set(partition, { version: found.version, shard });
        // A state can be large, so that timers and other connections must get their turn.
        await nextTurn();
        await stayLeader?.();
      }
      const known = this.#shards.get(partition);
      if (version > 0 && known !== undefined) covered[partition] = known.version;
    }
    return covered;
  }

  #read<Part>(what: string, read: () => Part): Part {
    try {
      return read();
    } catch (cause) {
      throw badStreamState(this.#store, what, cause);
    }
  }
}

/** Returns the entries of the list of changes: changes of alarms first, then watches. */
function entriesOf(transitions: readonly AlertTransition[], { watches }: EngineUpdate): AlertChangeEntry[] {
  return [
    ...transitions.map((transition) => ({ kind: 'alert' as const, ...transition })),
    ...watches.map((alert) => ({ kind: 'watch' as const, alert })),
  ];
}

/** A store of records in memory never fails. */
const NO_STATUS = { written: 0, pending: 0, dropped: 0, problem: null };

function collectorOf(transitions: AlertTransition[]): AlertSink {
  return {
    name: 'changes',
    failures: 0,
    send: (transition) => {
      transitions.push(transition);
    },
    close: () => Promise.resolve(),
  };
}

/** Returns a sink that shows the current values of another sink. It sends nothing: changes are delivered later. */
function gaugeOf(sink: AlertSink): AlertSink[] {
  const { name, failures } = sink;
  if (sink.read === undefined) return [];
  const read = sink.read.bind(sink);
  return [{ name, failures, send: () => undefined, read, close: () => Promise.resolve() }];
}

function sumOf(shards: readonly Shard[], numberOf: (shard: Shard) => number): number {
  return shards.reduce((total, shard) => total + numberOf(shard), 0);
}
