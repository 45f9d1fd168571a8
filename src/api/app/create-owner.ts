import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';

import type { Logger } from 'pino';

import { DataValidationError } from '../../exceptions/index.ts';
import { getLogger } from '../../internal/logger.ts';
import { machineClock } from '../../internal/machine-clock.ts';
import { DEFAULT_LIMITS, type Owner } from '../context/service-context.ts';
import { createSpoolRoot, removeUploadsOf } from '../intake/spool-folder.ts';
import { createJobRunner } from '../jobs/create-job-runner.ts';
import { createRateLimiter } from '../middleware/service-middleware.ts';
import { STORE_BOUND } from '../runs/kept-runs.ts';
import { LocalRuns } from '../runs/local-runs.ts';
import type { RunRecord } from '../runs/runs.ts';
import { FileResultStore, ResultStore } from '../store/index.ts';
import { LocalStreams } from '../streams/local-streams.ts';
import { FileWebhookStore } from '../webhooks/file-webhook-store.ts';
import { WebhookDeliveries } from '../webhooks/webhook-deliveries.ts';
import { type AppOptions, settingsOf } from './app-options.ts';

/** The default number of runs that may wait for a thread. */
const QUEUE = 256;

/** The options with the default numbers of threads and waiting runs. */
type FilledOptions = AppOptions & { readonly threads: number; readonly queue: number };

/**
 * Creates the store, the threads, the runs and the rate limiter.
 * @param options the options, already checked by `settingsOf`
 * @throws {DataValidationError} if the folder of the store cannot be used, or if Redis does not answer
 * @throws {ConfigValidationError} if the URL of Redis is not valid
 * @throws {DependencyError} if the packages for Redis are not installed
 */
export async function createOwner(options: AppOptions, logger: Logger = getLogger()): Promise<Owner> {
  const { redis, threads = Math.min(2, availableParallelism()), queue = QUEUE } = options;
  if (redis === undefined) return createLocalOwner({ ...options, threads, queue }, logger);
  const { createSharedOwner } = await import('./create-shared-owner.ts');
  const { webhooks, basePath } = settingsOf(options);
  return createSharedOwner({ ...options, redis, threads, queue, webhooks, basePath }, logger);
}

async function createLocalOwner(options: FilledOptions, logger: Logger): Promise<Owner> {
  const { threads, queue, rateLimit } = options;
  const { clock = machineClock, createId = randomUUID, storeFolder } = options;
  const spool = await createSpoolRoot();
  let opened: FileResultStore<RunRecord> | undefined;
  const release = async (): Promise<void> => {
    await opened?.close();
    await spool.remove();
  };
  try {
    if (storeFolder !== undefined && options.store === undefined) {
      opened = await FileResultStore.open<RunRecord>(storeFolder, STORE_BOUND);
    }
    const store = options.store ?? opened ?? new ResultStore<RunRecord>(STORE_BOUND);
    const filesFolder = path.join(storeFolder ?? spool.path, 'files');
    const runner = createJobRunner({ threads, queue, logger });
    const runs = new LocalRuns({ store, runner, filesFolder, clock, createId, logger });
    await runs.start();
    const streams = new LocalStreams({
      folder: storeFolder === undefined ? undefined : path.join(storeFolder, 'streams'),
      maxStreams: options.limits?.streams ?? DEFAULT_LIMITS.streams,
      clock,
      createId,
      logger,
    });
    await streams.start();
    const { webhooks, basePath } = settingsOf(options);
    const webhookSender = new WebhookDeliveries({
      ...webhooks,
      runs,
      store: storeFolder === undefined ? undefined : new FileWebhookStore(path.join(storeFolder, 'webhooks'), logger),
      basePath,
      clock,
      logger,
    });
    await webhookSender.start();
    return {
      runs,
      streams,
      webhookSender,
      limiter: rateLimit === undefined ? null : createRateLimiter(rateLimit),
      spoolFolder: spool.path,
      removeUploadsOf: (pid) => removeUploadsOf(spool.path, pid, { isInUse: (folder) => runs.hasInput(folder) }),
      isBusy: () => runner.queued + runner.running > 0,
      close: async (drainMillis) => {
        await Promise.all([runs.close(drainMillis), streams.close()]);
        await webhookSender.close();
        await release();
      },
    };
  } catch (error) {
    await release();
    throw error;
  }
}

/**
 * Checks the folders that a service reads before it starts. A missing monitor folder only logs a warning, because it
 * may be created later.
 * @throws {DataValidationError} if a path is not a folder, or if `llmFolder` does not exist
 */
export function checkFolders({ monitorFolder, llmFolder }: AppOptions, logger: Logger): void {
  if (monitorFolder !== undefined && !isFolder(monitorFolder, 'monitorFolder')) {
    logger.warn(
      `The folder '${monitorFolder}' does not exist yet. Run 'evenhand monitor --output-dir' to fill /dashboard.`,
    );
  }
  if (llmFolder === undefined || isFolder(llmFolder, 'llmFolder')) return;
  throw new DataValidationError(`The folder for files of /llm-eval, '${llmFolder}', does not exist.`, {
    code: 'unreadable-file',
    context: { parameter: 'llmFolder', path: llmFolder },
    suggestion: 'Create it, or name another folder.',
  });
}

/**
 * Returns whether a folder exists.
 * @throws {DataValidationError} if the path is not a folder or cannot be read
 */
function isFolder(location: string, parameter: string): boolean {
  try {
    if (statSync(location).isDirectory()) return true;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return false;
    throw noFolder(location, parameter, `cannot be used: the system says ${String(code)}`, cause);
  }
  throw noFolder(location, parameter, 'is not a folder');
}

function noFolder(location: string, parameter: string, problem: string, cause?: unknown): DataValidationError {
  return new DataValidationError(`'${location}' ${problem}.`, {
    context: { parameter, path: location },
    suggestion: 'Name a folder.',
    cause,
  });
}
