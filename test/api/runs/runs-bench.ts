import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import type { JobOutcome } from '../../../src/api/jobs/job.ts';
import type { RunRecord, RunRequest, Runs } from '../../../src/api/runs/runs.ts';
import { ResultStore } from '../../../src/api/store/index.ts';
import { describeWithRedis } from '../../helpers/redis-server.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { type Host, openHost } from '../fleet/redis-fixture.ts';
import type { FakeJob } from './fake-runner.ts';
import { createFixture, eventually, type Logged } from './runs-fixture.ts';

/** The job of a run, which a test starts and ends. */
export interface BenchJob {
  readonly runId: string;
  /** Starts the job; resolves when the run is recorded as running. */
  readonly start: () => Promise<void>;
  /** Reports progress of a job that was started. */
  readonly report: (done: number, stage?: string) => void;
  /** Ends the job, after writing files with the given contents. Starts it before if necessary. */
  readonly succeed: (body?: string, files?: Readonly<Record<string, string>>) => Promise<void>;
  readonly fail: (error: Error) => Promise<void>;
  /** Returns whether the job was asked to stop. */
  readonly isAskedToStop: () => boolean;
}

/** Options of a bench. */
interface BenchOptions {
  /** The maximum number of results. */
  readonly capacity?: number;
  /** The maximum number of runs that wait. */
  readonly maxQueued?: number;
  readonly createId?: () => string;
}

/** Runs under test, whose jobs the test controls, with a clock that the test sets. */
export interface Bench {
  readonly runs: Runs;
  readonly logged: readonly Logged[];
  readonly request: (changes?: Partial<RunRequest>) => RunRequest;
  /** Submits a run. */
  readonly begin: (changes?: Partial<RunRequest>) => Promise<BenchJob>;
  /** Creates a folder with an upload. */
  readonly upload: () => string;
  readonly uploadsLeft: () => string[];
  /** The number of jobs that were submitted. */
  readonly jobCount: () => number;
  readonly pass: (millis: number) => void;
  readonly now: () => string;
  /** Stops accepting runs. */
  readonly startEnding: () => void;
  readonly close: () => Promise<void>;
}

/** Opens a bench, which is closed after the test. */
export type OpenBench = (options?: BenchOptions) => Promise<Bench>;

/** Describes what every implementation of `Runs` does, with one process, and with Redis. */
export function describeRuns(title: string, suite: (open: OpenBench) => void): void {
  describe(`${title}: in one process`, () => {
    const root = useTemporaryFolder();
    suite((options = {}) => Promise.resolve(openLocalBench(root(), options)));
  });
  describeWithRedis(title, (redis) => {
    const root = useTemporaryFolder();
    const opened: Bench[] = [];
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((bench) => bench.close()));
    });
    suite(async (options = {}) => {
      const bench = await openRedisBench(root(), redis().url, options);
      opened.push(bench);
      return bench;
    });
  });
}

function openLocalBench(root: string, { capacity = 3, maxQueued = 1000, createId }: BenchOptions): Bench {
  const store = new ResultStore<RunRecord>({ capacity });
  const fixture = createFixture(root, { store, ...(createId === undefined ? {} : { createId }) });
  const { runs, runner, begin } = fixture;
  runner.room = maxQueued;
  return {
    ...fixture,
    begin: async (changes) => {
      const { runId, job } = await begin(changes);
      return jobOf(
        runId,
        () => Promise.resolve(job),
        async () => {
          if (job.state === 'queued') job.start();
          await Promise.resolve();
        },
      );
    },
    jobCount: () => runner.jobs.length,
    startEnding: () => void runs.close(10_000),
    close: () => Promise.resolve(),
  };
}

async function openRedisBench(
  root: string,
  url: string,
  { capacity = 3, maxQueued = 1000, createId = randomUUID }: BenchOptions,
): Promise<Bench> {
  let now = Date.UTC(2024, 0, 1);
  const limits = { maxRuns: capacity, maxQueued };
  const host = await openHost({ root, url, prefix: `test-${randomUUID()}`, limits, clock: () => now, createId });
  const { runs, queue, logged } = host;
  const { request, upload, uploadsLeft } = requestsIn(mkdtempSync(path.join(root, 'inputs-')));
  return {
    runs,
    logged,
    request,
    upload,
    uploadsLeft,
    begin: async (changes) => {
      const { runId } = await runs.submit(request(changes));
      await eventually(() => queue.tasks.has(runId));
      return jobOf(
        runId,
        () => jobAt(host, runId),
        async () => {
          queue.start(runId);
          const job = await jobAt(host, runId);
          if (job.state === 'queued') job.start();
          for (let tries = 0; tries < 100 && (await runs.get(runId))?.status === 'queued'; tries++) {
            await new Promise((resolve) => setTimeout(resolve, 5));
          }
        },
      );
    },
    jobCount: () => queue.tasks.size,
    pass: (millis) => {
      now += millis;
    },
    now: () => new Date(now).toISOString(),
    startEnding: () => {
      runs.startEnding();
    },
    close: () => host.close(),
  };
}

/** Waits until the runner of a host has the job of a run. */
async function jobAt({ runner }: Host, runId: string): Promise<FakeJob> {
  await eventually(() => runner.jobs.some(({ options }) => options.folder.endsWith(runId)));
  return runner.of(runId);
}

function jobOf(runId: string, find: () => Promise<FakeJob>, start: () => Promise<void>): BenchJob {
  let found: FakeJob | undefined;
  const begun = async (): Promise<FakeJob> => {
    await start();
    return (found = await find());
  };
  return {
    runId,
    start: async () => {
      await begun();
    },
    report: (done, stage = 'rows') => found?.options.onProgress({ stage, done, total: 1000 }),
    succeed: async (body, files = {}) => {
      const job = await begun();
      for (const [name, content] of Object.entries(files)) writeFileSync(path.join(job.options.folder, name), content);
      const outcome: Partial<JobOutcome> = { files: Object.keys(files), ...(body === undefined ? {} : { body }) };
      job.succeed(outcome);
    },
    fail: async (error) => {
      (await begun()).fail(error);
    },
    isAskedToStop: () => found?.options.signal.aborted === true,
  };
}

/** Returns functions that create requests, and uploads in a folder. */
export function requestsIn(folder: string): Pick<Bench, 'request' | 'upload' | 'uploadsLeft'> {
  let uploads = 0;
  return {
    request: (changes = {}) => {
      const upload = changes.inputFolder ?? folder;
      if ((changes.inputFolder ?? null) === null) writeFileSync(path.join(folder, 'upload.csv'), 'a,b\n1,2\n');
      const job = { kind: 'pipeline', path: path.join(upload, 'upload.csv'), config: 'a: 1', fields: {} } as const;
      return { endpoint: '/pipeline', job, inputFolder: null, idempotency: null, ...changes };
    },
    upload: () => {
      const input = path.join(folder, `upload-${String(++uploads)}`);
      mkdirSync(input);
      writeFileSync(path.join(input, 'upload.csv'), 'a,b\n1,2\n');
      return input;
    },
    uploadsLeft: () => readdirSync(folder).filter((name) => name.startsWith('upload-')),
  };
}
