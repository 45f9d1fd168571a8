import { randomUUID } from 'node:crypto';

import { expect } from 'chai';

import { serve } from '../../../src/api/serve/serve.ts';
import type { RunningService, ServeOptions } from '../../../src/api/serve/running-service.ts';
import { openRedis } from '../../../src/io/redis/open-redis.ts';
import { describeWithRedis } from '../../helpers/redis-server.ts';
import { formOf, type Json } from '../../helpers/service.ts';
import { decisionsCsv, WORKFLOW_CONFIG } from '../jobs/job-files.ts';

const ROWS = { y_pred: [1, 1, 1, 0], sensitive: ['a', 'a', 'b', 'b'], min_group_size: 2, threshold: 0.1 };

/** A workflow that takes minutes, and stops at the next epoch when it is cancelled. */
const LONG_CONFIG = WORKFLOW_CONFIG.replace(
  /training:[^]*validation/,
  `training:
  method: lagrangian
  target_column: accepted
  params: { epochs: 1000000, patience: 1000000 }
validation`,
);

/** Sends a request to a host. */
async function ask(host: RunningService, method: string, path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(host.url + path, { method, signal: AbortSignal.timeout(60_000), ...init });
}

const postJson = (host: RunningService, path: string, body: unknown, headers: Record<string, string> = {}) =>
  ask(host, 'POST', path, {
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

const postForm = (host: RunningService, path: string, config: string, headers: Record<string, string> = {}) => {
  const { type, payload } = formOf({ config }, { name: 'decisions.csv', content: decisionsCsv() });
  return ask(host, 'POST', path, { headers: { 'content-type': type, ...headers }, body: new Uint8Array(payload) });
};

const jsonOf = async (answer: Response) => (await answer.json()) as Json;

/** Reads server-sent events until the stream ends, or until an event for which `isLast` is true. */
async function eventsOf(answer: Response, isLast: (event: Json) => boolean = () => false): Promise<Json[]> {
  const events: Json[] = [];
  let text = '';
  const reader = (answer.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return events;
    text += value;
    const parts = text.split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts.filter((one) => !one.startsWith(':'))) {
      const fields = Object.fromEntries(
        part.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string]),
      );
      const event = { id: Number(fields['id']), type: fields['event'], ...(JSON.parse(fields['data'] ?? '') as Json) };
      events.push(event);
      if (!isLast(event)) continue;
      await reader.cancel();
      return events;
    }
  }
}

describeWithRedis('two hosts that share runs', (redis) => {
  const hosts: RunningService[] = [];
  let prefix = '';
  let first: RunningService;
  let second: RunningService;
  const start = async (options: ServeOptions = {}) => {
    const host = await serve({
      port: 0,
      keys: [],
      redis: redis().url,
      redisPrefix: prefix,
      threads: 1,
      drainMillis: 100,
      ...options,
    });
    hosts.push(host);
    return host;
  };
  const startTwo = async (options: ServeOptions = {}) => {
    prefix = `test-${randomUUID()}`;
    [first, second] = [await start(options), await start(options)];
  };
  afterEach(async function () {
    this.timeout(60_000);
    await Promise.all(hosts.splice(0).map((host) => host.stop()));
  });

  it('read, list and delete the same results, also of immediate answers, with equal reports', async () => {
    await startTwo();
    const { run_id: id, ...answer } = await jsonOf(await postJson(first, '/validate', ROWS));
    const result = await jsonOf(await ask(second, 'GET', `/results/${String(id)}`));
    expect(result).to.deep.include({ run_id: id, status: 'succeeded', result: { run_id: id, ...answer } });
    for (const type of ['text/markdown', 'text/html']) {
      const [one, other] = await Promise.all(
        [first, second].map(async (host) => (await ask(host, 'GET', `/results/${String(id)}`, { headers: { accept: type } })).text()), // prettier-ignore
      );
      expect(one).to.equal(other).and.to.include('demographic');
    }
    const lists = await Promise.all([first, second].map(async (host) => jsonOf(await ask(host, 'GET', '/results'))));
    expect(lists[0]).to.deep.equal(lists[1]);
    expect((lists[0]?.['results'] as Json[]).map(({ run_id: each }) => each)).to.deep.equal([id]);
    expect((await ask(second, 'DELETE', `/results/${String(id)}`)).status).to.equal(204);
    expect((await ask(first, 'GET', `/results/${String(id)}`)).status).to.equal(404);
    expect(await jsonOf(await ask(first, 'GET', '/results'))).to.deep.equal({ results: [] });
  });

  it('stream and cancel a run that the other one accepted and executes', async function () {
    this.timeout(60_000);
    prefix = `test-${randomUUID()}`;
    first = await start();
    second = await start({ work: false });
    const accepted = await postForm(first, '/workflow', LONG_CONFIG, { prefer: 'respond-async' });
    const { run_id: id } = await jsonOf(accepted);
    expect(accepted.status).to.equal(202);
    const stream = await ask(second, 'GET', `/results/${String(id)}/events`);
    const events = await eventsOf(stream, ({ type }) => type === 'progress');
    expect(events.map(({ id: number }) => number)).to.deep.equal(events.map((_, index) => index + 1));
    expect(events.slice(0, 2).map(({ status }) => status)).to.deep.equal(['queued', 'running']);
    expect(await jsonOf(await ask(second, 'GET', '/ready'))).to.include({ queued: 0, running: 1 });

    const streams = await Promise.all([first, second].map((host) => ask(host, 'GET', `/results/${String(id)}/events`)));
    const ends = streams.map((one) => eventsOf(one));
    const cancelled = await ask(second, 'DELETE', `/results/${String(id)}`);
    expect([cancelled.status, await jsonOf(cancelled)]).to.deep.equal([200, { run_id: id, status: 'cancelled' }]);
    for (const host of [first, second]) {
      expect(await jsonOf(await ask(host, 'GET', `/results/${String(id)}`))).to.include({ status: 'cancelled' });
    }
    const [one, other] = await Promise.all(ends);
    expect(one?.at(-1)).to.deep.equal(other?.at(-1)).and.to.include({ type: 'status', status: 'cancelled' });
    // The thread of the first host is free again.
    const next = await postForm(first, '/pipeline', WORKFLOW_CONFIG);
    expect(next.status, await next.text()).to.equal(200);
  });

  it('take an upload on one and return its data and reports on the other', async () => {
    prefix = `test-${randomUUID()}`;
    first = await start({ work: false });
    second = await start();
    const third = await start({ work: false });
    const answer = await postForm(first, '/pipeline', WORKFLOW_CONFIG);
    const { run_id: id, download, status } = await jsonOf(answer);
    expect([answer.status, status, download]).to.deep.equal([200, 'success', `/results/${String(id)}/data`]);
    const texts = await Promise.all(
      [first, second, third].map(async (host) => (await ask(host, 'GET', String(download))).text()),
    );
    expect(texts[0]?.split('\n')[0]).to.equal('sex,race,accepted,repaid,age,sample_weight');
    expect(texts[0]?.trim().split('\n')).to.have.length(201);
    expect(new Set(texts).size).to.equal(1);
    const parquet = await ask(third, 'GET', `${String(download)}?format=parquet`);
    expect(
      Buffer.from(await parquet.arrayBuffer())
        .subarray(0, 4)
        .toString(),
    ).to.equal('PAR1');
    const report = await ask(third, 'GET', `/results/${String(id)}`, { headers: { accept: 'text/html' } });
    expect(await report.text()).to.match(/^<!doctype html>/i);
  });

  it('leave neither uploads nor configurations in Redis after a run, and nothing of a deleted one', async () => {
    const connection = await openRedis(redis().url);
    const readers = { string: ['GET'], hash: ['HGETALL'], list: ['LRANGE', 0, -1], set: ['SMEMBERS'], zset: ['ZRANGE', 0, -1], stream: ['XRANGE', '-', '+'], none: ['TYPE'] } as const; // prettier-ignore
    const stored = async () => {
      const keys = (await connection.client.call('KEYS', `${prefix}:*`)) as string[];
      const texts = keys.map(async (key) => {
        const type = (await connection.client.call('TYPE', key)) as string;
        const [command, ...args] = readers[type as keyof typeof readers];
        return `${key} ${String(await connection.client.call(command, key, ...args))}`;
      });
      return (await Promise.all(texts)).join('\n');
    };
    await startTwo({ work: false });
    const config = `# secret-of-a-client\n${WORKFLOW_CONFIG}`;
    const { run_id: id } = await jsonOf(await postForm(first, '/pipeline', config, { prefer: 'respond-async' }));
    expect(await stored())
      .to.include('secret-of-a-client')
      .and.include('sex,race,accepted');
    await start();
    await eventsOf(await ask(second, 'GET', `/results/${String(id)}/events`));
    expect(await stored())
      .to.include('sample_weight')
      .and.not.include('secret-of-a-client')
      .and.not.match(/sex,race,accepted,repaid,age\n/);
    expect((await ask(second, 'DELETE', `/results/${String(id)}`)).status).to.equal(204);
    expect(await stored()).not.to.match(/sample_weight|secret-of-a-client|:run:.*:blob|findings/);
    for (const key of (await connection.client.call('KEYS', `${prefix}:*`)) as string[]) {
      // The queue keeps a few names for itself.
      if (!/:(?:runs?|keys?|rate)(?:$|:)/.test(key)) continue;
      expect(Number(await connection.client.call('TTL', key)), key).to.be.within(1, 8 * 86_400);
    }
    await connection.close();
  });

  it('start one run for an idempotency key that is used on both, and reject it for another request', async () => {
    await startTwo();
    const key = { 'idempotency-key': randomUUID() };
    const answers = await Promise.all(
      [first, second, first, second].map((host) => postJson(host, '/validate', ROWS, key)),
    );
    const bodies = await Promise.all(answers.map(jsonOf));
    expect(new Set(bodies.map(({ run_id: id }) => id)).size).to.equal(1);
    expect(answers.filter((one) => one.headers.get('idempotency-replayed') === 'true')).to.have.length(3);
    const other = await postJson(second, '/validate', { ...ROWS, threshold: 0.2 }, key);
    expect(other.status).to.equal(422);
    expect(((await jsonOf(await ask(first, 'GET', '/results')))['results'] as Json[]).length).to.equal(1);
  });

  it('count requests together', async () => {
    await startTwo({ rateLimit: 5 });
    const statuses: number[] = [];
    for (let turn = 0; turn < 8; turn++) {
      statuses.push((await ask(turn % 2 === 0 ? first : second, 'GET', '/results')).status);
    }
    expect(statuses).to.deep.equal([200, 200, 200, 200, 200, 429, 429, 429]);
  });

  it('of different prefixes do not see each other', async () => {
    await startTwo();
    const { run_id: id } = await jsonOf(await postJson(first, '/validate', ROWS));
    prefix = `test-${randomUUID()}`;
    const other = await start();
    expect((await ask(other, 'GET', `/results/${String(id)}`)).status).to.equal(404);
    expect(await jsonOf(await ask(other, 'GET', '/ready'))).to.include({ kept: 0 });
  });

  it('finish the runs of a host that is stopped', async function () {
    this.timeout(60_000);
    await startTwo({ work: false });
    const { run_id: id } = await jsonOf(
      await postForm(first, '/pipeline', WORKFLOW_CONFIG, { prefer: 'respond-async' }),
    );
    await first.stop();
    await start();
    const stream = await ask(second, 'GET', `/results/${String(id)}/events`);
    expect((await eventsOf(stream)).at(-1)).to.include({ status: 'succeeded' });
  });

  for (const id of ['..%2f..%2fetc', 'a:events', '*', 'a%20b', '%00', 'x'.repeat(300), '1-0', '__proto__']) {
    it(`answer 404 for the ID ${id.slice(0, 20)}`, async () => {
      if (hosts.length === 0) await startTwo();
      for (const [method, path] of [
        ['GET', ''],
        ['DELETE', ''],
        ['GET', '/events'],
        ['GET', '/data'],
      ] as const) {
        expect((await ask(second, method, `/results/${id}${path}`)).status, `${method} ${path}`).to.equal(404);
      }
    });
  }
});
