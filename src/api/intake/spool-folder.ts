import { createHash, type Hash } from 'node:crypto';
import { lstat, mkdir, mkdtemp, open, readdir, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { DataValidationError } from '../../exceptions/index.ts';
import { getLogger } from '../../internal/logger.ts';
import { noRoomOr } from './intake-problems.ts';

/** Longer than a request that a process handed on is on its way after the process has ended. */
const ON_ITS_WAY_MILLIS = 1_000;

/** Options of {@link removeUploadsOf}. */
interface RemoveUploadsOptions {
  /** Whether a folder belongs to work that goes on without the process. */
  readonly isInUse: (folder: string) => boolean;
  /**
   * How long work may take to arrive, in milliseconds.
   * @defaultValue 1000
   */
  readonly pauseMillis?: number | undefined;
}

/**
 * Removes what a process that was killed had received for requests and handed to nobody. What cannot be removed is logged,
 * and goes with the spool folder.
 * @param root the spool folder
 */
export async function removeUploadsOf(
  root: string,
  pid: number,
  { isInUse, pauseMillis = ON_ITS_WAY_MILLIS }: RemoveUploadsOptions,
): Promise<void> {
  try {
    const prefix = `request-${String(pid)}-`;
    // Listed first: after the pause another process may have the number.
    const names = (await readdir(root)).filter((name) => name.startsWith(prefix));
    if (names.length === 0) return;
    await pause(pauseMillis, undefined, { ref: false });
    for (const folder of names.map((name) => path.join(root, name))) {
      if (!isInUse(folder)) await rm(folder, { recursive: true, force: true, maxRetries: 2 });
    }
  } catch (error) {
    // The whole folder is gone where the service has ended meanwhile.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    getLogger().warn({ err: error }, 'uploads of a worker that has ended cannot be removed');
  }
}

/** Machines may share a folder for temporary files, and number their processes each for itself. */
const HOST = createHash('sha256').update(hostname()).digest('hex').slice(0, 8);
const LEFTOVER = new RegExp(`^evenhand-(\\d+)-${HOST}-[A-Za-z0-9]{6}$`);

/**
 * Makes the folder that uploads of this process wait in, readable by its user alone, and removes those of processes that
 * ended without doing so.
 * @param base the folder for temporary files
 * @throws {DataValidationError} where that folder cannot be used
 */
export async function createSpoolRoot(base: string = tmpdir()): Promise<SpoolFolder> {
  try {
    await removeLeftovers(base);
    // mkdtemp gives mode 0700.
    return folderAt(await mkdtemp(path.join(base, `evenhand-${String(process.pid)}-${HOST}-`)));
  } catch (cause) {
    throw new DataValidationError(`The folder for temporary files, '${base}', cannot be used.`, {
      context: { path: base, reason: codeOf(cause) },
      suggestion: 'Set TMPDIR to a folder that can be read and written.',
      cause,
    });
  }
}

/**
 * A new folder for one request, named for the process that receives it.
 * @throws {ServiceProblem} 503 where the disk is full
 */
export async function newSpoolFolder(root: string): Promise<SpoolFolder> {
  const prefix = path.join(root, `request-${String(process.pid)}-`);
  try {
    const made = await mkdtemp(prefix).catch(async (cause: unknown) => {
      if (codeOf(cause) !== 'ENOENT') throw cause;
      await makeAgain(root);
      return mkdtemp(prefix);
    });
    return folderAt(made);
  } catch (cause) {
    throw noRoomOr(cause);
  }
}

/** Cleaners of temporary files remove a folder that was not used for days. Another user may have taken its name since. */
async function makeAgain(root: string): Promise<void> {
  await mkdir(root, { mode: 0o700 }).catch(async (cause: unknown) => {
    if (codeOf(cause) !== 'EEXIST' || !(await isOurs(root))) throw cause;
  });
}

function folderAt(folder: string): SpoolFolder {
  return Object.freeze({ path: folder, remove: () => removeFolder(folder) });
}

async function removeFolder(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true, maxRetries: 2 });
  } catch (error) {
    getLogger().warn({ error }, 'a temporary folder could not be removed');
  }
}

async function removeLeftovers(base: string): Promise<void> {
  const names = await readdir(base);
  const processes = names.map((name) => ({ folder: path.join(base, name), pid: Number(LEFTOVER.exec(name)?.[1]) }));
  for (const { folder, pid } of processes) {
    if (pid > 0 && (await isLeftBehind(folder, pid))) await removeFolder(folder);
  }
}

async function isLeftBehind(folder: string, pid: number): Promise<boolean> {
  if (!(await isOurs(folder))) return false;
  if (pid !== process.pid) return !isAlive(pid);
  // In a container the next process often has the same number: what was last changed before it began is not its own.
  const { ctimeMs } = await lstat(folder);
  return ctimeMs < performance.timeOrigin;
}

/** Whether a path is a folder of this user, and no link to one. */
async function isOurs(folder: string): Promise<boolean> {
  const found = await lstat(folder).catch(() => undefined);
  if (found?.isDirectory() !== true) return false;
  return process.getuid === undefined || (found.uid === process.getuid() && (found.mode & 0o077) === 0);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of somebody else's may not be signalled, but it is there.
    return codeOf(error) !== 'ESRCH';
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** A body that fits in memory, or one that was written to a file. */
export type ReceivedBody =
  | { readonly kind: 'memory'; readonly bytes: Buffer }
  | { readonly kind: 'file'; readonly path: string; readonly folder: SpoolFolder };

/** A folder of one request's uploads. */
export interface SpoolFolder {
  readonly path: string;
  /** Removes it with all that is in it; a second call does nothing. Not called by who hands the folder on to the runs. */
  remove(): Promise<void>;
}

/** A form that was received: fields by name, and the file. */
export interface ReceivedForm {
  readonly fields: Readonly<Record<string, string>>;
  /** The uploaded table: `form.folder.path` holds it, under a name of ours (`upload.csv`, `upload.parquet`). */
  readonly file: { readonly path: string; readonly format: 'csv' | 'parquet' };
  readonly folder: SpoolFolder;
  /** SHA-256 of what was received, hexadecimal: the file's bytes and the fields. */
  readonly digest: string;
}

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
