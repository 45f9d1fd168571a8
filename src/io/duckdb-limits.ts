import { AsyncLocalStorage } from 'node:async_hooks';

import { DataValidationError } from '../exceptions/index.ts';

/** The limits of a DuckDB database opened within {@link withDuckDbLimits}. */
export interface DuckDbLimits {
  /** The memory limit in mebibytes. A query that needs more memory fails, because nothing is spilled to disk. */
  readonly memoryMegabytes: number;
  readonly threads: number;
  /**
   * A signal that interrupts running queries.
   * @defaultValue none
   */
  readonly signal?: AbortSignal | undefined;
}

// Async storage lets concurrent calls on one thread have separate limits.
const storage = new AsyncLocalStorage<DuckDbLimits>();

/**
 * Runs work, and applies limits to all databases that the work opens. Without limits, DuckDB may use most of the
 * machine's memory.
 */
export function withDuckDbLimits<T>(limits: DuckDbLimits, work: () => Promise<T>): Promise<T> {
  return storage.run(limits, work);
}

/** Returns the current limits; undefined outside of {@link withDuckDbLimits}. */
export function currentDuckDbLimits(): DuckDbLimits | undefined {
  return storage.getStore();
}

/**
 * Returns limits as settings of DuckDB. Because there is no folder for temporary data, a query that needs more memory
 * fails.
 */
export function limitSettings(limits: DuckDbLimits | undefined): Record<string, string> {
  if (limits === undefined) return {};
  const { memoryMegabytes, threads } = limits;
  return { memory_limit: `${String(memoryMegabytes)}MiB`, threads: String(threads), temp_directory: '' };
}

/** Converts the error of a query: an out-of-memory error gets a clear message, other errors are unchanged. */
export function withinLimits(cause: unknown): unknown {
  const limits = currentDuckDbLimits();
  const isOutOfMemory = cause instanceof Error && cause.message.startsWith('Out of Memory Error');
  if (limits === undefined || !isOutOfMemory) return cause;
  const { memoryMegabytes } = limits;
  return new DataValidationError(
    `The data are too large for this service: the query needs more than ${String(memoryMegabytes)} MiB of memory.`,
    {
      code: 'data-too-large',
      context: { memoryMegabytes },
      suggestion: 'Send fewer rows, groups or columns, or raise the memory of the service.',
      cause,
    },
  );
}
