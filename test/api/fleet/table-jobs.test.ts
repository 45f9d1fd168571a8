import { randomUUID } from 'node:crypto';

import { expect } from 'chai';
import { unzipSync } from 'fflate';

import type { RunningService } from '../../../src/api/serve/running-service.ts';
import { serve } from '../../../src/api/serve/serve.ts';
import { describeWithRedis } from '../../helpers/redis-server.ts';
import type { Json } from '../../helpers/service.ts';
import { endServices, startWorker } from '../serve/service-process.ts';

/** 1,000 rows: y is 1 if x is above 4, except for every eighth row; p is a score that rises with x. */
const ROWS = Array.from({ length: 1000 }, (_, row) => ({
  x: row % 10,
  s: row % 3 === 0 ? 'a' : 'b',
  y: row % 10 > 4 === (row % 8 !== 0) ? 1 : 0,
  p: (row % 10) / 10,
  arm: row % 7 < 3 ? 'control' : 'treatment',
}));

const JOBS: Readonly<Record<string, readonly [path: string, body: Json]>> = {
  'a training with reductions': ['/train', { method: 'reductions', y_true: 'y', sensitive: 's', features: 'x', T: 3 }],
  'a training with a penalty': ['/train', { method: 'regularized', y_true: 'y', sensitive: 's', features: 'x', etas: [0, 1], epochs: 2 }], // prettier-ignore
  'a training with a constraint': ['/train', { method: 'lagrangian', y_true: 'y', sensitive: 's', features: 'x', epochs: 2 }], // prettier-ignore
  'a calibration': ['/calibrate', { score: 'p', y_true: 'y', sensitive: 's' }],
  'an A/B test': ['/ab-test', { arm: 'arm', outcome: 'y', sensitive: 's' }],
};

/** Removes what differs from run to run. */
function resultOf({ run_id: _, timestamp: __, seconds: ___, download: ____, ...result }: Json): Json {
  return result;
}

describeWithRedis('jobs with tables on a worker of another process', (redis) => {
  const hosts: RunningService[] = [];
  let first: RunningService;
  let second: RunningService;
  before(async function () {
    this.timeout(60_000);
    const prefix = `test-${randomUUID()}`;
    const common = { port: 0, keys: [], threads: 1, drainMillis: 100 };
    // Neither host executes jobs, so the worker has executed what ends.
    for (let host = 0; host < 2; host++) {
      hosts.push(await serve({ ...common, redis: redis().url, redisPrefix: prefix, work: false }));
    }
    hosts.push(await serve(common));
    [first, second] = hosts as [RunningService, RunningService];
    await startWorker(['--redis', redis().url, '--redis-prefix', prefix, '--concurrency', '1']);
  });
  after(async function () {
    this.timeout(60_000);
    endServices();
    await Promise.all(hosts.map((host) => host.stop()));
  });
  const ask = (host: RunningService, method: string, path: string, init: RequestInit = {}) =>
    fetch(host.url + path, { method, signal: AbortSignal.timeout(60_000), ...init });
  const post = (host: RunningService, path: string, body: unknown, headers: Record<string, string> = {}) =>
    ask(host, 'POST', path, {
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const later = { prefer: 'respond-async' };

  for (const [title, [path, options]] of Object.entries(JOBS)) {
    it(`${title} is followed, read and downloaded on the other host, with the result of a single host @slow`, async function () {
      this.timeout(60_000);
      const accepted = await post(first, path, { ...options, rows: ROWS }, later);
      expect(accepted.status, await accepted.clone().text()).to.equal(202);
      const { run_id: id } = (await accepted.json()) as { run_id: string };
      const events = await (await ask(second, 'GET', `/results/${id}/events`)).text();
      const run = await (await ask(second, 'GET', `/results/${id}`)).text();
      expect(events, run).to.match(/"status":"queued"[^]*"status":"running"[^]*"status":"succeeded"/);
      expect(events, 'progress').to.match(/event: progress/);
      const { status, endpoint, result } = (await (await ask(second, 'GET', `/results/${id}`)).json()) as { status: string; endpoint: string; result: Json }; // prettier-ignore
      expect([status, endpoint]).to.deep.equal(['succeeded', path]);
      const alone = await post(hosts[2] as RunningService, path, { ...options, rows: ROWS });
      expect(resultOf(result)).to.deep.equal(resultOf((await alone.json()) as Json));
      for (const accept of ['text/html', 'text/markdown']) {
        const texts = await Promise.all(
          [first, second].map(async (host) => (await ask(host, 'GET', `/results/${id}`, { headers: { accept } })).text()), // prettier-ignore
        );
        expect(texts[0]).to.equal(texts[1]).and.not.equal('');
      }
      if (path === '/ab-test') return;
      const model = await ask(second, 'GET', `/results/${id}/model`);
      expect(model.status).to.equal(200);
      expect(Object.keys(unzipSync(new Uint8Array(await model.arrayBuffer())))).not.to.deep.equal([]);
      if (path === '/calibrate') {
        const data = await (await ask(second, 'GET', `/results/${id}/data`)).text();
        expect(data.trim().split('\n')).to.have.lengthOf(ROWS.length + 1);
        return;
      }
      if (options['method'] === 'regularized') return;
      // The model of a run is used on either host, and its predictions are downloaded from the other one.
      const body = { model: id, rows: ROWS.map(({ x }) => ({ x })) };
      const predicted = await Promise.all([first, second].map(async (host) => (await post(host, '/predict', body)).json())); // prettier-ignore
      const [one, other] = predicted as [Json, Json];
      expect(one['scores']).to.deep.equal(other['scores']).and.have.lengthOf(ROWS.length);
      const scores = await (await ask(second, 'GET', String(one['download']))).text();
      expect(scores.trim().split('\n')).to.have.lengthOf(ROWS.length + 1);
    });
  }

  it('a training is cancelled on the other host, and the worker goes on with the next job @slow', async function () {
    this.timeout(60_000);
    const long = {
      method: 'lagrangian',
      y_true: 'y',
      sensitive: 's',
      features: 'x',
      epochs: 100_000,
      patience: 100_000,
    };
    const accepted = await post(first, '/train', { ...long, rows: ROWS }, later);
    expect(accepted.status, await accepted.clone().text()).to.equal(202);
    const { run_id: id } = (await accepted.json()) as { run_id: string };
    const stream = await ask(second, 'GET', `/results/${id}/events`);
    const reader = (stream.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('event: progress')) {
      const { done, value } = await reader.read();
      expect(done, text).to.equal(false);
      text += value ?? '';
    }
    await reader.cancel();
    const cancelled = await ask(second, 'DELETE', `/results/${id}`);
    expect([cancelled.status, await cancelled.json()]).to.deep.equal([200, { run_id: id, status: 'cancelled' }]);
    for (const host of [first, second]) {
      expect(await (await ask(host, 'GET', `/results/${id}`)).json()).to.include({ status: 'cancelled' });
      expect((await ask(host, 'GET', `/results/${id}/model`)).status).to.equal(404);
    }
    const [path, options] = JOBS['a calibration'] ?? expect.fail();
    expect((await post(second, path, { ...options, rows: ROWS })).status).to.equal(200);
  });
});
