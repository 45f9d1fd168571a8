import { setTimeout as sleep } from 'node:timers/promises';

import { DataValidationError, FairnessToolkitError } from '../../exceptions/index.ts';
import {
  isDenied,
  type KafkaBatch,
  type KafkaClient,
  type KafkaConsumer,
  kafkaError,
  type KafkaMessage,
  kafkaReason,
} from '../../io/kafka/open-kafka.ts';
import type { OpenSource, SourceContext, StreamMessage } from './event-source.ts';

/** The longest pause between two attempts to reach Kafka, in milliseconds. */
const MAX_PAUSE_MILLIS = 5000;

/** The time that Kafka waits for new messages before it answers, in milliseconds. */
const WAIT_MILLIS = 250;

/** The shortest time between two commits of offsets, in milliseconds. Commits only inform tools that show the lag. */
const COMMIT_MILLIS = 5000;

/** The time that a consumer may take to leave its group, in milliseconds. */
const LEAVE_MILLIS = 5000;

/** The number of messages after which Kafka is told that this process is alive, if that is due. */
const MESSAGES_PER_HEARTBEAT = 1000;

/** If a partition is lost so often without progress, a process outside of the group counts it too. */
const MAX_LOSSES = 20;

/** What is read. */
interface ReaderOptions {
  readonly topic: string;
  readonly group: string;
  readonly from: 'beginning' | 'end';
}

/** The first and the next offset of a partition. */
interface OffsetRange {
  readonly low: bigint;
  readonly high: bigint;
}

/** Reads a topic as a member of a consumer group. */
export class KafkaReader implements OpenSource {
  readonly #client: KafkaClient;
  readonly #options: ReaderOptions;
  readonly #context: SourceContext;
  /** The offsets of all partitions when the source was opened. */
  readonly #atStart: ReadonlyMap<string, OffsetRange>;
  /** The next offset of each partition that this process counts. */
  readonly #expected = new Map<string, bigint>();
  /** Work on partitions runs one after another: assignments and batches. */
  #work: Promise<void> = Promise.resolve();
  /** The number of assignments so far. Work for an earlier assignment is dropped. */
  #assignment = 0;
  #losses = 0;
  #nextCommit = 0;

  private constructor(
    client: KafkaClient,
    options: ReaderOptions,
    context: SourceContext,
    atStart: ReadonlyMap<string, OffsetRange>,
  ) {
    this.#client = client;
    this.#options = options;
    this.#context = context;
    this.#atStart = atStart;
  }

  static async open(client: KafkaClient, options: ReaderOptions, context: SourceContext): Promise<KafkaReader> {
    return new KafkaReader(client, options, context, await offsetsOf(client, options.topic));
  }

  async run(): Promise<void> {
    const { signal, onOutage } = this.#context;
    let pause = 250;
    while (!signal.aborted) {
      const problem = await this.#consume(() => (pause = 250));
      if (problem === null) return;
      const final = finalProblem(problem);
      if (final !== undefined) throw final;
      if (isDenied(problem)) throw kafkaError(this.#client.name, problem);
      onOutage(kafkaReason(problem));
      await sleep(pause, undefined, { signal }).catch(() => undefined);
      pause = Math.min(MAX_PAUSE_MILLIS, 2 * pause);
    }
  }

  async hasReachedEnd(positions: ReadonlyMap<string, string | null>): Promise<boolean> {
    const isReached = ([partition, { low, high }]: [string, OffsetRange]): boolean => {
      const position = positions.get(partition) ?? null;
      if (position !== null) return BigInt(position) >= high;
      // Nothing of this partition has been counted.
      return low === high || this.#options.from === 'end';
    };
    if (![...this.#atStart].every(isReached)) return false;
    await this.#assertInside(positions);
    return true;
  }

  /** Checks that no position is behind the end of its partition, as it is if the topic was created again. */
  async #assertInside(positions: ReadonlyMap<string, string | null>): Promise<void> {
    const isBehind = (ranges: ReadonlyMap<string, OffsetRange>, partition: string, next: string | null): boolean =>
      BigInt(next ?? 0) > (ranges.get(partition)?.high ?? 0n);
    const behind = [...positions].filter(([partition, next]) => isBehind(this.#atStart, partition, next));
    if (behind.length === 0) return;
    // Messages may have arrived since the start.
    const ranges = await offsetsOf(this.#client, this.#options.topic);
    for (const [partition, next] of behind) {
      if (isBehind(ranges, partition, next))
        throw shorterTopic(this.#options.topic, partition, BigInt(next ?? 0), ranges.get(partition)?.high ?? 0n);
    }
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** Reads as one member of the group. Returns the problem that ended it; null if the run ends. */
  async #consume(onProgress: () => void): Promise<unknown> {
    const { topic, group } = this.#options;
    const { signal, leaseMillis, onOutage } = this.#context;
    const consumer = this.#client.consumer({
      groupId: group,
      sessionTimeout: leaseMillis,
      heartbeatInterval: Math.max(100, Math.floor(leaseMillis / 5)),
      rebalanceTimeout: Math.max(5000, leaseMillis),
      maxWaitTimeInMs: WAIT_MILLIS,
      allowAutoTopicCreation: false,
    });
    let starting = Promise.resolve();
    let isLeaving = false;
    try {
      return await new Promise<unknown>((resolve) => {
        signal.addEventListener(
          'abort',
          () => {
            resolve(null);
          },
          { once: true },
        );
        consumer.on(consumer.events.CRASH, ({ payload }: { payload: { readonly error: Error } }) => {
          resolve(payload.error);
        });
        consumer.on(
          consumer.events.GROUP_JOIN,
          ({ payload }: { payload: { readonly memberAssignment: Record<string, number[]> } }) => {
            onOutage(null);
            this.#assign(consumer, payload.memberAssignment[topic] ?? [], resolve);
          },
        );
        consumer.on(consumer.events.FETCH, () => {
          onProgress();
          onOutage(null);
        });
        consumer.on(consumer.events.END_BATCH_PROCESS, ({ payload }: { payload: EndedBatch }) => {
          if (payload.batchSize === 0) this.#skip(payload);
        });
        starting = this.#start(consumer, () => isLeaving).catch(resolve);
      });
    } finally {
      isLeaving = true;
      this.#assignment++;
      await this.#inTurn(() => this.#leave(consumer)).catch(() => undefined);
      // A consumer that is disconnected while it joins its group would join afterwards, and never end.
      const left = starting.then(() => consumer.disconnect()).catch(() => undefined);
      await Promise.race([left, sleep(LEAVE_MILLIS, undefined, { ref: false })]);
    }
  }

  /** Joins the group. Resolves when the consumer is a member. */
  async #start(consumer: KafkaConsumer, isLeaving: () => boolean): Promise<void> {
    await consumer.connect();
    await consumer.subscribe({ topics: [this.#options.topic], fromBeginning: true });
    if (isLeaving()) return;
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      eachBatch: (batch: KafkaBatch) => this.#inTurn(() => this.#countBatch(consumer, batch)),
    });
  }

  /** Runs work after all earlier work. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#work.then(work);
    this.#work = turn.catch(() => undefined);
    return turn;
  }

  /**
   * Takes over the partitions of a new assignment. Until then, nothing is fetched. Partitions that this process already
   * counts continue: if another process has counted them in between, the next save finds out.
   */
  #assign(consumer: KafkaConsumer, partitions: readonly number[], fail: (problem: unknown) => void): void {
    const { topic } = this.#options;
    const assignment = ++this.#assignment;
    if (partitions.length > 0) consumer.pause([{ topic, partitions }]);
    this.#inTurn(async () => {
      if (assignment !== this.#assignment) return;
      this.#context.onAssigned?.(partitions.length, this.#atStart.size);
      await this.#release([...this.#expected.keys()].filter((name) => !partitions.includes(Number(name))));
      const ranges = await offsetsOf(this.#client, topic);
      for (const partition of partitions) {
        if (assignment !== this.#assignment) return;
        const expected = this.#expected.get(String(partition));
        if (expected === undefined) await this.#claim(consumer, partition, ranges);
        else consumer.seek({ topic, partition, offset: String(expected) });
      }
      // Together, so that Kafka hears of this process while it restores the counts of the partitions.
      if (partitions.length > 0) consumer.resume([{ topic, partitions }]);
    }).catch(fail);
  }

  async #release(names: readonly string[]): Promise<void> {
    for (const name of names) {
      this.#expected.delete(name);
      await this.#context.consumer.release(name);
    }
  }

  /** Takes over a partition, and continues where its saved counts end. */
  async #claim(consumer: KafkaConsumer, partition: number, ranges: ReadonlyMap<string, OffsetRange>): Promise<void> {
    const name = String(partition);
    const { low, high } = ranges.get(name) ?? { low: 0n, high: 0n };
    const position = await this.#context.consumer.claim(name);
    // A partition that was added later begins at its first message.
    const fresh = this.#options.from === 'end' ? (this.#atStart.get(name)?.high ?? low) : low;
    const next = position === null ? fresh : BigInt(position);
    if (next > high) throw shorterTopic(this.#options.topic, name, next, high);
    if (position !== null && next < low) this.#noteDeleted(name, low - next);
    this.#expected.set(name, next > low ? next : low);
    consumer.seek({ topic: this.#options.topic, partition, offset: String(this.#expected.get(name)) });
  }

  /** Saves all partitions, tells Kafka how far they are counted, and gives them up. */
  async #leave(consumer: KafkaConsumer): Promise<void> {
    const names = [...this.#expected.keys()];
    for (const name of names) await this.#context.consumer.save(name);
    if (names.length > 0) await this.#commit(consumer, 0);
    await this.#release(names);
  }

  async #countBatch(consumer: KafkaConsumer, { batch, resolveOffset, heartbeat, isStale }: KafkaBatch): Promise<void> {
    const name = String(batch.partition);
    const expected = this.#expected.get(name);
    // The batch was fetched before the partition was taken over or moved.
    if (isStale() || this.#context.signal.aborted) return;
    if (expected === undefined) return this.#reclaim(consumer, batch.partition, heartbeat);
    const messages = newMessages(batch.messages, expected);
    const [first] = messages;
    if (first !== undefined && BigInt(first.position) > expected)
      await this.#checkGap(name, expected, BigInt(first.position));
    const next = BigInt(batch.lastOffset()) + 1n;
    for (let from = 0; from < messages.length; from += MESSAGES_PER_HEARTBEAT) {
      const part = messages.slice(from, from + MESSAGES_PER_HEARTBEAT);
      if (!(await this.#count(name, part, (part.at(-1) as OffsetMessage).next))) return;
      await heartbeat();
    }
    if (next > expected && !(await this.#count(name, [], String(next)))) return;
    resolveOffset(batch.lastOffset());
    const end = this.#atStart.get(name)?.high;
    if (this.#context.untilEnd && end !== undefined && next >= end) await this.#context.consumer.save(name);
    await this.#commit(consumer, COMMIT_MILLIS);
    await heartbeat();
  }

  /** Counts messages. If the partition has another owner, it is taken over again with its next batch. */
  async #count(name: string, messages: readonly OffsetMessage[], next: string): Promise<boolean> {
    const isOwned = await this.#context.consumer.count(name, messages, next);
    if (isOwned) this.#expected.set(name, BigInt(next));
    else this.#expected.delete(name);
    if (isOwned) this.#losses = 0;
    return isOwned;
  }

  /**
   * Takes over a partition again that another process has taken over. If this process has missed that the partition now
   * belongs to the other process, the heartbeat fails.
   */
  async #reclaim(consumer: KafkaConsumer, partition: number, heartbeat: () => Promise<void>): Promise<void> {
    await heartbeat();
    if (++this.#losses > MAX_LOSSES) throw foreignOwner(this.#options.topic, partition);
    await sleep(WAIT_MILLIS);
    await this.#claim(consumer, partition, await offsetsOf(this.#client, this.#options.topic));
  }

  /** Offsets can be missing in a topic. They are reported if Kafka has deleted messages because of their age or size. */
  async #checkGap(partition: string, expected: bigint, first: bigint): Promise<void> {
    const ranges = await offsetsOf(this.#client, this.#options.topic);
    const low = ranges.get(partition)?.low ?? 0n;
    const end = low < first ? low : first;
    if (end > expected) this.#noteDeleted(partition, end - expected);
  }

  #noteDeleted(partition: string, messages: bigint): void {
    this.#context.consumer.noteDeleted(partition, Number(messages));
    this.#context.onWarning(
      `${String(messages)} messages in partition ${partition} of ${this.#options.topic} were deleted by Kafka before they were counted. Keep messages longer (retention), or add processes.`,
    );
  }

  /** Moves past a batch that has no messages, for example the end of a transaction. */
  #skip({ partition, lastOffset }: EndedBatch): void {
    void this.#inTurn(async () => {
      const name = String(partition);
      const next = BigInt(lastOffset) + 1n;
      if (next <= (this.#expected.get(name) ?? next)) return;
      await this.#count(name, [], String(next));
    }).catch(() => undefined);
  }

  /** Commits the saved offsets, if the last commit is older than some time. */
  async #commit(consumer: KafkaConsumer, millis: number): Promise<void> {
    const now = performance.now();
    if (now < this.#nextCommit && millis > 0) return;
    this.#nextCommit = now + COMMIT_MILLIS;
    const { topic } = this.#options;
    const offsets = [...this.#expected.keys()].flatMap((name) => {
      const offset = this.#context.consumer.savedPosition(name);
      return offset === null ? [] : [{ topic, partition: Number(name), offset }];
    });
    // If a commit fails, nothing is lost: it is not used to continue.
    if (offsets.length > 0) await consumer.commitOffsets(offsets).catch(() => undefined);
  }
}

/** The end of a batch that kafkajs has processed. */
interface EndedBatch {
  readonly partition: number;
  readonly batchSize: number;
  readonly lastOffset: string;
}

/** A message with the offset after it, which is needed only for a few messages. */
class OffsetMessage implements StreamMessage {
  readonly position: string;
  readonly value: Buffer | null;

  constructor({ offset, value }: KafkaMessage) {
    this.position = offset;
    this.value = value;
  }

  get next(): string {
    return String(BigInt(this.position) + 1n);
  }
}

/** Returns the messages from an offset on. Kafka may deliver messages again that were counted. */
function newMessages(messages: readonly KafkaMessage[], expected: bigint): OffsetMessage[] {
  const first = messages.findIndex(({ offset }) => BigInt(offset) >= expected);
  return first < 0 ? [] : messages.slice(first).map((message) => new OffsetMessage(message));
}

async function offsetsOf(client: KafkaClient, topic: string): Promise<ReadonlyMap<string, OffsetRange>> {
  const found = await client.withAdmin((admin) => admin.fetchTopicOffsets(topic));
  return new Map(
    found.map(({ partition, low, high }) => [String(partition), { low: BigInt(low), high: BigInt(high) }]),
  );
}

/** Returns the error of evenhand in a problem that another attempt cannot fix; undefined if there is none. */
function finalProblem(problem: unknown): FairnessToolkitError | undefined {
  if (FairnessToolkitError.isInstance(problem))
    return problem.context['reason'] === 'unreachable' ? undefined : problem;
  return problem instanceof Error && problem.cause !== undefined ? finalProblem(problem.cause) : undefined;
}

function shorterTopic(topic: string, partition: string, next: bigint, high: bigint): DataValidationError {
  return new DataValidationError(
    `Partition ${partition} of the topic '${topic}' ends at offset ${String(high)}, but messages up to ${String(next)} have been counted.`,
    {
      code: 'invalid-state',
      context: { topic, partition, expected: String(next), received: String(high) },
      suggestion:
        'The topic was probably deleted and created again. Use another consumer group, which counts it from its beginning.',
    },
  );
}

function foreignOwner(topic: string, partition: number): DataValidationError {
  return new DataValidationError(
    `Another process keeps taking over partition ${String(partition)} of the topic '${topic}', although Kafka has assigned it to this process.`,
    {
      code: 'engine-failed',
      context: { topic, partition, reason: 'denied' },
      suggestion:
        'Processes with the same consumer group and the same Redis server must read from the same Kafka cluster.',
    },
  );
}
