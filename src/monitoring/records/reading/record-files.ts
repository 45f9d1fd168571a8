import { type FileHandle, open, readdir } from 'node:fs/promises';
import path from 'node:path';

import { DataValidationError } from '../../../exceptions/index.ts';

/** A record file that is open for reading. */
export interface RecordFile {
  readonly path: string;
  readonly handle: FileHandle;
}

/**
 * Opens a record file and its earlier rotated files, and returns them oldest first. Files are opened newest first, and
 * each file once, so that no record is read twice if a store rotates the files in the meantime.
 * @throws {DataValidationError} if the file does not exist, or one of the files cannot be opened
 */
export async function openRecordFiles(filePath: string): Promise<RecordFile[]> {
  const files: RecordFile[] = [];
  const seen = new Set<number>();
  try {
    for (const name of [filePath, ...(await heldOutNames(filePath))]) {
      const handle = await openIfThere(name);
      if (handle === undefined) continue;
      files.unshift({ path: name, handle });
      const facts = await handle.stat();
      if (facts.isDirectory()) throw Object.assign(new Error('it is a folder'), { code: 'EISDIR' });
      if (seen.has(facts.ino)) await files.shift()?.handle.close();
      seen.add(facts.ino);
    }
    if (files.length === 0) throw Object.assign(new Error('there is no such file'), { code: 'ENOENT' });
    return files;
  } catch (cause) {
    await Promise.all(files.map(({ handle }) => handle.close()));
    throw cannotOpen(filePath, cause);
  }
}

/** Returns the names of rotated files, newest first. */
async function heldOutNames(filePath: string): Promise<string[]> {
  const names = await readdir(path.dirname(filePath)).catch((): string[] => []);
  const start = `${path.basename(filePath)}.`;
  return names
    .filter((name) => name.startsWith(start) && /^[1-9]\d*$/.test(name.slice(start.length)))
    .map((name) => Number(name.slice(start.length)))
    .sort((a, b) => a - b)
    .map((age) => `${filePath}.${String(age)}`);
}

async function openIfThere(name: string): Promise<FileHandle | undefined> {
  try {
    return await open(name, 'r');
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined;
    throw cause;
  }
}

function cannotOpen(filePath: string, cause: unknown): DataValidationError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new DataValidationError(`Cannot read '${filePath}': ${reason}.`, {
    code: 'unreadable-file',
    context: { path: filePath },
    suggestion: 'Pass the path of a file that a record store wrote.',
    cause,
  });
}
