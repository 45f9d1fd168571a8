import type { Redis } from '../../io/redis/open-redis.ts';

/** A message of a stream. */
export interface StreamMessage {
  /** The position of the message: the offset in its partition, or the id of the entry. */
  readonly position: string;
  /** The position after the message. */
  readonly next: string;
  /** A JSON object as UTF-8; null if the message has no value. */
  readonly value: Uint8Array | null;
}

/** Where the messages of a partition are acknowledged when they have been counted. */
export interface AcknowledgedStream {
  readonly key: string;
  readonly group: string;
}

/**
 * Counts the messages of partitions that a source delivers. A partition is counted by one process at a time. Another
 * process can take it over at any time; the next save of this process then fails, and everything that it has counted
 * since its last save is discarded.
 */
export interface PartitionConsumer {
  /**
   * Takes over a partition.
   * @param acknowledged for Redis streams: saves also acknowledge the entries that were counted
   * @returns the position at which the source must continue; null if the partition has never been counted
   */
  claim(partition: string, acknowledged?: AcknowledgedStream): Promise<string | null>;
  /**
   * Counts messages, and saves the partition if that is due.
   * @param next the position after these messages
   * @returns whether the partition is still owned; if not, it must be claimed again
   */
  count(partition: string, messages: readonly StreamMessage[], next: string): Promise<boolean>;
  /** Returns the position up to which the counts of a partition are saved; null if they have never been saved. */
  savedPosition(partition: string): string | null;
  /** Notes that the broker deleted messages before they could be counted. */
  noteDeleted(partition: string, messages: number): void;
  /**
   * Saves the partition now.
   * @returns whether the partition is still owned
   */
  save(partition: string): Promise<boolean>;
  /** Saves the partition and gives it up. */
  release(partition: string): Promise<void>;
}

/** What a source needs to run. */
export interface SourceContext {
  readonly consumer: PartitionConsumer;
  /**
   * The Redis server that holds the state of the stream, and the first part of the names of everything about it. Null if
   * a single process keeps the state itself.
   */
  readonly store: { readonly redis: Redis; readonly root: string } | null;
  /** Ends the delivery. */
  readonly signal: AbortSignal;
  /** The time after which a process that does not answer loses its partitions, in milliseconds. */
  readonly leaseMillis: number;
  /** Whether to stop at what is the end of the stream now. */
  readonly untilEnd: boolean;
  /** The environment variables with passwords. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reports that the broker does not answer (a text), or answers again (null). */
  readonly onOutage: (problem: string | null) => void;
  readonly onWarning: (warning: string) => void;
  /** Called when partitions are assigned, with their number and the number of all partitions. */
  readonly onAssigned?: ((partitions: number, all: number) => void) | undefined;
}

/** A source that is connected. */
export interface OpenSource {
  /** Delivers messages until the signal is aborted. Rejects if the source fails finally. */
  run(): Promise<void>;
  /**
   * Returns whether everything up to the end of the stream, as it was when the source was opened, has been counted by
   * any process.
   * @param positions the saved position of each partition
   */
  hasReachedEnd(positions: ReadonlyMap<string, string | null>): Promise<boolean>;
  close(): Promise<void>;
}

/** A stream of events at a broker. Several processes with equal sources share its partitions. */
export interface EventSource {
  /** A description for messages, such as "topic 'decisions' of Kafka at 127.0.0.1:9092". */
  readonly name: string;
  /** The name of the stream's state: processes with the same name share their work. */
  readonly stream: string;
  /** Connects to the broker. */
  open(context: SourceContext): Promise<OpenSource>;
}
