import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { DataValidationError } from '../../exceptions/index.ts';
import { messageOf } from '../../internal/values.ts';
import type { Redis, RedisClient } from '../../io/redis/open-redis.ts';
import type { OpenSource, SourceContext, StreamMessage } from './event-source.ts';
import { Leases } from './leases.ts';

/** The field of an entry that contains the event as JSON. An entry with a single field may name it differently. */
const FIELD = 'event';

/** The number of entries of one read. */
const ENTRIES = 2000;

/** The time that a read waits for new entries, in milliseconds. */
const BLOCK_MILLIS = 250;

/** The shortest time between two searches for entries that no process counts, in milliseconds. */
const SEARCH_MILLIS = 2000;

/** Which stream is read, and as which consumer. */
interface ReaderOptions {
  readonly key: string;
  readonly group: string;
  readonly consumer?: string | undefined;
}

/** The connections of a reader, and what it needs to know about the stream. */
interface ReaderLink {
  readonly redis: Redis;
  readonly root: string;
  /** A connection of its own, because reads block it. */
  readonly reader: RedisClient;
  /** The id of the last entry when the source was opened. */
  readonly end: string;
}

/** An entry in the answer of Redis. The fields are null if the entry was deleted from the stream. */
type RawEntry = readonly [id: Buffer, fields: readonly Buffer[] | null];

interface Entry {
  readonly id: string;
  readonly fields: readonly Buffer[] | null;
}

/** Reads the entries of a stream for one process. */
export class RedisStreamReader implements OpenSource {
  readonly #name: string;
  readonly #options: ReaderOptions;
  readonly #context: SourceContext;
  readonly #link: ReaderLink;
  readonly #leases: Leases;
  #nextSearch = 0;

  constructor(name: string, options: ReaderOptions, context: SourceContext, link: ReaderLink) {
    this.#name = name;
    this.#options = options;
    this.#context = context;
    this.#link = link;
    this.#leases = new Leases(link.redis, link.root, randomUUID(), context.leaseMillis);
  }

  async run(): Promise<void> {
    const slot = await this.#takeSlot();
    while (slot !== undefined && !this.#context.signal.aborted) {
      await this.#claim(slot);
      await this.#readNew(slot);
    }
  }

  async hasReachedEnd(): Promise<boolean> {
    const { key, group } = this.#options;
    const groups = (await this.#call('XINFO', 'GROUPS', key)) as unknown[];
    const own = groups.find((one) => fieldOf(one, 'name') === group);
    if (own === undefined || isBefore(String(fieldOf(own, 'last-delivered-id')), this.#link.end)) return false;
    const [pending, first] = (await this.#call('XPENDING', key, group)) as [number, string | null];
    return pending === 0 || isBefore(this.#link.end, String(first));
  }

  async close(): Promise<void> {
    await this.#leases.close();
    this.#link.reader.disconnect();
  }

  /** Takes a name that no other process uses; undefined if the run ends before. */
  async #takeSlot(): Promise<string | undefined> {
    const { consumer } = this.#options;
    if (consumer === undefined) return this.#takeFreeSlot();
    const { signal, leaseMillis } = this.#context;
    // The lease of a process that was killed expires.
    const limit = performance.now() + 1.5 * leaseMillis;
    while (!signal.aborted) {
      if (await this.#leases.take(consumer)) return consumer;
      if (performance.now() > limit) throw usedName(consumer, this.#name);
      await sleep(Math.min(500, leaseMillis / 5));
    }
    return undefined;
  }

  async #takeFreeSlot(): Promise<string> {
    const known = (await this.#call('SMEMBERS', `${this.#link.root}:partitions`)) as string[];
    for (const name of known.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))) {
      if (await this.#leases.take(name)) return name;
    }
    for (let number = 1; ; number++) {
      const name = `consumer-${String(number)}`;
      if (!known.includes(name) && (await this.#leases.take(name))) return name;
    }
  }

  async #claim(slot: string): Promise<void> {
    const { key, group } = this.#options;
    await this.#context.consumer.claim(slot, { key, group });
  }

  /** Counts the entries of a consumer that it has received, but that are not acknowledged. */
  async #countPending(slot: string): Promise<boolean> {
    const { consumer, signal } = this.#context;
    while (!signal.aborted) {
      const entries = await this.#read(slot, '0');
      if (entries.length === 0) return true;
      if (!(await this.#count(slot, entries)) || !(await consumer.save(slot))) return false;
    }
    return true;
  }

  /** Counts pending and new entries, until another process takes over the consumer. */
  async #readNew(slot: string): Promise<void> {
    const { signal, untilEnd, consumer } = this.#context;
    if (!(await this.#countPending(slot))) return;
    while (!signal.aborted) {
      const entries = await this.#read(slot, '>');
      if (entries.length > 0 && !(await this.#count(slot, entries))) return;
      const isIdle = entries.length === 0;
      if (untilEnd && isIdle && !(await consumer.save(slot))) return;
      if (performance.now() < this.#nextSearch) continue;
      this.#nextSearch = performance.now() + Math.max(SEARCH_MILLIS, this.#context.leaseMillis / 4);
      if (!(await consumer.save(slot))) return;
      // After a save, everything that this process has read is acknowledged. What is still pending was read by an
      // earlier process, or its delivery was lost with the connection.
      if (!(await this.#countPending(slot))) return;
      await this.#adoptSlots(slot);
    }
  }

  /** Takes over the consumers of lost processes for as long as they have pending entries. */
  async #adoptSlots(own: string): Promise<void> {
    const { key, group } = this.#options;
    const consumers = (await this.#call('XINFO', 'CONSUMERS', key, group)) as unknown[];
    for (const one of consumers) {
      const name = String(fieldOf(one, 'name'));
      if (name === own || Number(fieldOf(one, 'pending')) === 0 || !(await this.#leases.take(name))) continue;
      await this.#claim(name);
      await this.#countPending(name);
      await this.#context.consumer.release(name);
      await this.#leases.drop(name);
    }
  }

  async #read(slot: string, from: '0' | '>'): Promise<Entry[]> {
    const { key, group } = this.#options;
    const wait = from === '>' ? ['BLOCK', BLOCK_MILLIS] : [];
    const args = ['GROUP', group, slot, 'COUNT', ENTRIES, ...wait, 'STREAMS', key, from];
    try {
      const answer = await this.#link.reader.callBuffer('XREADGROUP', ...args);
      return entriesIn(answer).map(([id, fields]) => ({ id: id.toString(), fields }));
    } catch (error) {
      if (this.#context.signal.aborted) return [];
      throw unreadable(this.#name, error);
    }
  }

  async #count(slot: string, entries: readonly Entry[]): Promise<boolean> {
    const { consumer } = this.#context;
    const kept = entries.filter(({ fields }) => fields !== null);
    const messages = kept.map(({ id, fields }): StreamMessage => ({ position: id, next: id, value: eventOf(fields) }));
    const last = kept.at(-1);
    if (last !== undefined && !(await consumer.count(slot, messages, last.id))) return false;
    if (kept.length === entries.length) return true;
    // These entries were deleted from the stream before they were counted, so they can only be reported.
    const deleted = entries.flatMap(({ id, fields }) => (fields === null ? [id] : []));
    consumer.noteDeleted(slot, deleted.length);
    const { key, group } = this.#options;
    for (const id of deleted) await this.#call('XACK', key, group, id);
    this.#context.onWarning(
      `${String(deleted.length)} entries of ${this.#name} were deleted before they were counted. Keep entries longer (MAXLEN), or add processes.`,
    );
    return true;
  }

  #call(command: string, ...args: readonly (string | number)[]): Promise<unknown> {
    return this.#link.redis.client.call(command, ...args);
  }
}

/** Returns the entries in an answer: a list of pairs of a key and entries or, in RESP3, the key followed by the entries. */
function entriesIn(answer: unknown): readonly RawEntry[] {
  const [first, second] = (answer ?? []) as [Buffer | [Buffer, RawEntry[]] | undefined, RawEntry[] | undefined];
  return (Array.isArray(first) ? first[1] : second) ?? [];
}

/** Returns the value of the event's field; null if there is none. */
function eventOf(fields: readonly Buffer[] | null): Buffer | null {
  if (fields === null) return null;
  for (let index = 0; index + 1 < fields.length; index += 2) {
    if (fields[index]?.toString('latin1') === FIELD) return fields[index + 1] ?? null;
  }
  return fields.length === 2 ? (fields[1] ?? null) : null;
}

/** Returns a field of an answer that lists names and values in turn. */
export function fieldOf(answer: unknown, name: string): unknown {
  const list = answer as readonly unknown[];
  for (let index = 0; index + 1 < list.length; index += 2) if (list[index] === name) return list[index + 1];
  return undefined;
}

/** Returns whether the first id of an entry is before the second. */
function isBefore(first: string, second: string): boolean {
  const [[millis = '0', number = '0'], [otherMillis = '0', otherNumber = '0']] = [first.split('-'), second.split('-')];
  return BigInt(millis) === BigInt(otherMillis)
    ? BigInt(number) < BigInt(otherNumber)
    : BigInt(millis) < BigInt(otherMillis);
}

/** Returns the error for a stream that Redis cannot read. */
export function unreadable(name: string, cause: unknown): DataValidationError {
  const message = messageOf(cause);
  const isGone = message.startsWith('NOGROUP');
  return new DataValidationError(`Cannot read ${name}: ${message}`, {
    code: 'engine-failed',
    context: { engine: name, reason: isGone ? 'lost' : 'statement' },
    suggestion: isGone
      ? 'The stream or its consumer group was deleted. Start evenhand again to count a new stream.'
      : 'Check the name of the key, and that the user may use the commands of streams.',
    cause,
  });
}

function usedName(consumer: string, name: string): DataValidationError {
  return new DataValidationError(`Another process reads ${name} as the consumer '${consumer}'.`, {
    code: 'engine-failed',
    context: { engine: name, consumer, reason: 'denied' },
    suggestion: 'Give every process its own --consumer, or leave it out.',
  });
}
