import { mkdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';

import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';

import { isSafeId } from '../store/result-store.ts';
import { unknownRun } from '../problem/service-problem.ts';
import type { StoredFile } from './service-task.ts';

/** The disk space of local copies. The least recently used copy is removed first. */
const MAX_BYTES = 2 ** 30;

/** Options of {@link FileCache}. */
export interface FileCacheOptions {
  readonly folder: string;
  /** Writes a stored file of a run to a new local file. */
  readonly fetch: (runId: string, file: StoredFile, target: string) => Promise<void>;
  readonly logger: Logger;
  /** @defaultValue 1 GiB */
  readonly maxBytes?: number | undefined;
}

/** Copies of the files of runs on this machine, which are fetched when they are needed. */
export class FileCache {
  readonly #options: FileCacheOptions;
  readonly #sizes: LRUCache<string, number>;
  readonly #fetching = new Map<string, Promise<void>>();
  #count = 0;

  constructor(options: FileCacheOptions) {
    this.#options = options;
    const { maxBytes = MAX_BYTES } = options;
    this.#sizes = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: (bytes) => Math.min(maxBytes, Math.max(1, bytes)),
      // A client that is reading the file keeps it open.
      disposeAfter: (_bytes, copy) => {
        void this.#removePath(copy);
      },
    });
  }

  /**
   * Returns the path of a file of a run.
   * @throws {ServiceProblem} 404 if the file is not there any more
   */
  async pathOf(runId: string, file: StoredFile): Promise<string> {
    if (!isSafeId(runId)) throw unknownRun(runId);
    const copy = path.join(this.#options.folder, runId, file.digest, file.name);
    if (this.#sizes.get(copy) !== undefined) return copy;
    const fetching = this.#fetching.get(copy) ?? this.#fetch(runId, file, copy);
    this.#fetching.set(copy, fetching);
    try {
      await fetching;
    } finally {
      this.#fetching.delete(copy);
    }
    return copy;
  }

  /** Removes the copies of a run's files. Never rejects. */
  async remove(runId: string): Promise<void> {
    if (!isSafeId(runId)) return;
    const folder = path.join(this.#options.folder, runId);
    const copies = [...this.#sizes.keys()].filter((copy) => copy.startsWith(folder + path.sep));
    if (copies.length === 0) return;
    for (const copy of copies) this.#sizes.delete(copy);
    await this.#removePath(folder);
  }

  async #fetch(runId: string, file: StoredFile, copy: string): Promise<void> {
    await mkdir(path.dirname(copy), { recursive: true });
    const unfinished = `${copy}.${String(++this.#count)}`;
    try {
      await this.#options.fetch(runId, file, unfinished);
      await rename(unfinished, copy);
    } catch (error) {
      await this.#removePath(unfinished);
      throw error;
    }
    this.#sizes.set(copy, file.bytes);
  }

  async #removePath(target: string): Promise<void> {
    await rm(target, { recursive: true, force: true, maxRetries: 2 }).catch((error: unknown) => {
      this.#options.logger.warn({ err: error, path: target }, 'a copy of a file cannot be removed');
    });
  }
}
