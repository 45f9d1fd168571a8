import { mkdir, readdir, rm, stat, utimes } from 'node:fs/promises';
import path from 'node:path';

import { DataValidationError } from '../../exceptions/index.ts';
import { assertKnownOptions, invalidParameter, type OptionNames } from '../../internal/arguments.ts';
import { getLogger } from '../../internal/logger.ts';
import { machineClock } from '../../internal/machine-clock.ts';
import { Slots } from '../../internal/slots.ts';
import { writeFileAtomic } from '../../io/atomic-write.ts';
import { warnOfNoChecksum } from '../../io/checksum.ts';
import { cannotUse, type FolderLock, LOCK_NAME, lockFolder, textOf } from './folder-lock.ts';
import {
  isSafeId,
  RESULT_STORE_OPTION_NAMES,
  ResultStore,
  type ResultStoreLike,
  type ResultStoreOptions,
} from './result-store.ts';
import { entryInFileText, fileNameOf, fileTextOf, idOfFileName } from './stored-file.ts';

/**
 * Runs tasks by name. Tasks with the same name run one after another in order of arrival. Tasks with different names
 * run concurrently up to a limit, so that the process does not run out of file handles.
 */
class TaskQueues {
  readonly #lasts = new Map<string, Promise<unknown>>();
  readonly #slots: Slots;

  constructor(maxAtOnce: number) {
    this.#slots = new Slots(maxAtOnce);
  }

  /**
   * Runs a task after the earlier tasks with the same name, and returns its result. A task must not wait for another
   * task.
   */
  run<Result>(name: string, task: () => Promise<Result>): Promise<Result> {
    const before = this.#lasts.get(name) ?? Promise.resolve();
    const result = before.then(() => this.#inSlot(task));
    const last = result.catch(() => undefined);
    this.#lasts.set(name, last);
    void last.then(() => {
      if (this.#lasts.get(name) === last) this.#lasts.delete(name);
    });
    return result;
  }

  /** Resolves when no task is left. */
  async idle(): Promise<void> {
    while (this.#lasts.size > 0) await Promise.all(this.#lasts.values());
  }

  async #inSlot<Result>(task: () => Promise<Result>): Promise<Result> {
    await this.#slots.take();
    try {
      return await task();
    } finally {
      this.#slots.release();
    }
  }
}

/** The maximum number of files that are written or read at once. */
const FILES_AT_ONCE = 16;

/** The minimum time in milliseconds between two updates of an entry's time of last use on disk. */
const TOUCH_MILLIS = 60_000;

/** The names of files that interrupted writes leave behind. */
const UNFINISHED = /^\.evenhand-[0-9a-f]{12}\.tmp$/;

/** Options of {@link FileResultStore.open}. */
export interface FileResultStoreOptions<Value> extends ResultStoreOptions<Value> {
  /**
   * Returns the current time in milliseconds since 1970.
   * @defaultValue the clock of this machine
   */
  readonly clock?: (() => number) | undefined;
}

const FILE_RESULT_STORE_OPTION_NAMES: OptionNames<FileResultStoreOptions<unknown>> = {
  ...RESULT_STORE_OPTION_NAMES,
  clock: true,
};

interface Entry<Value> {
  readonly value: Value;
  /** The time at which the entry's file was last written or touched. */
  readonly touchedAt: number;
}

/**
 * A {@link ResultStore} whose entries are also files, `<folder>/<id>.json`, so that they survive the process. `set`
 * resolves when the entry is on disk. A new process reads the files when it opens the folder. The file of an evicted or
 * deleted entry is removed.
 *
 * All values are in memory and on disk, and `maxBytes` limits both. Entries that exceed the limit are evicted with
 * their files. This includes entries from an earlier process with a higher limit.
 *
 * The modification time of a file records when its entry was last used, to the minute. A new process uses these times
 * to restore the order. Values must be representable as JSON. An entry is complete or absent, even after a power
 * failure. Each file contains the SHA-256 of its content. An edited or damaged entry is logged and is not in the list
 * of entries. `get` throws an error for such an entry. If a file cannot be written (for example on a full disk), `set`
 * rejects and the old entry stays. Only one process can use a folder at a time; `close` releases it.
 * @example
 * ```ts
 * import { FileResultStore } from 'evenhand/api/store';
 *
 * const store = await FileResultStore.open('results');
 * await store.set('run-1', { passed: true });
 * await store.close();
 *
 * const later = await FileResultStore.open('results', { capacity: 100 });
 * console.log(later.size, later.get('run-1'));
 * // 1 { passed: true }
 * await later.close();
 * ```
 */
export class FileResultStore<Value = unknown> implements ResultStoreLike<Value> {
  /** The folder of the files. */
  readonly folder: string;
  readonly #clock: () => number;
  readonly #memory: ResultStore<Entry<Value>>;
  readonly #files = new TaskQueues(FILES_AT_ONCE);
  /** Entries whose file was changed after it was written, by ID. */
  readonly #damaged = new Map<string, unknown>();
  /** The number of entries of an earlier version, which have no checksum. */
  #unchecked = 0;
  #lock: FolderLock | undefined;

  private constructor(folder: string, options: FileResultStoreOptions<Value>) {
    assertKnownOptions('FileResultStore', options, FILE_RESULT_STORE_OPTION_NAMES);
    const { capacity, maxBytes, sizeOf, onEvict, clock } = options;
    this.folder = folder;
    this.#clock = clock ?? machineClock;
    this.#memory = new ResultStore<Entry<Value>>({
      capacity,
      maxBytes,
      sizeOf: sizeOf === undefined ? undefined : ({ value }) => sizeOf(value),
      onEvict: (id, { value }) => {
        this.#removeEvicted(id);
        onEvict?.(id, value);
      },
    });
  }

  /**
   * Opens a folder and reads its entries. The folder is created if it does not exist. Other files in the folder are not
   * changed, but are reported in the log.
   * @throws {ValueError} if the capacity or the number of bytes is out of range, or `maxBytes` is given without
   *   `sizeOf`
   * @throws {DataValidationError} if another process uses the folder (the message names both), or the folder cannot be
   * read or written
   */
  static async open<Value = unknown>(
    folder: string,
    options: FileResultStoreOptions<Value> = {},
  ): Promise<FileResultStore<Value>> {
    assertKnownOptions('FileResultStore.open', options, FILE_RESULT_STORE_OPTION_NAMES);
    const store = new FileResultStore<Value>(path.resolve(folder), options);
    await store.#open();
    return store;
  }

  /** The number of entries. */
  get size(): number {
    return this.#memory.size;
  }

  /** The maximum number of entries. */
  get capacity(): number {
    return this.#memory.capacity;
  }

  /**
   * Returns the value for an ID and marks the value as used; undefined if there is no value.
   * @throws {DataValidationError} if the file of the entry was damaged or edited before the folder was opened
   */
  get(id: string): Value | undefined {
    const entry = this.#memory.get(id);
    if (entry === undefined && this.#damaged.has(id)) throw damagedEntry(id, this.#fileOf(id), this.#damaged.get(id));
    if (entry === undefined) return undefined;
    const now = this.#clock();
    if (this.#lock !== undefined && now - entry.touchedAt >= TOUCH_MILLIS) this.#touch(id, entry.value, now);
    return entry.value;
  }

  /**
   * Adds or replaces a value and marks the value as used. Resolves when the value is on disk.
   * @throws {ValueError} if the ID is not a file name (letters, digits, `.`, `-`, `_`; at most 128), or the value is
   *   not JSON
   * @throws {DataValidationError} if the file cannot be written or the store is closed; the old entry stays
   */
  async set(id: string, value: Value): Promise<void> {
    this.#assertOpen();
    if (!isSafeId(id)) {
      throw invalidParameter('id', 'be a file name of at most 128 letters, digits, dots, dashes and underscores', id);
    }
    const text = requireText(id, value);
    await this.#files.run(id, async () => {
      await writeFileAtomic(this.#fileOf(id), text);
      this.#damaged.delete(id);
      this.#memory.set(id, { value, touchedAt: this.#clock() });
    });
  }

  /** Returns whether there is a value for the ID, even if the value is damaged. Does not mark the value as used. */
  has(id: string): boolean {
    return this.#memory.has(id) || this.#damaged.has(id);
  }

  /**
   * Removes a value and its file. Returns whether the value existed.
   * @throws {DataValidationError} if the file cannot be removed or the store is closed
   */
  async delete(id: string): Promise<boolean> {
    this.#assertOpen();
    return this.#files.run(id, async () => {
      if (!this.has(id)) return false;
      await this.#removeFile(id);
      this.#memory.delete(id);
      this.#damaged.delete(id);
      return true;
    });
  }

  /** Returns all current entries, least recently used first. */
  entries(): (readonly [id: string, value: Value])[] {
    return this.#memory.entries().map(([id, { value }]) => [id, value] as const);
  }

  /** Waits for pending writes, and lets another process use the folder. Entries in memory can still be read. */
  async close(): Promise<void> {
    const lock = this.#lock;
    this.#lock = undefined;
    await this.#files.idle();
    await lock?.release();
  }

  async #open(): Promise<void> {
    await makeFolder(this.folder).catch((cause: unknown) => {
      throw cannotUse(this.folder, 'be created', cause);
    });
    this.#lock = await lockFolder(this.folder);
    try {
      await this.#read();
    } catch (cause) {
      await this.close();
      throw cannotUse(this.folder, 'be read', cause);
    }
  }

  async #read(): Promise<void> {
    const listed = await readdir(this.folder, { withFileTypes: true });
    const names = listed.filter((one) => one.isFile() && one.name !== LOCK_NAME).map(({ name }) => name);
    const timeOf = async (name: string): Promise<number> => {
      const found = await stat(path.join(this.folder, name)).catch(() => undefined);
      return found?.mtimeMs ?? 0;
    };
    const times = await Promise.all(names.map((name) => this.#files.run(name, () => timeOf(name))));
    const timed = names.map((name, index) => ({ name, touchedAt: times[index] ?? 0 }));
    timed.sort((a, b) => a.touchedAt - b.touchedAt);
    // Only a few files are read at once, so that memory holds at most the content of the store plus these files.
    for (let next = 0; next < timed.length; next += FILES_AT_ONCE) {
      const some = timed.slice(next, next + FILES_AT_ONCE);
      const entries = await Promise.all(
        some.map(({ name, touchedAt }) => this.#files.run(name, () => this.#readFile(name, touchedAt))),
      );
      for (const entry of entries) if (entry !== undefined) this.#memory.set(...entry);
    }
    await this.#files.idle();
    if (this.#unchecked > 0) warnOfNoChecksum(this.folder, this.#unchecked);
  }

  async #readFile(name: string, touchedAt: number): Promise<readonly [id: string, entry: Entry<Value>] | undefined> {
    const file = path.join(this.folder, name);
    if (UNFINISHED.test(name)) {
      await rm(file, { force: true });
      return undefined;
    }
    const id = idOfFileName(name);
    const stored = id === undefined ? undefined : entryInFileText(id, await textOf(file), file);
    if (id === undefined || stored === undefined) {
      getLogger().warn(`'${file}' is not a result of evenhand or cannot be read; it is ignored`);
      return undefined;
    }
    if ('cause' in stored) {
      this.#damaged.set(id, stored.cause);
      getLogger().warn(damagedEntry(id, file, stored.cause).message);
      return undefined;
    }
    if (!stored.hasChecksum) this.#unchecked++;
    return [id, { value: stored.value as Value, touchedAt }];
  }

  /** Updates the time of last use on disk. */
  #touch(id: string, value: Value, now: number): void {
    this.#memory.set(id, { value, touchedAt: now });
    this.#files
      .run(id, async () => {
        if (this.#memory.has(id)) await utimes(this.#fileOf(id), now / 1000, now / 1000);
      })
      .catch((error: unknown) => {
        getLogger().warn(`cannot update the time of '${this.#fileOf(id)}': ${String(error)}`);
      });
  }

  #removeEvicted(id: string): void {
    this.#files
      .run(id, async () => {
        // The entry may have been set again in the meantime.
        if (!this.#memory.has(id)) await this.#removeFile(id);
      })
      .catch((error: unknown) => {
        getLogger().warn(String(error));
      });
  }

  async #removeFile(id: string): Promise<void> {
    await rm(this.#fileOf(id), { force: true }).catch((cause: unknown) => {
      throw cannotUse(this.#fileOf(id), 'be removed', cause);
    });
  }

  #fileOf(id: string): string {
    return path.join(this.folder, fileNameOf(id));
  }

  #assertOpen(): void {
    if (this.#lock !== undefined) return;
    throw new DataValidationError(`The store in '${this.folder}' is closed.`, {
      code: 'invalid-state',
      context: { path: this.folder },
      suggestion: 'Open the folder again.',
    });
  }
}

/**
 * Returns the error for a damaged entry. The error names the file but does not include its content, because the content
 * cannot be trusted.
 */
function damagedEntry(id: string, file: string, cause: unknown): DataValidationError {
  const reason = cause instanceof DataValidationError ? cause.message : `'${file}' is no longer JSON.`;
  return new DataValidationError(`The stored entry '${id}' is damaged. ${reason}`, {
    code: 'invalid-state',
    context: { path: file, id, problem: 'checksum' },
    suggestion: 'Restore the file from a backup and open the folder again, or delete the entry.',
    cause,
  });
}

function requireText(id: string, value: unknown): string {
  try {
    const text = fileTextOf(id, value);
    if (text !== undefined) return text;
  } catch (cause) {
    // The value contains a cycle, or a number that JSON cannot represent.
    throw invalidParameter('value', 'be JSON', (cause as Error).message);
  }
  throw invalidParameter('value', 'be JSON', typeof value);
}

/**
 * Creates a folder and its missing parent folders. The `recursive` option of Node.js retries indefinitely if the system
 * reports an existing folder as missing (/proc).
 * @throws the error of the system, with its code
 */
async function makeFolder(folder: string): Promise<void> {
  if (await isFolder(folder)) return;
  await makeFolder(path.dirname(folder));
  await mkdir(folder).catch(async (cause: unknown) => {
    // Another process may have created the folder in the meantime.
    if (!(await isFolder(folder))) throw cause;
  });
}

/**
 * Returns whether a folder exists.
 * @throws if the system does not answer this, because a part of the path is a file or is not readable
 */
async function isFolder(location: string): Promise<boolean> {
  try {
    return (await stat(location)).isDirectory();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT' && path.dirname(location) !== location) return false;
    throw cause;
  }
}
