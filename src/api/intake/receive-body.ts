import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import path from 'node:path';

import { codingOf, declaredBytes, readBody, readSmallBody, refusing } from './read-body.ts';
import { beginningOf } from './read-unpacked.ts';
import { newSpoolFolder, type ReceivedBody, writeSpoolFile } from './spool-folder.ts';

/** Options of {@link receiveBody}. */
export interface ReceiveBodyOptions {
  /** The most bytes of a body, as it comes and unpacked. */
  readonly mostBytes: number;
  /** A body of up to so many bytes is given in memory, a larger one as a file. */
  readonly inlineBytes: number;
  /** How long it may pause, in milliseconds. */
  readonly idleMillis: number;
  /** Where the file's folder is made. */
  readonly spoolRoot: string;
  /**
   * Gives the SHA-256 of the unpacked bytes too.
   * @defaultValue false
   */
  readonly withDigest?: boolean | undefined;
}

/** A body, with the SHA-256 of its unpacked bytes (hexadecimal) where it was asked for. */
export type DigestedBody = ReceivedBody & { readonly digest?: string };

/**
 * Receives the body of a request: in memory where it is small, else written to a file `body` in a folder of its own.
 * After a failure nothing is left on disk.
 * @throws {ServiceProblem} 400 for a client that goes away or broken gzip, 408 where it is too slow, 413 where it is too
 *   large or a compression bomb, 415 for a coding other than gzip, 503 where the disk is full
 */
export async function receiveBody(request: IncomingMessage, options: ReceiveBodyOptions): Promise<DigestedBody> {
  const { inlineBytes, spoolRoot, withDigest = false } = options;
  return refusing(request, async () => {
    if (codingOf(request) === '' && (declaredBytes(request) ?? Infinity) <= inlineBytes) {
      return inMemory(await readSmallBody(request, options), withDigest);
    }
    return readBody(request, options, async (chunks) => {
      const { head, isWhole, all } = await beginningOf(chunks, inlineBytes);
      return isWhole ? inMemory(head, withDigest) : onDisk(all, spoolRoot, withDigest);
    });
  });
}

function inMemory(bytes: Buffer, withDigest: boolean): DigestedBody {
  const digest = withDigest ? { digest: createHash('sha256').update(bytes).digest('hex') } : {};
  return Object.freeze({ kind: 'memory', bytes, ...digest });
}

async function onDisk(chunks: AsyncIterable<Buffer>, spoolRoot: string, withDigest: boolean): Promise<DigestedBody> {
  const folder = await newSpoolFolder(spoolRoot);
  const file = path.join(folder.path, 'body');
  const hash = withDigest ? createHash('sha256') : undefined;
  try {
    await writeSpoolFile(file, chunks, hash);
  } catch (error) {
    await folder.remove();
    throw error;
  }
  const digest = hash === undefined ? {} : { digest: hash.digest('hex') };
  return Object.freeze({ kind: 'file', path: file, folder, ...digest });
}
