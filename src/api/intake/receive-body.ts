import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import path from 'node:path';
import { PassThrough } from 'node:stream';

import { ServiceProblem } from '../problem/service-problem.ts';
import { clientGone, tooLarge, tooSlow } from './intake-problems.ts';
import { atMost, beginningOf, readUnpacked } from './read-unpacked.ts';
import { type Chunks, fillSpoolFolder, type SpoolFolder, writeSpoolFile } from './spool-folder.ts';

/** The maximum time for which the rest of a body is read and discarded after an early response. */
const LINGER_MILLIS = 5000;
/** The maximum number of bytes of the body that are discarded after an early response. */
const LINGER_BYTES = 256 * 2 ** 20;
const CHECK_MILLIS = 50;

/**
 * Prepares a request for a response that is sent before the body has been read. The response must contain
 * `connection: close`.
 *
 * If a connection is closed while it has unread bytes, it is reset. A client that is still sending then loses the
 * response. The service therefore discards incoming bytes, and after the response it closes only its own side of the
 * connection. The connection ends when the client closes its side or has sent everything. The connection also ends
 * after 5 seconds or 256 MiB (like lingering_close in nginx).
 */
export function leaveUnread(request: IncomingMessage): void {
  request.resume();
  const { socket } = request;
  if (request.complete || !(socket instanceof Socket)) return;
  // node:http calls this when the answer is sent and the connection is not kept.
  socket.destroySoon = () => {
    linger(request, socket);
  };
}

function linger(request: IncomingMessage, socket: Socket): void {
  if (request.complete) {
    Socket.prototype.destroySoon.call(socket);
    return;
  }
  const maxBytes = socket.bytesRead + LINGER_BYTES;
  let checksLeft = LINGER_MILLIS / CHECK_MILLIS;
  const timer = setInterval(() => {
    checksLeft -= 1;
    if (checksLeft <= 0 || socket.bytesRead > maxBytes || request.complete) socket.destroy();
  }, CHECK_MILLIS);
  socket.once('close', () => {
    clearInterval(timer);
  });
  socket.end();
}

/** The limits of a body's size and speed. */
interface BodyLimits {
  /** The maximum number of bytes of a body, before and after decompression. */
  readonly maxBytes: number;
  /** The maximum time in milliseconds without new data. */
  readonly idleMillis: number;
}

/**
 * The minimum number of bytes that a client must send within each period of `idleMillis`. A slower client would occupy
 * a connection for too long.
 */
const MIN_BYTES = 1024;

/**
 * Watches a body while it is received.
 * @param fail called once if the body is too large or too slow, or the client disconnects
 * @returns a function that ends the watch
 */
function watchBody(
  request: IncomingMessage,
  { maxBytes, idleMillis }: BodyLimits,
  fail: (problem: ServiceProblem) => void,
): () => void {
  let received = 0;
  let atLastCheck = 0;
  let isOver = false;
  const timer = setTimeout(() => {
    // The request is paused while the disk is slow. This delay is not caused by the client.
    if (request.isPaused()) timer.refresh();
    else giveUp(tooSlow(idleMillis, MIN_BYTES));
  }, idleMillis);
  const onData = (chunk: Buffer): void => {
    received += chunk.length;
    if (received > maxBytes) giveUp(tooLarge(maxBytes));
    else if (received >= atLastCheck + MIN_BYTES) {
      atLastCheck = received;
      timer.refresh();
    }
  };
  const onGone = (cause?: unknown): void => {
    giveUp(clientGone(cause));
  };
  const stop = (): void => {
    isOver = true;
    clearTimeout(timer);
    // The error listener is not removed. Without it, a connection that fails later would cause an uncaught error.
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

/**
 * A function that reads chunks as they arrive. The client can send the next chunk only when the function requests it.
 */
export type Consume<T> = (chunks: AsyncIterable<Buffer>) => Promise<T>;

/**
 * Passes the body of a request to `consume`, at the speed at which `consume` reads it. Gzip data is decompressed. If
 * `consume` fails or the chunks end with an error, `consume` must remove what it wrote.
 * @throws {ServiceProblem} 400, 408, 413, 415
 */
export async function readBody<T>(request: IncomingMessage, limits: BodyLimits, consume: Consume<T>): Promise<T> {
  const { maxBytes } = limits;
  const isPacked = assertReadable(request, maxBytes);
  const entry = new PassThrough();
  const stop = watchBody(request, limits, (problem) => entry.destroy(problem));
  request.pipe(entry);
  try {
    if (!isPacked) return await consume(entry);
    return await readUnpacked(entry, (chunks) => consume(atMost(chunks, maxBytes, () => tooLarge(maxBytes))));
  } finally {
    stop();
    request.unpipe(entry);
    entry.destroy();
  }
}

/** Reads an uncompressed body whose Content-Length is small. This function is faster than {@link readBody}. */
async function readSmallBody(request: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  assertReadable(request, limits.maxBytes);
  const chunks: Buffer[] = [];
  return new Promise<Buffer>((resolve, reject) => {
    watchBody(request, limits, reject);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.once('end', () => {
      resolve(Buffer.concat(chunks));
    });
  });
}

/** Returns the length in the Content-Length header; undefined if there is no such header. */
function declaredBytes({ headers }: IncomingMessage): number | undefined {
  const length = headers['content-length'];
  return length === undefined ? undefined : Number(length);
}

/** Returns the content coding of a body; '' if the body is not encoded. */
function codingOf({ headers }: IncomingMessage): string {
  const coding = (headers['content-encoding'] ?? '').trim().toLowerCase();
  return coding === 'identity' ? '' : coding;
}

/**
 * Returns whether the body is compressed. Throws if the body cannot be read, is too large, or has an unsupported
 * compression.
 */
function assertReadable(request: IncomingMessage, maxBytes: number): boolean {
  if (request.readableEnded) throw new Error('The body was already read. Mount the service before any body parser.');
  if (request.destroyed) throw clientGone();
  if ((declaredBytes(request) ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const coding = codingOf(request);
  if (coding === '') return false;
  if (coding === 'gzip' || coding === 'x-gzip') return true;
  throw new ServiceProblem(415, {
    detail: `The Content-Encoding must be gzip or identity. Got '${coding.slice(0, 80)}' instead.`,
    suggestion: 'Compress the body with gzip, or send it uncompressed.',
    headers: { 'Accept-Encoding': 'gzip' },
  });
}

/** Options of {@link receiveBody}. */
export interface ReceiveBodyOptions extends BodyLimits {
  /** A body of up to this number of bytes is returned in memory. A larger body is returned as a file. */
  readonly inlineBytes: number;
  /** The parent folder in which a new folder for the file is created. */
  readonly spoolRoot: string;
  /**
   * Whether the SHA-256 digest of the decompressed bytes is also returned.
   * @defaultValue false
   */
  readonly withDigest?: boolean | undefined;
}

/** A body in memory or in a file. If requested, it comes with the hexadecimal SHA-256 of its decompressed bytes. */
export type ReceivedBody = (
  | { readonly kind: 'memory'; readonly bytes: Buffer }
  | { readonly kind: 'file'; readonly path: string; readonly folder: SpoolFolder }
) & { readonly digest?: string };

/**
 * Receives the body of a request. A small body is returned in memory; a larger one is written to a file `body` in a new
 * folder. After a failure nothing is left on disk.
 * @throws {ServiceProblem} 400 if the client disconnects or the gzip data is broken, 408 if the client is too slow, 413
 *   if the body is too large or a compression bomb, 415 for a coding other than gzip, 503 if the disk is full
 */
export async function receiveBody(request: IncomingMessage, options: ReceiveBodyOptions): Promise<ReceivedBody> {
  const { inlineBytes, spoolRoot, withDigest = false } = options;
  if (codingOf(request) === '' && (declaredBytes(request) ?? Infinity) <= inlineBytes) {
    return inMemory(await readSmallBody(request, options), withDigest);
  }
  return readBody(request, options, async (chunks) => {
    const { head, isComplete, all } = await beginningOf(chunks, inlineBytes);
    return isComplete ? inMemory(head, withDigest) : writeBody(all, spoolRoot, withDigest);
  });
}

function inMemory(bytes: Buffer, withDigest: boolean): ReceivedBody {
  const digest = withDigest ? { digest: createHash('sha256').update(bytes).digest('hex') } : {};
  return Object.freeze({ kind: 'memory', bytes, ...digest });
}

/**
 * Writes a body to a file in a new folder.
 * @throws {ServiceProblem} 503 if the disk is full; also any error that the chunks throw
 */
export function writeBody(
  chunks: Chunks,
  spoolRoot: string,
  withDigest = false,
): Promise<Extract<ReceivedBody, { readonly kind: 'file' }>> {
  return fillSpoolFolder(spoolRoot, async (folder) => {
    const file = path.join(folder.path, 'body');
    const hash = withDigest ? createHash('sha256') : undefined;
    await writeSpoolFile(file, chunks, hash);
    const digest = hash === undefined ? {} : { digest: hash.digest('hex') };
    return Object.freeze({ kind: 'file', path: file, folder, ...digest });
  });
}
