import type { Logger } from 'pino';

import { DataValidationError } from '../../exceptions/index.ts';
import { cannotKeep, damagedRun } from '../problem/run-problems.ts';
import type { ResultStoreLike } from '../store/result-store.ts';
import type { RunFolders } from './run-folders.ts';
import { endedRecord, type RunRecord } from './run-record.ts';

/** What a record takes beside its body, roughly. */
const RECORD_BYTES = 1024;

/** What the records that the service keeps have at most in memory: 256 MiB, whatever the size of one answer. */
export const STORE_BOUND = Object.freeze({
  mostBytes: 256 * 2 ** 20,
  sizeOf: ({ body }: RunRecord): number => RECORD_BYTES + (body?.length ?? 0),
});

/** Options of {@link KeptRuns}. */
export interface KeptRunsOptions {
  readonly store: ResultStoreLike<RunRecord>;
  readonly folders: RunFolders;
  readonly logger: Logger;
  /** How many runs are remembered whose end the store could not keep. */
  readonly mostUnstored: number;
}

/** The runs in the store, and the files of those that the store has dropped: they are dropped too. */
export class KeptRuns {
  readonly #options: KeptRunsOptions;
  /** Runs whose end could not be stored; they outweigh what the store has of them. */
  readonly #unstored = new Map<string, RunRecord>();
  /** Ended runs that have files. */
  readonly #withFiles = new Set<string>();
  #isSweepDue = false;

  constructor(options: KeptRunsOptions) {
    this.#options = options;
  }

  /** @throws {ServiceProblem} 503 where the store fails, which is logged */
  async add(record: RunRecord): Promise<void> {
    const { store, logger } = this.#options;
    const { runId } = record;
    try {
      await store.set(runId, record);
    } catch (error) {
      logger.error({ err: error, runId }, 'the store cannot keep a run');
      throw cannotKeep(runId, error);
    }
    this.#unstored.delete(runId);
    if (record.files.length > 0) this.#withFiles.add(runId);
    this.#sweepSoon();
  }

  /** Keeps how a run ended. Where the store fails, the run has failed for that, which is remembered in memory. */
  async addEnd(record: RunRecord): Promise<RunRecord> {
    try {
      await this.add(record);
      return record;
    } catch (error) {
      const problem = cannotKeep(record.runId, error).toJSON();
      const kept = record.body === null ? record : endedRecord(record, 'failed', problem, record.finishedAt ?? '');
      this.#unstored.set(kept.runId, kept);
      const [oldest] = this.#unstored.keys();
      if (this.#unstored.size > this.#options.mostUnstored && oldest !== undefined) this.#unstored.delete(oldest);
      return kept;
    }
  }

  /** @throws {ServiceProblem} 500 where the stored entry is damaged, which is logged */
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

  /** Whether the store has a run, also one that is damaged and therefore not among the records. */
  async has(runId: string): Promise<boolean> {
    return this.#options.store.has(runId);
  }

  /** @throws {ServiceProblem} 503 where the store fails, which is logged */
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

  /** All records, those first that were used the longest time ago. */
  records(): RunRecord[] {
    const stored = [...this.#options.store.entries()].map(([, record]) => record);
    return [...stored.filter(({ runId }) => !this.#unstored.has(runId)), ...this.#unstored.values()];
  }

  /** Removes the files of runs that the store has dropped. A store tells nobody what it drops, so it is asked. */
  async sweep(): Promise<void> {
    const { store, folders } = this.#options;
    for (const runId of [...this.#withFiles]) {
      if (await store.has(runId)) continue;
      this.#withFiles.delete(runId);
      await folders.remove(runId);
    }
  }

  /** Notes which runs of earlier processes have files, and gives them. */
  noteFiles(): ReadonlySet<string> {
    for (const { runId, files } of this.records()) if (files.length > 0) this.#withFiles.add(runId);
    return this.#withFiles;
  }

  /** Sweeps once for all that is kept in one turn of the event loop, since every answer to a small request is kept too. */
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

/** Whether a store says that an entry is not as it was written. */
function isDamage(error: unknown): boolean {
  return error instanceof DataValidationError && error.context['problem'] === 'checksum';
}
