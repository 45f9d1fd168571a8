import { pipeline } from 'node:stream/promises';
import { createGunzip, type Gunzip } from 'node:zlib';

import { brokenGzip, compressionBomb } from './intake-problems.ts';

/**
 * The maximum compression ratio. Tables in text formats have ratios of 3 to 30. Data with a ratio above the maximum
 * probably tries to fill the disk.
 */
const MAX_RATIO = 200;
/**
 * The number of bytes below which the ratio is not checked. Small tables may have a higher ratio, for example if all
 * values of a column are equal.
 */
const FREE_BYTES = 16 * 2 ** 20;
const CHUNK_BYTES = 64 * 2 ** 10;

/**
 * Decompresses gzip data while `consume` reads the result. The decompression is at most one chunk ahead.
 * @throws {ServiceProblem} 400 if the data is broken or truncated, 413 for a compression bomb; also any error that
 *   `consume` throws
 */
export async function readUnpacked<T>(
  packed: AsyncIterable<Buffer>,
  consume: (chunks: AsyncIterable<Buffer>) => Promise<T>,
): Promise<T> {
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  // Errors of the source or of the data reach `consume` through the stream. `consume` then throws the error to report.
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
 * Yields the chunks unchanged, and throws if their total size exceeds the allowed number of bytes.
 * @yields each chunk
 * @throws the result of `problem`
 */
export async function* atMost(
  chunks: AsyncIterable<Buffer>,
  maxBytes: number,
  problem: () => Error,
): AsyncGenerator<Buffer, void, undefined> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw problem();
    yield chunk;
  }
}

/** The first bytes of a stream of chunks. */
export interface Beginning {
  /** The first `count` bytes, or slightly more. */
  readonly head: Buffer;
  /** Whether the stream ends after these bytes. */
  readonly isComplete: boolean;
  /**
   * The complete stream, including the first bytes. If nobody reads this stream, the owner of the source must end the
   * source.
   */
  readonly all: AsyncIterable<Buffer>;
}

/** Reads chunks until there are more than `count` bytes, or no more chunks. */
export async function beginningOf(chunks: AsyncIterable<Buffer>, count: number): Promise<Beginning> {
  const rest = chunks[Symbol.asyncIterator]();
  const read: Buffer[] = [];
  let bytes = 0;
  let isComplete = false;
  while (bytes <= count && !isComplete) {
    const next = await rest.next();
    if (next.done === true) isComplete = true;
    else {
      read.push(next.value);
      bytes += next.value.length;
    }
  }
  return { head: Buffer.concat(read), isComplete, all: joined(read, rest) };
}

async function* joined(read: readonly Buffer[], rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  try {
    yield* read;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}
