import { readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { DataValidationError } from '../../exceptions/index.ts';
import { decodeUtf8 } from '../../internal/decode-utf8.ts';
import { parseObject } from '../../internal/values.ts';

/** Explanations of the system's error codes. */
const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EDQUOT: 'the disk quota is used up',
  EEXIST: 'a part of the path is a file',
  ELOOP: 'its symbolic links form a loop',
  ENAMETOOLONG: 'the name is too long',
  ENOENT: 'the system cannot create folders there, or a link is broken',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of the path is a file',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
};

/** Returns the error for a folder or file that cannot be used. A `DataValidationError` is returned unchanged. */
export function cannotUse(location: string, what: string, cause: unknown): DataValidationError {
  if (cause instanceof DataValidationError) return cause;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
  return new DataValidationError(`'${location}' cannot ${what}: ${REASONS[code] ?? `the system says ${code}`}.`, {
    context: { path: location, code },
    suggestion: 'Choose a writable folder on a disk with free space.',
    cause,
  });
}

/** The name of the lock file, which identifies the process that uses a folder. */
export const LOCK_NAME = '.evenhand-lock';

/**
 * The pause before a lock is read again. It is longer than the time within which two processes may both try to take
 * over the lock.
 */
const TAKE_OVER_MILLIS = 50;

/**
 * The locks of this process. The list is needed because a lock file with the same process ID may come from an earlier
 * process.
 */
const held = new Set<string>();

/** The process that holds a lock. */
interface Holder {
  readonly pid: number;
  /**
   * The start time of the process in system ticks; null if the system does not report it. Distinguishes processes with
   * the same ID.
   */
  readonly startedAt: string | null;
}

/** A folder that only this process uses. */
export interface FolderLock {
  /** Lets another process use the folder. */
  release(): Promise<void>;
}

/**
 * Locks a folder for this process with a file that contains the process ID. If the process of an existing lock has
 * ended, this process takes over the lock. Processes on other machines that share the folder are not detected.
 * @throws {DataValidationError} if another process uses the folder, or the lock file cannot be written
 */
export async function lockFolder(folder: string): Promise<FolderLock> {
  const location = path.join(await realpath(folder), LOCK_NAME);
  if (held.has(location)) throw inUse(folder, process.pid);
  held.add(location);
  try {
    await take(folder, location);
  } catch (error) {
    held.delete(location);
    throw error;
  }
  return {
    release: async () => {
      if (held.delete(location)) await rm(location, { force: true });
    },
  };
}

async function take(folder: string, location: string): Promise<void> {
  const own = JSON.stringify({ pid: process.pid, startedAt: await startOf(process.pid) } satisfies Holder);
  if (await created(location, own)) return;
  const holder = await readHolder(location);
  if (holder !== undefined && (await isAlive(holder))) throw inUse(folder, holder.pid);
  await writeFile(`${location}.${String(process.pid)}`, own).catch((cause: unknown) => {
    throw cannotUse(folder, 'be written', cause);
  });
  await rename(`${location}.${String(process.pid)}`, location);
  // Another process may take over the lock at the same time. The last writer gets the lock.
  await sleep(TAKE_OVER_MILLIS);
  const winner = await textOf(location);
  if (winner !== own) throw inUse(folder, parseHolder(winner)?.pid);
}

/** Writes the file if it does not exist. Returns whether the file was written. */
async function created(location: string, content: string): Promise<boolean> {
  try {
    await writeFile(location, content, { flag: 'wx' });
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw cannotUse(path.dirname(location), 'be written', cause);
  }
}

/**
 * Reads the holder of a lock. If the file does not contain a process, it is read again after a short wait, because it
 * may not be complete yet. Returns undefined if it still contains none.
 */
async function readHolder(location: string): Promise<Holder | undefined> {
  for (const pauseMillis of [0, TAKE_OVER_MILLIS]) {
    await sleep(pauseMillis);
    const holder = parseHolder(await textOf(location));
    if (holder !== undefined) return holder;
  }
  return undefined;
}

/** Returns the text of a file; empty if it cannot be read or is not UTF-8. */
export async function textOf(location: string): Promise<string> {
  try {
    return decodeUtf8(await readFile(location), location);
  } catch {
    return '';
  }
}

function parseHolder(text: string): Holder | undefined {
  const { pid, startedAt }: Partial<Record<keyof Holder, unknown>> = parseObject(text) ?? {};
  if (!Number.isSafeInteger(pid) || Number(pid) < 1) return undefined;
  return { pid: Number(pid), startedAt: typeof startedAt === 'string' ? startedAt : null };
}

/** Returns whether a process with this ID is running. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user cannot be signalled, but it exists.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** Returns whether the process that holds a lock is still running. */
async function isAlive({ pid, startedAt }: Holder): Promise<boolean> {
  // The locks of this process are known without the file.
  if (pid === process.pid) return false;
  if (!isRunning(pid)) return false;
  const now = await startOf(pid);
  return startedAt === null || now === null || now === startedAt;
}

/** Returns the start time of a process in ticks since boot; null if the system has no such file. */
async function startOf(pid: number): Promise<string | null> {
  const status = await textOf(`/proc/${String(pid)}/stat`);
  // The process name in parentheses may contain spaces. The start time is the 20th field after it.
  return status.slice(status.lastIndexOf(')') + 2).split(' ')[19] ?? null;
}

function inUse(folder: string, pid: number | undefined): DataValidationError {
  const who = pid === undefined ? 'another process' : `process ${String(pid)}`;
  return new DataValidationError(`The folder '${folder}' is in use by ${who}.`, {
    code: 'unwritable-file',
    context: { path: folder, pid },
    suggestion: 'Use a separate folder for each service, or stop that process first.',
  });
}
