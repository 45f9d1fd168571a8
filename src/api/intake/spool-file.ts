import type { Hash } from 'node:crypto';
import { open } from 'node:fs/promises';

import { noRoomOr } from './intake-problems.ts';

/**
 * Writes chunks to a file as they come, each before the next is asked for.
 * @param hash takes in what is written
 * @returns the bytes that were written
 * @throws {ServiceProblem} 503 where the disk is full; what the chunks end with
 */
export async function writeSpoolFile(path: string, chunks: AsyncIterable<Buffer>, hash?: Hash): Promise<number> {
  let bytes = 0;
  try {
    const file = await open(path, 'w', 0o600);
    try {
      for await (const chunk of chunks) {
        // Goes on where the last one ended, and writes all of it.
        await file.writeFile(chunk);
        hash?.update(chunk);
        bytes += chunk.length;
      }
    } finally {
      await file.close();
    }
  } catch (cause) {
    throw noRoomOr(cause);
  }
  return bytes;
}
