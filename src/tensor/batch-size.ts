import { isOnDevice, mostActivations } from './backend-traits.ts';
import type { Tf } from './runtime.ts';

/** How many rows a step learns from: so many, or as many as suit the data and where it is computed. */
export type BatchSize = number | 'auto';

/** What is trained. */
interface Work {
  /** Rows to learn from. */
  readonly rows: number;
  /** Networks trained together. */
  readonly models: number;
  /** Units of each hidden layer of one network. */
  readonly hidden: readonly number[];
  /** Groups, each of which has a column in a batch. */
  readonly groups: number;
  /** The most rows at once, where cost grows with their square. */
  readonly mostRows?: number | undefined;
}

/** Steps that an epoch keeps: with fewer a network learns less from the same epochs. */
const LEAST_STEPS = 50;

/** No smaller: a step's fixed cost then outweighs its rows. */
const SMALLEST = 32;

/** No larger: on a CPU more rows at once save nothing; on a GPU they do. */
const LARGEST = { host: 512, device: 8192 };

/**
 * Chooses a batch size: the largest power of two that leaves an epoch 50 steps, from 32 to 512 on a CPU and to 8,192 on
 * a GPU, and no larger than memory and what is compared row by row allow. It depends on the work and the kind of
 * backend, not on its speed.
 */
export function chooseBatchSize(tf: Tf, size: BatchSize, { rows, models, hidden, groups, mostRows }: Work): number {
  if (size !== 'auto') return size;
  const widest = Math.max(models * Math.max(1, ...hidden), groups);
  const limit = Math.min(isOnDevice(tf) ? LARGEST.device : LARGEST.host, mostRows ?? Infinity);
  const most = Math.min(limit, rows / LEAST_STEPS, mostActivations(tf) / widest);
  return Math.max(SMALLEST, 2 ** Math.floor(Math.log2(Math.max(1, most))));
}
