import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';

import type { Logger } from 'pino';

import { DataValidationError } from '../../exceptions/index.ts';
import { getLogger } from '../../internal/logger.ts';
import { machineClock } from '../../internal/machine-clock.ts';
import type { RateLimiter } from '../context/service-context.ts';
import { createSpoolRoot, removeUploadsOf, type SpoolFolder } from '../intake/spool-folder.ts';
import { createJobRunner } from '../jobs/create-job-runner.ts';
import { createMemoryRateLimiter } from '../middleware/memory-rate-limiter.ts';
import { STORE_BOUND } from '../runs/kept-runs.ts';
import { createLocalRuns } from '../runs/local-runs.ts';
import type { RunRecord } from '../runs/run-record.ts';
import type { Runs } from '../runs/runs.ts';
import { FileResultStore, ResultStore } from '../store/index.ts';
import type { AppOptions } from './app-options.ts';

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

/**
 * Looks at the folders that a service reads, before it begins. A monitor's may be made later, which is told as a warning.
 * @throws {DataValidationError} for what is no folder, and for an `llmFolder` that is not there
 */
export function checkFolders({ monitorFolder, llmFolder }: AppOptions, logger: Logger): void {
  if (monitorFolder !== undefined && !isFolder(monitorFolder, 'monitorFolder')) {
    logger.warn(
      `There is no folder '${monitorFolder}' yet: /dashboard is empty until 'evenhand monitor --output-dir' writes it.`,
    );
  }
  if (llmFolder === undefined || isFolder(llmFolder, 'llmFolder')) return;
  throw new DataValidationError(`The folder '${llmFolder}', which files of /llm-eval may come from, is not there.`, {
    context: { parameter: 'llmFolder', path: llmFolder },
    suggestion: 'Make it, or name another.',
  });
}

/** @throws {DataValidationError} for something else than a folder, or what may not be looked at */
function isFolder(place: string, parameter: string): boolean {
  try {
    if (statSync(place).isDirectory()) return true;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return false;
    throw noFolder(place, parameter, `cannot be used: the system says ${String(code)}`, cause);
  }
  throw noFolder(place, parameter, 'is no folder');
}

function noFolder(place: string, parameter: string, fault: string, cause?: unknown): DataValidationError {
  return new DataValidationError(`'${place}' ${fault}.`, {
    context: { parameter, path: place },
    suggestion: 'Name a folder.',
    cause,
  });
}
