import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';

import type { Logger } from 'pino';

import { DataValidationError } from '../../exceptions/index.ts';
import { cannotKeep, damagedRun, unknownRun } from '../problem/service-problem.ts';
import { isSafeId, type ResultStoreLike } from '../store/result-store.ts';
import { dropOldest, endedRecord, type RunRecord } from './runs.ts';

/** The default format of run IDs. Folders with other names may belong to other programs. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The folders of the uploads that belong to runs. */
export class InputFolders {
  readonly #logger: Logger;
  readonly #inputs = new Set<string>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Registers a folder with an upload as part of a run, until the folder is removed. */
  addInput(folder: string): void {
    this.#inputs.add(path.resolve(folder));
  }

  hasInput(folder: string): boolean {
    return this.#inputs.has(path.resolve(folder));
  }

  async removeInput(folder: string): Promise<void> {
    await this.removeFolder(folder);
    this.#inputs.delete(path.resolve(folder));
  }

  /** Removes a folder and its content. Failures are logged. */
  protected async removeFolder(folder: string): Promise<void> {
    await rm(folder, { recursive: true, force: true, maxRetries: 2 }).catch((error: unknown) => {
      this.#logger.warn({ err: error, folder }, 'a folder cannot be removed');
    });
  }
}

/** The folders of runs' files, `<filesFolder>/<runId>`, and the folders of their uploads. */
export class RunFolders extends InputFolders {
  readonly #filesFolder: string;

  constructor(filesFolder: string, logger: Logger) {
    super(logger);
    this.#filesFolder = path.resolve(filesFolder);
  }

  /**
   * Returns the folder of a run.
   * @throws {ServiceProblem} 404 if the path for the ID would be outside the parent folder
   */
  pathOf(runId: string): string {
    if (!isSafeId(runId)) throw unknownRun(runId);
    return path.join(this.#filesFolder, runId);
  }

  async make(runId: string): Promise<void> {
    await mkdir(this.pathOf(runId), { recursive: true });
  }

  async remove(runId: string): Promise<void> {
    await this.removeFolder(this.pathOf(runId));
  }

  /** Creates the parent folder if necessary, and removes the folders of unknown runs in it. */
  async start(isKnown: (runId: string) => Promise<boolean>): Promise<void> {
    await mkdir(this.#filesFolder, { recursive: true });
    const listed = await readdir(this.#filesFolder, { withFileTypes: true });
    const left = listed.filter((one) => one.isDirectory() && UUID.test(one.name));
    for (const { name } of left) if (!(await isKnown(name))) await this.remove(name);
  }
}

/** The approximate size of a record without its body. */
const RECORD_BYTES = 1024;

/** The memory limit of stored records: 256 MiB. */
export const STORE_BOUND = Object.freeze({
  maxBytes: 256 * 2 ** 20,
  sizeOf: ({ body }: RunRecord): number => RECORD_BYTES + (body?.length ?? 0),
});

/** Options of {@link KeptRuns}. */
export interface KeptRunsOptions {
  readonly store: ResultStoreLike<RunRecord>;
  readonly folders: RunFolders;
  readonly logger: Logger;
  /** The maximum number of remembered runs whose end could not be stored. */
  readonly maxUnstored: number;
}

/** The runs in the store, and their files. When the store drops a run, its files are removed too. */
export class KeptRuns {
  readonly #options: KeptRunsOptions;
  /** Runs whose end could not be stored. These runs take precedence over the store. */
  readonly #unstored = new Map<string, RunRecord>();
  /** The IDs of ended runs that have files. */
  readonly #withFiles = new Set<string>();
  #isSweepDue = false;

  constructor(options: KeptRunsOptions) {
    this.#options = options;
  }

  /**
   * Stores a record.
   * @throws {ServiceProblem} 503 if the store fails; the failure is logged
   */
  async add(record: RunRecord): Promise<void> {
    const { store, logger } = this.#options;
    const { runId } = record;
    try {
      await store.set(runId, record);
    } catch (error) {
      logger.error({ err: error, runId }, 'the store cannot save a run');
      throw cannotKeep(runId, error);
    }
    this.#unstored.delete(runId);
    if (record.files.length > 0) this.#withFiles.add(runId);
    this.#sweepSoon();
  }

  /** Stores the end of a run. If the store fails, the run is marked as failed in memory. */
  async addEnd(record: RunRecord): Promise<RunRecord> {
    try {
      await this.add(record);
      return record;
    } catch (error) {
      const problem = cannotKeep(record.runId, error).toJSON();
      const kept = record.body === null ? record : endedRecord(record, 'failed', problem, record.finishedAt ?? '');
      this.#unstored.set(kept.runId, kept);
      dropOldest(this.#unstored, this.#options.maxUnstored);
      return kept;
    }
  }

  /**
   * Returns the record of a run; undefined if the run is unknown.
   * @throws {ServiceProblem} 500 if the stored entry is damaged; the damage is logged
   */
  async get(runId: string): Promise<RunRecord | undefined> {
    const { store, logger } = this.#options;
    try {
      return this.#unstored.get(runId) ?? (await store.get(runId));
    } catch (error) {
      if (!isDamage(error)) throw error;
      logger.error({ err: error, runId }, 'a stored run is damaged');
      throw damagedRun(runId, error);
    }
  }

  /** Returns whether the store has a run. The result is also true for a damaged run, which `records` omits. */
  async has(runId: string): Promise<boolean> {
    return this.#options.store.has(runId);
  }

  /**
   * Removes a run, and returns whether the run existed.
   * @throws {ServiceProblem} 503 if the store fails; the failure is logged
   */
  async remove(runId: string): Promise<boolean> {
    const wasUnstored = this.#unstored.delete(runId);
    this.#sweepSoon();
    try {
      return (await this.#options.store.delete(runId)) || wasUnstored;
    } catch (error) {
      this.#options.logger.error({ err: error, runId }, 'the store cannot remove a run');
      throw cannotKeep(runId, error);
    }
  }

  /** Returns all records, least recently used first. */
  records(): RunRecord[] {
    const stored = [...this.#options.store.entries()].map(([, record]) => record);
    return [...stored.filter(({ runId }) => !this.#unstored.has(runId)), ...this.#unstored.values()];
  }

  /**
   * Removes the files of runs that the store has dropped. The store does not report which runs it drops, so each run is
   * checked.
   */
  async sweep(): Promise<void> {
    const { store, folders } = this.#options;
    for (const runId of [...this.#withFiles]) {
      if (await store.has(runId)) continue;
      this.#withFiles.delete(runId);
      await folders.remove(runId);
    }
  }

  /** Finds the runs of earlier processes that have files, and returns their IDs. */
  noteFiles(): ReadonlySet<string> {
    for (const { runId, files } of this.records()) if (files.length > 0) this.#withFiles.add(runId);
    return this.#withFiles;
  }

  /**
   * Schedules a search for dropped runs, at most once per turn of the event loop, because results are stored very
   * often.
   */
  #sweepSoon(): void {
    if (this.#withFiles.size === 0 || this.#isSweepDue) return;
    this.#isSweepDue = true;
    setImmediate(() => {
      this.#isSweepDue = false;
      this.sweep().catch((error: unknown) => {
        this.#options.logger.error({ err: error }, 'files of dropped runs cannot be removed');
      });
    });
  }
}

/** Returns whether an error of the store reports an entry that was edited or damaged. */
function isDamage(error: unknown): boolean {
  return error instanceof DataValidationError && error.context['problem'] === 'checksum';
}
