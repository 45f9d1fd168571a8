import type { TaskHandler } from '../io/queue/task-queue.ts';

/** The kinds of tasks that `evenhand worker` does. */
export const TASK_KINDS = ['train-shard', 'service-job', 'service-llm-job'] as const;

/** What the handlers of a worker need. */
export interface TaskHandlerOptions {
  readonly redis: string;
  readonly redisPrefix: string | undefined;
  /** The number of tasks at the same time. */
  readonly concurrency: number;
  /** The folder that must contain all paths of a configuration of `/llm-eval`. */
  readonly llmDir: string | undefined;
}

/** Handlers by the kind of task, and a function that releases what they have opened. */
export interface TaskHandlers {
  readonly handlers: Readonly<Record<(typeof TASK_KINDS)[number], TaskHandler>>;
  readonly close: () => Promise<void>;
}

/**
 * Creates what `evenhand worker` does. A handler is loaded with its first task.
 * @throws {DataValidationError} if `llmDir` is not a folder
 */
export async function createTaskHandlers(options: TaskHandlerOptions): Promise<TaskHandlers> {
  const { redis, redisPrefix, concurrency, llmDir } = options;
  if (llmDir !== undefined) (await import('../api/serve/service-worker.ts')).checkLlmFolder(llmDir);
  let opening: Promise<{ readonly handler: TaskHandler; readonly close: () => Promise<void> }> | undefined;
  const serviceJob: TaskHandler = async (task, context) => {
    opening ??= import('../api/serve/service-worker.ts').then(({ openServiceWorker }) =>
      openServiceWorker({ redis, redisPrefix, threads: concurrency, llmFolder: llmDir }),
    );
    const { handler } = await opening.catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return handler(task, context);
  };
  return {
    handlers: {
      'train-shard': async (task, context) => {
        const { trainShardTask } = await import('../training/networks/shard-task.ts');
        return trainShardTask(task, context);
      },
      'service-job': serviceJob,
      'service-llm-job': serviceJob,
    },
    close: async () => {
      await (await opening?.catch(() => undefined))?.close();
    },
  };
}
