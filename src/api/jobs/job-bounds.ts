import { availableParallelism, totalmem } from 'node:os';

import { fieldProblem } from '../problem/service-problem.ts';

/** The maximum number of groups of an attribute. Each group adds an object to the result and a line to the report. */
export const MAX_GROUPS = 10_000;

/**
 * The maximum product of replicates and groups. At this size, a thread computes for several seconds without a pause.
 */
export const MAX_DRAWS = 2_000_000;

/**
 * The maximum size of a configuration. Real configurations are written by hand. Parsing time grows faster than the
 * length of the text.
 */
const LARGEST_CONFIG_BYTES = 256 * 1024;

const MEBIBYTE = 2 ** 20;

/** The minimum memory of a query that reads a table. */
const MIN_MEGABYTES = 512;

const MIN_THREADS = 2;

/** The resources that DuckDB may use in one of several threads. */
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

/**
 * Checks the length of a configuration.
 * @throws {ServiceProblem} 413 if the configuration is too long
 */
export function assertShortConfig(text: string): void {
  const bytes = Buffer.byteLength(text);
  if (bytes <= LARGEST_CONFIG_BYTES) return;
  const detail = `The configuration has ${bytes.toLocaleString('en-US')} bytes. At most ${LARGEST_CONFIG_BYTES.toLocaleString('en-US')} are allowed.`;
  throw fieldProblem(413, '/config', detail, 'Send a shorter configuration.');
}
