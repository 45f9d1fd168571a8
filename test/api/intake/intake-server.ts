import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, type Socket, connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { createRandom } from '../../../src/internal/random.ts';
import { leaveUnread } from '../../../src/api/intake/receive-body.ts';
import { ServiceProblem } from '../../../src/api/problem/service-problem.ts';

/** A server on a free port that only receives bodies. */
export interface IntakeServer {
  readonly port: number;
  readonly spoolRoot: string;
  /** Returns the content of the spool folder. */
  readonly leftOnDisk: () => Promise<string[]>;
  /** Resolves when the requests received so far are answered or closed. */
  readonly settled: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Answers with the result of a handler; problems are answered as in the service. */
export type Receive = (request: IncomingMessage, spoolRoot: string) => Promise<unknown>;

export async function startIntake(receive: Receive): Promise<IntakeServer> {
  const spoolRoot = await mkdtemp(path.join(tmpdir(), 'intake-test-'));
  const working = new Set<Promise<void>>();
  const server = createServer((request, response) => {
    const work = receive(request, spoolRoot).then(
      (value) => {
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
      },
      (error: unknown) => {
        const problem = error instanceof ServiceProblem ? error : undefined;
        if (!request.complete) {
          leaveUnread(request);
          response.setHeader('connection', 'close');
        }
        response.writeHead(problem?.status ?? 500, { ...problem?.headers, 'content-type': 'application/json' });
        response.end(JSON.stringify(problem ?? { status: 500, detail: String(error) }));
      },
    );
    working.add(work);
    void work.finally(() => working.delete(work));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    spoolRoot,
    leftOnDisk: () => namesIn(spoolRoot),
    settled: async () => {
      await Promise.all(working);
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(spoolRoot, { recursive: true, force: true });
    },
  };
}

/** An answer as received. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly json: Readonly<Record<string, unknown>>;
  /** The error with which the connection ended, if it did not end normally. */
  readonly error: string | undefined;
}

/**
 * A client that sends given bytes and reads the answer, until the server closes the connection or the answer is
 * complete.
 */
export class RawClient {
  readonly socket: Socket;
  #received = '';
  #error: string | undefined;
  readonly #ended: Promise<void>;
  readonly #closed: Promise<void>;

  constructor(port: number) {
    // Continues to send after the server has closed its side, as careless clients do.
    this.socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    this.socket.on('data', (chunk) => (this.#received += chunk.toString('latin1')));
    this.#ended = new Promise((resolve) => this.socket.on('end', resolve));
    this.#closed = new Promise((resolve) => {
      this.socket
        .on('error', (error) => (this.#error = error.message))
        .on('close', () => {
          resolve();
        });
    });
  }

  /** Sends when there is room; returns false if the connection is closed. */
  async send(chunk: string | Buffer): Promise<boolean> {
    if (this.socket.destroyed) return false;
    if (this.socket.write(chunk)) return true;
    await Promise.race([new Promise((resolve) => this.socket.once('drain', resolve)), this.#closed]);
    return !this.socket.destroyed;
  }

  /** Returns everything received, once the server has closed its side of the connection. */
  async text(): Promise<string> {
    await Promise.race([this.#ended, this.#closed]);
    this.socket.destroy();
    return this.#received;
  }

  /** Returns the answer, once the server has closed its side of the connection. */
  async answer(): Promise<RawAnswer> {
    const [head = '', body = ''] = (await this.text()).split(/\r\n\r\n(.*)/s);
    const [statusLine = '', ...lines] = head.split('\r\n');
    const headers = lines
      .map((line) => line.split(/: (.*)/s))
      .map(([name = '', value = '']) => [name.toLowerCase(), value]);
    const json = headers.some(([name, value]) => name === 'transfer-encoding' && value === 'chunked')
      ? body
          .split('\r\n')
          .filter((_, line) => line % 2 === 1)
          .join('')
      : body;
    return {
      status: Number(statusLine.split(' ')[1]),
      headers: Object.fromEntries(headers) as Record<string, string>,
      json: json === '' ? {} : (JSON.parse(Buffer.from(json, 'latin1').toString()) as Record<string, unknown>),
      error: this.#error,
    };
  }
}

/** Returns the head of a POST request. */
export function headOf(headers: Readonly<Record<string, string | number>>): string {
  const lines = Object.entries({ host: 'localhost', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST / HTTP/1.1\r\n${lines.join('')}\r\n`;
}

/** Returns a chunk of a chunked body. */
export function chunkOf(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

/** Returns bytes that cannot be compressed. */
export function noise(length: number, seed = 1): Buffer {
  const random = createRandom(seed);
  return Buffer.from(Array.from({ length }, () => random.integer(256)));
}

/** Returns all names in a folder. A folder that is removed while it is read is read again. */
async function namesIn(folder: string): Promise<string[]> {
  for (;;) {
    try {
      return await readdir(folder, { recursive: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || !existsSync(folder)) throw error;
    }
  }
}
