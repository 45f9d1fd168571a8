import type { Logger } from 'pino';

import type { Job, JobOutcome, JobRunner } from '../jobs/job.ts';
import { cancelledByClient, keyUsedOtherwise, leftByEarlierProcess, unknownRun } from '../problem/run-problems.ts';
import type { ResultStoreLike } from '../store/result-store.ts';
import { noteFollower } from './active-run.ts';
import { ActiveRuns } from './active-runs.ts';
import { KeptRuns } from './kept-runs.ts';
import { RunFolders } from './run-folders.ts';
import { endedRecord, isFinal, type RunEvent, type RunRecord, type RunSummary } from './run-record.ts';
import type { IdempotencyClaim, KeptRun, Removal, RunCounts, RunRequest, Runs, Submitted, Unfollow } from './runs.ts';

/** Keys that are remembered; beyond that the oldest is forgotten. */
const MAX_KEYS = 10_000;

/** How long a key is remembered. */
const KEPT_MILLIS = 24 * 60 * 60 * 1000;

/** Options of {@link IdempotencyKeys}. */
interface IdempotencyKeysOptions {
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Whether a run still stands for its request: it was neither dropped nor cancelled, and did not fail for a reason of ours. */
  readonly isUsable: (runId: string) => Promise<boolean>;
}

interface Entry {
  readonly fingerprint: string;
  readonly submitted: Promise<Submitted>;
  readonly since: number;
}

/**
 * Sees to it that a request that was sent twice under one key is one run, also where both come at once. Keys live as
 * long as the process, in memory alone: a key that is used again after a restart gives a new run.
 */
export class IdempotencyKeys {
  readonly #clock: () => number;
  readonly #isUsable: (runId: string) => Promise<boolean>;
  /** The oldest first. */
  readonly #entries = new Map<string, Entry>();

  constructor({ clock, isUsable }: IdempotencyKeysOptions) {
    this.#clock = clock;
    this.#isUsable = isUsable;
  }

  /**
   * Gives the run of an earlier request under this key, or takes on a new one.
   * @throws {ServiceProblem} 422 where the earlier request was another one, or what `accept` throws
   */
  async once({ key, fingerprint }: IdempotencyClaim, accept: () => Promise<Submitted>): Promise<Submitted> {
    for (;;) {
      const earlier = this.#fresh(key);
      // Nothing is awaited between the look-up and the note, so that of two requests at once one is first.
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
    if (entry === undefined || this.#clock() - entry.since < KEPT_MILLIS) return entry;
    this.#drop(key, entry);
    return undefined;
  }

  #note(key: string, fingerprint: string, submitted: Promise<Submitted>): Promise<Submitted> {
    const entry = { fingerprint, submitted, since: this.#clock() };
    this.#entries.set(key, entry);
    const oldest = this.#entries.keys().next().value;
    if (this.#entries.size > MAX_KEYS && oldest !== undefined) this.#entries.delete(oldest);
    // What was refused may be tried again.
    submitted.catch(() => {
      this.#drop(key, entry);
    });
    return submitted;
  }

  /** The run of an entry, as soon as it was taken on; undefined where it was refused or is gone. */
  async #usableRun({ submitted }: Entry): Promise<string | undefined> {
    const accepted = await submitted.catch(() => undefined);
    return accepted !== undefined && (await this.#isUsable(accepted.runId)) ? accepted.runId : undefined;
  }

  #drop(key: string, entry: Entry): void {
    if (this.#entries.get(key) === entry) this.#entries.delete(key);
  }
}

/** The number of the end of a run that an earlier process left: how many events that told of it is not known, but fewer. */
const LAST_EVENT_LEFT = 2 ** 31 - 1;

/** Options of {@link createLocalRuns}. */
export interface LocalRunsOptions {
  /** Where records are kept. Who opened it closes it after the runs. */
  readonly store: ResultStoreLike<RunRecord>;
  readonly runner: JobRunner;
  /** The folder of the runs' folders. Those in it that are named by a UUID and belong to no run are removed at the start. */
  readonly filesFolder: string;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Gives each run its name: letters, digits, dots, dashes and underscores, never twice the same. */
  readonly createId: () => string;
  readonly logger: Logger;
  /**
   * How many runs are remembered whose end the store could not keep, and how many whose end was told and not kept.
   * @defaultValue 500
   */
  readonly capacity?: number | undefined;
}

/** The runs, in the process that owns them. */
export interface LocalRuns extends Runs {
  /** Notes that runs which an earlier process left unfinished have failed, and removes files that nobody knows. To be awaited before all else. */
  start(): Promise<void>;
  /** Whether a folder with an upload belongs to a run. */
  hasInput(folder: string): boolean;
  /**
   * Refuses new work, waits for what waits and runs, cancels what is left of it, and closes the runner.
   * @param drainMillis how long it waits before it cancels
   */
  close(drainMillis: number): Promise<void>;
}

/**
 * The runs of this process, over a store for their records and a runner for their jobs. Events of the past are told
 * before `follow` resolves; of a run that has ended, only its final status.
 */
export function createLocalRuns(options: LocalRunsOptions): LocalRuns {
  return new OwnedRuns(options);
}

class OwnedRuns implements LocalRuns {
  readonly #logger: Logger;
  readonly #now: () => string;
  readonly #runner: JobRunner;
  readonly #folders: RunFolders;
  readonly #kept: KeptRuns;
  readonly #active: ActiveRuns;
  readonly #keys: IdempotencyKeys;
  #closed: Promise<void> | undefined;

  constructor({ store, runner, filesFolder, clock, createId, logger, capacity = 500 }: LocalRunsOptions) {
    const now = (): string => new Date(clock()).toISOString();
    const folders = new RunFolders(filesFolder, logger);
    const kept = new KeptRuns({
      store,
      folders,
      logger,
      mostUnstored: capacity,
    });
    this.#logger = logger;
    this.#now = now;
    this.#runner = runner;
    this.#folders = folders;
    this.#kept = kept;
    this.#active = new ActiveRuns({ runner, folders, kept, createId, now, logger, mostRecent: capacity });
    this.#keys = new IdempotencyKeys({ clock, isUsable: (runId) => this.#isUsable(runId) });
  }

  async start(): Promise<void> {
    const left = this.#kept.records().filter(({ status }) => !isFinal(status));
    for (const record of left) await this.#kept.addEnd(this.#settled(record));
    const withFiles = this.#kept.noteFiles();
    const listed = new Set(this.#kept.records().map(({ runId }) => runId));
    // Files of a run whose entry is damaged stay: the entry may be restored from a backup.
    await this.#folders.start(
      async (runId) => withFiles.has(runId) || (!listed.has(runId) && (await this.#kept.has(runId))),
    );
  }

  async keep({ runId, endpoint, createdAt, body }: KeptRun): Promise<void> {
    const run = { runId, endpoint, status: 'succeeded', createdAt, finishedAt: this.#now() } as const;
    await this.#kept.add(Object.freeze({ ...run, body, problem: null, lastEventId: 1, files: [] }));
  }

  async submit(request: RunRequest): Promise<Submitted> {
    const { idempotency, inputFolder } = request;
    if (inputFolder !== null) this.#folders.addInput(inputFolder);
    const accept = (): Promise<Submitted> => this.#active.accept(request);
    const dropInput = async (): Promise<void> => {
      if (inputFolder !== null) await this.#folders.removeInput(inputFolder);
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
    if (run !== undefined) return waitOrAbort(run.ended.promise, signal);
    signal?.throwIfAborted();
    const record = (await this.get(runId)) ?? this.#active.recentEnd(runId);
    if (record === undefined) throw unknownRun(runId);
    return record;
  }

  async get(runId: string): Promise<RunRecord | undefined> {
    const run = this.#active.get(runId);
    if (run !== undefined) return run.record;
    const record = await this.#kept.get(runId);
    return record === undefined ? undefined : this.#settled(record);
  }

  list(): Promise<readonly RunSummary[]> {
    const records = [...this.#endedRecords().map((record) => this.#settled(record)), ...this.#active.records()];
    // Of runs of one moment the last comes first: sorting keeps the order of equals.
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
    if (!(await this.#kept.remove(runId))) return 'unknown';
    // A job that was cancelled and has not noticed yet removes its files itself.
    if (!this.#active.isAtWork(runId)) await this.#folders.remove(runId);
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
      noteFollower(this.#logger, runId, error);
    }
    return () => undefined;
  }

  work(job: Job): Promise<JobOutcome> {
    return this.#active.doWork(job);
  }

  counts(): Promise<RunCounts> {
    // Not by the records: a run that was cancelled holds its thread until its job has noticed.
    const { queued, running } = this.#runner;
    return Promise.resolve({ queued, running, kept: this.#endedRecords().length });
  }

  hasInput(folder: string): boolean {
    return this.#folders.hasInput(folder);
  }

  folderOf(runId: string): string {
    return this.#folders.pathOf(runId);
  }

  close(drainMillis: number): Promise<void> {
    return (this.#closed ??= this.#active.close(drainMillis).then(() => this.#kept.sweep()));
  }

  /** A record that says of a run that it works, where none does, is of an earlier process. */
  #settled(record: RunRecord): RunRecord {
    if (isFinal(record.status)) return record;
    const last = Object.freeze({ ...record, lastEventId: LAST_EVENT_LEFT });
    return endedRecord(last, 'failed', leftByEarlierProcess(record.runId), this.#now());
  }

  /** Records of runs that have ended, those first that were used the longest time ago. */
  #endedRecords(): RunRecord[] {
    return this.#kept.records().filter(({ runId }) => this.#active.get(runId) === undefined);
  }

  /** Whether a run still answers the request that it was made for. */
  async #isUsable(runId: string): Promise<boolean> {
    const record = await this.get(runId);
    if (record === undefined || record.status === 'cancelled') return false;
    return record.status !== 'failed' || (record.problem !== null && record.problem.status < 500);
  }
}

/** ISO times sort as text. */
function byCreation(a: RunSummary, b: RunSummary): number {
  if (a.createdAt === b.createdAt) return 0;
  return a.createdAt < b.createdAt ? 1 : -1;
}

function summaryOf({ runId, endpoint, status, createdAt, finishedAt }: RunRecord): RunSummary {
  return { runId, endpoint, status, createdAt, finishedAt };
}

/** Waits for a promise, but no longer than a signal allows: rejects with the signal's reason, leaving no listener behind. */
async function waitOrAbort<Value>(promise: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (signal === undefined) return promise;
  signal.throwIfAborted();
  let stop: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => {
      // Whoever aborts chooses the reason, which need be no error.
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
