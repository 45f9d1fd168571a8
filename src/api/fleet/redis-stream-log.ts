import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { crc32 } from 'node:zlib';

import { digestOf, PART_BYTES } from '../../io/redis/blobs.ts';
import { runScript } from '../../io/redis/run-script.ts';
import { decodeState, encodeState } from '../../monitoring/streams/state-bytes.ts';
import { unavailable } from '../problem/service-problem.ts';
import type { JournalEntry } from '../streams/stream-journal.ts';
import {
  OtherEntries,
  RemovedStream,
  type SavedState,
  type StreamLog,
  type StreamNews,
} from '../streams/stream-log.ts';
import type { PromptClient } from './prompt-client.ts';
import { APPEND_TO_STREAM, READ_STREAM, SAVE_STREAM } from './stream-scripts.ts';

/** The time for which a host that was too slow may write before all others. */
const TURN_MILLIS = 2000;
/** The pause before a host looks again whether it may write. */
const WAIT_MILLIS = 10;
/** The time after which a host gives up writing. */
const PATIENCE_MILLIS = 10_000;
/** The time after which the parts of a state that did not become the saved one expire. */
const SPARE_SECONDS = 600;
/** The number of attempts to read a saved state, which a newer one may replace while it is read. */
const STATE_ATTEMPTS = 5;

/** What is needed to open the log of a stream. */
interface RedisStreamLogOptions {
  readonly client: Pick<PromptClient, 'call' | 'callBuffer'>;
  /** The first part of all keys. */
  readonly prefix: string;
  /** The ID of the stream. A stream that is created again has another one. */
  readonly id: string;
  /** The name of this host. */
  readonly host: string;
}

/**
 * The log of a stream in Redis, which several hosts share. A host appends entries only if it has read all earlier ones,
 * so that all hosts count the same entries in the same order. Each entry begins with a checksum of itself and of all
 * entries before it.
 */
export class RedisStreamLog implements StreamLog {
  readonly #options: RedisStreamLogOptions;
  /** The number of entries that were read or written, and the checksum of the last one. */
  #sequence = 0;
  #check = 0;
  #bytes = 0;

  constructor(options: RedisStreamLogOptions) {
    this.#options = options;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * @throws {RemovedStream} if the stream was removed
   * @throws {OtherEntries} if the log does not continue what was read
   * @throws {ServiceProblem} 503 if Redis does not answer
   */
  async read(): Promise<StreamNews | null> {
    const [sequence, check] = [this.#sequence, this.#check];
    try {
      return await this.#read();
    } catch (error) {
      // What was read of an incomplete answer is not counted, and is read again.
      [this.#sequence, this.#check] = [sequence, check];
      throw error;
    }
  }

  /**
   * @throws {RemovedStream} if the stream was removed
   * @throws {ServiceProblem} 503 if other hosts write all the time, or Redis does not answer or is full
   */
  async append(entries: readonly JournalEntry[]): Promise<boolean> {
    let check = this.#check;
    const texts = entries.map((entry) => {
      const text = textOf(entry);
      check = crc32(text, check);
      return `${formatCheck(check)} ${text}`;
    });
    const limit = performance.now() + PATIENCE_MILLIS;
    while (performance.now() < limit) {
      const args = [this.#sequence, this.#check, this.#options.host, TURN_MILLIS, check, ...texts];
      const [outcome, bytes] = (await this.#run(APPEND_TO_STREAM, ...args)) as [string, number?];
      if (outcome === 'unknown') throw new RemovedStream();
      if (outcome === 'behind') return false;
      if (outcome === 'appended') {
        this.#sequence += entries.length;
        this.#check = check;
        this.#bytes = bytes ?? 0;
        return true;
      }
      await sleep(WAIT_MILLIS);
    }
    const detail = 'Other hosts of this service add events to the same stream all the time.';
    throw unavailable(detail, 'Send the same lines again later.', 5);
  }

  async save(state: SavedState): Promise<void> {
    const { client } = this.#options;
    const bytes = encodeState(state);
    const token = randomUUID();
    const parts = Math.ceil(bytes.length / PART_BYTES);
    for (let part = 0; part < parts; part++) {
      const own = bytes.subarray(part * PART_BYTES, (part + 1) * PART_BYTES);
      await client.call('SET', this.#partKey(token, part), own, 'EX', SPARE_SECONDS);
    }
    const saved = await this.#run(SAVE_STREAM, this.#sequence, formatCheck(this.#check), token, parts, digestOf(bytes));
    if (saved === 'saved') return;
    for (let part = 0; part < parts; part++) await client.call('UNLINK', this.#partKey(token, part));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async #read(): Promise<StreamNews | null> {
    let saved: SavedState | undefined;
    const entries: JournalEntry[] = [];
    for (let attempts = 0; ;) {
      const [kind, ...fields] = (await this.#run(READ_STREAM, this.#sequence)) as ReadStream;
      if (kind === 'unknown') throw new RemovedStream();
      if (kind === 'state') {
        // The state also contains the entries that were read so far.
        entries.length = 0;
        saved = await this.#stateOf(fields as StateFields);
        if (saved === undefined && ++attempts === STATE_ATTEMPTS)
          throw new OtherEntries('a part of the state is missing');
        continue;
      }
      const [sequence, check, bytes, texts] = fields as EntriesFields;
      this.#bytes = Number(bytes);
      for (const text of texts) entries.push(this.#take(text));
      if (this.#sequence < Number(sequence) && texts.length > 0) continue;
      if (String(this.#sequence) !== sequence || String(this.#check) !== check)
        throw new OtherEntries(`there are ${sequence} entries, and this host has read ${String(this.#sequence)}`);
      return saved === undefined && entries.length === 0 ? null : { saved, entries };
    }
  }

  /** Returns the entry in a text, which must be the next one. */
  #take(text: string): JournalEntry {
    const content = text.slice(CHECK_LENGTH + 1);
    const check = crc32(content, this.#check);
    if (text.slice(0, CHECK_LENGTH) !== formatCheck(check))
      throw new OtherEntries(`the checksum of entry ${String(this.#sequence + 1)} is wrong`);
    this.#check = check;
    this.#sequence++;
    const [time, kind, rows] = JSON.parse(content) as [number, JournalEntry['kind'], JournalEntry['rows']];
    return { sequence: this.#sequence, time, kind, rows };
  }

  /** Reads the saved state; undefined if another one has replaced it. */
  async #stateOf([sequence, token, count, digest, check]: StateFields): Promise<SavedState | undefined> {
    const parts: Buffer[] = [];
    for (let part = 0; part < Number(count); part++) {
      const own = (await this.#options.client.callBuffer('GET', this.#partKey(token, part))) as Buffer | null;
      if (own === null) return undefined;
      parts.push(own);
    }
    const bytes = Buffer.concat(parts);
    if (digestOf(bytes) !== digest) throw new OtherEntries('the checksum of the state is wrong');
    this.#sequence = Number(sequence);
    this.#check = Number.parseInt(check, 16);
    return decodeState(bytes) as SavedState;
  }

  #partKey(token: string, part: number): string {
    const { prefix, id } = this.#options;
    return `${prefix}:stream:${id}:state:${token}:${String(part)}`;
  }

  #run(script: typeof READ_STREAM, ...args: readonly (string | number)[]): Promise<unknown> {
    const { client, prefix, id } = this.#options;
    return runScript(client, script, prefix, [id, ...args]);
  }
}

/** The answers of the script READ_STREAM. */
type ReadStream = readonly ['unknown'] | readonly ['state', ...StateFields] | readonly ['entries', ...EntriesFields];
type StateFields = readonly [sequence: string, token: string, parts: string, digest: string, check: string];
type EntriesFields = readonly [sequence: string, check: string, bytes: string, entries: readonly string[]];

const CHECK_LENGTH = 8;

function formatCheck(check: number): string {
  return check.toString(16).padStart(CHECK_LENGTH, '0');
}

function textOf({ time, kind, rows }: JournalEntry): string {
  return JSON.stringify([time, kind, rows]);
}
