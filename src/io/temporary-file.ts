import { createWriteStream, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { DataValidationError } from '../exceptions/index.ts';
import { formatCount } from '../internal/format.ts';
import { createRemovable } from './atomic-write.ts';
import { fileProblemOf } from './file-problem.ts';

/** A temporary file that only this user can read. */
export interface TemporaryFile {
  readonly path: string;
  readonly remove: () => Promise<void>;
}

/**
 * Writes a stream to a private temporary file. The file is also removed if SIGTERM ends the process, or if Ctrl-C ends
 * the command-line program.
 * @param stream the bytes
 * @param limits the name of the stream in error messages, and the maximum number of bytes to write
 * @throws {DataValidationError} if the stream is longer than the limit, or the file cannot be written; no file remains
 */
export async function writeTemporaryFile(
  stream: Readable,
  limits: { readonly name: string; readonly maxBytes: number },
): Promise<TemporaryFile> {
  const { name, maxBytes } = limits;
  const { path: folder, forget } = createRemovable(() => mkdtempSync(join(tmpdir(), 'evenhand-')));
  const remove = async (): Promise<void> => {
    await rm(folder, { recursive: true, force: true });
    forget();
  };
  const path = join(folder, name);
  try {
    await pipeline(stream, boundedTo(name, maxBytes), createWriteStream(path, { flags: 'wx', mode: 0o600 }));
    return { path, remove };
  } catch (cause) {
    await remove();
    if (cause instanceof DataValidationError) throw cause;
    const { code, reason = code === '' ? String(cause) : `the system says ${code}` } = fileProblemOf(cause);
    throw new DataValidationError(`Cannot write ${name} to a temporary file in '${tmpdir()}': ${reason}.`, {
      code: 'unwritable-file',
      context: { path: tmpdir() },
      suggestion: 'Set TMPDIR to a folder with enough space, or give the path of a file.',
      cause,
    });
  }
}

/** Returns a stream that forwards all bytes, and fails if there are more than `maxBytes` bytes. */
function boundedTo(name: string, maxBytes: number): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes <= maxBytes) {
        done(null, chunk);
        return;
      }
      done(
        new DataValidationError(`${name} has more than ${formatCount(maxBytes)} bytes.`, {
          code: 'data-too-large',
          context: { maxBytes },
          suggestion: 'Write the rows to a file and give its path.',
        }),
      );
    },
  });
}
