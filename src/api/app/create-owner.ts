import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import path from 'node:path';

import type { Logger } from 'pino';

import { getLogger } from '../../internal/logger.ts';
import { machineClock } from '../../internal/machine-clock.ts';
import type { SpoolFolder } from '../intake/intake.ts';
import { removeUploadsOf } from '../intake/remove-uploads-of.ts';
import { createSpoolRoot } from '../intake/spool-folder.ts';
import { createJobRunner } from '../jobs/create-job-runner.ts';
import { createMemoryRateLimiter } from '../middleware/memory-rate-limiter.ts';
import { createLocalRuns } from '../runs/local-runs.ts';
import type { RunRecord } from '../runs/run-record.ts';
import { STORE_BOUND } from '../runs/store-bound.ts';
import { FileResultStore, ResultStore } from '../store/index.ts';
import type { AppOptions } from './app-options.ts';
import type { RateLimiter } from './service-context.ts';
import type { Runs } from '../runs/runs.ts';

/** What exists once for the whole service, whichever process answers. */
export interface Owner {
  readonly runs: Runs;
  readonly limiter: RateLimiter | null;
  /** Where uploads wait for their job. */
  readonly spoolFolder: string;
  /** Removes what a process that has ended had received and handed to no run. Never rejects. */
  removeUploadsOf(pid: number): Promise<void>;
  /** Ends the work as {@link ServiceApp.close} does. */
  close(drainMillis: number): Promise<void>;
}

/** Runs that may wait for a thread. */
const QUEUE = 256;

/**
 * Makes the store, the threads, the runs and the limiter.
 * @param options checked by `settingsOf`
 * @throws {DataValidationError} for a store's folder that cannot be used
 */
export async function createOwner(options: AppOptions, logger: Logger = getLogger()): Promise<Owner> {
  const { threads = Math.min(2, availableParallelism()), queue = QUEUE, rateLimit } = options;
  const { clock = machineClock, createId = randomUUID, storeFolder } = options;
  const spool = await createSpoolRoot();
  const opened =
    storeFolder === undefined || options.store !== undefined ? undefined : await openStore(storeFolder, spool);
  const release = async (): Promise<void> => {
    await opened?.close();
    await spool.remove();
  };
  try {
    const store = options.store ?? opened ?? new ResultStore<RunRecord>(STORE_BOUND);
    const filesFolder = path.join(storeFolder ?? spool.path, 'files');
    const runner = createJobRunner({ threads, queue, logger });
    const runs = createLocalRuns({ store, runner, filesFolder, clock, createId, logger });
    await runs.start();
    return {
      runs,
      limiter: rateLimit === undefined ? null : createMemoryRateLimiter(rateLimit),
      spoolFolder: spool.path,
      removeUploadsOf: (pid) => removeUploadsOf(spool.path, pid, { isInUse: (folder) => runs.hasInput(folder) }),
      close: async (drainMillis) => {
        await runs.close(drainMillis);
        await release();
      },
    };
  } catch (error) {
    await release();
    throw error;
  }
}

async function openStore(folder: string, spool: SpoolFolder): Promise<FileResultStore<RunRecord>> {
  try {
    return await FileResultStore.open<RunRecord>(folder, STORE_BOUND);
  } catch (error) {
    await spool.remove();
    throw error;
  }
}
