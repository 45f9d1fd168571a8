import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync } from 'node:fs';
import path from 'node:path';

import { openPromptClient } from '../../../src/api/fleet/prompt-client.ts';
import { RedisRuns } from '../../../src/api/fleet/redis-runs.ts';
import { RunDrivers } from '../../../src/api/fleet/run-drivers.ts';
import { type LedgerLimits, RunLedger } from '../../../src/api/fleet/run-ledger.ts';
import { createServiceJobHandler } from '../../../src/api/fleet/service-job.ts';
import { isFinal } from '../../../src/api/runs/runs.ts';
import { machineClock } from '../../../src/internal/machine-clock.ts';
import type { TaskQueue } from '../../../src/io/queue/task-queue.ts';
import { openRedis } from '../../../src/io/redis/open-redis.ts';
import { FakeRunner } from '../runs/fake-runner.ts';
import { createRecorder, type Logged } from '../runs/runs-fixture.ts';
import { MemoryQueue } from './memory-queue.ts';

/** The limits in tests. */
const TEST_LIMITS: LedgerLimits = {
  maxRuns: 3,
  maxBytes: 256 * 2 ** 20,
  keepSeconds: 1000,
  maxQueued: 1000,
  leaseMillis: 15_000,
};

/** Options of {@link openHost}. */
export interface HostOptions {
  readonly url: string;
  /** A folder for the files of the host. */
  readonly root: string;
  readonly prefix: string;
  /** @defaultValue a queue in memory whose tasks this host does */
  readonly queue?: TaskQueue;
  readonly limits?: Partial<LedgerLimits>;
  readonly clock?: () => number;
  readonly createId?: () => string;
}

/** Opens the runs of one host, with a fake runner, and a handler that does tasks with this runner. */
export async function openHost(options: HostOptions) {
  const { url, prefix, clock = machineClock, createId = randomUUID } = options;
  const limits = { ...TEST_LIMITS, ...options.limits };
  const folder = mkdtempSync(path.join(options.root, 'host-'));
  const workFolder = path.join(folder, 'work');
  mkdirSync(workFolder);
  const { logged, logger } = createRecorder();
  const redis = await openRedis(url);
  const prompt = await openPromptClient(redis, logger);
  const runner = new FakeRunner();
  const ledger = new RunLedger(redis.client, prefix, limits);
  const handler = createServiceJobHandler({ redis, ledger, runner, folder: workFolder, llmFolder: null, logger });
  const own = new MemoryQueue(() => handler);
  const runs = new RedisRuns({
    redis,
    prompt,
    subscriber: await redis.open(),
    prefix,
    limits,
    queue: options.queue ?? own,
    runner,
    filesFolder: path.join(folder, 'files'),
    clock,
    createId,
    logger,
  });
  await runs.start();
  const rival = new RunDrivers({
    redis,
    ledger,
    queue: options.queue ?? own,
    leaseMillis: limits.leaseMillis,
    now: () => new Date(clock()).toISOString(),
    logger,
    onLook: () => undefined,
  });
  return {
    runs,
    /** Looks after a run too, as a host does that believes the other one to be lost. */
    rival: async (runId: string) => {
      const stored = await ledger.get(runId, true);
      if (stored !== undefined && !isFinal(stored.record.status)) rival.drive(stored);
    },
    runner,
    handler,
    queue: own,
    ledger,
    redis,
    prompt,
    logged: logged as readonly Logged[],
    /** The names of what jobs have left. */
    workLeft: () => readdirSync(workFolder),
    /** Returns the keys in Redis that match a pattern after the prefix. */
    keys: async (pattern: string) => {
      const found = (await redis.client.call('KEYS', `${prefix}:${pattern}`)) as string[];
      return found.map((key) => key.slice(prefix.length + 1)).sort();
    },
    /** Ends the host without a word, as a crash would. */
    crash: async () => {
      prompt.close();
      await redis.close();
    },
    close: async () => {
      await Promise.all([runs.close(), rival.close(ledger)]);
      prompt.close();
      await redis.close();
    },
  };
}

/** A host of tests. */
export type Host = Awaited<ReturnType<typeof openHost>>;
