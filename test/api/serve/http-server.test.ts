import { type IncomingMessage, type RequestListener, request as httpRequest, Agent } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

import { expect } from 'chai';

import { createHttpServer, type HttpServer, type HttpServerOptions } from '../../../src/api/serve/http-server.ts';

const HOST = '127.0.0.1';

const servers: HttpServer[] = [];
const agents: Agent[] = [];

async function start(
  listener: RequestListener,
  options?: HttpServerOptions,
): Promise<{ server: HttpServer; port: number }> {
  const server = createHttpServer(listener, options);
  servers.push(server);
  return { server, port: await server.listen({ host: HOST, port: 0 }) };
}

function keepAlive(): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  agents.push(agent);
  return agent;
}

function get(port: number, agent: Agent, path = '/'): Promise<IncomingMessage & { text: string }> {
  return new Promise((resolve, reject) => {
    httpRequest({ host: HOST, port, path, agent }, (response) => {
      let text = '';
      response.on('data', (data: Buffer) => (text += data.toString()));
      response.on('error', reject);
      response.on('end', () => {
        resolve(Object.assign(response, { text }));
      });
    })
      .on('error', reject)
      .end();
  });
}

/** Resolves when the port accepts no connections. */
async function closed(port: number): Promise<void> {
  const isRefused = (): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = connect(port, HOST, () => {
        socket.destroy();
        resolve(false);
      }).on('error', () => {
        resolve(true);
      });
    });
  while (!(await isRefused())) await pause(5);
}

/** Sends bytes and returns everything received until the connection ends. */
function talk(port: number, bytes: string, later = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect(port, HOST);
    let answer = '';
    socket.setTimeout(5_000, () => {
      reject(new Error('The connection was not ended.'));
    });
    socket.on('data', (data) => (answer += data.toString()));
    socket.on('close', () => {
      resolve(answer);
    });
    socket.on('error', () => undefined);
    socket.write(bytes);
    if (later !== '') setTimeout(() => socket.write(later), 50);
  });
}

describe('the HTTP server', () => {
  afterEach(() => {
    for (const server of servers.splice(0)) server.end();
    for (const agent of agents.splice(0)) agent.destroy();
  });

  it('rejects with the error of Node.js if it cannot listen', async () => {
    const { port } = await start((_, response) => response.end());
    const second = createHttpServer(() => undefined);
    const error = await second.listen({ host: HOST, port }).catch((cause: unknown) => cause);
    expect(error).to.have.property('code', 'EADDRINUSE');
  });

  const broken: [title: string, bytes: string, status: number, slug: string][] = [
    ['no Host header', 'GET / HTTP/1.1\r\n\r\n', 400, 'malformed-request'],
    ['what is not HTTP', 'nonsense\r\n\r\n', 400, 'malformed-request'],
    ['headers above 16 KiB', `GET / HTTP/1.1\r\nhost: a\r\nx: ${'y'.repeat(17_000)}\r\n\r\n`, 431, 'headers-too-large'],
    [
      'two lengths',
      'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n',
      400,
      'malformed-request',
    ],
    [
      'a length together with chunks',
      'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
      'malformed-request',
    ],
  ];
  for (const [title, bytes, status, slug] of broken) {
    it(`answers ${title} with a problem, closes the connection, and continues`, async () => {
      const { port } = await start((request, response) => request.resume().on('end', () => response.end('fine')));
      const answer = await talk(port, bytes);
      const [head = '', body = ''] = answer.split('\r\n\r\n');
      expect(head)
        .to.match(new RegExp(`^HTTP/1.1 ${String(status)} `))
        .and.include('application/problem+json');
      expect(head).to.include('connection: close');
      expect(JSON.parse(body)).to.include({ status, code: slug, type: `urn:evenhand:problem:${slug}` });
      expect((await get(port, keepAlive())).text).to.equal('fine');
    });
  }

  it('writes no second answer after one that has begun', async () => {
    const { port } = await start((request, response) => {
      request.resume();
      response.writeHead(200).write('first');
    });
    const head = 'POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n';
    const answer = await talk(port, head, 'nonsense\r\n');
    expect(answer.match(/HTTP\/1\.1/g)).to.have.length(1);
  });

  it('drains: answers running requests with connection: close, and accepts no new connections', async () => {
    let finish: () => void = () => undefined;
    const { server, port } = await start((request, response) => {
      if (request.url === '/slow') finish = () => response.end('done');
      else response.end('quick');
    });
    const slow = get(port, keepAlive(), '/slow');
    await pause(50);
    let isDrained = false;
    const drained = server.drain().then(() => (isDrained = true));
    await pause(50);
    expect(isDrained).to.equal(false);
    expect(await get(port, keepAlive()).catch((error: unknown) => error)).to.have.property('code', 'ECONNREFUSED');
    finish();
    const answer = await slow;
    expect(answer.text).to.equal('done');
    expect(answer.headers['connection']).to.equal('close');
    await drained;
  });

  it('drains: answers a request on its way on an idle connection, and asks the client to close it', async () => {
    const { server, port } = await start((_, response) => response.end('quick'), { idleMillis: 2_000 });
    const agent = keepAlive();
    expect((await get(port, agent)).headers['connection']).to.equal('keep-alive');
    const drained = server.drain();
    await closed(port);
    const answer = await get(port, agent);
    expect([answer.text, answer.headers['connection']]).to.deep.equal(['quick', 'close']);
    const begin = performance.now();
    await drained;
    expect(performance.now() - begin, 'does not wait once all connections are closed').to.be.below(1_000);
  });

  it('drains: closes connections that stay idle after a moment', async () => {
    let note: () => void = () => undefined;
    const answered = new Promise<void>((resolve) => (note = resolve));
    const { server, port } = await start((_, response) => response.end('quick', note), { idleMillis: 50 });
    const client = talk(port, 'GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    await answered;
    await server.drain();
    expect(await client)
      .to.include('quick')
      .and.not.include('connection: close');
  });

  it('drains: does not wait for event streams, and closes them at the end', async () => {
    const { server, port } = await start((_, response) => {
      response.setHeader('content-type', 'text/event-stream').write(': hello\n\n');
    });
    const stream = talk(port, 'GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    await pause(50);
    await server.drain();
    server.end();
    expect(await stream).to.include(': hello');
  });

  it('stops listening once it has drained', async () => {
    const server = createHttpServer(() => undefined);
    await server.drain();
    expect(await server.listen({ host: HOST, port: 0 }).catch(String)).to.include('shutting down');
  });

  describe('with a client that does not read', () => {
    const STALL = 150;
    const LARGE = Buffer.alloc(16 * 2 ** 20, 'x');
    const ASK = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n';
    const sockets: Socket[] = [];
    afterEach(() => {
      for (const socket of sockets.splice(0)) socket.destroy();
    });

    /** Starts a client that sends the given bytes and reads nothing. */
    const deaf = (port: number, bytes: string): Socket => {
      const socket = connect(port, HOST).on('error', () => undefined);
      sockets.push(socket);
      socket.pause().write(bytes);
      return socket;
    };
    /** Returns the time from the start of the answer to the end of the connection, at most five seconds. */
    const endOf = (begin: (listener: RequestListener) => void) =>
      new Promise<number>((resolve, reject) => {
        const timer = setTimeout(() => {
          reject(new Error('The connection was not ended.'));
        }, 5_000);
        begin((_, response) => {
          const began = performance.now();
          response.once('close', () => {
            clearTimeout(timer);
            resolve(performance.now() - began);
          });
          response.end(LARGE);
        });
      });

    for (const [title, bytes] of [
      ['one request', ASK],
      ['requests one after another', ASK.repeat(3)],
      ['a request and the beginning of another', `${ASK}GET /`],
    ] as const) {
      it(`closes the connection after ${title}`, async () => {
        const answered: RequestListener[] = [];
        const { port } = await start((request, response) => answered[0]?.(request, response), { stallMillis: STALL });
        const millis = await endOf((listener) => {
          answered.push(listener);
          deaf(port, bytes);
        });
        expect(millis).to.be.within(STALL - 20, 20 * STALL);
      });
    }

    it('closes it even if the client sends requests occasionally', async () => {
      const answered: RequestListener[] = [];
      const { port } = await start((request, response) => answered[0]?.(request, response), { stallMillis: STALL });
      let timer: NodeJS.Timeout | undefined;
      try {
        const millis = await endOf((listener) => {
          answered.push(listener);
          const socket = deaf(port, ASK);
          timer = setInterval(() => socket.write(ASK), STALL / 3);
        });
        expect(millis).to.be.below(20 * STALL);
      } finally {
        clearInterval(timer);
      }
    });

    it('closes it even if the answer took longer than that to start', async () => {
      let millis = 0;
      const { port } = await start(
        (_, response) => {
          setTimeout(() => {
            const began = performance.now();
            response.end(LARGE).once('close', () => (millis = performance.now() - began));
          }, 3 * STALL);
        },
        { stallMillis: STALL },
      );
      deaf(port, ASK);
      for (let turn = 0; turn < 100 && millis === 0; turn++) await pause(50);
      expect(millis).to.be.within(STALL - 20, 20 * STALL);
    });

    it('starts only one answer', async () => {
      let begun = 0;
      const { port } = await start((_, response) => {
        begun += 1;
        response.end(LARGE);
      });
      deaf(port, ASK.repeat(3));
      await pause(200);
      expect(begun).to.equal(1);
    });

    it('keeps a connection whose client reads slowly', async () => {
      const stallMillis = 2 * STALL;
      const { port } = await start((_, response) => response.end(LARGE), { stallMillis });
      const socket = deaf(port, ASK);
      let read = 0;
      const began = performance.now();
      // About 20 MB/s: the system lets a sender continue by the megabyte.
      while (read < LARGE.length && !socket.destroyed) {
        await pause(3);
        read += (socket.read() as Buffer | null)?.length ?? 0;
      }
      expect(read).to.be.at.least(LARGE.length);
      expect(performance.now() - began).to.be.above(2 * stallMillis);
    });

    it('does not interrupt long work or rare events', async () => {
      const { port } = await start(
        (request, response) => {
          if (request.url === '/slow') setTimeout(() => response.end('done'), 4 * STALL);
          else {
            response.setHeader('content-type', 'text/event-stream').write(': hello\n\n');
            setTimeout(() => response.end('data: late\n\n'), 4 * STALL);
          }
        },
        { stallMillis: STALL },
      );
      expect((await get(port, keepAlive(), '/slow')).text).to.equal('done');
      expect((await get(port, keepAlive())).text).to.include('late');
    });

    it('keeps a connection for another request for the usual time', async () => {
      const { port } = await start((_, response) => response.end('fine'), { stallMillis: STALL });
      const agent = keepAlive();
      await get(port, agent);
      await pause(3 * STALL);
      const answer = await get(port, agent);
      expect(answer.text).to.equal('fine');
    });
  });

  describe('with pipelined requests', () => {
    const ask = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nhost: a\r\n${more}\r\n`;
    const LAST = 'connection: close\r\n';

    it('answers them in order, each after the previous answer has been sent', async () => {
      const order: string[] = [];
      const { port } = await start((request, response) => {
        order.push(`begin ${String(request.url)}`);
        response.once('close', () => order.push(`end ${String(request.url)}`));
        setTimeout(() => response.end(`[${String(request.url)}]`), request.url === '/a' ? 60 : 5);
      });
      const answer = await talk(port, ask('/a') + ask('/b') + ask('/c', LAST));
      expect(answer.match(/\[.*?\]/g)).to.deep.equal(['[/a]', '[/b]', '[/c]']);
      expect(order).to.deep.equal(['begin /a', 'end /a', 'begin /b', 'end /b', 'begin /c', 'end /c']);
    });

    it('passes each its own body, even one that arrives later', async () => {
      const { port } = await start((request, response) => {
        let text = '';
        request.on('data', (data: Buffer) => (text += data.toString()));
        request.on('end', () => setTimeout(() => response.end(`[${text}]`), 30));
      });
      const post = (length: number, more = '') =>
        `POST / HTTP/1.1\r\nhost: a\r\ncontent-length: ${length}\r\n${more}\r\n`;
      const large = 'y'.repeat(300_000);
      const answer = await talk(port, `${post(2)}ab${post(3)}cde${post(large.length, LAST)}`, large);
      expect(answer.match(/\[.*?\]/g)?.map(({ length }) => length)).to.deep.equal([4, 5, 300_002]);
    });

    it('accepts 32 of them', async () => {
      const { port } = await start((_, response) => setTimeout(() => response.end('[]'), 1));
      const answer = await talk(port, ask('/').repeat(32) + ask('/', LAST));
      expect(answer.match(/\[\]/g)).to.have.length(33);
    });

    it('closes a connection with more', async () => {
      let begun = 0;
      const { port } = await start(() => (begun += 1));
      await talk(port, ask('/').repeat(1000));
      expect(begun).to.equal(1);
    });

    it('drops them if the connection ends', async () => {
      const seen: (string | undefined)[] = [];
      const { port, server } = await start((request, response) => {
        seen.push(request.url);
        response.setHeader('connection', 'close').end('[]');
      });
      expect((await talk(port, ask('/a') + ask('/b'))).match(/\[\]/g)).to.have.length(1);
      await server.drain();
      expect(seen).to.deep.equal(['/a']);
    });

    it('drains although some were never started', async () => {
      let finish: () => void = () => undefined;
      const { port, server } = await start((_, response) => (finish = () => response.end('[]')));
      const talked = talk(port, ask('/a') + ask('/b'));
      await pause(50);
      const drained = server.drain();
      await closed(port);
      finish();
      expect((await talked).match(/\[\]/g)).to.have.length(1);
      await drained;
    });
  });
});
