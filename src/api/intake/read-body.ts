import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { PassThrough } from 'node:stream';

import { ServiceProblem } from '../problem/service-problem.ts';
import { clientGone, tooLarge, tooSlow } from './intake-problems.ts';
import { atMost, readUnpacked } from './read-unpacked.ts';

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

/** What a body may be at most, and how slow. */
interface BodyLimits {
  readonly mostBytes: number;
  readonly idleMillis: number;
}

/** A client that sends less in `idleMillis` keeps a connection without using it. */
const MIN_BYTES = 1024;

/**
 * Watches a body come in, from before it is read to its end.
 * @param fail called once, where it is too large, too slow, or ends because the client goes away
 * @returns ends the watch
 */
function watchBody(
  request: IncomingMessage,
  { mostBytes, idleMillis }: BodyLimits,
  fail: (problem: ServiceProblem) => void,
): () => void {
  let received = 0;
  let atLastLook = 0;
  let isOver = false;
  const timer = setTimeout(() => {
    // While the disk is what is slow, the request is paused and the client is not to blame.
    if (request.isPaused()) timer.refresh();
    else giveUp(tooSlow(idleMillis, MIN_BYTES));
  }, idleMillis);
  const onData = (chunk: Buffer): void => {
    received += chunk.length;
    if (received > mostBytes) giveUp(tooLarge(mostBytes));
    else if (received >= atLastLook + MIN_BYTES) {
      atLastLook = received;
      timer.refresh();
    }
  };
  const onGone = (cause?: unknown): void => {
    giveUp(clientGone(cause));
  };
  const stop = (): void => {
    isOver = true;
    clearTimeout(timer);
    // The listener of errors stays: without one a connection that breaks later would be an uncaught error.
    request.off('data', onData).off('end', stop).off('close', onGone);
  };
  const giveUp = (problem: ServiceProblem): void => {
    if (isOver) return;
    stop();
    fail(problem);
  };
  request.on('data', onData).once('end', stop).once('close', onGone).on('error', onGone);
  return stop;
}

/** Reads chunks as they come; while it does not ask for more, the client waits. */
export type Consume<T> = (chunks: AsyncIterable<Buffer>) => Promise<T>;

/**
 * Lets `consume` read the body of a request, unpacked where it came packed with gzip, never faster than it asks for it.
 * `consume` itself removes what it wrote where it fails or where the chunks end with an error.
 * @throws {ServiceProblem} 400, 408, 413, 415
 */
export async function readBody<T>(request: IncomingMessage, limits: BodyLimits, consume: Consume<T>): Promise<T> {
  const { mostBytes } = limits;
  const isPacked = assertReadable(request, mostBytes);
  const entry = new PassThrough();
  const stop = watchBody(request, limits, (problem) => entry.destroy(problem));
  request.pipe(entry);
  try {
    if (!isPacked) return await consume(entry);
    return await readUnpacked(entry, (chunks) => consume(atMost(chunks, mostBytes, () => tooLarge(mostBytes))));
  } finally {
    stop();
    request.unpipe(entry);
    entry.destroy();
  }
}

/** Reads a body that is small by its length and not packed, at less cost than {@link readBody}. */
export async function readSmallBody(request: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  assertReadable(request, limits.mostBytes);
  const chunks: Buffer[] = [];
  return new Promise<Buffer>((resolve, reject) => {
    watchBody(request, limits, reject);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.once('end', () => {
      resolve(Buffer.concat(chunks));
    });
  });
}

/** The bytes that a body has by its header, as it is sent; undefined where it does not say. */
export function declaredBytes({ headers }: IncomingMessage): number | undefined {
  const length = headers['content-length'];
  return length === undefined ? undefined : Number(length);
}

/** The coding of a body: '' where it is sent as it is. */
export function codingOf({ headers }: IncomingMessage): string {
  const coding = (headers['content-encoding'] ?? '').trim().toLowerCase();
  return coding === 'identity' ? '' : coding;
}

/**
 * Runs what reads a request. Where it fails before the body has ended, the connection is made ready for an early answer.
 * @throws {ServiceProblem} as it came, with the header `connection: close` where the body was left unread
 */
export async function refusing<T>(request: IncomingMessage, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    leaveUnread(request);
    if (request.complete || !(error instanceof ServiceProblem)) throw error;
    const { status, detail, suggestion, errors, runId } = error;
    const headers = { ...error.headers, connection: 'close' };
    throw new ServiceProblem(status, { detail, suggestion, errors, runId, headers }, error.cause);
  }
}

/** Whether the body is packed, once it is known that it can be read at all. */
function assertReadable(request: IncomingMessage, mostBytes: number): boolean {
  if (request.readableEnded) throw new Error('The body was read before: mount the service above parsers of bodies.');
  if (request.destroyed) throw clientGone();
  if ((declaredBytes(request) ?? 0) > mostBytes) throw tooLarge(mostBytes);
  const coding = codingOf(request);
  if (coding === '') return false;
  if (coding === 'gzip' || coding === 'x-gzip') return true;
  throw new ServiceProblem(415, {
    detail: `The Content-Encoding must be gzip or identity. Got '${coding.slice(0, 80)}' instead.`,
    suggestion: 'Send the body packed with gzip, or as it is.',
    headers: { 'Accept-Encoding': 'gzip' },
  });
}
