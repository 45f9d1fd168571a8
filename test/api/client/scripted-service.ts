import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An answer of the fake service; `text` returns the chunks to send. */
export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  body: string;
}

/** A fake service on this machine that answers one request after the other as scripted. */
export class ScriptedService {
  /** The requests, each with its body once it has arrived. */
  readonly asked: Asked[] = [];
  readonly #server: Server;
  #answers: Answer[] = [];

  constructor() {
    this.#server = createServer((request, response) => {
      const { method = '', url = '', headers } = request;
      const asked: Asked = { method, url, headers, body: '' };
      request.on('data', (chunk: Buffer) => (asked.body += chunk.toString()));
      this.asked.push(asked);
      const answer = this.#answers.shift();
      if (answer === undefined) response.writeHead(500).end();
      else answer(request, response);
    });
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}`;
  }

  /** Sets the answers to the next requests. */
  answer(...answers: readonly Answer[]): void {
    this.asked.length = 0;
    this.#answers = [...answers];
  }

  start(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.listen(0, '127.0.0.1', resolve);
    });
  }

  stop(): Promise<unknown> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Returns a JSON answer with a status. */
export function json(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  const type = status < 400 ? 'application/json' : 'application/problem+json';
  return (_, response) => {
    response.writeHead(status, { 'content-type': type, ...headers }).end(JSON.stringify(body));
  };
}

/** Returns a stream of events in chunks, after which it ends or the connection breaks. */
export function events(chunks: readonly string[], end: 'end' | 'break' | 'stay' = 'end'): Answer {
  return (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    void (async () => {
      for (const chunk of chunks) {
        response.write(chunk);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      if (end === 'end') response.end();
      if (end === 'break') response.destroy();
    })();
  };
}
