import { AsyncLocalStorage } from 'node:async_hooks';

import { DataValidationError } from '../exceptions/index.ts';

/** What a DuckDB that is opened inside {@link withDuckDbLimits} may use. */
export interface DuckDbLimits {
  /** Mebibytes; a query that needs more is refused. Nothing is moved to a disk. */
  readonly memoryMegabytes: number;
  readonly threads: number;
  /**
   * Interrupts the queries at work.
   * @defaultValue none
   */
  readonly signal?: AbortSignal | undefined;
}

// Of the calls and not of the thread, so that two runs on one thread keep their own.
const storage = new AsyncLocalStorage<DuckDbLimits>();

/** Runs work whose databases have these limits; outside of it they have DuckDB's own, most of the machine's memory. */
export function withDuckDbLimits<T>(limits: DuckDbLimits, work: () => Promise<T>): Promise<T> {
  return storage.run(limits, work);
}

/** The limits of the work that calls; undefined outside of {@link withDuckDbLimits}. */
export function currentDuckDbLimits(): DuckDbLimits | undefined {
  return storage.getStore();
}

/** Limits as DuckDB is configured; without a folder to spill to, it says where memory ends. */
export function limitSettings(limits: DuckDbLimits | undefined): Record<string, string> {
  if (limits === undefined) return {};
  const { memoryMegabytes, threads } = limits;
  return { memory_limit: `${String(memoryMegabytes)}MiB`, threads: String(threads), temp_directory: '' };
}

/** What a query within limits failed with: a lack of memory in our words, anything else as it is. */
export function withinLimits(cause: unknown): unknown {
  const limits = currentDuckDbLimits();
  const isOutOfMemory = cause instanceof Error && cause.message.startsWith('Out of Memory Error');
  if (limits === undefined || !isOutOfMemory) return cause;
  const { memoryMegabytes } = limits;
  return new DataValidationError(
    `The data are too large for this service: their query needs more than ${String(memoryMegabytes)} MiB of memory.`,
    {
      context: { memoryMegabytes },
      suggestion: 'Send fewer rows, groups or columns, or raise the memory of the service.',
      cause,
    },
  );
}
