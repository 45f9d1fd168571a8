import { setTimeout as sleep } from 'node:timers/promises';

import { ConfigValidationError } from '../../exceptions/index.ts';
import type { UnreadableLine } from '../../monitoring/follow-lines.ts';
import type { OpenSource, PartitionConsumer, StreamMessage } from '../../monitoring/streams/event-source.ts';
import type { KafkaSource } from '../../monitoring/streams/kafka-source.ts';
import { lineOf } from '../../monitoring/streams/message-line.ts';
import { OutageWatch } from '../../monitoring/streams/outage-watch.ts';

/** The next offset of each partition. */
export type KafkaPositions = Readonly<Record<string, string>>;

/** The position of a message, for reports. */
export interface MessagePlace {
  readonly partition: string;
  readonly position: string;
}

/** How a topic is read by a single process. */
export interface KafkaLinesOptions {
  readonly leaseMillis: number;
  readonly outageMillis: number;
  readonly untilEnd: boolean;
  /** The positions in the state of an earlier run. */
  readonly positions: KafkaPositions;
  readonly signal: AbortSignal;
  readonly onWarning: (warning: string) => void;
}

/** Messages of a partition that wait until they are counted. */
interface Delivery {
  readonly partition: string;
  readonly messages: readonly StreamMessage[];
  readonly next: string;
  readonly done: () => void;
}

/** The interval at which the end of the topic is looked for, in milliseconds. */
const END_MILLIS = 200;

/**
 * The messages of a Kafka topic as lines, for a process that counts all partitions itself. The position of a message
 * counts as reached when the next line is asked for, because the message has been counted then.
 */
export class KafkaLines implements PartitionConsumer {
  readonly #source: KafkaSource;
  readonly #options: KafkaLinesOptions;
  readonly #positions: Map<string, string>;
  #saved: KafkaPositions;
  readonly #ending = new AbortController();
  #waiting: Delivery[] = [];
  /** Wakes up the reader of the lines. */
  #wake: () => void = () => undefined;
  /** The place of the current line. */
  place: MessagePlace = { partition: '', position: '' };
  /** The error that ended the lines; undefined if there was none. */
  failure: { readonly cause: unknown } | undefined;

  constructor(source: KafkaSource, options: KafkaLinesOptions) {
    this.#source = source;
    this.#options = options;
    this.#positions = new Map(Object.entries(options.positions));
    this.#saved = options.positions;
  }

  /** The positions of the lines that have been counted. */
  get positions(): KafkaPositions {
    return Object.fromEntries(this.#positions);
  }

  /** Notes that a state with these positions was saved. Tools that show the lag are then told. */
  noteSaved(positions: KafkaPositions): void {
    this.#saved = positions;
  }

  /**
   * Reads the topic until the signal is aborted, the end is reached, or Kafka cannot be read. In the last case, the lines
   * end, and `failure` contains the error.
   * @yields each message, also those that cannot be read
   */
  async *lines(): AsyncGenerator<string | UnreadableLine> {
    const { signal, outageMillis, onWarning, leaseMillis, untilEnd } = this.#options;
    const fail = (cause: unknown): void => {
      this.failure ??= { cause };
      this.#end();
    };
    const outages = new OutageWatch(outageMillis, onWarning, fail);
    const stop = (): void => {
      this.#end();
    };
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    // Errors at the start, such as an unknown topic, are thrown before anything is counted.
    const open = await this.#source.open({
      consumer: this,
      store: null,
      signal: this.#ending.signal,
      leaseMillis,
      untilEnd,
      env: process.env,
      onOutage: (problem) => {
        if (problem === null) outages.back(this.#source.name);
        else outages.lost(this.#source.name, problem);
      },
      onWarning,
      onAssigned: (partitions, all) => {
        if (partitions < all) fail(needsSharing(this.#source.name, partitions, all));
      },
    });
    const reading = open.run().catch(fail);
    try {
      yield* this.#deliveries(open);
    } finally {
      outages.stop();
      signal.removeEventListener('abort', stop);
      this.#end();
      await reading;
      await open.close();
    }
  }

  async *#deliveries(open: OpenSource): AsyncGenerator<string | UnreadableLine> {
    let nextLook = 0;
    while (!this.#ending.signal.aborted) {
      const delivery = this.#waiting.shift();
      if (delivery !== undefined) {
        yield* this.#messagesOf(delivery);
        continue;
      }
      if (this.#options.untilEnd && performance.now() >= nextLook) {
        nextLook = performance.now() + END_MILLIS;
        if (await open.hasReachedEnd(this.#positions)) return;
      }
      const woken = new Promise<void>((resolve) => (this.#wake = resolve));
      // A delivery may have arrived while the end was looked for.
      if (this.#waiting.length === 0) await Promise.race([woken, sleep(END_MILLIS)]);
    }
  }

  *#messagesOf({ partition, messages, next, done }: Delivery): Generator<string | UnreadableLine> {
    try {
      for (const message of messages) {
        if (this.#ending.signal.aborted) return;
        this.place = { partition, position: message.position };
        yield lineOf(message.value);
        this.#positions.set(partition, message.next);
      }
      this.#positions.set(partition, next);
    } finally {
      done();
    }
  }

  claim(partition: string): Promise<string | null> {
    return Promise.resolve(this.#positions.get(partition) ?? null);
  }

  /** Resolves when the messages have been counted, so that no more are read than can be counted. */
  count(partition: string, messages: readonly StreamMessage[], next: string): Promise<boolean> {
    return new Promise((resolve) => {
      const done = (): void => {
        resolve(!this.#ending.signal.aborted);
      };
      if (this.#ending.signal.aborted) {
        done();
        return;
      }
      this.#waiting.push({ partition, messages, next, done });
      this.#wake();
    });
  }

  savedPosition(partition: string): string | null {
    return this.#saved[partition] ?? null;
  }

  noteDeleted(): void {
    // The source has warned about the messages.
  }

  save(): Promise<boolean> {
    return Promise.resolve(true);
  }

  release(): Promise<void> {
    return Promise.resolve();
  }

  #end(): void {
    this.#ending.abort();
    for (const { done } of this.#waiting) done();
    this.#waiting = [];
    this.#wake();
  }
}

function needsSharing(name: string, partitions: number, all: number): ConfigValidationError {
  return new ConfigValidationError(
    `Another process of the consumer group reads ${name}: ${String(partitions)} of ${String(all)} partitions are left for this process.`,
    {
      context: { parameter: 'redis', partitions, all },
      suggestion: 'Processes that share a topic need --redis for their counts. Otherwise use another --consumer-group.',
    },
  );
}
