import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A webhook that arrived. */
export interface Received {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A receiver of webhooks that answers with the given statuses, one after the other, and then with 200. */
export class Receiver {
  readonly received: Received[] = [];
  statuses: number[] = [];
  location: string | undefined;
  readonly #server: Server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      this.received.push({ url: request.url ?? '', headers: request.headers, body });
      const headers = this.location === undefined ? {} : { location: this.location };
      response.writeHead(this.statuses.shift() ?? 200, headers).end('thanks');
    });
  });

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  get host(): string {
    return `127.0.0.1:${String((this.#server.address() as AddressInfo).port)}`;
  }

  async until(count: number): Promise<readonly Received[]> {
    for (let tries = 0; tries < 200 && this.received.length < count; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    return this.received;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
