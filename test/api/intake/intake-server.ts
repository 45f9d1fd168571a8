import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, type Socket, connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { createRandom } from '../../../src/internal/random.ts';
import { ServiceProblem } from '../../../src/api/problem/service-problem.ts';

/** A server that does nothing but receive, on a free port. */
export interface IntakeServer {
  readonly port: number;
  readonly spoolRoot: string;
  /** What is left in the spool folder. */
  readonly leftOnDisk: () => Promise<string[]>;
  /** Resolves when the requests that have come so far are answered or given up. */
  readonly settled: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** What a handler gives is the answer; problems are answered as the service answers them. */
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

/** An answer as it came over the wire. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly json: Readonly<Record<string, unknown>>;
  /** Why the connection ended, where it was no orderly end. */
  readonly error: string | undefined;
}

/** A client that sends bytes as it is told and reads what comes, until the server closes or an answer is whole. */
export class RawClient {
  readonly socket: Socket;
  #received = '';
  #error: string | undefined;
  readonly #ended: Promise<void>;
  readonly #closed: Promise<void>;

  constructor(port: number) {
    // Goes on sending when the server has closed its side, as careless clients do.
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

  /** Sends when there is room; false where the connection is no more. */
  async send(chunk: string | Buffer): Promise<boolean> {
    if (this.socket.destroyed) return false;
    if (this.socket.write(chunk)) return true;
    await Promise.race([new Promise((resolve) => this.socket.once('drain', resolve)), this.#closed]);
    return !this.socket.destroyed;
  }

  /** All that came, once the server has closed its side of the connection. */
  async text(): Promise<string> {
    await Promise.race([this.#ended, this.#closed]);
    this.socket.destroy();
    return this.#received;
  }

  /** The answer, once the server has closed its side of the connection. */
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

/** The head of a POST. */
export function headOf(headers: Readonly<Record<string, string | number>>): string {
  const lines = Object.entries({ host: 'localhost', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST / HTTP/1.1\r\n${lines.join('')}\r\n`;
}

/** A chunk of a chunked body. */
export function chunkOf(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

/** Bytes that do not pack. */
export function noise(length: number, seed = 1): Buffer {
  const random = createRandom(seed);
  return Buffer.from(Array.from({ length }, () => random.integer(256)));
}

/** Returns all names in a folder, which others may be emptying: a folder that goes while it is read is read again. */
async function namesIn(folder: string): Promise<string[]> {
  for (;;) {
    try {
      return await readdir(folder, { recursive: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || !existsSync(folder)) throw error;
    }
  }
}
