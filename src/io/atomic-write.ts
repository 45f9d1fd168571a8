import { randomBytes } from 'node:crypto';
import { constants, existsSync, rmSync } from 'node:fs';
import { access, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';

import { DataValidationError } from '../exceptions/index.ts';

/** Unfinished files and folders, so that an interrupt can remove them. */
const unfinished = new Set<string>();

/**
 * Writes a file so that it is whole or not there: to a temporary name in the
 * same folder, flushed to disk, then renamed. Missing folders are made.
 * @throws {DataValidationError} where the place cannot be written; nothing is left behind
 */
export async function writeFileAtomic(target: string, content: string | Uint8Array): Promise<void> {
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
  if (existsSync(target) && !mayReplace(target)) {
    throw new DataValidationError(`'${target}' exists and was not written by evenhand, so it is not replaced.`, {
      context: { path: target },
      suggestion: 'Name a new folder.',
    });
  }
  await writeThenRename(target, async (temporary) => {
    await mkdir(temporary);
    await fill(temporary);
  });
}

/**
 * Checks before long work that its result can be written.
 * @throws {DataValidationError} naming the path and what is wrong with it
 */
export async function assertWritable(target: string): Promise<void> {
  const folder = path.dirname(path.resolve(target));
  try {
    await mkdir(folder, { recursive: true });
    await access(folder, constants.W_OK);
    // A root user passes every access check, so the write itself is tried as well.
    const probe = temporaryName(target);
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
  if (found?.isDirectory() === true) throw cannotWrite(target, new Error('it is a folder'));
}

/** Removes what was half-written; for interrupts, so synchronous. */
export function removeUnfinished(): void {
  for (const name of unfinished) rmSync(name, { recursive: true, force: true });
  unfinished.clear();
}

async function writeThenRename(target: string, write: (temporary: string) => Promise<void>): Promise<void> {
  const temporary = temporaryName(target);
  unfinished.add(temporary);
  try {
    await mkdir(path.dirname(path.resolve(target)), { recursive: true });
    await write(temporary);
    await putInPlace(temporary, target);
  } catch (cause) {
    // The rest goes if it can; what is told is why the write failed.
    await rm(temporary, { recursive: true, force: true }).catch(() => undefined);
    throw cannotWrite(target, cause);
  } finally {
    unfinished.delete(temporary);
  }
}

/** A folder cannot be renamed onto a full one, so the old one steps aside first. */
async function putInPlace(temporary: string, target: string): Promise<void> {
  const isFolder = (await stat(temporary)).isDirectory();
  if (!isFolder || !existsSync(target)) {
    await rename(temporary, target);
    return;
  }
  const aside = temporaryName(target);
  await rename(target, aside);
  await rename(temporary, target);
  await rm(aside, { recursive: true, force: true });
}

function temporaryName(target: string): string {
  const { dir, base } = path.parse(path.resolve(target));
  return path.join(dir, `.${base}.${randomBytes(6).toString('hex')}.tmp`);
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EDQUOT: 'the disk quota is used up',
  EEXIST: 'a part of the path is a file',
  EISDIR: 'it is a folder',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of the path is a file',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
};

function cannotWrite(target: string, cause: unknown): DataValidationError {
  if (cause instanceof DataValidationError) return cause;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const reason = REASONS[code] ?? (cause instanceof Error ? cause.message : String(cause));
  return new DataValidationError(`Cannot write '${target}': ${reason}.`, {
    context: { path: target, code },
    suggestion: 'Name a path in a folder that can be written.',
    cause,
  });
}
