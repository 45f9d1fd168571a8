import { pipeline } from 'node:stream/promises';
import { createGunzip, type Gunzip } from 'node:zlib';

import { brokenGzip, compressionBomb } from './intake-problems.ts';

/** Tables of text pack by factors of 3 to 30; more than this looks made to fill the disk. */
const MAX_RATIO = 200;
/** Small ones may, such as a column with one value. */
const FREE_BYTES = 16 * 2 ** 20;
const CHUNK_BYTES = 64 * 2 ** 10;

/**
 * Unpacks gzip data while `consume` reads it, a chunk ahead at most.
 * @throws {ServiceProblem} 400 for data that is broken or cut, 413 for a compression bomb, or what `consume` throws
 */
export async function readUnpacked<T>(
  packed: AsyncIterable<Buffer>,
  consume: (chunks: AsyncIterable<Buffer>) => Promise<T>,
): Promise<T> {
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  // An error of the source or of the data reaches `consume` through the stream, and it is its error that counts.
  pipeline(packed, gunzip).catch(() => undefined);
  try {
    return await consume(withoutBombs(gunzip));
  } catch (error) {
    throw isOfZlib(error) ? brokenGzip(error) : error;
  } finally {
    gunzip.destroy();
  }
}

async function* withoutBombs(gunzip: Gunzip): AsyncGenerator<Buffer, void, undefined> {
  let unpacked = 0;
  for await (const chunk of gunzip as AsyncIterable<Buffer>) {
    unpacked += chunk.length;
    if (unpacked > FREE_BYTES && unpacked > MAX_RATIO * gunzip.bytesWritten) throw compressionBomb(MAX_RATIO);
    yield chunk;
  }
}

function isOfZlib(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^Z_/.test(String(error.code));
}

/**
 * The same chunks, until there are more bytes than allowed.
 * @yields each chunk
 * @throws what `problem` gives
 */
export async function* atMost(
  chunks: AsyncIterable<Buffer>,
  mostBytes: number,
  problem: () => Error,
): AsyncGenerator<Buffer, void, undefined> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw problem();
    yield chunk;
  }
}

/** The beginning of a stream of chunks. */
export interface Beginning {
  /** Everything up to `count` bytes or a little more. */
  readonly head: Buffer;
  /** Whether there is nothing after it. */
  readonly isWhole: boolean;
  /** The stream with its beginning. Who gave the stream ends it, where this is not read. */
  readonly all: AsyncIterable<Buffer>;
}

/** Reads chunks until there are more than `count` bytes, or no more chunks. */
export async function beginningOf(chunks: AsyncIterable<Buffer>, count: number): Promise<Beginning> {
  const rest = chunks[Symbol.asyncIterator]();
  const read: Buffer[] = [];
  let bytes = 0;
  let isWhole = false;
  while (bytes <= count && !isWhole) {
    const next = await rest.next();
    if (next.done === true) isWhole = true;
    else {
      read.push(next.value);
      bytes += next.value.length;
    }
  }
  return { head: Buffer.concat(read), isWhole, all: joined(read, rest) };
}

async function* joined(read: readonly Buffer[], rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  try {
    yield* read;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}
