import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests that a connection may send ahead of its answers; one that sends more is ended. */
const MOST_AHEAD = 32;

type Turn = readonly [request: IncomingMessage & { readonly socket: Socket }, response: ServerResponse];

/**
 * Begins the requests of a connection one after another, the next when the answer before it has gone out. Node begins all
 * that has come, so that a client that reads nothing could have many answers in memory. While one waits for its turn,
 * nothing more is read from its connection.
 */
export function oneAtATime(listener: RequestListener): RequestListener {
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
    if (others.length > MOST_AHEAD) socket.destroy();
    else if (known.has(socket)) socket.pause();
    else {
      known.add(socket);
      keepPaused(socket);
    }
  };
}
