import { nextTurn } from '../../internal/next-turn.ts';
import type { FilledTrackerOptions } from '../tracker/tracker-options.ts';
import type { AcknowledgedStream, PartitionConsumer, StreamMessage } from './event-source.ts';
import { Shard } from './shard.ts';
import { badStreamState, type ClaimedPartition, type StreamStore } from './stream-store.ts';

/** The number of messages that are counted without a pause. Pauses let timers and other connections run. */
const MESSAGES_PER_TURN = 1000;

/** Saves take at most this share of the time. */
const MAX_SAVE_SHARE = 0.1;

/** The number of entries of a Redis stream after which a save is due in any case, since it acknowledges them. */
const MAX_ACKS = 50_000;

/** When partitions are saved. */
export interface SavePolicy {
  /** The number of messages after which a partition is saved. */
  readonly checkpointEvents: number;
  /** The time after which a partition with new messages is saved, in milliseconds. */
  readonly checkpointMillis: number;
}

/** A partition that this process counts. */
interface Owned {
  readonly partition: string;
  readonly shard: Shard;
  readonly epoch: string;
  version: number;
  position: string;
  savedPosition: string | null;
  readonly acknowledged: AcknowledgedStream | undefined;
  /** The entries that were counted, and are acknowledged with the next save. */
  acks: string[];
  /** The number of messages since the last save, and the time of the first of them. */
  unsaved: number;
  unsavedSince: number;
  /** The next save is not due before this time. */
  restUntil: number;
  isLost: boolean;
  /** The last save. Saves of a partition follow each other. */
  lastSave: Promise<boolean>;
}

/** What happens with messages and partitions. */
export interface PartitionEvents {
  readonly onRefused: (partition: string, position: string, reason: string) => void;
}

/** The partitions that this process counts, and their saves. */
export class OwnedPartitions implements PartitionConsumer {
  readonly #store: StreamStore;
  readonly #options: FilledTrackerOptions;
  readonly #policy: SavePolicy;
  readonly #events: PartitionEvents;
  readonly #owned = new Map<string, Owned>();
  /** The numbers of messages that this process has counted, discarded messages included. */
  readonly counts = { messages: 0, events: 0, labels: 0, refused: 0, deleted: 0 };
  /** The number of times that a partition was lost to another process. */
  losses = 0;

  constructor(store: StreamStore, options: FilledTrackerOptions, policy: SavePolicy, events: PartitionEvents) {
    this.#store = store;
    this.#options = options;
    this.#policy = policy;
    this.#events = events;
  }

  async claim(partition: string, acknowledged?: AcknowledgedStream): Promise<string | null> {
    const claimed = await this.#store.claim(partition);
    const shard = this.#shardOf(partition, claimed);
    shard.beginWindows(claimed.window);
    this.#owned.set(partition, {
      partition,
      shard,
      epoch: claimed.epoch,
      version: claimed.version,
      position: claimed.position ?? '',
      savedPosition: claimed.position,
      acknowledged,
      acks: [],
      unsaved: 0,
      unsavedSince: 0,
      restUntil: 0,
      isLost: false,
      lastSave: Promise.resolve(true),
    });
    return claimed.position;
  }

  #shardOf(partition: string, { state, waiting }: ClaimedPartition): Shard {
    if (state === null) return new Shard(this.#options);
    try {
      return Shard.restore(state, waiting, this.#options);
    } catch (cause) {
      throw badStreamState(this.#store, `The state of partition ${partition}`, cause);
    }
  }

  async count(partition: string, messages: readonly StreamMessage[], next: string): Promise<boolean> {
    const owned = this.#owned.get(partition);
    if (owned === undefined) return false;
    for (let from = 0; from < messages.length; from += MESSAGES_PER_TURN) {
      const to = Math.min(messages.length, from + MESSAGES_PER_TURN);
      for (let index = from; index < to; index++) this.#countMessage(owned, messages[index] as StreamMessage);
      // During a pause, the partition may be saved. So its position must already fit its counts.
      this.#advance(owned, to - from, (messages[to - 1] as StreamMessage).next);
      if (to < messages.length) await nextTurn();
      if (owned.isLost) return false;
    }
    if (owned.position !== next) this.#advance(owned, messages.length === 0 ? 1 : 0, next);
    return this.#isDue(owned) ? this.save(partition) : !owned.isLost;
  }

  #advance(owned: Owned, messages: number, position: string): void {
    if (owned.unsaved === 0) owned.unsavedSince = performance.now();
    owned.unsaved += messages;
    owned.position = position;
  }

  #countMessage(owned: Owned, { position, value }: StreamMessage): void {
    const { shard } = owned;
    const { events, labels } = shard.counts;
    const reason = shard.count(value);
    this.counts.messages++;
    this.counts.events += shard.counts.events - events;
    this.counts.labels += shard.counts.labels - labels;
    if (owned.acknowledged !== undefined) owned.acks.push(position);
    if (reason === undefined) return;
    this.counts.refused++;
    this.#events.onRefused(owned.partition, position, reason);
  }

  savedPosition(partition: string): string | null {
    return this.#owned.get(partition)?.savedPosition ?? null;
  }

  noteDeleted(partition: string, messages: number): void {
    const owned = this.#owned.get(partition);
    if (owned === undefined) return;
    owned.shard.deleted += messages;
    this.counts.deleted += messages;
    this.#advance(owned, 1, owned.position);
  }

  save(partition: string): Promise<boolean> {
    const owned = this.#owned.get(partition);
    if (owned === undefined) return Promise.resolve(false);
    owned.lastSave = owned.lastSave.then((isOwned) => (isOwned ? this.#save(owned) : false));
    return owned.lastSave;
  }

  async release(partition: string): Promise<void> {
    try {
      await this.save(partition);
    } finally {
      this.#owned.delete(partition);
    }
  }

  /** Saves the partitions for which that is due. */
  async saveDue(): Promise<void> {
    for (const owned of [...this.#owned.values()]) if (this.#isDue(owned)) await this.save(owned.partition);
  }

  async releaseAll(): Promise<void> {
    for (const partition of [...this.#owned.keys()]) await this.release(partition);
  }

  /** Begins all windows of the merged stream up to an index, in all partitions. */
  beginWindows(index: number): void {
    for (const { shard } of this.#owned.values()) shard.beginWindows(index);
  }

  #isDue({ unsaved, unsavedSince, restUntil, acks }: Owned): boolean {
    const { checkpointEvents, checkpointMillis } = this.#policy;
    const now = performance.now();
    if (acks.length >= MAX_ACKS) return true;
    if (unsaved === 0 || now < restUntil) return false;
    return unsaved >= checkpointEvents || now - unsavedSince >= checkpointMillis;
  }

  async #save(owned: Owned): Promise<boolean> {
    if (owned.unsaved === 0) return true;
    const { partition, epoch, version, position, acknowledged } = owned;
    const start = performance.now();
    // From here to the first await, nothing else can be counted.
    const encoded = owned.shard.encode();
    const ids = owned.acks;
    owned.acks = [];
    owned.unsaved = 0;
    const acks = acknowledged === undefined ? null : { ...acknowledged, ids };
    // After an error, it is not known whether the state was saved. A new claim then continues from what was saved.
    const window = await this.#store
      .save({ partition, epoch, version, position, ...encoded, acks })
      .catch((error: unknown) => {
        this.#lose(owned);
        throw error;
      });
    if (window === null) {
      this.#lose(owned);
      return false;
    }
    owned.version++;
    owned.savedPosition = position;
    owned.shard.beginWindows(window);
    const end = performance.now();
    owned.restUntil = end + (end - start) * (1 / MAX_SAVE_SHARE - 1);
    return true;
  }

  #lose(owned: Owned): void {
    owned.isLost = true;
    this.losses++;
    if (this.#owned.get(owned.partition) === owned) this.#owned.delete(owned.partition);
  }
}
