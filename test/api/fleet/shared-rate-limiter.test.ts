import { randomUUID } from 'node:crypto';

import { expect } from 'chai';

import { openPromptClient, type PromptClient } from '../../../src/api/fleet/prompt-client.ts';
import { createSharedRateLimiter } from '../../../src/api/fleet/shared-rate-limiter.ts';
import { ValueError } from '../../../src/exceptions/index.ts';
import { openRedis, type Redis } from '../../../src/io/redis/open-redis.ts';
import { describeWithRedis } from '../../helpers/redis-server.ts';
import { until } from '../../helpers/waiting.ts';
import { createRecorder } from '../runs/runs-fixture.ts';

describeWithRedis('a rate limit of several hosts', (redis) => {
  const opened: { readonly connection: Redis; readonly prompt: PromptClient }[] = [];
  const open = async (perMinute: number, prefix: string) => {
    const connection = await openRedis(redis().url);
    const prompt = await openPromptClient(connection, createRecorder().logger);
    opened.push({ connection, prompt });
    return { limiter: createSharedRateLimiter(perMinute, prompt, prefix), prompt, connection };
  };
  afterEach(async () => {
    for (const { connection, prompt } of opened.splice(0)) {
      prompt.close();
      await connection.close();
    }
  });

  it('counts the requests of each client together, in windows of a minute', async () => {
    const prefix = `test-${randomUUID()}`;
    const [first, second] = [await open(3, prefix), await open(3, prefix)];
    const allowances = [];
    for (const { limiter } of [first, second, first, second]) allowances.push(await limiter.take('key:a'));
    expect(allowances.map(({ isAllowed, limit, remaining }) => [isAllowed, limit, remaining])).to.deep.equal([
      [true, 3, 2],
      [true, 3, 1],
      [true, 3, 0],
      [false, 3, 0],
    ]);
    for (const { resetSeconds } of allowances) expect(resetSeconds).to.be.within(1, 60);
    expect((await second.limiter.take('key:b')).remaining).to.equal(2);
    expect((await (await open(3, `${prefix}-other`)).limiter.take('key:a')).remaining).to.equal(2);
    const keys = (await first.connection.client.call('KEYS', `${prefix}:*`)) as string[];
    expect(keys.length).to.equal(2);
    for (const key of keys) expect(Number(await first.connection.client.call('TTL', key))).to.be.within(1, 60);
  });

  it('rejects limits that are not whole numbers', async () => {
    const { prompt } = await open(1, 'test');
    for (const limit of [0, -1, 1.5, NaN])
      expect(() => createSharedRateLimiter(limit, prompt, 'test')).to.throw(ValueError);
  });

  const kill = () => redis().kill();
  const start = () => redis().start();
  const freeze = () => {
    redis().freeze();
  };
  const thaw = () => {
    redis().thaw();
  };
  // A frozen server counts the first request later.
  for (const [how, stop, restart, isAllowedAfter] of [
    ['killed', kill, start, true],
    ['frozen', freeze, thaw, false],
  ] as const) {
    it(`is counted by each host alone while Redis is ${how}`, async function () {
      this.timeout(60_000);
      const { limiter, prompt } = await open(2, `test-${randomUUID()}`);
      expect((await limiter.take('a')).remaining).to.equal(1);
      await stop();
      const begin = performance.now();
      const allowed: boolean[] = [];
      for (let turn = 0; turn < 3; turn++) allowed.push((await limiter.take('a')).isAllowed);
      expect(allowed).to.deep.equal([true, true, false]);
      expect(performance.now() - begin).to.be.below(8000);
      await restart();
      await until(() => prompt.awayMillis === 0, 30);
      const { isAllowed, remaining } = await limiter.take('a');
      expect([isAllowed, remaining]).to.deep.equal([isAllowedAfter, 0]);
    });
  }
});
