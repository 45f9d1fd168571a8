import { randomBytes } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { lstat, mkdir, open, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { DataValidationError } from '../exceptions/index.ts';

/** Unfinished files and folders, so that an interrupt can remove them. */
const unfinished = new Set<string>();

/** Files and folders that were written whole, as their callers named them. */
const written = new Set<string>();

/**
 * Writes a file so that it is whole or not there: to a temporary name in the
 * same folder, flushed to disk, then renamed. Missing folders are made. A
 * symbolic link is followed; a device or pipe is written to as it is.
 * @throws {DataValidationError} where the place cannot be written; nothing is left behind
 */
export async function writeFileAtomic(target: string, content: string | Uint8Array): Promise<void> {
  if (await isSpecialFile(target)) {
    await writeFile(target, content).catch((cause: unknown) => {
      throw cannotWrite(target, cause);
    });
    return;
  }
  await writeThenRename(target, async (temporary) => {
    const file = await open(temporary, 'wx');
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
  });
}

/**
 * Lets `fill` write a whole folder under a temporary name and then puts it in
 * place. A folder that is already there is replaced when `mayReplace` allows it.
 * @throws {DataValidationError} where the place cannot be written or must not be replaced
 */
export async function writeFolderAtomic(
  target: string,
  fill: (folder: string) => Promise<void>,
  mayReplace: (folder: string) => boolean,
): Promise<void> {
  assertReplaceable(target, mayReplace);
  await writeThenRename(target, async (temporary) => {
    await mkdir(temporary);
    await fill(temporary);
  });
}

/**
 * Checks that nothing stands where a folder will be written, or only what may go.
 * @throws {DataValidationError} where something else does
 */
export function assertReplaceable(target: string, mayReplace: (folder: string) => boolean): void {
  if (!existsSync(target) || mayReplace(target)) return;
  throw new DataValidationError(`'${target}' exists and holds something else, so it is not replaced.`, {
    context: { path: target },
    suggestion: 'Name a new folder.',
  });
}

/**
 * Checks before long work that its result can be written, leaving no trace.
 * @throws {DataValidationError} naming the path and what is wrong with it
 */
export async function assertWritable(target: string): Promise<void> {
  if (await isSpecialFile(target)) return;
  try {
    // Tried, since a user who is root passes every check of permissions.
    const probe = path.join(await nearestFolder(target), temporaryName());
    const file = await open(probe, 'wx');
    await file.close();
    await rm(probe);
  } catch (cause) {
    throw cannotWrite(target, cause);
  }
}

/**
 * Like {@link assertWritable}, for a file: a folder of that name is an error too.
 * @throws {DataValidationError} naming the path and what is wrong with it
 */
export async function assertFileWritable(target: string): Promise<void> {
  await assertWritable(target);
  const found = await stat(target).catch(() => undefined);
  if (found?.isDirectory() === true) throw cannotWrite(target, Object.assign(new Error('folder'), { code: 'EISDIR' }));
}

/** Removes what was half-written; for interrupts, so synchronous. */
export function removeUnfinished(): void {
  for (const name of unfinished) rmSync(name, { recursive: true, force: true });
  unfinished.clear();
}

/** Returns the files and folders that this process has written whole; for interrupts. */
export function writtenPaths(): readonly string[] {
  return [...written];
}

/** Whether a path is there and is neither file nor folder: a device, a pipe, a terminal. */
async function isSpecialFile(target: string): Promise<boolean> {
  const found = await stat(target).catch(() => undefined);
  return found !== undefined && !found.isFile() && !found.isDirectory();
}

/** The folder that a path lies in, or would lie in: the nearest one that exists. */
async function nearestFolder(target: string): Promise<string> {
  if (target === '') throw Object.assign(new Error('empty'), { code: 'EMPTY' });
  let folder = path.dirname(path.resolve(target));
  while (!existsSync(folder)) folder = path.dirname(folder);
  if ((await stat(folder)).isDirectory()) return folder;
  throw Object.assign(new Error('file'), { code: 'ENOTDIR' });
}

async function writeThenRename(target: string, write: (temporary: string) => Promise<void>): Promise<void> {
  let temporary: string | undefined;
  try {
    await nearestFolder(target);
    const place = await followLink(target);
    await mkdir(path.dirname(place), { recursive: true });
    temporary = path.join(path.dirname(place), temporaryName());
    unfinished.add(temporary);
    await write(temporary);
    await putInPlace(temporary, place);
    if (!isTemporary(target)) written.add(target);
  } catch (cause) {
    // The rest goes if it can; what is told is why the write failed.
    if (temporary !== undefined) await rm(temporary, { recursive: true, force: true }).catch(() => undefined);
    throw cannotWrite(target, cause);
  } finally {
    if (temporary !== undefined) unfinished.delete(temporary);
  }
}

/** Where a path leads: a link's target, so that the link stays one. */
async function followLink(target: string): Promise<string> {
  const found = await lstat(target).catch(() => undefined);
  return found?.isSymbolicLink() === true ? realpath(target) : path.resolve(target);
}

/** A folder cannot be renamed onto a full one, so the old one steps aside first. */
async function putInPlace(temporary: string, place: string): Promise<void> {
  const isFolder = (await stat(temporary)).isDirectory();
  if (!isFolder || !existsSync(place)) {
    await rename(temporary, place);
    return;
  }
  const aside = path.join(path.dirname(place), temporaryName());
  await rename(place, aside);
  await rename(temporary, place);
  await rm(aside, { recursive: true, force: true });
}

/** Short, so that it fits wherever the final name does. */
function temporaryName(): string {
  return `.evenhand-${randomBytes(6).toString('hex')}.tmp`;
}

/** Whether a path lies in a folder that has no name of its own yet. */
function isTemporary(target: string): boolean {
  return /\.evenhand-[0-9a-f]{12}\.tmp/.test(target);
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EDQUOT: 'the disk quota is used up',
  EEXIST: 'a part of the path is a file',
  EISDIR: 'it is a folder',
  EMPTY: 'the path is empty',
  ENAMETOOLONG: 'the name is too long',
  ENOENT: 'the folder cannot be made, or a link leads nowhere',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of the path is a file',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
};

function cannotWrite(target: string, cause: unknown): DataValidationError {
  if (cause instanceof DataValidationError) return cause;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const reason = REASONS[code] ?? (code === '' ? String(cause) : `the system says ${code}`);
  return new DataValidationError(`Cannot write '${target}': ${reason}.`, {
    context: { path: target, code },
    suggestion: 'Name a path in a folder that can be written.',
    cause,
  });
}
