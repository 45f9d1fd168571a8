import { availableParallelism, totalmem } from 'node:os';

/** The maximum number of groups of an attribute. Each group adds an object to the result and a line to the report. */
export const MAX_GROUPS = 10_000;

/**
 * The limits of a validation. `maxDraws` is the maximum product of replicates and groups. With this product, a thread
 * computes for several seconds without a pause.
 */
export const VALIDATION_BOUNDS = Object.freeze({ maxGroups: MAX_GROUPS, maxClasses: 100, maxDraws: 2_000_000 });

const MEBIBYTE = 2 ** 20;

/** The minimum memory in MiB that a query needs to read a table. */
const MIN_MEGABYTES = 512;

const MIN_THREADS = 2;

/** The memory and the number of threads that DuckDB may use in one worker thread. */
export interface ThreadLimits {
  readonly memoryMegabytes: number;
  readonly threads: number;
}

/**
 * Returns the limits per thread. A quarter of the machine's memory and all processors are divided among the threads.
 */
export function threadLimits(threads: number): ThreadLimits {
  const constrained = process.constrainedMemory();
  const memory = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return {
    memoryMegabytes: Math.max(MIN_MEGABYTES, Math.floor(memory / 4 / threads / MEBIBYTE)),
    threads: Math.max(MIN_THREADS, Math.floor(availableParallelism() / threads)),
  };
}
