import { expect } from 'chai';

import { ServiceMetrics } from '../../../src/api/middleware/metrics.ts';
import { serviceLayers } from '../../../src/api/middleware/service-layers.ts';
import { createRateLimiter } from '../../../src/api/middleware/service-middleware.ts';
import { ask, bareApp, keptLogger, serviceWith } from './bare-app.ts';

const KEY = 'first-key-0123456789';

function appOf() {
  const { logger, lines } = keptLogger();
  const metrics = new ServiceMetrics(() => Promise.resolve({ queued: 0, running: 0, kept: 0 }));
  const service = serviceWith({
    logger,
    keys: [KEY],
    corsOrigins: ['https://audit.example.com'],
    allowedHosts: ['here'],
    limiter: createRateLimiter(2),
  });
  const handled: string[] = [];
  const app = bareApp(serviceLayers(service, metrics.middleware), (context) => {
    handled.push(context.path);
    context.body = { path: context.path };
  });
  return { app, lines, handled, metrics };
}

describe('serviceLayers', () => {
  const authorization = `Bearer ${KEY}`;
  const cases: readonly (readonly [string, Readonly<Record<string, string>>, number])[] = [
    ['a key', { host: 'here', authorization }, 200],
    ['no key', { host: 'here' }, 401],
    ['another host, with a key', { host: 'elsewhere', authorization }, 403],
    ['another origin, with a key', { host: 'here', authorization, origin: 'https://evil.example' }, 403],
    ['a named origin, with a key', { host: 'here', authorization, origin: 'https://audit.example.com' }, 200],
    ['a named origin, without a key', { host: 'here', origin: 'https://audit.example.com' }, 401],
  ];
  for (const [title, headers, status] of cases) {
    it(`answers POST with ${title} by ${String(status)} with all headers, a log line and a count, and handles only allowed requests`, async () => {
      const { app, lines, handled, metrics } = appOf();
      const answer = await ask(app, { method: 'POST', url: '/validate', headers });
      expect(answer.statusCode).to.equal(status);
      expect(handled).to.have.length(status === 200 ? 1 : 0);
      expect(answer.headers).to.include.keys(
        'x-request-id',
        'x-evenhand-worker',
        'content-security-policy',
        'x-content-type-options',
        'cache-control',
      );
      expect(lines.map((line) => (JSON.parse(line) as { status: number }).status)).to.deep.equal([status]);
      expect((await metrics.render()).text).to.include(`route="/validate",status="${String(status)}"} 1`);
    });
  }

  it('counts requests without a valid key by address, so that others cannot use up the limit of a key', async () => {
    const { app } = appOf();
    const statuses = [];
    for (const headers of [{}, {}, {}, { authorization }, { authorization }, { authorization }]) {
      statuses.push(
        (await ask(app, { method: 'GET', url: '/results', headers: { host: 'here', ...headers } })).statusCode,
      );
    }
    expect(statuses).to.deep.equal([401, 401, 429, 200, 200, 429]);
  });

  it('answers a preflight request without a key', async () => {
    const { app } = appOf();
    const answer = await ask(app, {
      method: 'OPTIONS',
      url: '/validate',
      headers: { host: 'here', origin: 'https://audit.example.com', 'access-control-request-method': 'POST' },
    });
    expect(answer.statusCode).to.equal(204);
  });
});
