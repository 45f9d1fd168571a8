import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';

/** How long a connection is read on after an answer that came before the end of the body. */
const LINGER_MILLIS = 5000;
/** How much of the body is thrown away meanwhile, at most. */
const LINGER_BYTES = 256 * 2 ** 20;
const LOOK_MILLIS = 50;

/**
 * Prepares a request for an answer that comes before its body was read. The answer must say `connection: close`.
 *
 * To close a connection on which unread bytes lie resets it, and a client that is still sending then loses the answer.
 * So what comes is thrown away, and after the answer only our side is closed, until the client closes its own, or has
 * sent everything, or a few seconds or 256 MiB have gone by (as nginx does with lingering_close).
 */
export function leaveUnread(request: IncomingMessage): void {
  request.resume();
  const { socket } = request;
  if (request.complete || !(socket instanceof Socket)) return;
  // What node:http calls when the answer is out and the connection is not kept.
  socket.destroySoon = () => {
    linger(request, socket);
  };
}

function linger(request: IncomingMessage, socket: Socket): void {
  if (request.complete) {
    Socket.prototype.destroySoon.call(socket);
    return;
  }
  const mostBytes = socket.bytesRead + LINGER_BYTES;
  let looksLeft = LINGER_MILLIS / LOOK_MILLIS;
  const timer = setInterval(() => {
    looksLeft -= 1;
    if (looksLeft <= 0 || socket.bytesRead > mostBytes || request.complete) socket.destroy();
  }, LOOK_MILLIS);
  socket.once('close', () => {
    clearInterval(timer);
  });
  socket.end();
}
