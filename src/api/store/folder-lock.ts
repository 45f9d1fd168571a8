import { readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { DataValidationError } from '../../exceptions/index.ts';
import { decodeUtf8 } from '../../internal/decode-utf8.ts';

/** What the system's codes mean for who names a folder. */
const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EDQUOT: 'the disk quota is used up',
  EEXIST: 'a part of the path is a file',
  ELOOP: 'its links lead in a circle',
  ENAMETOOLONG: 'the name is too long',
  ENOENT: 'the system makes no folders there, or a link leads nowhere',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of the path is a file',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
};

/** The error of a folder or file that cannot be used; one that says so already stays as it is. */
export function cannotUse(place: string, what: string, cause: unknown): DataValidationError {
  if (cause instanceof DataValidationError) return cause;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
  return new DataValidationError(`'${place}' cannot ${what}: ${REASONS[code] ?? `the system says ${code}`}.`, {
    context: { path: place, code },
    suggestion: 'Name a folder that can be written, on a disk with room.',
    cause,
  });
}

/** The name of the file that says who uses a folder. */
export const LOCK_NAME = '.evenhand-lock';

/** Longer than two processes that both take over a lock can be apart. */
const TAKE_OVER_MILLIS = 50;

/** The locks that this process holds: its own id in a file may also be left of an earlier process that had the same. */
const held = new Set<string>();

/** Who holds a lock. */
interface Holder {
  readonly pid: number;
  /** When it started, as the system counts; null where the system does not tell. It tells two processes of one id apart. */
  readonly startedAt: string | null;
}

/** A folder that this process alone uses. */
export interface FolderLock {
  /** Lets another process use the folder. */
  release(): Promise<void>;
}

/**
 * Takes a folder for this process, by a file in it with the process' id. A lock whose process has ended is taken over.
 * Processes of other machines that share the folder are not noticed.
 * @throws {DataValidationError} naming the folder and the process that has it, or why the file cannot be written
 */
export async function lockFolder(folder: string): Promise<FolderLock> {
  const place = path.join(await realpath(folder), LOCK_NAME);
  if (held.has(place)) throw inUse(folder, process.pid);
  held.add(place);
  try {
    await take(folder, place);
  } catch (error) {
    held.delete(place);
    throw error;
  }
  return {
    release: async () => {
      if (held.delete(place)) await rm(place, { force: true });
    },
  };
}

async function take(folder: string, place: string): Promise<void> {
  const own = JSON.stringify({ pid: process.pid, startedAt: await startOf(process.pid) } satisfies Holder);
  if (await created(place, own)) return;
  const holder = await readHolder(place);
  if (holder !== undefined && (await isAlive(holder))) throw inUse(folder, holder.pid);
  await writeFile(`${place}.${String(process.pid)}`, own).catch((cause: unknown) => {
    throw cannotUse(folder, 'be written', cause);
  });
  await rename(`${place}.${String(process.pid)}`, place);
  // Another process may take it over at the same moment: the last one to write has it.
  await sleep(TAKE_OVER_MILLIS);
  const winner = await textOf(place);
  if (winner !== own) throw inUse(folder, parseHolder(winner)?.pid);
}

/** Writes the file where there is none. */
async function created(place: string, content: string): Promise<boolean> {
  try {
    await writeFile(place, content, { flag: 'wx' });
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw cannotUse(path.dirname(place), 'be written', cause);
  }
}

/** Who a lock names; undefined where it names nobody, also a moment later (its writer may be in the middle of it). */
async function readHolder(place: string): Promise<Holder | undefined> {
  for (const pauseMillis of [0, TAKE_OVER_MILLIS]) {
    await sleep(pauseMillis);
    const holder = parseHolder(await textOf(place));
    if (holder !== undefined) return holder;
  }
  return undefined;
}

/** Returns the text of a file; empty where it cannot be read or is not UTF-8. */
export async function textOf(place: string): Promise<string> {
  try {
    return decodeUtf8(await readFile(place), place);
  } catch {
    return '';
  }
}

function parseHolder(text: string): Holder | undefined {
  try {
    const { pid, startedAt } = JSON.parse(text) as Partial<Record<keyof Holder, unknown>>;
    if (!Number.isSafeInteger(pid) || Number(pid) < 1) return undefined;
    return { pid: Number(pid), startedAt: typeof startedAt === 'string' ? startedAt : null };
  } catch {
    return undefined;
  }
}

/** Whether the process that holds a lock is there still. */
async function isAlive({ pid, startedAt }: Holder): Promise<boolean> {
  // What is held by this very process is known without the file.
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  const now = await startOf(pid);
  return startedAt === null || now === null || now === startedAt;
}

/** When a process started, in ticks since the machine did; null where the system has no such file. */
async function startOf(pid: number): Promise<string | null> {
  const status = await textOf(`/proc/${String(pid)}/stat`);
  // The process' name, in brackets, may hold spaces; the start is the 20th field behind it.
  return status.slice(status.lastIndexOf(')') + 2).split(' ')[19] ?? null;
}

function inUse(folder: string, pid: number | undefined): DataValidationError {
  const who = pid === undefined ? 'another process' : `process ${String(pid)}`;
  return new DataValidationError(`The folder '${folder}' is in use by ${who}.`, {
    context: { path: folder, pid },
    suggestion: 'Give each service a folder of its own, or end that process first.',
  });
}
