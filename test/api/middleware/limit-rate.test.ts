import { expect } from 'chai';

import type { RateLimiter } from '../../../src/api/context/service-context.ts';
import { answerProblems } from '../../../src/api/middleware/answer-problems.ts';
import { authenticate } from '../../../src/api/middleware/authenticate.ts';
import { limitRate } from '../../../src/api/middleware/service-layers.ts';
import { clientAddress, createRateLimiter } from '../../../src/api/middleware/service-middleware.ts';
import { ValueError } from '../../../src/exceptions/index.ts';
import { ask, bareApp, serviceWith, withState } from './bare-app.ts';

function appOf(limiter: RateLimiter | null, client = '') {
  const service = serviceWith({ limiter });
  return bareApp([withState({ client }), answerProblems(service), limitRate(service)], (context) => {
    context.body = 'done';
  });
}

const fromAddress = (remoteAddress: string, url = '/results') => ({ method: 'GET', url, remoteAddress }) as const;

describe('limitRate', () => {
  it('allows requests up to the limit, and rejects the next one with the time to wait', async () => {
    const app = appOf(createRateLimiter(3));
    const answers = [];
    for (let count = 0; count < 5; count++) answers.push(await ask(app, fromAddress('192.0.2.1')));
    expect(answers.map(({ statusCode }) => statusCode)).to.deep.equal([200, 200, 200, 429, 429]);
    expect(answers.map(({ headers }) => headers['ratelimit-remaining'])).to.deep.equal(['2', '1', '0', '0', '0']);
    const last = answers.at(-1);
    expect(last?.headers['ratelimit-limit']).to.equal('3');
    expect(Number(last?.headers['retry-after'])).to.be.within(1, 60);
    expect(last?.headers['retry-after']).to.equal(last?.headers['ratelimit-reset']);
    expect(last?.json<{ detail: string }>().detail).to.include('3 requests');
  });

  it('counts each address and each key separately, and a key across addresses', async () => {
    const limiter = createRateLimiter(1);
    const bare = appOf(limiter);
    const keyed = appOf(limiter, 'abc');
    const statuses = [];
    for (const [app, address] of [
      [bare, '192.0.2.1'],
      [bare, '192.0.2.2'],
      [keyed, '192.0.2.1'],
      [keyed, '192.0.2.3'],
      [appOf(limiter, 'def'), '192.0.2.1'],
      [bare, '192.0.2.1'],
    ] as const) {
      statuses.push((await ask(app, fromAddress(address))).statusCode);
    }
    expect(statuses).to.deep.equal([200, 200, 200, 429, 200, 429]);
  });

  it('does not count requests of monitoring systems', async () => {
    const app = appOf(createRateLimiter(1));
    for (const path of ['/health', '/ready', '/metrics', '/health', '/ready', '/metrics']) {
      const answer = await ask(app, fromAddress('192.0.2.1', path));
      expect([answer.statusCode, answer.headers['ratelimit-limit']]).to.deep.equal([200, undefined]);
    }
  });

  it('counts requests with invalid keys by address', async () => {
    const service = serviceWith({ limiter: createRateLimiter(2), keys: ['first-key-0123456789'] });
    const layers = [withState({ client: '' }), answerProblems(service), authenticate(service), limitRate(service)];
    const app = bareApp(layers, (context) => {
      context.body = 'done';
    });
    const statuses = [];
    for (const key of ['a', 'b', 'c', 'first-key-0123456789']) {
      const answer = await ask(app, { ...fromAddress('192.0.2.9'), headers: { authorization: `Bearer ${key}` } });
      statuses.push(answer.statusCode);
    }
    expect(statuses).to.deep.equal([401, 401, 429, 200]);
  });

  it('adds no headers without a limit', async () => {
    const answer = await ask(appOf(null), fromAddress('192.0.2.1'));
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('ratelimit'))).to.deep.equal([]);
  });

  it('answers 500 and rejects the request if the limiter fails', async () => {
    const failing = { take: () => Promise.reject(new Error('no store')) };
    expect((await ask(appOf(failing), fromAddress('192.0.2.1'))).statusCode).to.equal(500);
  });
});

describe('createRateLimiter', () => {
  for (const limit of [0, -1, 1.5, NaN, Infinity]) {
    it(`rejects a limit of ${String(limit)}`, () => {
      expect(() => createRateLimiter(limit)).to.throw(ValueError, 'rateLimit');
    });
  }

  it('returns the remaining requests, and when the limit is reset', async () => {
    const limiter = createRateLimiter(2);
    expect(await limiter.take('a')).to.deep.equal({ isAllowed: true, limit: 2, remaining: 1, resetSeconds: 60 });
  });
});

describe('clientAddress', () => {
  const cases: readonly (readonly [string | undefined, string])[] = [
    [undefined, 'unknown'],
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::1', '0:0:0:0::/64'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:2::6', '2001:db8:1:2::/64'],
    ['2001:db8::6', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['/tmp/a.sock', '/tmp/a.sock'],
  ];
  for (const [remote, counted] of cases) {
    it(`counts ${String(remote)} as ${counted}`, () => {
      expect(clientAddress(remote)).to.equal(counted);
    });
  }
});
