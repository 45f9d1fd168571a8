import type { Logger } from 'pino';

import { invalidParameter } from '../../internal/arguments.ts';
import { createDeferred } from '../../internal/deferred.ts';
import type { ProgressEvent } from '../../internal/progress.ts';
import { sleep } from '../../internal/retry.ts';
import type { Job, JobOutcome, JobRunner } from '../jobs/job.ts';
import {
  cancelledByEnd,
  cannotKeep,
  type ProblemJson,
  problemOfRun,
  queueFull,
  serviceEnds,
  ServiceProblem,
} from '../problem/service-problem.ts';
import { isSafeId } from '../store/result-store.ts';
import type { KeptRuns, RunFolders } from './kept-runs.ts';
import {
  dropOldest,
  endedRecord,
  isForgotten,
  MAX_PROGRESS,
  queuedRecord,
  type RunEvent,
  type RunRecord,
  type RunRequest,
  type RunStatus,
  type Submitted,
  succeededRecord,
  type Unfollow,
} from './runs.ts';

type OnEvent = (event: RunEvent) => void;

/** The numbered events of one run. The most recent events are stored, and each event is passed to all followers. */
class EventLog {
  readonly #onFailure: (error: unknown) => void;
  readonly #followers = new Set<{ readonly onEvent: OnEvent }>();
  #statuses: RunEvent[] = [];
  #progress: RunEvent[] = [];
  #lastId = 0;

  /** @param onFailure called with the error that a follower throws; that follower receives no more events */
  constructor(onFailure: (error: unknown) => void) {
    this.#onFailure = onFailure;
  }

  /** The ID of the last event; 0 if there is none. */
  get lastId(): number {
    return this.#lastId;
  }

  status(status: RunStatus): void {
    const event = Object.freeze({ id: ++this.#lastId, type: 'status', status } as const);
    this.#statuses.push(event);
    this.#report(event);
  }

  /** Adds a progress report, unless it equals the last one. */
  progress({ stage, done, total }: ProgressEvent): void {
    const last = this.#progress.at(-1);
    if (last?.type === 'progress' && last.stage === stage && last.done === done && last.total === total) return;
    const event = Object.freeze({ id: ++this.#lastId, type: 'progress', stage, done, total } as const);
    this.#progress.push(event);
    // The list is halved occasionally, which is cheaper than removing an item for each event.
    if (this.#progress.length >= 2 * MAX_PROGRESS) this.#progress = this.#progress.slice(-MAX_PROGRESS);
    this.#report(event);
  }

  /** Sends the stored events after the given ID immediately, and new events as they occur. */
  follow(after: number, onEvent: OnEvent): Unfollow {
    const follower = { onEvent };
    this.#followers.add(follower);
    const past = [...this.#statuses, ...this.#progress.slice(-MAX_PROGRESS)].filter(({ id }) => id > after);
    for (const event of past.sort((a, b) => a.id - b.id)) this.#reportOne(follower, event);
    return () => {
      this.#followers.delete(follower);
    };
  }

  #report(event: RunEvent): void {
    for (const follower of [...this.#followers]) this.#reportOne(follower, event);
  }

  #reportOne(follower: { readonly onEvent: OnEvent }, event: RunEvent): void {
    if (!this.#followers.has(follower)) return;
    try {
      follower.onEvent(event);
    } catch (error) {
      this.#followers.delete(follower);
      this.#onFailure(error);
    }
  }
}

/** A run that has not ended. */
class ActiveRun {
  record: RunRecord;
  /** See {@link RunRequest.isWaitedFor}. */
  readonly isWaitedFor: boolean;
  /** Whether the outcome of the run is already determined. Later results are discarded. */
  isDecided = false;
  readonly events: EventLog;
  /** The controller whose abort signal asks the job to stop. */
  readonly controller = new AbortController();
  /** Resolves to true if the run was accepted, otherwise to false. */
  readonly accepted = createDeferred<boolean>();
  /** Resolves to the final record of the run when this record is stored. */
  readonly ended = createDeferred<RunRecord>();

  constructor(record: RunRecord, isWaitedFor: boolean, logger: Logger) {
    this.record = record;
    this.isWaitedFor = isWaitedFor;
    this.events = new EventLog((error) => {
      noteFollower(logger, record.runId, error);
    });
  }
}

/** Logs an error that a follower has thrown. */
export function noteFollower(logger: Logger, runId: string, error: unknown): void {
  logger.warn({ err: error, runId }, 'a follower of a run failed and gets no more events');
}

/** The dependencies of {@link ActiveRuns}. */
export interface ActiveRunsParts {
  readonly runner: JobRunner;
  readonly folders: RunFolders;
  readonly kept: KeptRuns;
  readonly createId: () => string;
  /** Returns the current time in ISO 8601. */
  readonly now: () => string;
  readonly logger: Logger;
  /** The maximum number of ended runs that are not in the store but whose end can still be reported. */
  readonly maxRecent: number;
}

/**
 * The runs that have not ended. Each run is recorded in the store as queued, so that a later process can find it. The
 * store may evict that record. Each run ends only once, by its job or by a cancellation. Its record is stored first.
 * Only then are followers and waiting clients notified.
 */
export class ActiveRuns {
  readonly #parts: ActiveRunsParts;
  readonly #runs = new Map<string, ActiveRun>();
  /** The jobs in the runner, including the jobs of cancelled runs. */
  readonly #atWork = new Map<string, Promise<void>>();
  /**
   * The final records of a few runs that are not in the store, oldest first. A client in another process may begin to
   * wait after the run has ended.
   */
  readonly #recent = new Map<string, RunRecord>();
  #isClosing = false;

  constructor(parts: ActiveRunsParts) {
    this.#parts = parts;
  }

  get(runId: string): ActiveRun | undefined {
    return this.#runs.get(runId);
  }

  /** Returns the final record of a run that is not in the store; undefined if the record was dropped. */
  recentEnd(runId: string): RunRecord | undefined {
    return this.#recent.get(runId);
  }

  /** Returns the records of active runs, oldest first. */
  records(): RunRecord[] {
    return [...this.#runs.values()].map(({ record }) => record);
  }

  /** Returns whether a job uses the folder of a run. */
  isAtWork(runId: string): boolean {
    return this.#atWork.has(runId);
  }

  /**
   * Accepts a run and passes it to the runner. The run is recorded in the store before this method resolves.
   * @throws {ServiceProblem} 503 if the queue is full, the service is shutting down, or the run cannot be stored
   */
  async accept(request: RunRequest): Promise<Submitted> {
    const { folders, kept } = this.#parts;
    this.#assertRoom();
    const run = this.#begin(request);
    const { runId } = run.record;
    try {
      await folders.make(runId);
      // A waiting client does not know the run ID and cannot request the run after a restart, so the run is not stored.
      if (!run.isWaitedFor) await kept.add(run.record);
      this.#assertRoom();
    } catch (error) {
      throw await this.#refuse(run, error);
    }
    run.accepted.resolve(true);
    this.#atWork.set(runId, this.#work(run, request));
    return { runId, isReplay: false };
  }

  /**
   * Runs a job without recording it as a run. The job must not produce files.
   * @throws {ServiceProblem} 503 if the queue is full or the service is shutting down
   */
  async doWork(job: Job): Promise<JobOutcome> {
    this.#assertRoom();
    const nobody = (): void => undefined;
    const { signal } = new AbortController();
    return this.#parts.runner.run(job, { folder: '', signal, onProgress: nobody, onStart: nobody });
  }

  /** Cancels a run. Clients see the cancellation immediately; the job stops later. */
  async cancel(run: ActiveRun, problem: ProblemJson): Promise<void> {
    run.record = endedRecord(run.record, 'cancelled', problem, this.#parts.now());
    const ended = this.#end(run, run.record);
    run.controller.abort();
    await ended;
  }

  /** Stops accepting runs, waits for active ones, cancels the rest, and closes the runner. */
  async close(drainMillis: number): Promise<void> {
    this.#isClosing = true;
    const waiting = new AbortController();
    await Promise.race([this.#allEnded(), sleep(drainMillis, waiting.signal)]);
    waiting.abort();
    for (const run of [...this.#runs.values()]) {
      if ((await run.accepted.promise) && !run.isDecided) await this.cancel(run, cancelledByEnd(run.record.runId));
    }
    await this.#allEnded();
    await this.#parts.runner.close();
    await Promise.all(this.#atWork.values());
  }

  async #allEnded(): Promise<void> {
    await Promise.all([...this.#runs.values()].map(({ ended }) => ended.promise));
  }

  #assertRoom(): void {
    if (this.#isClosing) throw serviceEnds();
    if (this.#parts.runner.isFull) throw queueFull();
  }

  #begin({ endpoint, tenant, isWaitedFor = false }: RunRequest): ActiveRun {
    const { createId, now, logger } = this.#parts;
    const runId = createId();
    if (!isSafeId(runId) || this.#runs.has(runId) || this.#atWork.has(runId)) {
      throw invalidParameter('createId', 'return a new file name of letters, digits and dashes for each run', runId);
    }
    const run = new ActiveRun(queuedRecord(runId, endpoint, now(), tenant), isWaitedFor, logger);
    this.#runs.set(runId, run);
    run.events.status('queued');
    return run;
  }

  /** Removes a run that could not be started, and returns the problem for the client. */
  async #refuse(run: ActiveRun, error: unknown): Promise<ServiceProblem> {
    const { folders, kept, now, logger } = this.#parts;
    const { runId } = run.record;
    await Promise.all([kept.remove(runId).catch(() => false), folders.remove(runId)]);
    this.#runs.delete(runId);
    run.accepted.resolve(false);
    run.ended.resolve(endedRecord(run.record, 'failed', problemOfRun(runId, error), now()));
    if (error instanceof ServiceProblem) return error;
    logger.error({ err: error, runId }, 'a run cannot be started');
    return cannotKeep(runId, error);
  }

  /** Runs a job to its end. Never rejects. */
  async #work(run: ActiveRun, request: RunRequest): Promise<void> {
    const { folders } = this.#parts;
    const { runId } = run.record;
    const outcome = await this.#outcome(run, request);
    if (request.inputFolder !== null) await folders.removeInput(request.inputFolder);
    const isTheEnd = await this.#end(run, outcome);
    if (!isTheEnd || run.record.files.length === 0) await folders.remove(runId);
    this.#atWork.delete(runId);
  }

  async #outcome(run: ActiveRun, { job, download }: RunRequest): Promise<RunRecord> {
    const { runner, folders, now, logger } = this.#parts;
    const { runId } = run.record;
    try {
      const outcome = await runner.run(job, {
        folder: folders.pathOf(runId),
        signal: run.controller.signal,
        onProgress: (event) => {
          if (!run.isDecided) run.events.progress(event);
        },
        onStart: () => {
          this.#noteStart(run);
        },
      });
      return succeededRecord(run.record, outcome, now(), download?.replace('{run_id}', runId));
    } catch (error) {
      if (!run.isDecided && !(error instanceof ServiceProblem)) logger.error({ err: error, runId }, 'a run failed');
      return endedRecord(run.record, 'failed', problemOfRun(runId, error), now());
    }
  }

  #noteStart(run: ActiveRun): void {
    if (run.isDecided || run.record.status !== 'queued') return;
    run.record = Object.freeze({ ...run.record, status: 'running' });
    run.events.status('running');
  }

  /** Records the end of a run, unless an end is already recorded. */
  async #end(run: ActiveRun, end: RunRecord): Promise<boolean> {
    if (run.isDecided) return false;
    run.isDecided = true;
    const last = Object.freeze({ ...end, lastEventId: run.events.lastId + 1 });
    const isToBeKept = !isForgotten(run.isWaitedFor, last);
    run.record = isToBeKept ? await this.#parts.kept.addEnd(last) : last;
    if (!isToBeKept) {
      this.#recent.set(last.runId, last);
      dropOldest(this.#recent, this.#parts.maxRecent);
    }
    this.#runs.delete(end.runId);
    run.events.status(run.record.status);
    run.ended.resolve(run.record);
    return true;
  }
}
