import { createHash } from 'node:crypto';

import type { ProgressEvent } from '../../internal/progress.ts';
import type { RedisClient } from '../../io/redis/open-redis.ts';
import { type RedisScript, runScript } from '../../io/redis/run-script.ts';
import { type IdempotencyClaim, isForgotten, MAX_PROGRESS, type RunCounts, type RunRecord } from '../runs/runs.ts';
import * as scripts from './run-scripts.ts';
import type { StoredFile, StoredJob } from './service-task.ts';
import {
  fieldsOfRecord,
  pairs,
  parseEvents,
  parseListedRun,
  parseStoredRun,
  type RawEvents,
  type RunNews,
  type StoredRun,
} from './stored-run.ts';

/** The limits of what is stored. */
export interface LedgerLimits {
  /** The maximum number of ended runs. */
  readonly maxRuns: number;
  /** The maximum size of ended runs, with their files, in bytes. */
  readonly maxBytes: number;
  /** The time in seconds after which a run expires. */
  readonly keepSeconds: number;
  /** The maximum number of runs that wait. */
  readonly maxQueued: number;
  /** The time in milliseconds after which another host looks after the runs of a host that is silent. */
  readonly leaseMillis: number;
}

/**
 * The limits of a service: as many results as in one process, in at most 1 GiB with their files, for a week. The number
 * of runs that wait is an option.
 */
export const DEFAULT_LEDGER_LIMITS: Omit<LedgerLimits, 'maxQueued'> = Object.freeze({
  maxRuns: 500,
  maxBytes: 2 ** 30,
  keepSeconds: 7 * 86_400,
  leaseMillis: 15_000,
});

/** How long the end of a run can be waited for if it is not listed: the client that waits has the complete outcome. */
const FORGOTTEN_SECONDS = 300;

/** How long the files of a run are kept after the run. */
const SPARE_SECONDS = 86_400;

/** The approximate size of a record without its body. */
const RECORD_BYTES = 1024;

/** An idempotency key that is in use: its request, its run, and when it was first used. */
export interface ClaimedKey {
  /** The value in Redis. */
  readonly raw: string;
  readonly fingerprint: string;
  readonly runId: string;
  readonly since: number;
}

/** A new run. */
export interface NewRun {
  readonly record: RunRecord;
  readonly job: StoredJob;
  readonly isWaitedFor: boolean;
  readonly download: string | undefined;
  readonly claim: { readonly key: string; readonly earlier: string; readonly value: string } | null;
}

/** The outcome of an attempt to record a run. */
export type Creation = 'created' | 'exists' | 'full' | 'key';

/** The number of runs that one host takes over at once. */
const ADOPTED_AT_ONCE = 100;

/**
 * The runs of all hosts, in Redis. Each method is one step that either happens or not, so that hosts cannot disagree: a
 * run ends once, an idempotency key belongs to one run, and events are numbered in one order.
 */
export class RunLedger {
  readonly #client: Pick<RedisClient, 'call'>;
  readonly #prefix: string;
  readonly #limits: LedgerLimits;

  constructor(client: Pick<RedisClient, 'call'>, prefix: string, limits: LedgerLimits) {
    this.#client = client;
    this.#prefix = prefix;
    this.#limits = limits;
  }

  /** The channel on which changes are announced, as the ID of the run and a word. */
  get channel(): string {
    return `${this.#prefix}:runs:news`;
  }

  /** Returns the prefix of the keys of a run's files. */
  filesOf(runId: string): string {
    return `${this.#prefix}:run:${runId}`;
  }

  /** Returns how long files are stored, in seconds. */
  get fileSeconds(): number {
    return this.#limits.keepSeconds + SPARE_SECONDS;
  }

  /** Stores a run that has ended before it was recorded. */
  async keep(record: RunRecord): Promise<void> {
    const { keepSeconds, maxRuns, maxBytes } = this.#limits;
    const args = [record.runId, sizeOf(record, []), keepSeconds, maxRuns, maxBytes];
    await this.#run(scripts.KEEP, ...args, ...fieldsOfRecord(record, []));
  }

  /** Returns the present use of an idempotency key. */
  async claimed({ key }: Pick<IdempotencyClaim, 'key'>): Promise<ClaimedKey | undefined> {
    const raw = await this.#client.call('GET', `${this.#prefix}:key:${digestOfKey(key)}`);
    if (typeof raw !== 'string') return undefined;
    const [since = '', runId = '', ...fingerprint] = raw.split(' ');
    return { raw, since: Number(since), runId, fingerprint: fingerprint.join(' ') };
  }

  /** Returns the value of an idempotency key for a run. */
  claimOf({ key, fingerprint }: IdempotencyClaim, runId: string, since: number, earlier: string): NewRun['claim'] {
    return { key: digestOfKey(key), earlier, value: `${String(since)} ${runId} ${fingerprint}` };
  }

  async create(run: NewRun, keySeconds: number, maxKeys: number): Promise<Creation> {
    const { record, job, isWaitedFor, download, claim } = run;
    const { leaseMillis, maxQueued, keepSeconds } = this.#limits;
    const { key = '', earlier = '', value = '' } = claim ?? {};
    const args = [record.runId, leaseMillis * 1000, maxQueued, keepSeconds, key, earlier, value, keySeconds, maxKeys];
    const fields = { job: JSON.stringify(job), waited: isWaitedFor ? '1' : undefined, download };
    return (await this.#run(scripts.CREATE, ...args, ...fieldsOfRecord(record, []), ...pairs(fields))) as Creation;
  }

  /** Removes a run that may or may not have been recorded, and that no client knows. */
  async discard({ record, claim }: Pick<NewRun, 'record' | 'claim'>): Promise<void> {
    await this.#run(scripts.DISCARD, record.runId, claim?.key ?? '', claim?.value ?? '');
  }

  async start(runId: string): Promise<void> {
    await this.#run(scripts.START, runId);
  }

  async progress(runId: string, { stage, done, total }: ProgressEvent): Promise<void> {
    const report = JSON.stringify([stage, done, total]);
    await this.#run(scripts.PROGRESS, runId, report, MAX_PROGRESS, this.#limits.keepSeconds);
  }

  /**
   * Records the end of a run, unless another end is recorded. Calling again with the same token has no effect.
   * @returns whether this is the end of the run
   */
  async end(record: RunRecord, files: readonly StoredFile[], isWaitedFor: boolean, token: string): Promise<boolean> {
    const { keepSeconds, maxRuns, maxBytes } = this.#limits;
    const isHidden = isForgotten(isWaitedFor, record);
    const digests = files.map(({ digest }) => digest).join(' ');
    const sizes = [sizeOf(record, files), keepSeconds, FORGOTTEN_SECONDS, maxRuns, maxBytes];
    const args = [record.runId, token, isHidden ? 1 : 0, ...sizes, digests];
    return (await this.#run(scripts.END, ...args, ...fieldsOfRecord(record, files))) === 'recorded';
  }

  /** Removes an ended run. */
  async remove(runId: string): Promise<'removed' | 'unknown' | 'active'> {
    return (await this.#run(scripts.REMOVE, runId)) as 'removed' | 'unknown' | 'active';
  }

  /**
   * Returns a run, also a hidden one, and marks it as used unless `isPeek` is true.
   * @throws {ServiceProblem} 500 if what is stored is not a run
   */
  async get(runId: string, isPeek = false): Promise<StoredRun | undefined> {
    const fields = (await this.#run(scripts.GET, runId, isPeek ? 0 : 1)) as string[];
    return fields.length === 0 ? undefined : parseStoredRun(runId, fields);
  }

  /** Returns whether a run has not ended. */
  async isActive(runId: string): Promise<boolean> {
    const status = await this.#client.call('HGET', `${this.#prefix}:run:${runId}`, 'status');
    return status === 'queued' || status === 'running';
  }

  /** Returns the listed runs that are valid, each with the time at which it was recorded. */
  async list(): Promise<NonNullable<ReturnType<typeof parseListedRun>>[]> {
    const listed = (await this.#run(scripts.LIST)) as (string | null)[][];
    return listed.map(parseListedRun).filter((run) => run !== undefined);
  }

  async counts(): Promise<RunCounts> {
    const [queued, running, kept] = (await this.#run(scripts.COUNTS)) as [number, number, number];
    return { queued, running, kept };
  }

  /** Returns the events of a run after one of them; undefined for an unknown run. */
  async news(runId: string, after: number): Promise<RunNews | undefined> {
    return parseEvents((await this.#run(scripts.EVENTS, runId, after)) as RawEvents, after);
  }

  /** Keeps runs from being taken over by other hosts. Returns those that have ended. */
  async renew(runIds: readonly string[]): Promise<string[]> {
    const { leaseMillis, keepSeconds } = this.#limits;
    return (await this.#run(scripts.RENEW, leaseMillis * 1000, keepSeconds, ...runIds)) as string[];
  }

  /** Takes over runs that no host looks after, and returns their IDs. */
  async adopt(): Promise<string[]> {
    const { leaseMillis, keepSeconds } = this.#limits;
    return (await this.#run(scripts.ADOPT, leaseMillis * 1000, ADOPTED_AT_ONCE, keepSeconds)) as string[];
  }

  async release(runIds: readonly string[]): Promise<void> {
    if (runIds.length > 0) await this.#run(scripts.RELEASE, ...runIds);
  }

  /**
   * Notes the keys of a file or of bytes before it is stored, so that they are removed with the run.
   * @returns false if the run must be active and is not
   */
  async noteBlobs(runId: string, keys: readonly string[], mustBeActive: boolean): Promise<boolean> {
    const args = [runId, this.fileSeconds, mustBeActive ? 1 : 0, ...keys];
    return (await this.#run(scripts.NOTE_BLOBS, ...args)) === 1;
  }

  #run(script: RedisScript, ...args: readonly (string | number)[]): Promise<unknown> {
    return runScript(this.#client, script, this.#prefix, args);
  }
}

function sizeOf({ body }: RunRecord, files: readonly StoredFile[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, RECORD_BYTES + (body?.length ?? 0));
}

/** Returns the digest of an idempotency key, which may contain any characters. */
function digestOfKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
