import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';

import { expect } from 'chai';

import type { Handler } from '../../../src/api/context/service-context.ts';
import { logRequests, requestId } from '../../../src/api/middleware/service-layers.ts';
import { ask, bareApp, keptLogger, serviceWith } from './bare-app.ts';

function appOf(level: string, handler: Handler) {
  const { logger, lines } = keptLogger(level);
  const service = serviceWith({ logger });
  return { app: bareApp([requestId(service), logRequests(service)], handler), lines };
}

const done: Handler = (context) => {
  context.body = 'done';
};

describe('logRequests', () => {
  it('writes one line per answer with the request, the outcome and the client', async () => {
    const { app, lines } = appOf('info', done);
    await ask(app, {
      method: 'POST',
      url: '/results/abc?secret=1',
      payload: 'private',
      headers: { 'x-request-id': 'me-1' },
    });
    expect(lines).to.have.length(1);
    const { ms, time, ...line } = JSON.parse(lines[0] ?? '') as Record<string, unknown>;
    expect(ms).to.be.a('number').within(0, 20_000);
    expect(time).to.be.a('number');
    expect(line).to.deep.equal({
      level: 30,
      msg: 'answered',
      method: 'POST',
      path: '/results/abc',
      route: '/results/{run_id}',
      status: 200,
      bytes: 4,
      request_id: 'me-1',
      worker: 'worker-1',
    });
  });

  for (const [level, url, count] of [
    ['info', '/health', 0],
    ['info', '/ready', 0],
    ['info', '/metrics', 0],
    ['debug', '/health', 1],
    ['warn', '/results', 0],
    ['silent', '/results', 0],
  ] as const) {
    it(`writes ${String(count)} lines for ${url} at ${level}`, async () => {
      const { app, lines } = appOf(level, done);
      await ask(app, { method: 'GET', url });
      expect(lines).to.have.length(count);
    });
  }

  it('writes a hostile path on one line, shortened', async () => {
    const { app, lines } = appOf('info', done);
    await ask(app, { method: 'GET', url: `/%0a%0d${'\u{1F600}'.repeat(400)}` });
    expect(lines.join('').split('\n')).to.have.length(2);
    expect(lines[0]?.length).to.be.below(700);
  });

  it('logs a client that disconnected before its answer with status 499', async () => {
    let release = (): void => undefined;
    const { app, lines } = appOf('info', async (context) => {
      context.body = await new Promise<string>((resolve) => {
        release = () => {
          resolve('late');
        };
      });
    });
    const server = createServer(app);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const request = get({ port: (server.address() as AddressInfo).port, path: '/results' });
      request.on('error', () => undefined);
      await new Promise((resolve) => server.once('request', resolve));
      request.destroy();
      for (let wait = 0; wait < 100 && lines.length === 0; wait++)
        await new Promise((resolve) => setTimeout(resolve, 20));
      release();
      expect((JSON.parse(lines[0] ?? '{}') as { status: number }).status).to.equal(499);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
