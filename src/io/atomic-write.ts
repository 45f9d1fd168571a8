import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, openSync, rmSync } from 'node:fs';
import { lstat, mkdir, open, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { DataValidationError, FairnessToolkitError } from '../exceptions/index.ts';
import { fileProblemOf } from './file-problem.ts';

/** The paths of unfinished and temporary files and folders. An interrupt removes these files and folders. */
const unfinished = new Set<string>();

/** The paths of files and folders that were written completely, as given by the callers. */
const written = new Set<string>();

/**
 * Writes a file atomically: the content is written to a temporary file in the same folder and flushed to disk, and then
 * the file is renamed. Missing folders are created. Symbolic links are followed. Devices and pipes are written
 * directly.
 * @throws {DataValidationError} if the path cannot be written; no partial file remains
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
 * Writes a folder atomically: `fill` writes a folder with a temporary name, and then the folder is renamed. An existing
 * folder is replaced if `mayReplace` allows it.
 * @throws {DataValidationError} if the path cannot be written or must not be replaced
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
 * Checks that the target of a folder does not exist or may be replaced.
 * @throws {DataValidationError} if the target exists and must not be replaced
 */
export function assertReplaceable(target: string, mayReplace: (folder: string) => boolean): void {
  if (!existsSync(target) || mayReplace(target)) return;
  throw new DataValidationError(`'${target}' already exists and contains other data, so it was not replaced.`, {
    code: 'unwritable-file',
    context: { path: target },
    suggestion: 'Choose a new folder.',
  });
}

/**
 * Checks that a path can be written, and leaves no file behind. Call this function before long work, so that the result
 * is not lost.
 * @throws {DataValidationError} if the path cannot be written; the error says why
 */
export async function assertWritable(target: string): Promise<void> {
  if (await isSpecialFile(target)) return;
  try {
    // A file is created, because a permission check always succeeds for root. These calls are synchronous, so that no
    // interrupt is handled while the file exists.
    const probe = path.join(await nearestFolder(target), temporaryName());
    closeSync(openSync(probe, 'wx'));
    rmSync(probe);
  } catch (cause) {
    throw cannotWrite(target, cause);
  }
}

/**
 * Checks that a file can be written; see {@link assertWritable}. Also rejects the path of a folder.
 * @throws {DataValidationError} if the path cannot be written; the error says why
 */
export async function assertFileWritable(target: string): Promise<void> {
  await assertWritable(target);
  const found = await stat(target).catch(() => undefined);
  if (found?.isDirectory() === true) throw cannotWrite(target, Object.assign(new Error('folder'), { code: 'EISDIR' }));
}

/** A temporary file or folder that is removed at an interrupt. */
interface Removable {
  readonly path: string;
  /** Must be called after the file or folder was removed. */
  readonly forget: () => void;
}

/**
 * Creates a temporary file or folder, which is removed if Ctrl-C ends the command-line program, or if SIGTERM ends the
 * process.
 * @param create creates it, and returns its path. It is synchronous, so that no signal is handled in between
 */
export function createRemovable(create: () => string): Removable {
  const release = awaitTermination();
  try {
    const path = create();
    unfinished.add(path);
    return {
      path,
      forget: () => {
        release();
        unfinished.delete(path);
      },
    };
  } catch (error) {
    release();
    throw error;
  }
}

/** The number of temporary files and folders that exist or are being created. */
let removables = 0;

function terminate(): void {
  removeUnfinished();
  process.exit(143);
}

/**
 * Listens for SIGTERM until the returned function is called; without a listener, SIGTERM ends the process at once. All
 * files share one listener, because Node warns of a leak if there are more than 10.
 */
function awaitTermination(): () => void {
  if (removables++ === 0) process.on('SIGTERM', terminate);
  let isReleased = false;
  return () => {
    if (isReleased) return;
    isReleased = true;
    if (--removables === 0) process.off('SIGTERM', terminate);
  };
}

/** Removes unfinished files and folders. The function is synchronous because it is called on interrupts. */
export function removeUnfinished(): void {
  for (const name of unfinished) rmSync(name, { recursive: true, force: true });
  unfinished.clear();
}

/** Returns the files and folders that this process has written completely, so that an interrupt can report them. */
export function writtenPaths(): readonly string[] {
  return [...written];
}

/** Returns whether a path exists and is neither a file nor a folder, but a device, a pipe or a terminal. */
async function isSpecialFile(target: string): Promise<boolean> {
  const found = await stat(target).catch(() => undefined);
  return found !== undefined && !found.isFile() && !found.isDirectory();
}

/** Returns the nearest parent folder of a path that exists. */
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
    const location = await followLink(target);
    await mkdir(path.dirname(location), { recursive: true });
    temporary = path.join(path.dirname(location), temporaryName());
    unfinished.add(temporary);
    await write(temporary);
    await putInPlace(temporary, location);
    if (!isTemporary(target)) written.add(target);
  } catch (cause) {
    // Errors of the clean-up are ignored, because the reason of the failed write is more important.
    if (temporary !== undefined) await rm(temporary, { recursive: true, force: true }).catch(() => undefined);
    throw FairnessToolkitError.isInstance(cause) ? cause : cannotWrite(target, cause);
  } finally {
    if (temporary !== undefined) unfinished.delete(temporary);
  }
}

/** Resolves a path. For a symbolic link, returns the target, so that the link itself is not replaced. */
async function followLink(target: string): Promise<string> {
  const found = await lstat(target).catch(() => undefined);
  return found?.isSymbolicLink() === true ? realpath(target) : path.resolve(target);
}

/**
 * Renames the temporary file or folder. An existing folder is moved away first, because a folder cannot be overwritten.
 */
async function putInPlace(temporary: string, location: string): Promise<void> {
  const isFolder = (await stat(temporary)).isDirectory();
  if (!isFolder || !existsSync(location)) {
    await rename(temporary, location);
    return;
  }
  const heldOut = path.join(path.dirname(location), temporaryName());
  await rename(location, heldOut);
  await rename(temporary, location);
  await rm(heldOut, { recursive: true, force: true });
}

/**
 * Returns a temporary name. The temporary name is short, so that it is never too long if the final name is not too
 * long.
 */
function temporaryName(): string {
  return `.evenhand-${randomBytes(6).toString('hex')}.tmp`;
}

/** Returns whether a path is within a temporary folder. */
function isTemporary(target: string): boolean {
  return /\.evenhand-[0-9a-f]{12}\.tmp/.test(target);
}

/**
 * The reasons for failed writes, by the error code of the system. The reasons assume that missing folders are created
 * and links are followed.
 */
const REASONS: Readonly<Record<string, string>> = {
  EMPTY: 'the path is empty',
  ENAMETOOLONG: 'the name is too long',
  ENOENT: 'the folder cannot be created, or a link is broken',
};

function cannotWrite(target: string, cause: unknown): DataValidationError {
  if (cause instanceof DataValidationError) return cause;
  const { code, reason = code === '' ? String(cause) : `the system says ${code}` } = fileProblemOf(cause);
  return new DataValidationError(`Cannot write '${target}': ${REASONS[code] ?? reason}.`, {
    code: 'unwritable-file',
    context: { path: target, code },
    suggestion: 'Choose a path in a writable folder.',
    cause,
  });
}
