import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import path from 'node:path';

import { codingOf, declaredBytes, readBody, readSmallBody, refusing } from './read-body.ts';
import { beginningOf } from './read-unpacked.ts';
import { fillSpoolFolder, type ReceivedBody, writeSpoolFile } from './spool-folder.ts';

/** Options of {@link receiveBody}. */
export interface ReceiveBodyOptions {
  /** The maximum number of bytes of a body, before and after decompression. */
  readonly maxBytes: number;
  /** A body of up to this number of bytes is returned in memory. A larger body is returned as a file. */
  readonly inlineBytes: number;
  /** The time in milliseconds for which the body may pause. */
  readonly idleMillis: number;
  /** The folder in which the folder of the file is created. */
  readonly spoolRoot: string;
  /**
   * Whether to return the SHA-256 of the decompressed bytes too.
   * @defaultValue false
   */
  readonly withDigest?: boolean | undefined;
}

/** A body, with the SHA-256 of its decompressed bytes (hexadecimal) if it was requested. */
export type DigestedBody = ReceivedBody & { readonly digest?: string };

/**
 * Receives the body of a request. A small body is returned in memory; a larger one is written to a file `body` in a new
 * folder. After a failure nothing is left on disk.
 * @throws {ServiceProblem} 400 if the client disconnects or the gzip data is broken, 408 if the client is too slow, 413
 *   if the body is too large or a compression bomb, 415 for a coding other than gzip, 503 if the disk is full
 */
export async function receiveBody(request: IncomingMessage, options: ReceiveBodyOptions): Promise<DigestedBody> {
  const { inlineBytes, spoolRoot, withDigest = false } = options;
  return refusing(request, async () => {
    if (codingOf(request) === '' && (declaredBytes(request) ?? Infinity) <= inlineBytes) {
      return inMemory(await readSmallBody(request, options), withDigest);
    }
    return readBody(request, options, async (chunks) => {
      const { head, isInteger: isWhole, all } = await beginningOf(chunks, inlineBytes);
      return isWhole ? inMemory(head, withDigest) : onDisk(all, spoolRoot, withDigest);
    });
  });
}

function inMemory(bytes: Buffer, withDigest: boolean): DigestedBody {
  const digest = withDigest ? { digest: createHash('sha256').update(bytes).digest('hex') } : {};
  return Object.freeze({ kind: 'memory', bytes, ...digest });
}

function onDisk(chunks: AsyncIterable<Buffer>, spoolRoot: string, withDigest: boolean): Promise<DigestedBody> {
  return fillSpoolFolder(spoolRoot, async (folder) => {
    const file = path.join(folder.path, 'body');
    const hash = withDigest ? createHash('sha256') : undefined;
    await writeSpoolFile(file, chunks, hash);
    const digest = hash === undefined ? {} : { digest: hash.digest('hex') };
    return Object.freeze({ kind: 'file', path: file, folder, ...digest });
  });
}
