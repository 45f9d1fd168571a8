import type { TensorBackend, Tf } from './runtime.ts';

/** What is asked of a backend before it is loaded. */
export interface BackendTraits {
  /** Whether its work stays in the thread that asks, so that threads do more of it. */
  readonly isOneThreaded: boolean;
  /** Networks that are trained together as one wide one; a part of a sweep's result, so no option. */
  readonly networksAtOnce: number;
}

/** Networks that one thread trains together on a CPU. */
const NETWORKS_OF_A_THREAD = 8;

/** What training has to know of a backend. A GPU trains one wide stack as fast as a narrow one. */
export function traitsOf(backend: TensorBackend): BackendTraits {
  const isOneThreaded = backend === 'wasm' || backend === 'cpu';
  return {
    isOneThreaded,
    networksAtOnce: isOneThreaded ? NETWORKS_OF_A_THREAD : Infinity,
  };
}

/** Whether the active backend computes on a device of its own. */
export function isOnDevice(tf: Tf): boolean {
  if (tf.getBackend() === 'webgpu') return true;
  return tf.getBackend() === 'tensorflow' && (tf.backend() as NativeBackend).isUsingGpuDevice === true;
}

/** What TensorFlow's native backend tells of itself. */
interface NativeBackend {
  readonly isUsingGpuDevice?: boolean;
}

/** What the WebGPU backend tells of itself. */
interface WebGpuBackend {
  readonly device?: {
    readonly limits: { readonly maxStorageBufferBindingSize: number; readonly maxBufferSize: number };
  };
}

/**
 * Up to where the active backend computes with int32 exactly. WebGPU's kernels of TensorFlow.js take int32 for float32;
 * what is only stored or read keeps all of its digits.
 */
export function largestExactInteger(tf: Tf): number {
  return tf.getBackend() === 'webgpu' ? 2 ** 24 : 2 ** 31 - 1;
}

const BYTES_OF_A_NUMBER = 4;

/** What every host can hold in one array, in numbers. */
const LARGEST_ARRAY = 2 ** 31 / BYTES_OF_A_NUMBER;

/** What a layer may give at once, so that a step's memory stays within some hundred MiB. */
const MAX_ACTIVATIONS = 2 ** 24;

/** The most numbers that what is computed in between should hold at once. */
export function mostActivations(tf: Tf): number {
  return Math.min(MAX_ACTIVATIONS, largestTensor(tf));
}

/** The most numbers that one tensor of the active backend may hold. */
export function largestTensor(tf: Tf): number {
  const limits = (tf.backend() as WebGpuBackend).device?.limits;
  if (limits === undefined) return LARGEST_ARRAY;
  return Math.floor(Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize) / BYTES_OF_A_NUMBER);
}

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
const MIN_STEPS = 50;

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
  const most = Math.min(limit, rows / MIN_STEPS, mostActivations(tf) / widest);
  return Math.max(SMALLEST, 2 ** Math.floor(Math.log2(Math.max(1, most))));
}
