import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { DataValidationError } from '../../exceptions/index.ts';
import { createRemovable } from '../../io/atomic-write.ts';
import { fileProblemOf } from '../../io/file-problem.ts';

/** A temporary file of a training, which grows at its end. */
export interface ScratchFile {
  readonly path: string;
  /** Writes bytes at the end, and returns their position. */
  append(bytes: Uint8Array): number;
  /** Ends the writing. */
  close(): void;
  /** Removes the file. */
  remove(): void;
}

/**
 * Creates a temporary file. Only this user can read it. It is also removed at Ctrl-C and SIGTERM.
 * @param folder the folder of the file; the system's folder for temporary files by default
 * @throws {DataValidationError} if the file cannot be written
 */
export function createScratchFile(folder = tmpdir()): ScratchFile {
  const { own, forget, name, file } = opened(folder);
  let size = 0;
  let isOpen = true;
  const close = (): void => {
    if (isOpen) closeSync(file);
    isOpen = false;
  };
  return {
    path: name,
    append(bytes) {
      const position = size;
      try {
        for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done, undefined, position + done);
      } catch (cause) {
        throw cannotStore(folder, cause);
      }
      size += bytes.length;
      return position;
    },
    close,
    remove() {
      close();
      rmSync(own, { recursive: true, force: true });
      forget();
    },
  };
}

interface OpenedFile {
  /** The folder of the file. */
  readonly own: string;
  readonly forget: () => void;
  readonly name: string;
  readonly file: number;
}

function opened(folder: string): OpenedFile {
  try {
    // Only this user can read the folder.
    const { path: own, forget } = createRemovable(() => mkdtempSync(path.join(folder, 'evenhand-rows-')));
    const name = path.join(own, 'rows');
    return { own, forget, name, file: openSync(name, 'wx', 0o600) };
  } catch (cause) {
    throw cannotStore(folder, cause);
  }
}

/** Opens a temporary file, runs work on it, and closes it. `read` fills an array from a position. */
export function withOpened<T>(name: string, work: (read: (bytes: Uint8Array, position: number) => void) => T): T {
  const file = openSync(name, 'r');
  try {
    return work((bytes, position) => {
      readFully(file, bytes, position);
    });
  } finally {
    closeSync(file);
  }
}

function readFully(file: number, bytes: Uint8Array, position: number): void {
  let done = 0;
  while (done < bytes.length) {
    const read = readSync(file, bytes, done, bytes.length - done, position + done);
    if (read === 0) {
      throw new DataValidationError('The temporary file with the rows ends early. It was changed while it was read.', {
        code: 'invalid-state',
        suggestion: 'Train again, with a folder for temporary files that no other program cleans (TMPDIR).',
      });
    }
    done += read;
  }
}

function cannotStore(folder: string, cause: unknown): DataValidationError {
  const { code, reason = code === '' ? String(cause) : `the system says ${code}` } = fileProblemOf(cause);
  return new DataValidationError(`Rows cannot be written to a temporary file in '${folder}': ${reason}.`, {
    code: 'unwritable-file',
    context: { path: folder, code },
    suggestion: 'Set TMPDIR to a folder with enough space, or train on fewer columns (features).',
    cause,
  });
}
