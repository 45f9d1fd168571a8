import type { ProgressEvent } from '../../../src/internal/progress.ts';
import type { RunTaskOptions, Task, TaskData, TaskHandler, TaskQueue } from '../../../src/io/queue/task-queue.ts';

/** A task on a {@link MemoryQueue}. */
interface QueuedTask {
  readonly task: Task;
  readonly callers: Set<RunTaskOptions>;
  readonly controller: AbortController;
  readonly output: Promise<TaskData>;
  readonly begin: () => void;
  state: 'queued' | 'running' | 'ended';
}

/**
 * A queue in memory that several hosts share. A task starts when the test says so, or at once if `isAutomatic` is true.
 * The end of the last caller cancels a task.
 */
export class MemoryQueue implements TaskQueue {
  readonly name = 'a queue in memory';
  readonly tasks = new Map<string, QueuedTask>();
  isAutomatic = false;
  readonly #handlerOf: () => TaskHandler;

  /** @param handlerOf returns the handler that does the next task */
  constructor(handlerOf: () => TaskHandler) {
    this.#handlerOf = handlerOf;
  }

  run(task: Task, options: RunTaskOptions = {}): Promise<TaskData> {
    const { id = '', signal } = options;
    const queued = this.tasks.get(id) ?? this.#add(id, task);
    queued.callers.add(options);
    if (queued.state === 'running') options.onStart?.();
    return new Promise((resolve, reject) => {
      const leave = () => {
        queued.callers.delete(options);
        if (queued.callers.size === 0) {
          queued.controller.abort(signal?.reason);
          if (queued.state === 'queued') queued.state = 'ended';
        }
        reject(signal?.reason as Error);
      };
      if (signal?.aborted === true) leave();
      else signal?.addEventListener('abort', leave, { once: true });
      queued.output.then(resolve, reject);
      if (this.isAutomatic) this.start(id);
    });
  }

  /** Starts a task that waits. */
  start(id: string): void {
    const queued = this.tasks.get(id);
    if (queued?.state !== 'queued') return;
    queued.state = 'running';
    for (const { onStart } of queued.callers) onStart?.();
    queued.begin();
  }

  counts() {
    const states = [...this.tasks.values()].map(({ state }) => state);
    const count = (wanted: string) => states.filter((state) => state === wanted).length;
    return Promise.resolve({ queued: count('queued'), running: count('running') });
  }

  close() {
    return Promise.resolve();
  }

  #add(id: string, task: Task): QueuedTask {
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const controller = new AbortController();
    const onProgress = (event: ProgressEvent) => {
      for (const caller of queued.callers) caller.onProgress?.(event);
    };
    const output = begun
      .then(() => this.#handlerOf()(task, { signal: controller.signal, onProgress }))
      .finally(() => (queued.state = 'ended'));
    output.catch(() => undefined);
    const queued: QueuedTask = { task, callers: new Set(), controller, output, begin, state: 'queued' };
    this.tasks.set(id, queued);
    return queued;
  }
}
