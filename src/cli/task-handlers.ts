import type { TaskHandler } from '../io/queue/task-queue.ts';

/** What `evenhand worker` does, by the kind of task. A handler is loaded with its first task. */
export const TASK_HANDLERS: Readonly<Record<string, TaskHandler>> = {
  'train-shard': async (task, context) => {
    const { trainShardTask } = await import('../training/networks/shard-task.ts');
    return trainShardTask(task, context);
  },
};
