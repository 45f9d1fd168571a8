import { createServer, type IncomingMessage, type RequestListener, type ServerResponse, STATUS_CODES } from 'node:http';
import { Server as NetServer, type Server, type Socket } from 'node:net';

/** Clients may connect faster than they are accepted; then the port closes at some time all the same. */
const MAX_TURNS = 2_000;

/**
 * Accepts the connections that the system has made and this process has not taken yet: the system resets them when the
 * port is closed. Close the port in the turn in which this resolves.
 */
export async function acceptWaiting(server: Server): Promise<void> {
  let hasAccepted = true;
  const note = (): void => {
    hasAccepted = true;
  };
  server.on('connection', note);
  // The event loop accepts about one connection in each turn.
  for (let turn = 0; hasAccepted && turn < MAX_TURNS; turn++) {
    hasAccepted = false;
    await nextTurn();
  }
  server.off('connection', note);
}

/** Resolves after the event loop has looked for connections once more. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(() => setImmediate(resolve));
  });
}

interface Refusal {
  readonly status: 400 | 408 | 431;
  readonly kind: string;
  readonly detail: string;
  readonly suggestion?: string;
}

const MALFORMED: Refusal = {
  status: 400,
  kind: 'malformed-request',
  detail: 'The request is not HTTP that the service understands.',
};

const NO_HOST: Refusal = {
  status: 400,
  kind: 'malformed-request',
  detail: 'The request has no Host header, which HTTP/1.1 requires.',
  suggestion: 'Send the name and port of the service as the Host header.',
};

/** By Node's code. */
const REFUSALS: Readonly<Record<string, Refusal>> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, kind: 'request-timeout', detail: 'The request came too slowly.' },
  HPE_HEADER_OVERFLOW: { status: 431, kind: 'headers-too-large', detail: 'The headers are larger than 16 KiB.' },
};

/**
 * Answers a connection on which no request could be read, and closes it: 400, 408 or 431 with a problem.
 * @param response the answer that is under way on this connection, if any
 */
function answerClientError(
  { code = '' }: NodeJS.ErrnoException,
  socket: Socket,
  response: ServerResponse | undefined,
): void {
  // An answer that has begun cannot be followed by another; to one who is gone nothing can be said.
  if (code === 'ECONNRESET' || !socket.writable || response?.headersSent === true) {
    socket.destroy();
    return;
  }
  const refusal = REFUSALS[code] ?? MALFORMED;
  const body = bodyOf(refusal);
  const head = [
    `HTTP/1.1 ${String(refusal.status)} ${titleOf(refusal)}`,
    ...Object.entries(headersOf(body)).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

/** Answers 400 with a problem to a request of HTTP/1.1 that has no Host header, and closes the connection. */
function refuseWithoutHost(response: ServerResponse): void {
  const body = bodyOf(NO_HOST);
  response.writeHead(NO_HOST.status, headersOf(body)).end(body);
}

function bodyOf({ status, kind, detail, ...refusal }: Refusal): string {
  const title = titleOf({ status, kind, detail });
  return JSON.stringify({ type: `urn:evenhand:problem:${kind}`, title, status, detail, ...refusal });
}

function titleOf({ status }: Refusal): string {
  return STATUS_CODES[status] ?? '';
}

function headersOf(body: string): Readonly<Record<string, string>> {
  return {
    connection: 'close',
    'content-type': 'application/problem+json',
    'content-length': String(Buffer.byteLength(body)),
    'x-content-type-options': 'nosniff',
  };
}

/** Requests that a connection may send ahead of its answers; one that sends more is ended. */
const MAX_AHEAD = 32;

type Turn = readonly [request: IncomingMessage & { readonly socket: Socket }, response: ServerResponse];

/**
 * Begins the requests of a connection one after another, the next when the answer before it has gone out. Node begins all
 * that has come, so that a client that reads nothing could have many answers in memory. While one waits for its turn,
 * nothing more is read from its connection.
 */
function oneAtATime(listener: RequestListener): RequestListener {
  /** The requests that wait, of connections at work. */
  const waiting = new Map<Socket, Turn[]>();

  const begin = ([request, response]: Turn): void => {
    const { socket } = request;
    response.once('close', () => {
      // After all others who were told of the end of this one.
      process.nextTick(beginNext, socket);
    });
    listener(request, response);
  };

  const beginNext = (socket: Socket): void => {
    // After the last answer of a connection there is no other.
    const next = socket.writable ? waiting.get(socket)?.shift() : undefined;
    if (next === undefined) {
      waiting.delete(socket);
      return;
    }
    if (waiting.get(socket)?.length === 0) socket.resume();
    begin(next);
  };

  /** Node itself resumes a connection when a message has come whole, or its body is read. */
  const keepPaused = (socket: Socket): void => {
    socket.pause();
    socket.on('resume', () => {
      if ((waiting.get(socket)?.length ?? 0) > 0) socket.pause();
    });
  };

  const known = new WeakSet<Socket>();
  return (request, response) => {
    const { socket } = request;
    const others = waiting.get(socket);
    if (others === undefined) {
      waiting.set(socket, []);
      begin([request, response]);
      return;
    }
    others.push([request, response]);
    if (others.length > MAX_AHEAD) socket.destroy();
    else if (known.has(socket)) socket.pause();
    else {
      known.add(socket);
      keepPaused(socket);
    }
  };
}

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
const MAX_CONNECTIONS = 10_000;

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
  server.maxConnections = MAX_CONNECTIONS;
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
      if (taken > MAX_CONNECTIONS) socket.destroy();
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
