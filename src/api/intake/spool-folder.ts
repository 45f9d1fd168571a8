import { createHash, type Hash } from 'node:crypto';
import { lstat, mkdir, mkdtemp, open, readdir, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { DataValidationError } from '../../exceptions/index.ts';
import { getLogger } from '../../internal/logger.ts';
import { isRunning } from '../store/folder-lock.ts';
import { noRoomOr } from './intake-problems.ts';

/** The time in milliseconds after the end of a process in which the last requests that it sent arrive. */
const ON_ITS_WAY_MILLIS = 1_000;

/** Options of {@link removeUploadsOf}. */
interface RemoveUploadsOptions {
  /** Returns whether a run still uses the folder after the process has ended. */
  readonly isInUse: (folder: string) => boolean;
  /**
   * The time in milliseconds to wait for the last requests of the ended process.
   * @defaultValue 1000
   */
  readonly pauseMillis?: number | undefined;
}

/**
 * Removes uploads that a killed process had received but not yet passed to a run. If an upload cannot be removed, the
 * failure is logged, and the upload is removed later with the spool folder.
 * @param root the spool folder
 */
export async function removeUploadsOf(
  root: string,
  pid: number,
  { isInUse, pauseMillis = ON_ITS_WAY_MILLIS }: RemoveUploadsOptions,
): Promise<void> {
  try {
    const prefix = `request-${String(pid)}-`;
    // The folders are listed before the pause, because another process may later have the same process ID.
    const names = (await readdir(root)).filter((name) => name.startsWith(prefix));
    if (names.length === 0) return;
    await pause(pauseMillis, undefined, { ref: false });
    for (const folder of names.map((name) => path.join(root, name))) {
      if (!isInUse(folder)) await rm(folder, { recursive: true, force: true, maxRetries: 2 });
    }
  } catch (error) {
    // The spool folder no longer exists if the service has ended in the meantime.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    getLogger().warn({ err: error }, 'uploads of a worker that has ended cannot be removed');
  }
}

/** An identifier of this machine. Machines that share a folder for temporary files may have equal process IDs. */
const HOST = createHash('sha256').update(hostname()).digest('hex').slice(0, 8);
const LEFTOVER = new RegExp(`^evenhand-(\\d+)-${HOST}-[A-Za-z0-9]{6}$`);

/**
 * Creates the spool folder of this process, readable only by its user. Removes spool folders of processes that ended
 * without removing them.
 * @param base the folder for temporary files
 * @throws {DataValidationError} if that folder cannot be used
 */
export async function createSpoolRoot(base: string = tmpdir()): Promise<SpoolFolder> {
  try {
    await removeLeftovers(base);
    // mkdtemp gives mode 0700.
    return folderAt(await mkdtemp(path.join(base, `evenhand-${String(process.pid)}-${HOST}-`)));
  } catch (cause) {
    throw new DataValidationError(`The folder for temporary files, '${base}', cannot be used.`, {
      code: 'unwritable-file',
      context: { path: base, reason: codeOf(cause) },
      suggestion: 'Set TMPDIR to a folder that can be read and written.',
      cause,
    });
  }
}

/**
 * Creates a folder for one request. The name of the folder contains the ID of the process that receives the request.
 * @throws {ServiceProblem} 503 if the disk is full
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

/**
 * Fills a folder for one request. Removes the folder if filling it fails.
 * @throws {ServiceProblem} 503 if the disk is full; also any error that `fill` throws
 */
export async function fillSpoolFolder<Result>(
  root: string,
  fill: (folder: SpoolFolder) => Promise<Result>,
): Promise<Result> {
  const folder = await newSpoolFolder(root);
  try {
    return await fill(folder);
  } catch (error) {
    await folder.remove();
    throw error;
  }
}

/**
 * Recreates the spool folder. Programs that clean up temporary files may remove the folder. Another user could then
 * create a folder with the same name.
 */
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
  if (pid !== process.pid) return !isRunning(pid);
  // In a container, the next process often has the same ID. If a folder was last changed before this process started,
  // it belongs to an earlier process.
  const { ctimeMs } = await lstat(folder);
  return ctimeMs < performance.timeOrigin;
}

/** Returns whether a path is a folder, not a link, that only this user can access. */
async function isOurs(folder: string): Promise<boolean> {
  const found = await lstat(folder).catch(() => undefined);
  if (found?.isDirectory() !== true) return false;
  return process.getuid === undefined || (found.uid === process.getuid() && (found.mode & 0o077) === 0);
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** The folder for the uploads of one request. */
export interface SpoolFolder {
  readonly path: string;
  /**
   * Removes the folder and its content. Further calls do nothing. Do not call this method after passing the folder on
   * to a run.
   */
  remove(): Promise<void>;
}

/** Chunks of data, available now or as they arrive. */
export type Chunks = Iterable<Buffer> | AsyncIterable<Buffer>;

/**
 * Writes chunks to a file as they arrive. Each chunk is written before the next one is requested.
 * @param hash updated with the written bytes
 * @returns the number of bytes written
 * @throws {ServiceProblem} 503 if the disk is full; also any error that the chunks throw
 */
export async function writeSpoolFile(path: string, chunks: Chunks, hash?: Hash): Promise<number> {
  let bytes = 0;
  try {
    const file = await open(path, 'w', 0o600);
    try {
      for await (const chunk of chunks) {
        // Appends to the file, and writes all bytes of the chunk.
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
