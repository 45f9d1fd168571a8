import { randomUUID } from 'node:crypto';

import { expect } from 'chai';

import type { AppOptions } from '../../../src/api/app/app-options.ts';
import { settingsOf } from '../../../src/api/app/app-options.ts';
import { createApp } from '../../../src/api/app/create-app.ts';
import { serve } from '../../../src/api/serve/serve.ts';
import type { RunRecord } from '../../../src/api/runs/runs.ts';
import { ResultStore } from '../../../src/api/store/index.ts';
import { describeWithRedis } from '../../helpers/redis-server.ts';
import { askApp, type Json } from '../../helpers/service.ts';
import { errorOf } from '../../helpers/waiting.ts';

const redis = 'redis://127.0.0.1:1';

describe('the options of a service on several hosts', () => {
  const wrong: readonly (readonly [options: AppOptions, name: string, message: string])[] = [
    [{ redis, storeFolder: 'results' }, 'ConfigValidationError', 'Results are stored either in Redis or in a folder'],
    [
      { redis, store: new ResultStore<RunRecord>() },
      'ConfigValidationError',
      'Results are stored either in Redis or in a folder',
    ],
    [{ redisPrefix: 'a' }, 'ConfigValidationError', 'The redisPrefix parameter needs the redis parameter.'],
    [{ work: false }, 'ConfigValidationError', 'The work parameter needs the redis parameter.'],
    [{ redis, redisPrefix: 'a:b' }, 'ValueError', 'redisPrefix'],
    [{ redis, redisPrefix: '' }, 'ValueError', 'redisPrefix'],
    [{ redis, limits: { uploadBytes: 2 ** 33 + 1 } }, 'ValueError', 'limits.uploadBytes'],
  ];
  for (const [options, name, message] of wrong) {
    it(`do not allow ${JSON.stringify(options)}`, async () => {
      expect(() => createApp({ keys: [], ...options }))
        .to.throw(message)
        .with.property('name', name);
      const { store, ...others } = options;
      if (store === undefined)
        expect((await errorOf(serve({ keys: [], port: 0, ...others }))).message).to.include(message);
    });
  }

  it('limit uploads to 512 MiB, unless another limit is given', () => {
    expect(settingsOf({ redis }).limits.uploadBytes).to.equal(512 * 2 ** 20);
    expect(settingsOf({}).limits.uploadBytes).to.equal(2 * 2 ** 30);
    expect(settingsOf({ redis, limits: { uploadBytes: 7 } }).limits.uploadBytes).to.equal(7);
  });

  it('report a Redis that does not answer, or a URL that is not valid, without its password', async () => {
    for (const [url, message] of [
      [redis, /^Redis at 127\.0\.0\.1:1 does not answer/],
      ['http://:secret@h', /^The URL of Redis is not valid: its protocol is 'http'/],
    ] as const) {
      const error = await errorOf(serve({ keys: [], port: 0, redis: url }));
      expect(error.message).to.match(message).and.not.include('secret');
      const app = createApp({ keys: [], redis: url });
      expect((await errorOf(app.ready())).message).to.match(message);
      expect((await askApp(app, { url: '/health' })).statusCode).to.equal(503);
      await app.close();
    }
  });
});

describeWithRedis('an app that shares its runs', (running) => {
  it('answers like any other app, and releases its connections', async () => {
    const app = createApp({ keys: [], redis: running().url, redisPrefix: `test-${randomUUID()}`, threads: 1 });
    await app.ready();
    const body = { y_pred: [1, 1, 1, 0], sensitive: ['a', 'a', 'b', 'b'], min_group_size: 2 };
    const answer = await askApp(app, {
      method: 'POST',
      url: '/validate',
      headers: { 'content-type': 'application/json', 'idempotency-key': 'k' },
      payload: JSON.stringify(body),
    });
    expect(answer.statusCode).to.equal(200);
    const { run_id: id } = answer.json<Json>();
    const read = await askApp(app, { url: `/results/${String(id)}` });
    expect(read.json<Json>()).to.deep.include({ status: 'succeeded', result: answer.json<Json>() });
    expect((await askApp(app, { url: '/metrics' })).body).to.include('evenhand_runs{state="kept"} 1');
    await app.close(0);
    const { openRedis } = await import('../../../src/io/redis/open-redis.ts');
    const connection = await openRedis(running().url);
    const clients = String(await connection.client.call('CLIENT', 'LIST'))
      .trim()
      .split('\n');
    await connection.close();
    expect(clients).to.have.length(1);
  });

  it('closes within seconds if Redis does not answer', async function () {
    this.timeout(60_000);
    const app = createApp({ keys: [], redis: running().url, redisPrefix: `test-${randomUUID()}`, threads: 1 });
    await app.ready();
    running().freeze();
    const begin = performance.now();
    await app.close(0);
    const millis = performance.now() - begin;
    running().thaw();
    expect(millis).to.be.below(20_000);
  });
});
