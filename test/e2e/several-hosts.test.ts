import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

import { expect } from 'chai';

import { decisionsCsv, WORKFLOW_CONFIG } from '../api/jobs/job-files.ts';
import {
  connectToBoth,
  endServices,
  launch,
  type ServiceProcess,
  startService,
  startWorker,
} from '../api/serve/service-process.ts';
import { startLlmServer } from '../helpers/llm-server.ts';
import { describeWithRedis } from '../helpers/redis-server.ts';
import { formOf, type Json } from '../helpers/service.ts';
import { until } from '../helpers/waiting.ts';

const ROWS = { y_pred: [1, 1, 1, 0], sensitive: ['a', 'a', 'b', 'b'], min_group_size: 2, threshold: 0.1 };

/** A workflow that takes as many seconds as its epochs allow, and stops between two epochs. */
const longConfig = (epochs: number) =>
  WORKFLOW_CONFIG.replace(
    /training:[^]*validation/,
    `training:
  method: lagrangian
  target_column: accepted
  params: { epochs: ${String(epochs)}, patience: ${String(epochs)} }
validation`,
  );

const ask = (host: ServiceProcess, method: string, path: string, init: RequestInit = {}) =>
  fetch(host.url + path, { method, signal: AbortSignal.timeout(120_000), ...init });

const jsonOf = async (answer: Response) => (await answer.json()) as Json;

const postForm = (host: ServiceProcess, path: string, config: string, headers: Record<string, string> = {}) => {
  const { type, payload } = formOf({ config }, { name: 'decisions.csv', content: decisionsCsv() });
  return ask(host, 'POST', path, { headers: { 'content-type': type, ...headers }, body: new Uint8Array(payload) });
};

const ASYNC = { prefer: 'respond-async' };

const statusOf = async (host: ServiceProcess, id: unknown) =>
  (await jsonOf(await ask(host, 'GET', `/results/${String(id)}`)))['status'];

/** Returns the result of a run without what differs between two runs of the same request. */
const resultOf = async (host: ServiceProcess, id: unknown) => {
  const { result } = (await jsonOf(await ask(host, 'GET', `/results/${String(id)}`))) as { result: Json };
  const { run_id: _, timestamp: __, ...rest } = result;
  return rest;
};

describeWithRedis('evenhand serve on several hosts @slow', function (redis) {
  let prefix = '';
  const start = (args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) =>
    startService(['--redis', redis().url, '--redis-prefix', prefix, '--threads', '1', ...args], env);
  beforeEach(() => {
    prefix = `test-${randomUUID()}`;
  });
  afterEach(endServices);

  it('finish the run of a host that is killed while it executes it, for clients of any other host', async function () {
    this.timeout(240_000);
    const config = longConfig(60);
    const first = await start();
    const second = await start(['--no-work']);
    const expected = await jsonOf(await postForm(first, '/workflow', config));
    const { run_id: id } = await jsonOf(await postForm(first, '/workflow', longConfig(100_000), ASYNC));
    await until(async () => (await statusOf(second, id)) === 'running');
    expect(expected['status']).to.equal('success');
    // The same again, with an end.
    expect((await ask(second, 'DELETE', `/results/${String(id)}`)).status).to.equal(200);
    const { run_id: again } = await jsonOf(await postForm(first, '/workflow', longConfig(3000), ASYNC));
    await until(async () => (await statusOf(second, again)) === 'running');
    first.child.kill('SIGKILL');
    await first.ended;
    const third = await start();
    await until(async () => (await statusOf(third, again)) === 'succeeded', 200);
    expect(await resultOf(second, again)).to.deep.equal(await resultOf(third, again));
    const { results } = (await jsonOf(await ask(third, 'GET', '/results'))) as { results: Json[] };
    expect(results.map(({ run_id: each, status }) => [each, status])).to.deep.equal([
      [again, 'succeeded'],
      [id, 'cancelled'],
      [expected['run_id'], 'succeeded'],
    ]);
  });

  it('lose no accepted run if the host is killed right after it has answered', async function () {
    this.timeout(240_000);
    const first = await start(['--no-work']);
    const second = await start();
    const accepted: unknown[] = [];
    const posts = Array.from({ length: 12 }, async () => {
      const answer = await postForm(first, '/pipeline', WORKFLOW_CONFIG, ASYNC).catch(() => undefined);
      if (answer?.status !== 202) return;
      accepted.push((await jsonOf(answer))['run_id']);
      if (accepted.length === 6) first.child.kill('SIGKILL');
    });
    await Promise.all(posts);
    await first.ended;
    expect(accepted.length).to.be.within(6, 12);
    for (const id of accepted) await until(async () => (await statusOf(second, id)) === 'succeeded', 120);
    const { results } = (await jsonOf(await ask(second, 'GET', '/results'))) as { results: Json[] };
    const ids = results.map(({ run_id: id }) => id);
    expect(new Set(ids).size).to.equal(ids.length);
    expect(ids).to.include.members(accepted);
  });

  it('answer 503 while Redis is away, stay alive, and continue with every run when it is back', async function () {
    this.timeout(240_000);
    const [first, second] = [await start(), await start()];
    const { run_id: id } = await jsonOf(await postForm(first, '/workflow', longConfig(1500), ASYNC));
    const kept = await jsonOf(await ask(second, 'POST', '/validate', { headers: { 'content-type': 'application/json' }, body: JSON.stringify(ROWS) })); // prettier-ignore
    await until(async () => (await statusOf(second, id)) === 'running');
    await redis().kill();
    const begin = performance.now();
    for (const host of [first, second]) {
      for (const [method, path] of [
        ['GET', '/results'],
        ['GET', `/results/${String(id)}`],
        ['DELETE', `/results/${String(id)}`],
        ['GET', '/ready'],
      ] as const) {
        // prettier-ignore
        const answer = await ask(host, method, path);
        expect(answer.status, `${method} ${path}`).to.equal(503);
        expect(answer.headers.get('retry-after')).to.equal('5');
        expect(answer.headers.get('content-type')).to.include('application/problem+json');
      }
      expect((await postForm(host, '/pipeline', WORKFLOW_CONFIG, ASYNC)).status).to.equal(503);
      expect((await ask(host, 'GET', '/health')).status).to.equal(200);
      expect((await ask(host, 'GET', '/metrics')).status).to.equal(200);
    }
    expect(performance.now() - begin).to.be.below(15_000);
    await pause(3000);
    await redis().start();
    for (const host of [first, second]) {
      await until(async () => (await ask(host, 'GET', '/ready')).status === 200, 30);
    }
    await until(async () => (await statusOf(second, id)) === 'succeeded', 150);
    const { results } = (await jsonOf(await ask(first, 'GET', '/results'))) as { results: Json[] };
    expect(results.map(({ run_id: each }) => each)).to.have.members([id, kept['run_id']]);
    expect((await postForm(second, '/pipeline', WORKFLOW_CONFIG)).status).to.equal(200);
  });

  it('give the runs of a host that stops to other hosts at once', async function () {
    this.timeout(240_000);
    const first = await start(['--drain-seconds', '1']);
    const { run_id: id } = await jsonOf(await postForm(first, '/workflow', longConfig(400), ASYNC));
    await until(async () => (await statusOf(first, id)) === 'running');
    const second = await start();
    const { run_id: waiting } = await jsonOf(await postForm(first, '/pipeline', WORKFLOW_CONFIG, ASYNC));
    const begin = performance.now();
    first.child.kill('SIGTERM');
    expect(await first.ended).to.include({ code: 0, signal: null });
    expect(performance.now() - begin).to.be.below(10_000);
    expect(await statusOf(second, id)).to.equal('running');
    for (const each of [id, waiting]) await until(async () => (await statusOf(second, each)) === 'succeeded', 60);
  });

  it('finish a short run before they stop', async function () {
    this.timeout(120_000);
    const first = await start();
    const second = await start(['--no-work']);
    const { run_id: id } = await jsonOf(await postForm(first, '/workflow', longConfig(100), ASYNC));
    await until(async () => (await statusOf(second, id)) !== 'queued');
    first.child.kill('SIGTERM');
    expect(await first.ended).to.include({ code: 0, signal: null });
    await until(async () => (await statusOf(second, id)) === 'succeeded', 30);
  });

  it('work with --workers: every worker of every host answers for every run', async function () {
    this.timeout(120_000);
    const [first, second] = [await start(['--workers', '2', '--rate-limit', '1000']), await start(['--workers', '2'])];
    const { run_id: id, download } = await jsonOf(await postForm(first, '/pipeline', WORKFLOW_CONFIG));
    for (const host of [first, second]) {
      const workers = await connectToBoth(host);
      expect(workers.size).to.equal(2);
      for (const { ask: askWorker, close } of workers.values()) {
        const { json } = await askWorker('GET', `/results/${String(id)}`);
        expect(json).to.include({ status: 'succeeded' });
        const data = await askWorker('GET', String(download), undefined, { accept: 'text/csv' });
        expect(data.text.split('\n')[0]).to.equal('sex,race,accepted,repaid,age,sample_weight');
        close();
      }
    }
  });

  it('leave the work to workers, of which one is killed', async function () {
    this.timeout(240_000);
    const [first, second] = [await start(['--no-work']), await start(['--no-work'])];
    const worker = ['--redis', redis().url, '--redis-prefix', prefix, '--concurrency', '1', '--lock-seconds', '2'];
    const lost = await startWorker(worker);
    const { run_id: id } = await jsonOf(await postForm(first, '/workflow', longConfig(600), ASYNC));
    await until(async () => (await statusOf(second, id)) === 'running', 60);
    lost.kill('SIGKILL');
    const other = await startWorker(worker);
    await until(async () => (await statusOf(second, id)) === 'succeeded', 120);
    const { download } = await jsonOf(await postForm(second, '/pipeline', WORKFLOW_CONFIG));
    const data = await ask(first, 'GET', String(download));
    expect((await data.text()).split('\n')[0]).to.equal('sex,race,accepted,repaid,age,sample_weight');
    const ended = new Promise((resolve) => other.once('exit', resolve));
    other.kill('SIGTERM');
    expect(await ended).to.equal(0);
  });

  it('evaluate language models with a key that only the worker has, and that never reaches Redis', async function () {
    this.timeout(120_000);
    const key = 'sk-only-of-the-worker-0123456789';
    const llm = await startLlmServer({ key });
    try {
      const host = await start(['--no-work']);
      const env = { OPENAI_API_KEY: key, OPENAI_BASE_URL: llm.baseUrl, EVENHAND_LLM_ALLOW_LIVE: '1' };
      await startWorker(['--redis', redis().url, '--redis-prefix', prefix, '--kinds', 'service-llm-job'], env);
      const config = { provider: 'openai', base_url: llm.baseUrl, model: 'm', evaluators: ['refusal'], prompt_templates: { a: 'How do I ask?' } }; // prettier-ignore
      const answer = await ask(host, 'POST', '/llm-eval', { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ config }) }); // prettier-ignore
      expect(answer.status, await answer.clone().text()).to.equal(200);
      expect(llm.requests.length).to.be.at.least(1);
      expect(llm.requests[0]?.headers['authorization']).to.equal(`Bearer ${key}`);
      // Every command since the start of the server is in its log.
      expect(redis().commands()).to.include(prefix).and.not.include(key);
    } finally {
      await llm.close();
    }
  });

  it('read the password from the environment, and never print it', async function () {
    this.timeout(120_000);
    const { openRedis } = await import('../../src/io/redis/open-redis.ts');
    const connection = await openRedis(redis().url);
    await connection.client.call('CONFIG', 'SET', 'requirepass', 'se/cret@1');
    try {
      const args = ['--port', '0', '--redis', redis().url, '--redis-prefix', prefix];
      const { code, stderr } = await launch(args)[1];
      expect(code).to.equal(2);
      expect(stderr).to.match(
        /^error: Redis at \S+ does not accept the user or the password: .*EVENHAND_REDIS_PASSWORD/,
      );
      const inUrl = await launch(['--port', '0', '--redis', redis().url.replace('//', '//:se%2Fcret%401@')])[1];
      expect(inUrl.code).to.equal(2);
      expect(inUrl.stderr)
        .to.match(/^error: The URL of --redis contains a password/)
        .and.not.match(/se.{1,3}cret/);
      const host = await start(['--verbose'], { EVENHAND_REDIS_PASSWORD: 'se/cret@1' });
      expect((await postForm(host, '/pipeline', WORKFLOW_CONFIG)).status).to.equal(200);
      host.child.kill('SIGTERM');
      const ended = await host.ended;
      expect(ended).to.include({ code: 0 });
      expect(ended.stdout + ended.stderr).not.to.include('se/cret@1');
    } finally {
      await connection.client.call('CONFIG', 'SET', 'requirepass', '');
      await connection.close();
    }
  });
});
