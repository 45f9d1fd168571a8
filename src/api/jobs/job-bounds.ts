import { availableParallelism, totalmem } from 'node:os';

import { ServiceProblem } from '../problem/service-problem.ts';

/** Groups of an attribute at most: each is an object of the result, and a line of the report. */
export const MAX_GROUPS = 10_000;

/** Replicates times groups at most, which take a thread some seconds without a pause. */
export const MAX_DRAWS = 2_000_000;

/** A configuration is written by hand; what a parser takes grows faster than the text. */
const LARGEST_CONFIG_BYTES = 256 * 1024;

const MEBIBYTE = 2 ** 20;

/** What a query needs at least to read a table. */
const MIN_MEGABYTES = 512;

const MIN_THREADS = 2;

/** What DuckDB may use in one of several threads. */
export interface ThreadLimits {
  readonly memoryMegabytes: number;
  readonly threads: number;
}

/** A quarter of the machine's memory, and its processors, shared by the threads. */
export function threadLimits(threads: number): ThreadLimits {
  const constrained = process.constrainedMemory();
  const memory = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return {
    memoryMegabytes: Math.max(MIN_MEGABYTES, Math.floor(memory / 4 / threads / MEBIBYTE)),
    threads: Math.max(MIN_THREADS, Math.floor(availableParallelism() / threads)),
  };
}

/**
 * @throws {ServiceProblem} 413 for a configuration that nobody wrote by hand
 */
export function assertShortConfig(text: string): void {
  const bytes = Buffer.byteLength(text);
  if (bytes <= LARGEST_CONFIG_BYTES) return;
  const detail = `The configuration has ${bytes.toLocaleString('en-US')} bytes; ${LARGEST_CONFIG_BYTES.toLocaleString('en-US')} are taken at most.`;
  throw new ServiceProblem(413, {
    detail,
    errors: [{ pointer: '/config', detail }],
    suggestion: 'Send a shorter configuration.',
  });
}
