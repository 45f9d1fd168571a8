import type { Command } from 'commander';

import type { TaskEvent } from '../../io/queue/do-task.ts';
import type { TaskWorker } from '../../io/queue/task-worker.ts';
import type { WorkerRequest } from '../../schemas/worker.ts';
import { defineCommand } from '../define-command.ts';
import { formatNumber } from '../../internal/format.ts';
import { type OutputOptions, print } from '../output.ts';
import { assertNoPassword, REDIS_URL } from '../redis-url.ts';
import { endSoon, prepareServiceLogs, stopAtSignals } from '../stoppable.ts';
import { createTaskHandlers, TASK_KINDS } from '../task-handlers.ts';

/** Returns the command `evenhand worker`. */
export function workerCommand(): Command {
  return defineCommand({
    name: 'worker',
    isOpenEnded: true,
    options: `
--redis <url>  Redis server with the queue: ${REDIS_URL}
--concurrency <n>  number of tasks that are done at the same time (default: the number of cores)
--kinds <names>  comma-separated kinds of tasks to take: ${TASK_KINDS.join(', ')} (default: all)
--redis-prefix <name>  first part of all keys in Redis, as of 'evenhand serve' (default: evenhand)
--llm-dir <folder>  folder with the files that configurations sent to /llm-eval of the service may name
--lock-seconds <n>  seconds after which a task is taken from a worker that does not answer (default: 30)
--drain-seconds <n>  seconds that running tasks have to finish when the worker stops, before they are given back to the queue (default: 30)`,
    required: ['redis'],
    schema: async () => (await import('../../schemas/worker.ts')).workerSchema,
    help: `
Examples:
  A worker on this machine, and a training that uses it:
  $ evenhand worker --redis redis://127.0.0.1:6379
  $ evenhand train-regularized --csv wages.csv --target wage_above_median --sensitive gender \\
      --etas auto --queue redis://127.0.0.1:6379

  On another machine, with two tasks at a time, and a password that nobody can read from the process list:
  $ EVENHAND_REDIS_PASSWORD_FILE=/run/secrets/redis evenhand worker --redis rediss://worker@queue.example:6379 \\
      --concurrency 2

Start any number of workers, on any number of machines, with the version of evenhand that the callers have. A task
whose worker is lost is taken over by another one after --lock-seconds, within twice this time. A task that ends its
worker four times is quarantined.
A run of 'evenhand serve --redis' is executed in threads of the worker. The keys of providers of language models, and
EVENHAND_LLM_ALLOW_LIVE, are read from the environment of the worker.
Redis needs the settings 'appendonly yes' and 'maxmemory-policy noeviction'. Every program that can write to Redis can give
work to the workers: use a password, and do not let other machines reach the server.
Logs go to stderr: on a terminal, the start and the end of each task, otherwise warnings. EVENHAND_LOG_LEVEL,
EVENHAND_LOG_FILE and EVENHAND_JSON_LOGS change that.
Ctrl-C or SIGTERM stops the worker: it takes no further tasks, finishes the running ones within --drain-seconds, and
gives the others back. A second Ctrl-C ends it at once.
Exit codes: 0 stopped, 2 invalid options or Redis does not answer, 130 ended at once.`,
    prepare: prepareServiceLogs,
    run: runWorkerCommand,
  });
}

async function runWorkerCommand(options: OutputOptions, request: WorkerRequest): Promise<void> {
  const { redis, lockSeconds, drainSeconds } = request;
  await assertNoPassword('redis', redis);
  const [{ startTaskWorker }, { availableParallelism }] = await Promise.all([
    import('../../io/queue/task-worker.ts'),
    import('node:os'),
  ]);
  const kinds = await chosenKinds(request.kinds);
  const concurrency = request.concurrency ?? availableParallelism();
  const onEvent = await eventLog();
  const { redisPrefix, llmDir } = request;
  const { handlers: all, close } = await createTaskHandlers({ redis, redisPrefix, concurrency, llmDir });
  const handlers = Object.fromEntries(Object.entries(all).filter(([kind]) => kinds.includes(kind)));
  const lockMillis = Math.round(1000 * lockSeconds);
  const worker = await startTaskWorker({ redis, prefix: redisPrefix, handlers, concurrency, lockMillis, onEvent });
  const release = stopAtSignals(
    () => worker.close({ drainMillis: Math.round(drainSeconds * 1000) }),
    `running tasks have ${formatNumber(drainSeconds, 0)} s to finish.`,
    options,
  );
  await reportStart(worker, { kinds, concurrency }, options.json === true);
  try {
    await worker.done;
  } finally {
    release();
    endSoon();
  }
  await close();
}

async function chosenKinds(given: readonly string[] | undefined): Promise<readonly string[]> {
  if (given === undefined) return TASK_KINDS;
  const { oneOf } = await import('../../internal/arguments.ts');
  return given.map((kind) => oneOf('kinds', kind, TASK_KINDS));
}

async function reportStart(
  { name, redis }: TaskWorker,
  { kinds, concurrency }: { readonly kinds: readonly string[]; readonly concurrency: number },
  isJson: boolean,
): Promise<void> {
  if (isJson) {
    process.stdout.write(`${JSON.stringify({ worker: name, redis, pid: process.pid, kinds, concurrency })}\n`);
    return;
  }
  const { VERSION } = await import('../../internal/version.ts');
  print(
    `evenhand ${VERSION} takes tasks from ${redis}: ${kinds.join(', ')}, ${String(concurrency)} at a time (worker ${name}; stop with Ctrl-C)`,
  );
}

/** How the log describes what happened to a task. The events with a warning need attention. */
const EVENTS: Readonly<Record<TaskEvent['type'], { readonly text: string; readonly isWarning?: true }>> = {
  started: { text: 'started' },
  done: { text: 'done' },
  failed: { text: 'failed', isWarning: true },
  retried: { text: 'failed, and is tried again', isWarning: true },
  cancelled: { text: 'cancelled' },
  returned: { text: 'given back to the queue' },
  lost: { text: 'lost to another worker, because this one did not answer in time', isWarning: true },
  quarantined: { text: 'quarantined, because it ended its worker several times', isWarning: true },
};

/** Returns a function that logs what happens to tasks. */
async function eventLog(): Promise<(event: TaskEvent) => void> {
  const { getLogger } = await import('../../internal/logger.ts');
  return ({ type, kind, id, millis, error }) => {
    const { text, isWarning } = EVENTS[type];
    const time = type === 'started' ? '' : ` after ${formatNumber(millis / 1000, 1)} s`;
    const reason = error instanceof Error ? `: ${error.message}` : '';
    getLogger()[isWarning === true ? 'warn' : 'info']({ task: id }, `Task ${kind} ${text}${time}${reason}`);
  };
}
