import { randomUUID } from 'node:crypto';

import type { Logger } from 'pino';

import { FairnessToolkitError } from '../../exceptions/index.ts';
import { decodeUtf8 } from '../../internal/decode-utf8.ts';
import { sleep } from '../../internal/retry.ts';
import type { TaskQueue } from '../../io/queue/task-queue.ts';
import { getBlob } from '../../io/redis/blobs.ts';
import type { Redis } from '../../io/redis/open-redis.ts';
import {
  abandonedRun,
  cancelledByEnd,
  cannotKeep,
  type ProblemJson,
  problemOfRun,
  storeFull,
} from '../problem/service-problem.ts';
import { endedRecord, isFinal, type RunRecord, succeededRecord } from '../runs/runs.ts';
import type { NewRun, RunLedger } from './run-ledger.ts';
import { type StoredFile, taskKindOf, type TaskOutput, taskOutputSchema } from './service-task.ts';
import { storedProblemSchema } from './stored-run.ts';

/** A run that a host looks after. */
type DrivenRun = Pick<NewRun, 'record' | 'isWaitedFor' | 'download'>;

/** The state of a run that this host looks after. */
interface Driver {
  readonly run: DrivenRun;
  /** Asks the job to stop. */
  readonly controller: AbortController;
  /** Identifies the end that this host records. */
  readonly token: string;
  /** Resolves when all reports of the job so far are recorded, in order. */
  reported: Promise<void>;
}

/** Options of {@link RunDrivers}. */
export interface RunDriversOptions {
  readonly redis: Redis;
  /** A ledger whose steps wait while Redis is away. */
  readonly ledger: RunLedger;
  readonly queue: TaskQueue;
  readonly leaseMillis: number;
  /** Returns the current time in ISO 8601. */
  readonly now: () => string;
  readonly logger: Logger;
  /** Called regularly, to look for changes whose announcement was lost. */
  readonly onLook: () => void;
}

/** How long `close` waits for results that have arrived but are not recorded yet. */
const LAST_MILLIS = 500;

/**
 * Looks after runs: puts their jobs on the queue, and records their start, progress and end. A host renews the leases of
 * its runs. If a lease ends, because the host was lost, another host takes the run over: it puts the same task on the
 * queue, which starts it only if it is not there, and records its end. Two hosts that look after the same run do no harm,
 * because the ledger accepts one end.
 */
export class RunDrivers {
  readonly #options: RunDriversOptions;
  readonly #drivers = new Map<string, Driver>();
  readonly #working = new Set<Promise<void>>();
  /** Runs that were perhaps recorded, although their client got an error. */
  readonly #discarded = new Map<string, Pick<NewRun, 'record' | 'claim'>>();
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;
  /** The time before which no run is taken over. */
  #adoptFrom = 0;
  #isClosing = false;

  constructor(options: RunDriversOptions) {
    this.#options = options;
  }

  start(): void {
    const { leaseMillis, redis } = this.#options;
    this.#timer = setInterval(() => {
      this.look();
    }, leaseMillis / 3);
    this.#timer.unref();
    redis.client.on('ready', () => {
      // All leases may have ended while Redis was away. Their hosts have some time to renew them.
      this.#adoptFrom = performance.now() + leaseMillis;
      this.look();
    });
    this.look();
  }

  /** Renews leases, takes runs over, and repeats what failed, now instead of a little later. */
  look(): void {
    void this.#look();
  }

  /** Looks after a run until its end. */
  drive(run: DrivenRun): void {
    const { runId } = run.record;
    if (this.#drivers.has(runId)) return;
    const driver: Driver = { run, controller: new AbortController(), token: randomUUID(), reported: Promise.resolve() };
    this.#drivers.set(runId, driver);
    const work = this.#toEnd(driver)
      .catch((error: unknown) => {
        // The lease ends, and the run is taken over.
        if (!this.#isClosing) this.#options.logger.error({ err: error, runId }, 'the end of a run cannot be recorded');
      })
      .finally(() => {
        this.#drivers.delete(runId);
        this.#working.delete(work);
      });
    this.#working.add(work);
  }

  /** Removes a run that was perhaps recorded, as soon as Redis answers. */
  discard(run: Pick<NewRun, 'record' | 'claim'>): void {
    this.#discarded.set(run.record.runId, run);
    this.look();
  }

  /** Stops the job of a run that has ended elsewhere, for example because it was cancelled. */
  noteEnd(runId: string): void {
    const driver = this.#drivers.get(runId);
    if (driver === undefined) return;
    this.#options.ledger.get(runId, true).then(
      (stored) => {
        if (stored === undefined || isFinal(stored.record.status)) driver.controller.abort();
      },
      () => undefined,
    );
  }

  /**
   * Leaves the runs of this host to other hosts. Runs that only a client of this host waits for are cancelled.
   * @param ledger a ledger whose steps fail while Redis is away, because nothing can be waited for any more
   */
  async close(ledger: RunLedger): Promise<void> {
    clearInterval(this.#timer);
    await Promise.race([Promise.all(this.#working), sleep(this.#drivers.size === 0 ? 0 : LAST_MILLIS)]);
    this.#isClosing = true;
    const drivers = [...this.#drivers.values()];
    const left = drivers.filter(({ run }) => !run.isWaitedFor).map(({ run }) => run.record.runId);
    await Promise.all([
      ledger.release(left).catch(() => undefined),
      ...drivers
        .filter(({ run }) => run.isWaitedFor)
        .map(async ({ run: { record, isWaitedFor }, controller, token }) => {
          const end = endedRecord(record, 'cancelled', cancelledByEnd(record.runId), this.#options.now());
          await ledger.end(end, [], isWaitedFor, token).catch(() => false);
          controller.abort();
        }),
    ]);
  }

  /** Never rejects. */
  async #look(): Promise<void> {
    // While Redis is away, one look waits for it.
    if (this.#isLooking || this.#isClosing) return;
    this.#isLooking = true;
    try {
      const { ledger, onLook } = this.#options;
      for (const [runId, run] of this.#discarded) {
        await ledger.discard(run);
        this.#discarded.delete(runId);
      }
      for (const runId of await ledger.renew([...this.#drivers.keys()])) this.noteEnd(runId);
      if (performance.now() >= this.#adoptFrom) await this.#adopt();
      onLook();
    } catch (error) {
      this.#warn({ err: error }, 'the runs of other hosts cannot be checked');
    } finally {
      this.#isLooking = false;
    }
  }

  async #adopt(): Promise<void> {
    const { ledger, logger } = this.#options;
    for (const runId of await ledger.adopt()) {
      if (this.#drivers.has(runId)) continue;
      const stored = await ledger.get(runId, true).catch((error: unknown) => {
        logger.error({ err: error, runId }, 'a run that no host looks after is damaged');
        return undefined;
      });
      if (stored === undefined || isFinal(stored.record.status)) continue;
      logger.info({ runId }, 'this host looks after a run of a host that is silent');
      this.drive(stored);
    }
  }

  async #toEnd(driver: Driver): Promise<void> {
    const { queue, ledger, redis, logger } = this.#options;
    const { run, controller, token } = driver;
    const { record, isWaitedFor } = run;
    const { runId } = record;
    let hasFailed = false;
    const report = (step: () => Promise<void>): void => {
      driver.reported = driver.reported.then(step).catch((error: unknown) => {
        if (!hasFailed) this.#warn({ err: error, runId }, 'a report of a run cannot be recorded');
        hasFailed = true;
      });
    };
    let end: readonly [RunRecord, readonly StoredFile[]];
    try {
      const output = await queue.run(
        { kind: taskKindOf(record.endpoint), values: { runId }, bytes: {} },
        {
          id: runId,
          signal: controller.signal,
          onStart: () => {
            report(() => ledger.start(runId));
          },
          onProgress: (event) => {
            // Reports are not worth waiting for Redis.
            if (redis.client.status === 'ready') report(() => ledger.progress(runId, event));
          },
        },
      );
      end = await this.#endOf(run, taskOutputSchema.parse(output.values));
    } catch (error) {
      if (this.#isClosing || controller.signal.aborted) return;
      // The outcome is removed when another host has recorded the end, or a client has cancelled the run.
      if (!(await ledger.isActive(runId))) return;
      logger.error({ err: error, runId }, 'a run failed');
      end = [this.#failed(record, problemOfQueue(runId, error)), []];
    }
    await driver.reported;
    try {
      await ledger.end(...end, isWaitedFor, token);
    } catch (error) {
      if (this.#isClosing) return;
      // A short record may still fit into a Redis that is almost full.
      await ledger.end(this.#failed(record, cannotKeep(runId, error).toJSON()), [], isWaitedFor, token);
    }
  }

  async #endOf(
    { record, download }: DrivenRun,
    { isProblem, outcome, files }: TaskOutput,
  ): Promise<readonly [RunRecord, readonly StoredFile[]]> {
    const { redis, ledger, now } = this.#options;
    const { runId } = record;
    const text = decodeUtf8(await getBlob(redis, `${ledger.filesOf(runId)}:blob:${outcome.digest}`), 'The outcome');
    if (isProblem) return [this.#failed(record, { ...storedProblemSchema.parse(JSON.parse(text)), run_id: runId }), []];
    const body = { body: text, files: files.map(({ name }) => name) };
    return [succeededRecord(record, body, now(), download?.replace('{run_id}', runId)), files];
  }

  /** Logs a warning, unless the connections are being closed. */
  #warn(fields: object, text: string): void {
    if (!this.#isClosing) this.#options.logger.warn(fields, text);
  }

  #failed(record: RunRecord, problem: ProblemJson): RunRecord {
    return endedRecord(record, 'failed', problem, this.#options.now());
  }
}

/** Returns the problem of a run whose task failed on the queue. */
function problemOfQueue(runId: string, error: unknown): ProblemJson {
  if (!FairnessToolkitError.isInstance(error)) return problemOfRun(runId, error);
  if (error.code === 'task-quarantined') return abandonedRun(runId);
  return problemOfRun(runId, error.context['reason'] === 'full' ? storeFull(error) : error);
}
