import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';

import { acceptWaiting } from './accept-waiting.ts';
import { answerClientError, refuseWithoutHost } from './answer-client-error.ts';
import { oneAtATime } from './one-at-a-time.ts';

/** Where a server listens. */
export interface Place {
  readonly host: string;
  /** 0 for any that is free. */
  readonly port: number;
}

/** An HTTP server with limits against slow clients and floods, that ends in good order. */
export interface HttpServer {
  /** Gives the port; rejects with Node's error. */
  readonly listen: (place: Place) => Promise<number>;
  /** Takes a connection that another process has accepted. */
  readonly take: (socket: Socket) => void;
  /**
   * Takes no more connections, asks clients to close those that are open, and resolves when none is left that waits for an
   * answer or may bring a request; streams of events do not count.
   */
  readonly drain: () => Promise<void>;
  /** Ends the connections that are left. */
  readonly end: () => void;
}

/** Options of {@link createHttpServer}. */
export interface HttpServerOptions {
  /**
   * A connection that has an answer waiting and takes nothing of it for so many milliseconds, at most twice as many, is
   * ended.
   * @defaultValue 30000
   */
  readonly stallMillis?: number | undefined;
  /**
   * Once it drains, a connection without a request is kept for so many milliseconds, so that a request that is already on
   * its way is answered.
   * @defaultValue 250
   */
  readonly idleMillis?: number | undefined;
}

/** A client that takes nothing of its answer for longer is cut off. */
const STALL_MILLIS = 30_000;

/** A client sends its next request within this time after an answer, or reads that the connection closes. */
const IDLE_MILLIS = 250;

/** A client that sends its headers for longer is cut off. */
const HEADERS_MILLIS = 15_000;

/** Enough for the largest upload at some 600 KB/s. A body that pauses is given up far earlier, where it is received. */
const REQUEST_MILLIS = 3_600_000;

/** Longer than the minute that load balancers keep a connection, so that it is not closed under a request on its way. */
const KEEP_ALIVE_MILLIS = 65_000;

/** How often connections are looked through for slow ones. */
const CHECK_MILLIS = 5_000;

/** Connections of one process; more are closed as they come. */
const MOST_CONNECTIONS = 10_000;

/** Makes a server that does not listen yet. */
export function createHttpServer(
  listener: RequestListener,
  { stallMillis = STALL_MILLIS, idleMillis = IDLE_MILLIS }: HttpServerOptions = {},
): HttpServer {
  const open = new Map<Socket, ServerResponse>();
  let isEnding = false;
  let isDraining = false;
  let taken = 0;
  let onChange: () => void = () => undefined;
  let connections = 0;
  const server = createServer({
    headersTimeout: HEADERS_MILLIS,
    requestTimeout: REQUEST_MILLIS,
    keepAliveTimeout: KEEP_ALIVE_MILLIS,
    connectionsCheckingInterval: CHECK_MILLIS,
    // Node would answer a request without it with an empty body.
    requireHostHeader: false,
  });
  server.maxConnections = MOST_CONNECTIONS;
  // Node counts what the system has taken of an answer as activity, however large that was when it was written.
  server.timeout = stallMillis;
  server.on('connection', (socket: Socket) => {
    connections += 1;
    socket.once('close', () => {
      connections -= 1;
      onChange();
    });
  });
  server.on('timeout', (socket: Socket) => {
    // With nothing to send, an answer is being made, or an event waited for. Without an answer the connection is idle.
    if (socket.writableLength > 0 || !open.has(socket)) socket.destroy();
  });
  const answer: RequestListener = (request, response) => {
    open.set(request.socket, response);
    response.once('close', () => {
      // Another request may have begun on the same connection.
      if (open.get(request.socket) === response) open.delete(request.socket);
      onChange();
    });
    if (isDraining) askToClose(response);
    if (request.headers.host === undefined && request.httpVersion === '1.1') refuseWithoutHost(response);
    else listener(request, response);
  };
  server.on('request', oneAtATime(answer));
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    answerClientError(error, socket, open.get(socket));
  });
  return {
    listen: ({ host, port }) =>
      new Promise((resolve, reject) => {
        if (isEnding) throw new Error('The server is ending.');
        server.once('error', reject);
        server.listen({ host, port }, () => {
          server.off('error', reject);
          const address = server.address();
          resolve(typeof address === 'object' && address !== null ? address.port : port);
        });
      }),
    take: (socket) => {
      // The server looks after connections from when it listens, which it never does by itself here.
      if (taken === 0 && !server.listening) server.emit('listening');
      taken += 1;
      socket.once('close', () => (taken -= 1));
      if (taken > MOST_CONNECTIONS) socket.destroy();
      else server.emit('connection', socket.setNoDelay(true));
    },
    drain: async () => {
      isEnding = true;
      isDraining = true;
      for (const response of open.values()) askToClose(response);
      await acceptWaiting(server);
      // The server's own `close` would end idle connections at once, and with them requests that are on their way: the
      // client of such a request sees a reset and cannot know whether it was done.
      NetServer.prototype.close.call(server);
      return new Promise((resolve) => {
        let timer: NodeJS.Timeout | undefined;
        onChange = () => {
          clearTimeout(timer);
          if (![...open.values()].every(isEventStream)) return;
          if (connections === open.size) resolve();
          else timer = setTimeout(endIdle, idleMillis);
        };
        const endIdle = (): void => {
          server.closeIdleConnections();
          resolve();
        };
        onChange();
      });
    },
    end: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** The connection is not kept for another request. */
function askToClose(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close');
}

/** These end when nothing more happens, which may be never. */
function isEventStream(response: ServerResponse): boolean {
  return String(response.getHeader('content-type')).startsWith('text/event-stream');
}
