import path from 'node:path';

import type { Logger } from 'pino';

import { whenAborted } from '../../internal/retry.ts';
import type { Job, JobOutcome, JobRunner } from '../jobs/job.ts';
import { cancelledByClient, keyUsedOtherwise, leftByEarlierProcess, unknownRun } from '../problem/service-problem.ts';
import type { ResultStoreLike } from '../store/result-store.ts';
import { ActiveRuns, type ActiveRunsParts, noteFollower } from './active-runs.ts';
import { KeptRuns, RunFolders } from './kept-runs.ts';
import {
  byCreation,
  canAnswerAgain,
  dropOldest,
  endedRecord,
  type IdempotencyClaim,
  isFinal,
  KEY_MILLIS,
  type KeptRun,
  LAST_EVENT_LEFT,
  MAX_KEYS,
  ownedBy,
  type Removal,
  type RunCounts,
  type RunEvent,
  type RunRecord,
  type RunRequest,
  type Runs,
  type RunSummary,
  type Submitted,
  type Unfollow,
} from './runs.ts';

/** Options of {@link IdempotencyKeys}. */
interface IdempotencyKeysOptions {
  /** Returns the current time in milliseconds since 1970. */
  readonly clock: () => number;
  /**
   * Returns whether a run can still answer its request: it was not dropped or cancelled, and no internal error
   * occurred.
   */
  readonly isUsable: (runId: string) => Promise<boolean>;
}

interface Entry {
  readonly fingerprint: string;
  readonly submitted: Promise<Submitted>;
  readonly since: number;
}

/**
 * Ensures that requests with the same key result in one run, even if they arrive at the same time. Keys are kept in
 * memory only: after a restart, a key gives a new run.
 */
export class IdempotencyKeys {
  readonly #options: IdempotencyKeysOptions;
  /** The idempotency keys of earlier requests, oldest first. */
  readonly #entries = new Map<string, Entry>();

  constructor(options: IdempotencyKeysOptions) {
    this.#options = options;
  }

  /**
   * Returns the run of an earlier request with this key, or accepts a new run.
   * @throws {ServiceProblem} 422 if the earlier request was different; also any error that `accept` throws
   */
  async once({ key, fingerprint }: IdempotencyClaim, accept: () => Promise<Submitted>): Promise<Submitted> {
    for (;;) {
      const earlier = this.#fresh(key);
      // There is no await between lookup and registration, so that concurrent requests cannot both start a run.
      if (earlier === undefined) return this.#note(key, fingerprint, accept());
      const runId = await this.#usableRun(earlier);
      if (runId === undefined) {
        this.#drop(key, earlier);
        continue;
      }
      if (earlier.fingerprint !== fingerprint) throw keyUsedOtherwise();
      return { runId, isReplay: true };
    }
  }

  #fresh(key: string): Entry | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || this.#options.clock() - entry.since < KEY_MILLIS) return entry;
    this.#drop(key, entry);
    return undefined;
  }

  #note(key: string, fingerprint: string, submitted: Promise<Submitted>): Promise<Submitted> {
    const entry = { fingerprint, submitted, since: this.#options.clock() };
    this.#entries.set(key, entry);
    dropOldest(this.#entries, MAX_KEYS);
    // A rejected request may be repeated.
    submitted.catch(() => {
      this.#drop(key, entry);
    });
    return submitted;
  }

  /** Returns the run of an entry once the run is accepted; undefined if the run was rejected or no longer exists. */
  async #usableRun({ submitted }: Entry): Promise<string | undefined> {
    const accepted = await submitted.catch(() => undefined);
    return accepted !== undefined && (await this.#options.isUsable(accepted.runId)) ? accepted.runId : undefined;
  }

  #drop(key: string, entry: Entry): void {
    if (this.#entries.get(key) === entry) this.#entries.delete(key);
  }
}

/** Options of {@link LocalRuns}. */
export interface LocalRunsOptions {
  /** The store of records. The owner of the store closes it after the runs. */
  readonly store: ResultStoreLike<RunRecord>;
  readonly runner: JobRunner;
  /**
   * The parent folder of the runs' folders. At the start, folders that have a UUID as their name but belong to no run
   * are removed.
   */
  readonly filesFolder: string;
  /** Returns the current time in milliseconds since 1970. */
  readonly clock: () => number;
  /** Returns a unique ID for each run: letters, digits, dots, dashes and underscores. */
  readonly createId: () => string;
  readonly logger: Logger;
  /**
   * The maximum number of remembered runs whose end could not be stored. The same limit applies to runs whose end was
   * reported but not stored.
   * @defaultValue 500
   */
  readonly capacity?: number | undefined;
}

/**
 * Manages the runs in the process that owns them. The records of the runs are in a store, and a runner executes the
 * jobs of the runs. Past events are sent before `follow` resolves; for a run that has ended, only its final status is
 * sent.
 */
export class LocalRuns implements Runs {
  readonly #parts: ActiveRunsParts;
  readonly #active: ActiveRuns;
  readonly #keys: IdempotencyKeys;
  #closed: Promise<void> | undefined;

  constructor({ store, runner, filesFolder, clock, createId, logger, capacity = 500 }: LocalRunsOptions) {
    const now = (): string => new Date(clock()).toISOString();
    const folders = new RunFolders(filesFolder, logger);
    const kept = new KeptRuns({ store, folders, logger, maxUnstored: capacity });
    this.#parts = { runner, folders, kept, createId, now, logger, maxRecent: capacity };
    this.#active = new ActiveRuns(this.#parts);
    this.#keys = new IdempotencyKeys({ clock, isUsable: (runId) => this.#isUsable(runId) });
  }

  /**
   * Marks unfinished runs of an earlier process as failed, and removes unknown files. Call and await this method before
   * all others.
   */
  async start(): Promise<void> {
    const left = this.#parts.kept.records().filter(({ status }) => !isFinal(status));
    for (const record of left) await this.#parts.kept.addEnd(this.#settled(record));
    const withFiles = this.#parts.kept.noteFiles();
    const listed = new Set(this.#parts.kept.records().map(({ runId }) => runId));
    // Files of a run with a damaged entry are kept, because the entry may be restored from a backup.
    await this.#parts.folders.start(
      async (runId) => withFiles.has(runId) || (!listed.has(runId) && (await this.#parts.kept.has(runId))),
    );
  }

  async keep({ runId, endpoint, createdAt, body, tenant }: KeptRun): Promise<void> {
    const run = { runId, endpoint, status: 'succeeded', createdAt, finishedAt: this.#parts.now() } as const;
    await this.#parts.kept.add(
      Object.freeze({ ...run, body, problem: null, lastEventId: 1, files: [], ...ownedBy(tenant) }),
    );
  }

  async submit(request: RunRequest): Promise<Submitted> {
    const { idempotency, inputFolder } = request;
    if (inputFolder !== null) this.#parts.folders.addInput(inputFolder);
    const accept = (): Promise<Submitted> => this.#active.accept(request);
    const dropInput = async (): Promise<void> => {
      if (inputFolder !== null) await this.#parts.folders.removeInput(inputFolder);
    };
    try {
      const submitted = await (idempotency === null ? accept() : this.#keys.once(idempotency, accept));
      if (submitted.isReplay) await dropInput();
      return submitted;
    } catch (error) {
      await dropInput();
      throw error;
    }
  }

  async wait(runId: string, signal?: AbortSignal): Promise<RunRecord> {
    const run = this.#active.get(runId);
    signal?.throwIfAborted();
    if (run !== undefined) {
      const ended = run.ended.promise;
      return signal === undefined ? ended : Promise.race([ended, whenAborted(signal)]);
    }
    const record = (await this.get(runId)) ?? this.#active.recentEnd(runId);
    if (record === undefined) throw unknownRun(runId);
    return record;
  }

  async get(runId: string): Promise<RunRecord | undefined> {
    const run = this.#active.get(runId);
    if (run !== undefined) return run.record;
    const record = await this.#parts.kept.get(runId);
    return record === undefined ? undefined : this.#settled(record);
  }

  list(): Promise<readonly RunSummary[]> {
    const records = [...this.#endedRecords().map((record) => this.#settled(record)), ...this.#active.records()];
    // If times are equal, the later run comes first, because sorting is stable.
    return Promise.resolve(records.reverse().sort(byCreation).map(summaryOf));
  }

  async remove(runId: string): Promise<Removal> {
    const run = this.#active.get(runId);
    if (run !== undefined) {
      if (!(await run.accepted.promise)) return 'unknown';
      if (!run.isDecided) {
        await this.#active.cancel(run, cancelledByClient(runId));
        return 'cancelled';
      }
      await run.ended.promise;
    }
    if (!(await this.#parts.kept.remove(runId))) return 'unknown';
    // A cancelled job that has not stopped yet removes its files itself.
    if (!this.#active.isAtWork(runId)) await this.#parts.folders.remove(runId);
    return 'removed';
  }

  async follow(runId: string, after: number, onEvent: (event: RunEvent) => void): Promise<Unfollow | undefined> {
    const run = this.#active.get(runId);
    if (run !== undefined) return run.events.follow(after, onEvent);
    const record = await this.get(runId);
    if (record === undefined) return undefined;
    try {
      onEvent({ id: record.lastEventId, type: 'status', status: record.status });
    } catch (error) {
      noteFollower(this.#parts.logger, runId, error);
    }
    return () => undefined;
  }

  work(job: Job): Promise<JobOutcome> {
    return this.#active.doWork(job);
  }

  counts(): Promise<RunCounts> {
    // The counts come from the runner and not from the records, because a cancelled run occupies its thread until its
    // job stops.
    const { queued, running } = this.#parts.runner;
    return Promise.resolve({ queued, running, kept: this.#endedRecords().length });
  }

  /** Returns whether a folder with an upload belongs to a run. */
  hasInput(folder: string): boolean {
    return this.#parts.folders.hasInput(folder);
  }

  /** Returns the folder of a run's files, which is the same in every process. */
  folderOf(runId: string): string {
    return this.#parts.folders.pathOf(runId);
  }

  async fileOf(runId: string, name: string): Promise<string> {
    return Promise.resolve(path.join(this.folderOf(runId), name));
  }

  /**
   * Rejects new work, waits for queued and running work, cancels the rest, and closes the runner.
   * @param drainMillis how long to wait before the remaining work is cancelled
   */
  close(drainMillis: number): Promise<void> {
    return (this.#closed ??= this.#active.close(drainMillis).then(() => this.#parts.kept.sweep()));
  }

  /** Marks a run as failed if an earlier process ended before the run did. */
  #settled(record: RunRecord): RunRecord {
    if (isFinal(record.status)) return record;
    const last = Object.freeze({ ...record, lastEventId: LAST_EVENT_LEFT });
    return endedRecord(last, 'failed', leftByEarlierProcess(record.runId), this.#parts.now());
  }

  /** Returns the records of ended runs, least recently used first. */
  #endedRecords(): RunRecord[] {
    return this.#parts.kept.records().filter(({ runId }) => this.#active.get(runId) === undefined);
  }

  /** Returns whether a stored run can be returned when its request is repeated. */
  async #isUsable(runId: string): Promise<boolean> {
    return canAnswerAgain(await this.get(runId));
  }
}

function summaryOf({ runId, endpoint, status, createdAt, finishedAt, tenant }: RunRecord): RunSummary {
  return { runId, endpoint, status, createdAt, finishedAt, ...ownedBy(tenant) };
}
