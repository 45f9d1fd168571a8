import type { OnProgress } from '../../internal/progress.ts';

/** A value that JSON can represent. */
export type JsonValue =
  string | number | boolean | null | readonly JsonValue[] | { readonly [name: string]: JsonValue };

/** Values and bytes: the input or the output of a task. */
export interface TaskData {
  readonly values: JsonValue;
  /** Large arrays and files, by name. They cross the network as they are. */
  readonly bytes: Readonly<Record<string, Uint8Array>>;
}

/** A piece of work that any worker can do: its input alone determines its output. */
export interface Task extends TaskData {
  /** The name of the handler that does the work. */
  readonly kind: string;
}

/** Options of {@link TaskQueue.run}. */
export interface RunTaskOptions {
  /**
   * The identifier of the task. A task whose identifier is known is not started again: its result is returned.
   * @defaultValue the SHA-256 of the package's version, the kind and the input
   */
  readonly id?: string | undefined;
  /** Called when a worker has started the task, and again if another worker takes it over. */
  readonly onStart?: (() => void) | undefined;
  readonly onProgress?: OnProgress | undefined;
  /** Cancels the task: it does not start, or the worker is asked to stop it. */
  readonly signal?: AbortSignal | undefined;
}

/** The current load of a queue. */
export interface QueueCounts {
  /** The number of tasks that wait for a worker. */
  readonly queued: number;
  /** The number of tasks that a worker has started. */
  readonly running: number;
}

/**
 * A queue of tasks, which workers do. A task is delivered at least once: if a worker is lost, another one takes the task
 * over. Its result is stored once, under the identifier of the task.
 */
export interface TaskQueue {
  /** The name of the queue in messages. It contains no password. */
  readonly name: string;
  /**
   * Adds a task, and returns its output when a worker has done it. Errors of the package that the handler throws are
   * thrown here with their class, code, context and suggestion.
   * @throws {FairnessToolkitError} if the task fails, or if it ended several workers and was quarantined
   */
  run(task: Task, options?: RunTaskOptions): Promise<TaskData>;
  counts(): Promise<QueueCounts>;
  /** Closes the connections. Tasks of the queue continue. Closing again has no effect. */
  close(): Promise<void>;
}

/** What a handler gets beside its input. */
export interface TaskContext {
  readonly onProgress: OnProgress;
  /** Asks the handler to stop, because the task was cancelled, or because the worker has lost it to another one. */
  readonly signal: AbortSignal;
}

/** Does the tasks of one kind. */
export type TaskHandler = (task: Task, context: TaskContext) => Promise<TaskData>;
