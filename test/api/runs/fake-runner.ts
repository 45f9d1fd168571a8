import type { Job, JobOutcome, JobRunner, RunJobOptions } from '../../../src/api/jobs/job.ts';

/** A job that a test starts and ends explicitly. */
export interface FakeJob {
  readonly job: Job;
  readonly options: RunJobOptions;
  state: 'queued' | 'running' | 'ended';
  start(): void;
  succeed(outcome?: Partial<JobOutcome>): void;
  fail(error: Error): void;
}

/** A runner whose jobs are controlled by the test. An abort ends waiting jobs immediately, but not running ones. */
export class FakeRunner implements JobRunner {
  readonly jobs: FakeJob[] = [];
  /** The maximum number of jobs at once. */
  room = 1000;
  closed = 0;

  get isFull() {
    return this.jobs.filter(({ state }) => state !== 'ended').length >= this.room;
  }

  get queued() {
    return this.jobs.filter(({ state }) => state === 'queued').length;
  }

  get running() {
    return this.jobs.filter(({ state }) => state === 'running').length;
  }

  run(job: Job, options: RunJobOptions): Promise<JobOutcome> {
    if (this.isFull) throw new Error('handed to a runner that is full');
    return new Promise((resolve, reject) => {
      const fake: FakeJob = {
        job,
        options,
        state: 'queued',
        start: () => {
          fake.state = 'running';
          options.onStart();
        },
        succeed: (outcome = {}) => {
          fake.state = 'ended';
          resolve({ body: '{"passed":true}', files: [], ...outcome });
        },
        fail: (error) => {
          fake.state = 'ended';
          reject(error);
        },
      };
      options.signal.addEventListener('abort', () => {
        if (fake.state === 'queued') fake.fail(options.signal.reason as Error);
      });
      this.jobs.push(fake);
    });
  }

  /** Waits until no job is running, as the interface requires. */
  async close() {
    while (this.jobs.some(({ state }) => state !== 'ended')) await new Promise((resolve) => setTimeout(resolve, 2));
    this.closed += 1;
  }

  /** Returns the job of a run, by the name of its folder. */
  of(runId: string): FakeJob {
    const found = this.jobs.find(({ options }) => options.folder.endsWith(runId));
    if (found === undefined) throw new Error(`no job of ${runId}`);
    return found;
  }
}
