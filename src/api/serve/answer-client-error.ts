import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';

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
  const refusal = REFUSALS[code] ?? MALFORMED;
  const body = bodyOf(refusal);
  const head = [
    `HTTP/1.1 ${String(refusal.status)} ${titleOf(refusal)}`,
    ...Object.entries(headersOf(body)).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

/** Answers 400 with a problem to a request of HTTP/1.1 that has no Host header, and closes the connection. */
export function refuseWithoutHost(response: ServerResponse): void {
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
