import { z } from 'zod';

import { machineClock } from '../../internal/machine-clock.ts';
import { LineCounter } from '../line-counter.ts';
import { EventStream } from '../tracker/event-stream.ts';
import { count, readSnapshot, SNAPSHOT_SCHEMA } from '../tracker/snapshot-schema.ts';
import { restoreSnapshot, takeSnapshot } from '../tracker/stream-snapshot.ts';
import type { FilledTrackerOptions } from '../tracker/tracker-options.ts';
import { lineOf } from './message-line.ts';
import { decodeState, encodeState } from './state-bytes.ts';
import { encodeWaiting, restoreWaiting } from './waiting-bytes.ts';

const SCHEMA = z.object({
  stream: SNAPSHOT_SCHEMA.omit({ history: true }),
  /** The number of messages that could not be counted. */
  refused: count,
  /** The number of messages that the broker deleted before they were counted. */
  deleted: count,
});

/** The counts of one partition of a stream. */
export class Shard {
  readonly stream: EventStream;
  refused = 0;
  deleted = 0;
  readonly #counter: LineCounter;

  constructor(options: FilledTrackerOptions) {
    this.stream = new EventStream(options, machineClock);
    this.#counter = new LineCounter(this.stream);
  }

  /**
   * Restores the counts of a partition.
   * @param waiting the events that wait for their labels; null if the shard is only merged
   * @throws {DataValidationError} if the state is not one of a shard with these options
   */
  static restore(bytes: Uint8Array, waiting: Uint8Array | null, options: FilledTrackerOptions): Shard {
    const { stream, refused, deleted } = readSnapshot(SCHEMA, decodeState(bytes));
    const shard = new Shard(options);
    restoreSnapshot(shard.stream, stream, { withWaiting: false });
    if (waiting !== null) restoreWaiting(shard.stream, waiting);
    shard.refused = refused;
    shard.deleted = deleted;
    return shard;
  }

  /** The numbers of messages with events and with labels that were counted in this process. */
  get counts(): Readonly<{ events: number; labels: number }> {
    return this.#counter.counts;
  }

  /** Counts a message. If the message cannot be counted, counts it as refused and returns the reason. */
  count(value: Uint8Array | null): string | undefined {
    const reason = this.#count(value);
    if (reason !== undefined) this.refused++;
    return reason;
  }

  #count(value: Uint8Array | null): string | undefined {
    const line = lineOf(value);
    return typeof line === 'string' ? this.#counter.count(line) : line.problem;
  }

  /** Begins all windows of the merged stream up to an index now. */
  beginWindows(index: number): void {
    const { stream } = this;
    stream.starts.beginUpTo(index, stream.events, stream.latestTime, stream.tables);
  }

  /**
   * Returns the complete state, for {@link Shard.restore}. The events that wait for their labels are separate, because
   * merging does not need them.
   */
  encode(): { readonly state: Buffer; readonly waiting: Buffer | null } {
    const { stream, refused, deleted } = this;
    // All shards of a stream have the same options, which are stored once.
    const snapshot = takeSnapshot(stream, { columns: { yPred: '', protected: [] } }, { withWaiting: false });
    return { state: encodeState({ stream: snapshot, refused, deleted }), waiting: encodeWaiting(stream) };
  }
}
