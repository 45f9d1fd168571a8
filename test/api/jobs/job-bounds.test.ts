import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

import { expect } from 'chai';

import { createJobRunner } from '../../../src/api/jobs/create-job-runner.ts';
import { threadLimits } from '../../../src/api/jobs/job-bounds.ts';
import type { Job } from '../../../src/api/jobs/job.ts';
import { problemOfToolkitError } from '../../../src/api/jobs/problem-of-toolkit-error.ts';
import { runJob } from '../../../src/api/jobs/run-job.ts';
import type { ServiceProblem } from '../../../src/api/problem/service-problem.ts';
import { withDuckDbLimits } from '../../../src/io/duckdb-limits.ts';
import { withDuckDb } from '../../../src/io/duckdb.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { decisionsCsv, rowsJob, runOptions, spool, WORKFLOW_CONFIG } from './job-files.ts';

describe('limits of jobs', function () {
  this.timeout(120_000);
  const folder = useTemporaryFolder();

  async function problemOf(job: Job): Promise<ServiceProblem> {
    const error: unknown = await runJob(job, runOptions(folder())).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    const problem = problemOfToolkitError(error, job.kind);
    expect(problem, String(error)).not.to.equal(undefined);
    return problem as ServiceProblem;
  }

  /** Writes a table of n rows in which each row is a group. */
  function manyGroups(rows: number): string {
    const lines = Array.from({ length: rows }, (_, row) => `p${String(row)},${String(row % 2)},${String(row % 7)}`);
    return ['sex,accepted,age', ...lines, ''].join('\n');
  }
  const table = (content: string, options: Record<string, string>): Job => ({
    kind: 'validate-table',
    path: spool(folder(), 'table.csv', content),
    format: 'csv',
    options,
  });
  const form = (kind: 'pipeline' | 'workflow', config: string, content = decisionsCsv(), fields = {}): Job => ({
    kind,
    path: spool(folder(), 'upload.csv', content),
    config,
    fields,
  });
  const labels = Array.from({ length: 10_001 }, (_, row) => `p${String(row)}`);
  const yPred = labels.map((_, row) => row % 2);

  const refused: readonly (readonly [title: string, job: () => Job, status: number, text: RegExp])[] = [
    [
      'a table of 10,001 groups',
      () => table(manyGroups(10_001), { y_pred: 'accepted', sensitive: 'sex' }),
      422,
      /'sex' has more than 10,000 groups/,
    ],
    [
      'arrays of 10,001 groups',
      () => rowsJob(folder(), { y_pred: yPred, sensitive: labels }),
      422,
      /'sensitive' has more than 10,000 groups/,
    ],
    [
      'a pipeline of 10,001 groups',
      () => form('pipeline', 'sensitive: [sex]\n', manyGroups(10_001)),
      422,
      /'sex' has more than 10,000/,
    ],
    [
      'a workflow of 10,001 groups',
      () => form('workflow', WORKFLOW_CONFIG, manyGroups(10_001)),
      422,
      /'sex' has more than 10,000/,
    ],
    [
      'more than 2 million replicates times groups',
      () =>
        rowsJob(folder(), {
          y_pred: yPred.slice(1),
          sensitive: yPred.slice(1).map((_, row) => row % 100),
          with_ci: true,
          ci_samples: 20_001,
        }),
      422,
      /ci_samples is 20,001, and 'sensitive' has 100 groups/,
    ],
    [
      'the same for a table',
      () =>
        table(manyGroups(25), {
          y_pred: 'accepted',
          sensitive: 'sex',
          min_group_size: '1',
          with_ci: 'true',
          ci_samples: '100000',
        }),
      422,
      /ci_samples is 100,000/,
    ],
    [
      'a configuration above 256 KiB',
      () => form('pipeline', `sensitive: [sex]\n# ${'x'.repeat(256 * 1024)}\n`),
      413,
      /At most 262,144 are allowed/,
    ],
  ];
  for (const [title, job, status, text] of refused) {
    it(`${title} is answered with ${String(status)}`, async () => {
      const problem = await problemOf(job());
      expect([problem.status, problem.message]).to.satisfy(
        ([given, detail]: [number, string]) => given === status && text.test(detail),
        `${String(problem.status)} ${problem.message}`,
      );
      expect(problem.toJSON().suggestion).to.be.a('string');
    });
  }

  it('too many replicates are reported with their field', async () => {
    const sensitive = yPred.map((_, row) => row % 100);
    const problem = await problemOf(rowsJob(folder(), { y_pred: yPred, sensitive, with_ci: true, ci_samples: 50_000 }));
    expect(problem.toJSON().errors?.[0]?.pointer).to.equal('/ci_samples');
  });

  it('a query without enough memory is answered with 422 and not 500', async () => {
    const sql = 'SELECT count(*) FROM (SELECT DISTINCT hash(range) FROM range(20000000))';
    const error: unknown = await withDuckDbLimits({ memoryMegabytes: 64, threads: 2 }, () =>
      withDuckDb((session) => session.rows(sql)),
    ).catch((reason: unknown) => reason);
    const problem = problemOfToolkitError(error, 'validate-table');
    expect(problem?.status).to.equal(422);
    expect(problem?.message).to.match(/too large for this service.*64 MiB/);
  });

  it('threads share a quarter of the memory, with at least 512 MiB each', () => {
    const [one, four, many] = [1, 4, 1e6].map(threadLimits);
    expect(one?.memoryMegabytes).to.be.at.least(four?.memoryMegabytes ?? Infinity);
    expect([many?.memoryMegabytes, many?.threads]).to.deep.equal([512, 2]);
  });

  it('the environment of the operator selects no profile, and nothing is tracked or written', async () => {
    const set = { EVENHAND_PROFILE: 'nowhere', MLFLOW_TRACKING_URI: 'http://127.0.0.1:9' };
    const kept = Object.keys(set).map((name) => [name, process.env[name]] as const);
    Object.assign(process.env, set);
    const report = `${randomUUID()}.md`;
    try {
      const profiles = 'profiles: { strict: { alpha: 0.01 } }\n';
      const pipeline = form('pipeline', `sensitive: [sex]\nreport_out: ${report}\n${profiles}`);
      const { body } = await runJob(pipeline, runOptions(folder()));
      expect(body).to.be.a('string');
      await runJob(
        form('workflow', `${WORKFLOW_CONFIG}profiles: { a: { alpha: 0.01 }, b: { alpha: 0.02 } }\n`),
        runOptions(folder()),
      );
      expect(existsSync(report)).to.equal(false);
    } finally {
      for (const [name, value] of kept) {
        if (value === undefined) Reflect.deleteProperty(process.env, name);
        else process.env[name] = value;
      }
    }
  });

  it('a cancelled validation in a thread ends soon, and its thread runs the next job', async () => {
    const runner = createJobRunner({ threads: 1, queue: 1 });
    try {
      const rows = Array.from({ length: 2000 }, (_, row) => row);
      const sensitive = Object.fromEntries(
        Array.from({ length: 15 }, (_, index) => [`a${String(index)}`, rows.map((row) => row % 15)]),
      );
      const heavy = {
        y_pred: rows.map((row) => row % 2),
        sensitive,
        with_ci: true,
        ci_method: 'percentile',
        ci_samples: 100_000,
        with_p_value: true,
      };
      const controller = new AbortController();
      let cancelled: Promise<unknown> = Promise.resolve();
      await new Promise<void>((resolve) => {
        const options = runOptions(folder(), { signal: controller.signal, onStart: resolve });
        cancelled = runner.run(rowsJob(folder(), heavy), options).catch((reason: unknown) => reason);
      });
      // Long enough for its errors to be reported, and shorter than its first attribute takes.
      const early = await Promise.race([cancelled, setTimeout(300, 'at work')]);
      expect(early).to.equal('at work');
      // In CPU time of all threads, because other processes may keep this one waiting.
      const before = process.cpuUsage();
      controller.abort(new Error('enough'));
      expect(String(await cancelled)).to.equal('Error: enough');
      const { user, system } = process.cpuUsage(before);
      expect((user + system) / 1000).to.be.lessThan(5000);
      const light = await runner.run(
        rowsJob(folder(), { y_pred: [1, 0], sensitive: ['a', 'b'] }),
        runOptions(folder()),
      );
      expect(light).to.have.property('body');
    } finally {
      await runner.close();
    }
  });
});
