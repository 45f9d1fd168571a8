import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { expect } from 'chai';
import Koa from 'koa';

import type { Service } from '../../../src/api/context/service-context.ts';
import { answerProblems } from '../../../src/api/middleware/answer-problems.ts';
import { runEventsRoute } from '../../../src/api/routes/run-events.ts';

const MAX_FOLLOWERS = 250;

/** Returns a function that frees all unreachable memory, also memory that is freed one turn later. */
function garbageCollector(): () => Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  return async () => {
    for (let turn = 0; turn < 3; turn++) {
      collect();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
}

describe('event streams with disconnected clients', () => {
  const live = new Set<object>();
  let onNone: () => void = () => undefined;
  let server: Server;
  let port = 0;
  const sockets: Socket[] = [];

  /** A run that continues, and that records its followers. */
  const runs = {
    get: () => Promise.resolve({ runId: 'r', status: 'running', lastEventId: 1 }),
    follow: (_: string, __: number, onEvent: (event: object) => void) => {
      const follower = {};
      live.add(follower);
      onEvent({ id: 1, type: 'status', status: 'running' });
      return Promise.resolve(() => {
        live.delete(follower);
        if (live.size === 0) onNone();
      });
    },
  };

  before(async () => {
    const route = runEventsRoute({ runs } as unknown as Service);
    const app = new Koa();
    // Koa would print each connection that breaks.
    app.silent = true;
    app.use(
      answerProblems({ logger: { error: () => undefined, warn: () => undefined } } as unknown as Service) as never,
    );
    app.use(async (context) => {
      Object.assign(context.state, { tenant: '' });
      await route(Object.assign(context, { params: { run_id: 'r' } }));
    });
    const handle = app.callback();
    server = createServer((request, response) => void handle(request, response)).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    port = (server.address() as AddressInfo).port;
  });
  after(() => {
    for (const socket of sockets) socket.destroy();
    server.closeAllConnections();
    server.close();
  });

  /** Opens a stream; returns the head and the beginning of the answer. */
  const open = (): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      sockets.push(socket);
      socket.on('error', reject);
      socket.once('data', (data) => {
        resolve(data.toString());
      });
      socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    });
  const abandonAll = async (): Promise<void> => {
    const none = new Promise<void>((resolve) => (onNone = resolve));
    for (const socket of sockets.splice(0)) socket.on('error', () => undefined).destroy();
    if (live.size > 0) await none;
  };

  it('leave no followers behind', async () => {
    for (let round = 0; round < 2; round++) {
      const heads = await Promise.all(Array.from({ length: MAX_FOLLOWERS }, open));
      expect(new Set(heads.map((head) => head.slice(0, 15)))).to.deep.equal(new Set(['HTTP/1.1 200 OK']));
      expect(live.size).to.equal(MAX_FOLLOWERS);
      await abandonAll();
      expect(live.size).to.equal(0);
    }
  });

  it('release their memory: further rounds of 500 abandoned requests leave no more than the first', async () => {
    const collect = garbageCollector();
    const heldAfter = async (rounds: number): Promise<number> => {
      for (let round = 0; round < rounds; round++) {
        await Promise.all(Array.from({ length: 500 }, open));
        await abandonAll();
        await new Promise((resolve) => setImmediate(resolve));
      }
      await collect();
      const { heapUsed, external } = process.memoryUsage();
      return (heapUsed + external) / 2 ** 20;
    };
    // The first round compiles code and fills caches.
    const first = await heldAfter(1);
    await Promise.all(Array.from({ length: MAX_FOLLOWERS }, open));
    const { heapUsed, external } = process.memoryUsage();
    expect((heapUsed + external) / 2 ** 20, 'open streams are visible in this measurement').to.be.above(first + 2);
    await abandonAll();
    expect(await heldAfter(3)).to.be.below(first + 2);
  });

  it('are limited, also if all are opened at once: further ones get the time to wait', async () => {
    const heads = await Promise.all(Array.from({ length: 500 }, open));
    const refused = heads.filter((head) => head.startsWith('HTTP/1.1 503 '));
    expect(refused).to.have.length(500 - MAX_FOLLOWERS);
    expect(live.size).to.equal(MAX_FOLLOWERS);
    for (const head of refused)
      expect(head)
        .to.match(/retry-after: 30/i)
        .and.include('application/problem+json');
    await abandonAll();
    expect((await open()).startsWith('HTTP/1.1 200 ')).to.equal(true);
  });
});
