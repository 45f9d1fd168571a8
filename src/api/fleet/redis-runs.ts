import { randomUUID } from 'node:crypto';
import path from 'node:path';

import type { Logger } from 'pino';

import { invalidParameter } from '../../internal/arguments.ts';
import { createDeferred, type Deferred } from '../../internal/deferred.ts';
import { whenAborted } from '../../internal/retry.ts';
import type { TaskQueue } from '../../io/queue/task-queue.ts';
import { getFile, putFile } from '../../io/redis/file-blobs.ts';
import type { Redis, RedisClient } from '../../io/redis/open-redis.ts';
import { type Job, type JobOutcome, type JobRunner, uploadsOf } from '../jobs/job.ts';
import {
  cancelledByClient,
  damagedRun,
  keyUsedOtherwise,
  queueFull,
  serviceEnds,
  ServiceProblem,
  storeAway,
  unknownRun,
} from '../problem/service-problem.ts';
import { noteFollower } from '../runs/active-runs.ts';
import { InputFolders } from '../runs/kept-runs.ts';
import {
  byCreation,
  canAnswerAgain,
  endedRecord,
  isFinal,
  KEY_MILLIS,
  type KeptRun,
  MAX_KEYS,
  queuedRecord,
  type Removal,
  type RunCounts,
  type RunEvent,
  type RunRecord,
  type RunRequest,
  type Runs,
  type RunSummary,
  type Submitted,
  type Unfollow,
} from '../runs/runs.ts';
import { isSafeId } from '../store/result-store.ts';
import { FileCache } from './file-cache.ts';
import type { PromptClient } from './prompt-client.ts';
import { RunDrivers } from './run-drivers.ts';
import { RunFeed } from './run-feed.ts';
import { type Creation, type LedgerLimits, type NewRun, RunLedger } from './run-ledger.ts';
import { jobToStore, type StoredFile } from './service-task.ts';
import type { StoredRun } from './stored-run.ts';

/** How long clients wait for the end of their run while Redis does not answer. */
const AWAY_MILLIS = 5000;

/** Options of {@link RedisRuns}. */
export interface RedisRunsOptions {
  /** The connections whose commands wait while Redis is away, for work that no client waits for. */
  readonly redis: Redis;
  readonly prompt: PromptClient;
  /** A connection for subscriptions. */
  readonly subscriber: RedisClient;
  /** The first part of all keys. */
  readonly prefix: string;
  readonly limits: LedgerLimits;
  readonly queue: TaskQueue;
  /** Runs the jobs that are not runs, on this machine. */
  readonly runner: JobRunner;
  /** The folder for local copies of files. */
  readonly filesFolder: string;
  /** Returns the current time in milliseconds since 1970. */
  readonly clock: () => number;
  readonly createId: () => string;
  readonly logger: Logger;
}

/**
 * The runs that several hosts share through Redis. Any host answers for any run. A run is recorded with its upload before
 * its request is answered, and then put on a queue, whose workers execute its job. The host that accepted the run looks
 * after it: it records the start, the progress and the end. If this host falls silent, another one takes its place.
 */
export class RedisRuns implements Runs {
  readonly #options: RedisRunsOptions;
  /** For requests, which fail while Redis does not answer. */
  readonly #ledger: RunLedger;
  readonly #drivers: RunDrivers;
  readonly #feed: RunFeed;
  readonly #files: FileCache;
  /** The folders of uploads that are being stored. */
  readonly #inputs: InputFolders;
  readonly #waiting = new Map<Deferred<RunEvent>, string>();
  #awayCheck: NodeJS.Timeout | undefined;
  #isClosing = false;

  constructor(options: RedisRunsOptions) {
    const { redis, prompt, subscriber, prefix, limits, queue, filesFolder, logger } = options;
    this.#options = options;
    this.#inputs = new InputFolders(logger);
    this.#ledger = new RunLedger(prompt, prefix, limits);
    this.#drivers = new RunDrivers({
      redis,
      ledger: new RunLedger(redis.client, prefix, limits),
      leaseMillis: limits.leaseMillis,
      queue,
      now: () => this.#now(),
      logger,
      onLook: () => {
        this.#feed.look();
      },
    });
    this.#feed = new RunFeed({
      ledger: this.#ledger,
      subscriber,
      logger,
      onEnd: (runId) => {
        this.#drivers.noteEnd(runId);
        void this.#files.remove(runId);
      },
      onRelease: () => {
        this.#drivers.look();
      },
    });
    this.#files = new FileCache({
      folder: path.resolve(filesFolder),
      fetch: (runId, file, target) =>
        getFile({ client: prompt, name: redis.name }, this.#ledger.filesOf(runId), file, target),
      logger,
    });
  }

  /** Call and await this method before all others. */
  async start(): Promise<void> {
    await this.#feed.start();
    this.#drivers.start();
    this.#awayCheck = setInterval(() => {
      if (this.#options.prompt.awayMillis < AWAY_MILLIS) return;
      for (const [end, runId] of this.#waiting) end.reject(storeAway(undefined, runId));
    }, 500);
    this.#awayCheck.unref();
  }

  async keep({ runId, endpoint, createdAt, body, tenant }: KeptRun): Promise<void> {
    const run = { ...queuedRecord(runId, endpoint, createdAt, tenant), status: 'succeeded', body } as const;
    await this.#ledger.keep({ ...run, finishedAt: this.#now(), lastEventId: 1 });
  }

  async submit(request: RunRequest): Promise<Submitted> {
    const { inputFolder } = request;
    if (inputFolder !== null) this.#inputs.addInput(inputFolder);
    try {
      return await this.#accept(request);
    } finally {
      // The upload is stored by now.
      if (inputFolder !== null) await this.#inputs.removeInput(inputFolder);
    }
  }

  async wait(runId: string, signal?: AbortSignal): Promise<RunRecord> {
    const record = await this.#recordToWaitFor(runId);
    signal?.throwIfAborted();
    if (isFinal(record.status)) return record;
    const end = createDeferred<RunEvent>();
    this.#waiting.set(end, runId);
    try {
      const unfollow = await this.#feed.follow(runId, Number.MAX_SAFE_INTEGER, (event) => {
        if (event.type === 'status' && isFinal(event.status)) end.resolve(event);
      });
      try {
        if (unfollow === undefined) throw unknownRun(runId);
        if (this.#isClosing) throw serviceEnds();
        await (signal === undefined ? end.promise : Promise.race([end.promise, whenAborted(signal)]));
      } finally {
        unfollow?.();
      }
    } finally {
      this.#waiting.delete(end);
    }
    return this.#recordToWaitFor(runId);
  }

  /**
   * Returns the record of a run, also of a hidden one.
   * @throws {ServiceProblem} 404 if the run was removed, also if that was just after its end: its content is gone
   */
  async #recordToWaitFor(runId: string): Promise<RunRecord> {
    const run = await this.#read(runId, true);
    if (run === undefined || run.hidden === 'removed') throw unknownRun(runId);
    return run.record;
  }

  async get(runId: string): Promise<RunRecord | undefined> {
    return (await this.#listed(runId))?.record;
  }

  async list(): Promise<readonly RunSummary[]> {
    const listed = await this.#ledger.list();
    // If times are equal, the later run comes first.
    listed.sort(([a, aSince], [b, bSince]) => byCreation(a, b) || bSince - aSince);
    return listed.map(([summary]) => summary);
  }

  async remove(runId: string): Promise<Removal> {
    const run = await this.#listed(runId).catch((error: unknown) => {
      // A damaged run can be removed, but not cancelled.
      if (error instanceof ServiceProblem && error.status === 500) return error;
      throw error;
    });
    if (run === undefined) return 'unknown';
    if (!(run instanceof ServiceProblem) && !isFinal(run.record.status)) {
      const end = endedRecord(run.record, 'cancelled', cancelledByClient(runId), this.#now());
      if (await this.#ledger.end(end, [], run.isWaitedFor, randomUUID())) return 'cancelled';
    }
    const removal = await this.#ledger.remove(runId);
    if (removal !== 'active') return removal;
    throw run instanceof ServiceProblem ? run : unknownRun(runId);
  }

  async follow(runId: string, after: number, onEvent: (event: RunEvent) => void): Promise<Unfollow | undefined> {
    const record = await this.get(runId);
    if (record === undefined) return undefined;
    if (!isFinal(record.status)) return this.#feed.follow(runId, after, onEvent);
    try {
      onEvent({ id: record.lastEventId, type: 'status', status: record.status });
    } catch (error) {
      noteFollower(this.#options.logger, runId, error);
    }
    return () => undefined;
  }

  async work(job: Job): Promise<JobOutcome> {
    const { runner, limits } = this.#options;
    if (this.#isClosing) throw serviceEnds();
    if (runner.isFull || runner.queued >= limits.maxQueued) throw queueFull();
    const nobody = (): void => undefined;
    return runner.run(job, { folder: '', signal: new AbortController().signal, onProgress: nobody, onStart: nobody });
  }

  async counts(): Promise<RunCounts> {
    return this.#ledger.counts();
  }

  async fileOf(runId: string, name: string): Promise<string> {
    const file = (await this.#listed(runId))?.files.find((one) => one.name === name);
    if (file === undefined) throw unknownRun(runId);
    try {
      return await this.#files.pathOf(runId, file);
    } catch (error) {
      if (error instanceof ServiceProblem) throw error;
      this.#options.logger.error({ err: error, runId }, 'a file of a run cannot be fetched');
      throw damagedRun(runId, error);
    }
  }

  /** Returns whether a folder with an upload belongs to a run. */
  hasInput(folder: string): boolean {
    return this.#inputs.hasInput(folder);
  }

  /**
   * Rejects new work, and leaves the runs of this host to other hosts. Runs whose only client waits here are cancelled.
   * Call this method when the worker of this host has ended its tasks.
   */
  async close(): Promise<void> {
    this.#isClosing = true;
    clearInterval(this.#awayCheck);
    await this.#drivers.close(this.#ledger);
    for (const end of this.#waiting.keys()) end.reject(serviceEnds());
  }

  /** Rejects new runs from now on. */
  startEnding(): void {
    this.#isClosing = true;
  }

  async #accept(request: RunRequest): Promise<Submitted> {
    const { idempotency } = request;
    for (;;) {
      const earlier = idempotency === null ? undefined : await this.#ledger.claimed(idempotency);
      if (earlier !== undefined) {
        const isFresh = this.#options.clock() - earlier.since < KEY_MILLIS;
        const run = isFresh ? await this.get(earlier.runId) : undefined;
        if (canAnswerAgain(run)) {
          if (earlier.fingerprint !== idempotency?.fingerprint) throw keyUsedOtherwise();
          return { runId: earlier.runId, isReplay: true };
        }
      }
      const runId = await this.#create(request, earlier?.raw ?? '');
      if (runId !== undefined) return { runId, isReplay: false };
    }
  }

  /**
   * Records a new run and its upload.
   * @param earlier the present value of its idempotency key
   * @returns undefined if another request has taken the key in the meantime
   */
  async #create(request: RunRequest, earlier: string): Promise<string | undefined> {
    const { createId, clock, limits } = this.#options;
    const { endpoint, job, idempotency, tenant, isWaitedFor = false, download } = request;
    if (this.#isClosing) throw serviceEnds();
    // The room is checked before an upload is stored, and again in the step that records the run.
    if ((await this.#ledger.counts()).queued >= limits.maxQueued) throw queueFull();
    const runId = createId();
    if (!isSafeId(runId)) throw unusableId(runId);
    const claim = idempotency === null ? null : this.#ledger.claimOf(idempotency, runId, clock(), earlier);
    const record = queuedRecord(runId, endpoint, this.#now(), tenant);
    const attempt = async (): Promise<[Creation, NewRun]> => {
      const uploads: Record<string, StoredFile> = {};
      for (const [part, file] of Object.entries(uploadsOf(job))) uploads[part] = await this.#store(runId, file);
      const stored = { job: jobToStore(job), uploads };
      const run: NewRun = { record, job: stored, isWaitedFor, download, claim };
      return [await this.#ledger.create(run, KEY_MILLIS / 1000, MAX_KEYS), run];
    };
    const [creation, run] = await attempt().catch((error: unknown) => {
      // If the answer of Redis was lost, nobody knows whether the run was recorded. Its client gets an error.
      this.#drivers.discard({ record, claim });
      throw error;
    });
    if (creation === 'exists') throw unusableId(runId);
    if (creation === 'created') {
      this.#drivers.drive(run);
      return runId;
    }
    // The run was not recorded, but its upload was.
    this.#drivers.discard({ record, claim: null });
    if (creation === 'full') throw queueFull();
    return undefined;
  }

  async #store(runId: string, upload: string): Promise<StoredFile> {
    const { prompt } = this.#options;
    const stored = await putFile(
      { client: prompt },
      this.#ledger.filesOf(runId),
      upload,
      this.#ledger.fileSeconds,
      (keys) => this.#ledger.noteBlobs(runId, keys, false).then(() => undefined),
    );
    return { name: path.basename(upload), ...stored };
  }

  async #listed(runId: string): Promise<StoredRun | undefined> {
    const run = await this.#read(runId);
    return run?.hidden === null ? run : undefined;
  }

  /** Returns a run, also a hidden one. */
  async #read(runId: string, isPeek = false): Promise<StoredRun | undefined> {
    if (!isSafeId(runId)) return undefined;
    try {
      return await this.#ledger.get(runId, isPeek);
    } catch (error) {
      if (error instanceof ServiceProblem && error.status === 500)
        this.#options.logger.error({ err: error.cause, runId }, 'a stored run is damaged');
      throw error;
    }
  }

  #now(): string {
    return new Date(this.#options.clock()).toISOString();
  }
}

function unusableId(runId: string): Error {
  return invalidParameter('createId', 'return a new file name of letters, digits and dashes for each run', runId);
}
