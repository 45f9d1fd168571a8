import { createServer, type IncomingMessage, type RequestListener, type ServerResponse, STATUS_CODES } from 'node:http';
import { Server as NetServer, type Server, type Socket } from 'node:net';

import { PROBLEM_KINDS, type ProblemJson } from '../problem/service-problem.ts';

/**
 * The maximum number of event-loop turns before the port is closed. Without a maximum, clients that connect very fast
 * could keep it open.
 */
const MAX_TURNS = 2_000;

/**
 * Accepts connections that the operating system has established and that still wait to be accepted. The system would
 * reset them when the port is closed. Close the port in the same turn of the event loop in which this function
 * resolves.
 */
export async function acceptWaiting(server: Server): Promise<void> {
  let hasAccepted = true;
  const note = (): void => {
    hasAccepted = true;
  };
  server.on('connection', note);
  // The event loop accepts about one connection per turn.
  for (let turn = 0; hasAccepted && turn < MAX_TURNS; turn++) {
    hasAccepted = false;
    // Resolves after the event loop has polled for connections once more.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  }
  server.off('connection', note);
}

type Refusal = Pick<ProblemJson, 'detail' | 'suggestion'> & { readonly status: 400 | 408 | 431 };

const MALFORMED: Refusal = { status: 400, detail: 'The request is not valid HTTP.' };
const NO_HOST: Refusal = {
  status: 400,
  detail: 'The request has no Host header, which HTTP/1.1 requires.',
  suggestion: 'Send the name and port of the service as the Host header.',
};

/** The responses to requests that cannot be parsed, by Node.js error code. */
const REFUSALS: Readonly<Record<string, Refusal>> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: 'The request arrived too slowly.' },
  HPE_HEADER_OVERFLOW: { status: 431, detail: 'The headers are larger than 16 KiB.' },
};

/**
 * Answers a connection whose request could not be parsed: sends a problem (400, 408 or 431) and closes the connection.
 * @param response the response that is being sent on this connection, if any
 */
function answerClientError(
  { code = '' }: NodeJS.ErrnoException,
  socket: Socket,
  response: ServerResponse | undefined,
): void {
  // An answer in progress cannot be followed by another one, and a disconnected client cannot be answered.
  if (code === 'ECONNRESET' || !socket.writable || response?.headersSent === true) {
    socket.destroy();
    return;
  }
  const { status, title, headers, body } = answerOf(REFUSALS[code] ?? MALFORMED);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const head = [`HTTP/1.1 ${String(status)} ${title}`, ...lines];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

/** Answers 400 to an HTTP/1.1 request without a Host header, and closes the connection. */
function refuseWithoutHost(response: ServerResponse): void {
  const { status, headers, body } = answerOf(NO_HOST);
  response.writeHead(status, headers).end(body);
}

interface RefusalAnswer {
  readonly status: number;
  readonly title: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

function answerOf({ status, detail, suggestion }: Refusal): RefusalAnswer {
  const title = STATUS_CODES[status] ?? '';
  const [code] = PROBLEM_KINDS[status];
  const body = JSON.stringify({ type: `urn:evenhand:problem:${code}`, title, status, code, detail, suggestion });
  const headers = {
    connection: 'close',
    'content-type': 'application/problem+json',
    'content-length': String(Buffer.byteLength(body)),
    'x-content-type-options': 'nosniff',
  };
  return { status, title, headers, body };
}

/** The maximum number of pipelined requests. A connection with more is closed. */
const MAX_AHEAD = 32;

type Turn = readonly [request: IncomingMessage & { readonly socket: Socket }, response: ServerResponse];

/**
 * Starts the requests of a connection sequentially. Each request starts when the previous response has been sent.
 * Node.js starts all requests that have arrived, so a client that reads nothing could keep many answers in memory.
 * While a request waits for an earlier response, nothing more is read from the connection.
 */
function oneAtATime(listener: RequestListener): RequestListener {
  /** The waiting requests by connection. */
  const waiting = new Map<Socket, Turn[]>();

  const begin = ([request, response]: Turn): void => {
    const { socket } = request;
    response.once('close', () => {
      // Runs after all other listeners of this event.
      process.nextTick(beginNext, socket);
    });
    listener(request, response);
  };

  const beginNext = (socket: Socket): void => {
    // A connection that is no longer writable accepts no more responses.
    const next = socket.writable ? waiting.get(socket)?.shift() : undefined;
    if (next === undefined) {
      waiting.delete(socket);
      return;
    }
    if (waiting.get(socket)?.length === 0) socket.resume();
    begin(next);
  };

  /**
   * Keeps a connection paused. Node.js resumes the connection when a message is complete or when the body of a message
   * is read.
   */
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

/** The address on which a server listens. */
export interface Position {
  readonly host: string;
  /** The port; 0 for any free port. */
  readonly port: number;
}

/** Starts to listen and returns the port; rejects with the error of Node.js. */
export function listenOn(server: Server, { host, port }: Position): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

/** An HTTP server with limits against slow clients and floods, and with a graceful shutdown. */
export interface HttpServer {
  /** Returns the port; rejects with the error of Node.js. */
  readonly listen: (position: Position) => Promise<number>;
  /** Takes over a connection that another process has accepted. */
  readonly take: (socket: Socket) => void;
  /**
   * Stops accepting connections and asks clients to close their connections. Resolves when no connection waits for a
   * response, and no connection may send another request. Event streams are ignored.
   */
  readonly drain: () => Promise<void>;
  /** Closes the remaining connections. */
  readonly end: () => void;
}

/** Options of {@link createHttpServer}. */
export interface HttpServerOptions {
  /**
   * The time in milliseconds after which a connection is closed if its client does not read the pending response. The
   * actual time may be up to twice as long.
   * @defaultValue 30000
   */
  readonly stallMillis?: number | undefined;
  /**
   * The time in milliseconds for which an idle connection stays open during a shutdown. Requests that are already on
   * their way are then still answered.
   * @defaultValue 250
   */
  readonly idleMillis?: number | undefined;
}

/** The time in milliseconds after which a client is disconnected if it reads nothing of its response. */
const STALL_MILLIS = 30_000;

/**
 * The time in milliseconds that a client needs after a response to send its next request, or to notice that the
 * connection closes.
 */
const IDLE_MILLIS = 250;

/** The time in milliseconds after which a client is disconnected if it has not sent all headers. */
const HEADERS_MILLIS = 15_000;

/**
 * The time limit of a request. The limit is sufficient for the largest upload at about 600 KB/s. A body that pauses is
 * cancelled much earlier.
 */
const REQUEST_MILLIS = 3_600_000;

/**
 * The keep-alive time. It is longer than the minute for which load balancers keep an idle connection. The service
 * therefore never closes a connection on which a load balancer sends a request.
 */
const KEEP_ALIVE_MILLIS = 65_000;

/** The time in milliseconds between two searches for connections that are too slow. */
const CHECK_MILLIS = 5_000;

/** The maximum number of connections of one process. Further connections are closed. */
const MAX_CONNECTIONS = 10_000;

/** Creates a server that does not listen yet. */
export function createHttpServer(
  listener: RequestListener,
  { stallMillis = STALL_MILLIS, idleMillis = IDLE_MILLIS }: HttpServerOptions = {},
): HttpServer {
  const open = new Map<Socket, ServerResponse>();
  let isDraining = false;
  let isPortClosed = false;
  let taken = 0;
  let onChange: () => void = () => undefined;
  let connections = 0;
  const server = createServer({
    headersTimeout: HEADERS_MILLIS,
    requestTimeout: REQUEST_MILLIS,
    keepAliveTimeout: KEEP_ALIVE_MILLIS,
    connectionsCheckingInterval: CHECK_MILLIS,
    // Node.js would respond with an empty body if the Host header is missing.
    requireHostHeader: false,
  });
  server.maxConnections = MAX_CONNECTIONS;
  // Node.js counts each write that the system accepts as activity, regardless of its size.
  server.timeout = stallMillis;
  server.on('connection', (socket: Socket) => {
    connections += 1;
    socket.once('close', () => {
      connections -= 1;
      onChange();
    });
  });
  server.on('timeout', (socket: Socket) => {
    // If there is no data to send, an answer is being computed or an event is awaited. If there is no answer in
    // progress, the connection is idle.
    if (socket.writableLength > 0 || !open.has(socket)) socket.destroy();
  });
  const answer: RequestListener = (request, response) => {
    open.set(request.socket, response);
    response.once('close', () => {
      // Another request may have started on the same connection.
      if (open.get(request.socket) === response) open.delete(request.socket);
      onChange();
    });
    if (isPortClosed) askToClose(response);
    if (request.headers.host === undefined && request.httpVersion === '1.1') refuseWithoutHost(response);
    else listener(request, response);
  };
  server.on('request', oneAtATime(answer));
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    answerClientError(error, socket, open.get(socket));
  });
  return {
    listen: async (position) => {
      if (isDraining) throw new Error('The server is shutting down.');
      return listenOn(server, position);
    },
    take: (socket) => {
      // The server starts to check connections when it listens. Here it never listens, so the event is emitted
      // manually.
      if (taken === 0 && !server.listening) server.emit('listening');
      taken += 1;
      socket.once('close', () => (taken -= 1));
      if (taken > MAX_CONNECTIONS) socket.destroy();
      else server.emit('connection', socket.setNoDelay(true));
    },
    drain: async () => {
      isDraining = true;
      await acceptWaiting(server);
      // Only now, since a client whose connection ends opens another one, which the closing port would reset.
      isPortClosed = true;
      for (const response of open.values()) askToClose(response);
      // The server's own `close` would end idle connections immediately, even if a request is already in transit. The
      // client would see a reset connection and could not know whether the request was processed.
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

/** Asks the client to close the connection after this answer. */
function askToClose(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close');
}

/** Returns whether a response is an event stream. Such a response may never end. */
function isEventStream(response: ServerResponse): boolean {
  return String(response.getHeader('content-type')).startsWith('text/event-stream');
}
