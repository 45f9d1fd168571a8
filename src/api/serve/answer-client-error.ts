import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';

interface Refusal {
  readonly status: 400 | 408 | 431;
  readonly kind: string;
  readonly detail: string;
}

const MALFORMED: Refusal = {
  status: 400,
  kind: 'malformed-request',
  detail: 'The request is not HTTP that the service understands.',
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
export function answerClientError(
  { code = '' }: NodeJS.ErrnoException,
  socket: Socket,
  response: ServerResponse | undefined,
): void {
  // An answer that has begun cannot be followed by another; to one who is gone nothing can be said.
  if (code === 'ECONNRESET' || !socket.writable || response?.headersSent === true) {
    socket.destroy();
    return;
  }
  const { status, kind, detail } = REFUSALS[code] ?? MALFORMED;
  const title = STATUS_CODES[status] ?? '';
  const body = JSON.stringify({ type: `urn:evenhand:problem:${kind}`, title, status, detail });
  const head = [
    `HTTP/1.1 ${String(status)} ${title}`,
    'connection: close',
    'content-type: application/problem+json',
    `content-length: ${String(Buffer.byteLength(body))}`,
    'x-content-type-options: nosniff',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}
