import { randomUUID } from 'node:crypto';
import { link, readFile, readlink, realpath, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';

import { DataValidationError } from '../../exceptions/index.ts';
import { tryDecodeUtf8 } from '../../internal/decode-utf8.ts';
import { getLogger } from '../../internal/logger.ts';
import { machineClock } from '../../internal/machine-clock.ts';
import { isMapping, parseObject } from '../../internal/values.ts';
import { fileProblemOf } from '../../io/file-problem.ts';

/** The process that writes a transcript. */
interface Owner {
  readonly pid: number;
  /** The machine, with the process namespace of a container. */
  readonly machine: string;
  /** The start of the process since the start of the machine; null if the operating system does not tell it. */
  readonly start: string | null;
  /** A text that only this lock has. */
  readonly id: string;
}

/** A lock on a transcript. */
export interface TranscriptLock {
  /** Removes the lock. */
  release(): Promise<void>;
}

/** The time between two signs of life, in milliseconds. */
const BEAT_MILLIS = 10_000;

/** The time after which a lock without a sign of life is stale, in milliseconds. */
const STALE_MILLIS = 60_000;

/** The maximum number of attempts. Between two attempts, another process must have taken or removed the lock. */
const ATTEMPTS = 5;

/**
 * Locks a transcript, so that only one process writes it. The lock is the file `<transcript>.lock`. It names the process
 * and is removed at the end. If the process was killed, the lock is taken over: on the same machine at once, because the
 * process is missing or started at another time, and on another machine after a minute without a sign of life.
 * @throws {DataValidationError} if a running process writes the transcript; the error names the process
 */
export async function lockTranscript(file: string, clock: () => number = machineClock): Promise<TranscriptLock> {
  const lock = `${await realpath(file)}.lock`;
  const own: Owner = { pid: process.pid, machine: await thisMachine(), start: await startOf(process.pid), id: randomUUID() }; // prettier-ignore
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (await tryLock(lock, own)) return keepLock(lock, own, clock);
      const owner = await ownerOf(lock);
      if (owner !== undefined && (await isLive(lock, owner, clock()))) throw inUse(file, lock, owner, own);
      await removeStale(lock, owner);
    }
  } catch (cause) {
    if (DataValidationError.isInstance(cause)) throw cause;
    // A transcript may be in a folder in which no other file can be created.
    const { reason = String(cause) } = fileProblemOf(cause);
    getLogger().warn(`The transcript '${file}' cannot be locked: ${reason}. Do not write it from two runs.`);
    return { release: () => Promise.resolve() };
  }
  throw inUse(file, lock, await ownerOf(lock), own);
}

/** Creates the lock with its content in one step. Returns false if the lock exists. */
async function tryLock(lock: string, own: Owner): Promise<boolean> {
  const written = `${lock}.${own.id}`;
  try {
    await writeFile(written, JSON.stringify(own), { mode: 0o600 });
    await link(written, lock);
    return true;
  } catch (error) {
    if (fileProblemOf(error).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(written, { force: true });
  }
}

function keepLock(lock: string, own: Owner, clock: () => number): TranscriptLock {
  const beat = setInterval(() => {
    const now = clock() / 1000;
    // A lock that was removed by hand is no reason to lose paid answers.
    utimes(lock, now, now).catch(() => undefined);
  }, BEAT_MILLIS);
  beat.unref();
  return {
    release: async () => {
      clearInterval(beat);
      if ((await ownerOf(lock))?.id === own.id) await rm(lock, { force: true });
    },
  };
}

/** Returns the owner of a lock; undefined if the lock does not exist or has another content. */
async function ownerOf(lock: string): Promise<Owner | undefined> {
  const owner = parseObject(await textOf(lock));
  return isMapping(owner) && typeof owner['pid'] === 'number' ? (owner as unknown as Owner) : undefined;
}

/** Removes a stale lock. If another process replaced it in the meantime, the new lock is put back. */
async function removeStale(lock: string, owner: Owner | undefined): Promise<void> {
  const aside = `${lock}.${randomUUID()}`;
  try {
    await rename(lock, aside);
  } catch {
    return;
  }
  const moved = await ownerOf(aside);
  if (moved !== undefined && moved.id !== owner?.id) await link(aside, lock).catch(() => undefined);
  await rm(aside, { force: true });
}

async function isLive(lock: string, owner: Owner, now: number): Promise<boolean> {
  const isHere = owner.machine === (await thisMachine());
  if (isHere && !isRunning(owner.pid)) return false;
  const start = isHere ? await startOf(owner.pid) : null;
  // Process ids are used again. A process with another start is not the owner.
  if (start !== null && owner.start !== null) return start === owner.start;
  const { mtimeMs } = await stat(lock).catch(() => ({ mtimeMs: 0 }));
  return now - mtimeMs < STALE_MILLIS;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return fileProblemOf(error).code === 'EPERM';
  }
}

/** Returns the start time of a process from Linux's `/proc`; null if there is none. */
async function startOf(pid: number): Promise<string | null> {
  const line = await textOf(`/proc/${String(pid)}/stat`);
  // The name of the program is in brackets, and may contain spaces. The start is field 22.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  return fields[19] ?? null;
}

/** Returns the text of a file; an empty text if it cannot be read. */
async function textOf(file: string): Promise<string> {
  return tryDecodeUtf8(await readFile(file).catch(() => new Uint8Array())) ?? '';
}

async function thisMachine(): Promise<string> {
  const namespace = await readlink('/proc/self/ns/pid').catch(() => '');
  return `${hostname()} ${namespace}`.trim();
}

function inUse(file: string, lock: string, owner: Owner | undefined, own: Owner): DataValidationError {
  const { pid, machine } = owner ?? { pid: null, machine: '' };
  const [host = ''] = machine.split(' ');
  const isOwn = pid === own.pid && machine === own.machine;
  const who = pid === null ? 'another process' : isOwn ? `this process (${String(pid)})` : `process ${String(pid)} on ${host}`; // prettier-ignore
  return new DataValidationError(`The transcript file '${file}' is being written by ${who}.`, {
    code: 'unwritable-file',
    context: { path: file, pid, host, lock },
    suggestion: isOwn
      ? 'Close the transcript before you open it again, or use another file.'
      : `Wait until the run of this process ends, stop it, or use another file. If no such process exists, delete '${lock}'.`,
  });
}
