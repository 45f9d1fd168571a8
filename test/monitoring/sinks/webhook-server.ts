import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A post as received. */
export interface SeenPost {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly json: Record<string, unknown>;
  /** The time on a monotonic clock. */
  readonly atMillis: number;
  /** The number of earlier posts without an answer when this one arrived. */
  readonly unanswered: number;
}

type Answer = (response: ServerResponse, post: SeenPost, request: IncomingMessage) => void;

/**
 * A server on the loopback interface that answers posts from a list of answers, and then always with the same answer.
 */
export class WebhookServer {
  readonly posts: SeenPost[] = [];
  answers: Answer[] = [];
  otherwise: Answer = (response) => void response.writeHead(204).end();
  #unanswered = 0;
  readonly #server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => undefined);
    request.on('end', () => {
      const post = this.#toPost(request, Buffer.concat(chunks).toString());
      this.posts.push(post);
      this.#unanswered++;
      response.on('close', () => this.#unanswered--);
      (this.answers.shift() ?? this.otherwise)(response, post, request);
    });
  });

  /** Listens on a free port and returns the address. */
  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #toPost({ method = '', url = '', headers }: IncomingMessage, body: string): SeenPost {
    const json = JSON.parse(body) as Record<string, unknown>;
    return { method, path: url, headers, json, atMillis: performance.now(), unanswered: this.#unanswered };
  }
}

/** Returns an answer with only a status. */
export function status(code: number, headers: Record<string, string> = {}): Answer {
  return (response) => void response.writeHead(code, headers).end('an answer');
}
