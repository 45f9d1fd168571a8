import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect } from 'chai';

import { getBlob, putBlob } from '../../../src/io/redis/blobs.ts';
import { hasRedisPassword, openRedis, parseRedisUrl, type Redis } from '../../../src/io/redis/open-redis.ts';
import { describeWithRedis } from '../../helpers/redis-server.ts';
import { errorOf } from '../../helpers/waiting.ts';

describe('the URL of Redis', () => {
  it('has a host, a database, a user and a password from the environment', () => {
    const env = { EVENHAND_REDIS_PASSWORD: 'p@ss' };
    expect(parseRedisUrl('rediss://ana@db.example:7000/3', env)).to.deep.equal({
      options: { host: 'db.example', port: 7000, db: 3, username: 'ana', password: 'p@ss', tls: {} },
      name: 'Redis at db.example:7000/3',
    });
    expect(parseRedisUrl('redis://[::1]', {})).to.deep.equal({
      options: { host: '::1', port: 6379, db: 0 },
      name: 'Redis at [::1]',
    });
  });

  it('is an error otherwise, whose message does not contain it', () => {
    const urls = ['', 'localhost:6379', 'http://h', 'redis:///1', 'redis://:secret#x@h', 'redis://h/x', 'redis://h?password=secret']; // prettier-ignore
    for (const url of urls) {
      expect(() => parseRedisUrl(url, {}), url)
        .to.throw(/^The URL of Redis is not valid: /)
        .and.not.match(/secret/);
    }
  });

  it('may contain a password', () => {
    expect(['redis://:x@h', 'redis://a:x@h'].map(hasRedisPassword)).to.deep.equal([true, true]);
    expect(['redis://h', 'redis://a@h', 'nonsense'].map(hasRedisPassword)).to.deep.equal([false, false, false]);
  });
});

describeWithRedis('a connection', (running) => {
  let redis: Redis;
  before(async () => {
    redis = await openRedis(running().url);
  });
  after(() => redis.close());

  it('to a port without a server is one clear error', async () => {
    const error = await errorOf(openRedis('redis://127.0.0.1:1'));
    expect(error.name).to.equal('DataValidationError');
    expect(error.message).to.match(/^Redis at 127\.0\.0\.1:1 does not answer: .*ECONNREFUSED/);
  });

  it('waits while Redis restarts, and keeps what was stored', async () => {
    await redis.client.call('SET', 'evenhand:test', 'kept');
    await running().kill();
    const pending = redis.client.call('GET', 'evenhand:test');
    await sleep(300);
    await running().start();
    expect(await pending).to.equal('kept');
  });

  it('stores bytes of every size in parts, once', async () => {
    for (const size of [0, 1, 4 * 2 ** 20, 4 * 2 ** 20 + 1, 10_000_000]) {
      const bytes = randomBytes(size);
      const key = await putBlob(redis, 'evenhand:test', bytes, 60);
      expect(await putBlob(redis, 'evenhand:test', bytes, 60)).to.equal(key);
      expect(Buffer.compare(await getBlob(redis, key), bytes), String(size)).to.equal(0);
    }
  });

  it('says if bytes have expired, are incomplete or are damaged; storing them again restores them', async () => {
    const bytes = randomBytes(5_000_000);
    const key = await putBlob(redis, 'evenhand:test', bytes, 60);
    await redis.client.call('SET', `${key}:0`, randomBytes(4 * 2 ** 20));
    expect((await errorOf(getBlob(redis, key))).message).to.match(/of 5,000,000 bytes is damaged/);
    await redis.client.call('DEL', `${key}:1`);
    expect((await errorOf(getBlob(redis, key))).message).to.match(/is incomplete/);
    await putBlob(redis, 'evenhand:test', bytes, 60);
    expect(Buffer.compare(await getBlob(redis, key), bytes)).to.equal(0);
    await redis.client.call('DEL', key);
    expect((await errorOf(getBlob(redis, key))).message).to.match(/has expired/);
  });
});
