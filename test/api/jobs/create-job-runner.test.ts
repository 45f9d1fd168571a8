import { existsSync, readdirSync } from 'node:fs';

import { expect } from 'chai';

import { createJobRunner } from '../../../src/api/jobs/create-job-runner.ts';
import type { JobRunner } from '../../../src/api/jobs/job.ts';
import { ServiceProblem } from '../../../src/api/problem/service-problem.ts';
import type { ProgressEvent } from '../../../src/internal/progress.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { rowsJob, runOptions, spool, workflowJob } from './job-files.ts';

/** Returns the problem with which a promise rejects. */
async function problemOf(promise: Promise<unknown>): Promise<ServiceProblem> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).instanceOf(ServiceProblem);
  return error as ServiceProblem;
}

describe('createJobRunner', function () {
  this.timeout(60_000);
  const folder = useTemporaryFolder();
  const logged: unknown[] = [];
  let runner: JobRunner;
  before(() => {
    const logger = { error: (...line: unknown[]) => logged.push(line) };
    runner = createJobRunner({ threads: 1, queue: 2, logger: logger, createId: () => 'failure-7' });
  });
  after(() => runner.close());

  it('runs a job in a thread and returns its body as JSON, after reporting the start', async () => {
    const began: string[] = [];
    const job = rowsJob(folder(), { y_pred: [1, 1, 1, 0], sensitive: ['a', 'a', 'b', 'b'], min_group_size: 2 });
    const outcome = await runner.run(job, runOptions(folder(), { onStart: () => began.push('began') }));
    const body = JSON.parse(outcome.body) as { metrics: Record<string, { value: number }> };
    expect(body.metrics['demographic_parity_difference']?.value).to.equal(0.5);
    expect(outcome.body).not.to.include('\n');
    expect(began).to.deep.equal(['began']);
    expect([runner.running, runner.queued]).to.deep.equal([0, 0]);
  });

  it('reports the progress of a workflow and writes its files', async () => {
    const events: ProgressEvent[] = [];
    const options = runOptions(folder(), { onProgress: (event) => events.push(event) });
    const { files } = await runner.run(workflowJob(folder()), options);
    expect(events.length).to.be.greaterThan(1);
    for (const { done, total } of events) expect(done).within(0, total);
    expect(files).to.have.members(['report.md', 'report.html', 'data.parquet', 'data.csv']);
    expect(readdirSync(options.folder)).to.have.members([...files]);
  });

  it('names no folder of the service in the problem of an invalid upload', async () => {
    const upload = spool(folder(), 'upload.csv', 'a,b\n1\n');
    const problem = await problemOf(
      runner.run(
        { kind: 'validate-table', path: upload, format: 'csv', options: { y_pred: 'a', sensitive: 'b' } },
        runOptions(folder()),
      ),
    );
    expect(problem.status).to.equal(422);
    expect(problem.detail).to.match(/the uploaded file/i);
    expect(JSON.stringify(problem)).not.to.include(folder());
  });

  it('reports an internal error only with an ID, and logs the rest', async () => {
    const missing = `${folder()}/nothing-here`;
    const problem = await problemOf(
      runner.run({ kind: 'validate-rows', path: missing, maxItems: 10 }, runOptions(folder())),
    );
    expect(problem.status).to.equal(500);
    expect(problem.detail).to.include('failure-7');
    expect(JSON.stringify(problem)).not.to.match(/nothing-here|ENOENT/);
    expect(JSON.stringify(logged)).to.match(/failure-7.*nothing-here/);
  });

  it('rejects with 503 and Retry-After if there is no free thread and the queue is full', async () => {
    const jobs = Array.from({ length: 3 }, () => runner.run(workflowJob(folder()), runOptions(folder())));
    expect([runner.running, runner.queued, runner.isFull]).to.deep.equal([1, 2, true]);
    const problem = await problemOf(runner.run(workflowJob(folder()), runOptions(folder())));
    expect(problem.status).to.equal(503);
    expect(problem.headers['Retry-After']).to.match(/^\d+$/);
    await Promise.all(jobs);
    expect(runner.isFull).to.equal(false);
  });

  it('drops a waiting job immediately when it is cancelled', async () => {
    const first = runner.run(workflowJob(folder()), runOptions(folder()));
    const controller = new AbortController();
    const waiting = runner.run(workflowJob(folder()), runOptions(folder(), { signal: controller.signal }));
    const reason = new Error('not wanted any more');
    controller.abort(reason);
    expect(await waiting.catch((error: unknown) => error)).to.equal(reason);
    expect(runner.queued).to.equal(0);
    await first;
  });

  it('stops a running job at its next step, and continues with the next one in the same thread', async () => {
    const controller = new AbortController();
    const options = runOptions(folder(), {
      signal: controller.signal,
      onProgress: () => {
        controller.abort();
      },
    });
    const error: unknown = await runner.run(workflowJob(folder()), options).catch((reason: unknown) => reason);
    expect(error).to.equal(controller.signal.reason);
    expect(existsSync(`${options.folder}/report.md`)).to.equal(false);
    const job = rowsJob(folder(), { y_pred: [1, 0], sensitive: ['a', 'b'], min_group_size: 1 });
    expect((await runner.run(job, runOptions(folder()))).body).to.include('"value":1');
  });

  it('rejects jobs after it was closed', async () => {
    const own = createJobRunner({ threads: 1, queue: 1 });
    const job = rowsJob(folder(), { y_pred: [1, 0], sensitive: ['a', 'b'], min_group_size: 1 });
    const last = own.run(job, runOptions(folder()));
    await own.close();
    expect((await last).body).to.include('demographic_parity_difference');
    expect((await problemOf(own.run(job, runOptions(folder())))).status).to.equal(503);
  });
});
