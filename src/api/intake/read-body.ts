import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';

import { ServiceProblem } from '../problem/service-problem.ts';
import { clientGone, tooLarge } from './intake-problems.ts';
import { leaveUnread } from './leave-unread.ts';
import { readUnpacked } from './read-unpacked.ts';
import { atMost } from './chunks.ts';
import { type BodyLimits, watchBody } from './watch-body.ts';

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
