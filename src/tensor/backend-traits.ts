import type { TensorBackend } from './backend-names.ts';
import type { Tf } from './tf.ts';

/** Properties of a backend that are known before it is loaded. */
export interface BackendTraits {
  /** Whether the backend computes in the calling thread, so that more threads increase throughput. */
  readonly isOneThreaded: boolean;
  /**
   * Returns the number of networks that are trained together as one wide network. This number is not an option, because
   * it affects the result of a sweep.
   * @param outputs the number of outputs of a network's widest layer for one batch
   */
  readonly networksAtOnce: (outputs: number) => number;
}

/** The number of networks that one thread trains together on a CPU. */
const NETWORKS_OF_A_THREAD = 8;

/**
 * The number of float32 values of the largest tensor on TensorFlow's native library for CPUs. The C library of Linux takes
 * tensors of more than 32 MiB from the system and returns them after each operation, which doubles the time of a step.
 */
const VALUES_ON_NATIVE_CPU = 2 ** 22;

/** Returns the properties of a backend. A GPU trains many networks together in the same time as a few networks. */
export function traitsOf(backend: TensorBackend): BackendTraits {
  const isOneThreaded = backend === 'wasm' || backend === 'cpu';
  return {
    isOneThreaded,
    networksAtOnce(outputs) {
      if (isOneThreaded) return NETWORKS_OF_A_THREAD;
      return backend === 'node' ? Math.max(1, Math.floor(VALUES_ON_NATIVE_CPU / outputs)) : Infinity;
    },
  };
}

/** Returns whether the active backend computes on a separate device. */
export function isOnDevice(tf: Tf): boolean {
  if (tf.getBackend() === 'webgpu') return true;
  return tf.getBackend() === 'tensorflow' && (tf.backend() as NativeBackend).isUsingGpuDevice === true;
}

/**
 * Returns whether one product of many small matrices is as fast as the products one by one. On wasm, a product of
 * several matrices does not use the vectorised kernel and takes ten times as long.
 */
export function multipliesInBatches(tf: Tf): boolean {
  return tf.getBackend() !== 'wasm';
}

/** Returns whether the active backend computes products of matrices faster than plain JavaScript. */
export function multipliesFast(tf: Tf): boolean {
  return tf.getBackend() !== 'cpu';
}

/** The properties of TensorFlow's native backend that this module uses. */
interface NativeBackend {
  readonly isUsingGpuDevice?: boolean;
}

/** The properties of the WebGPU backend that this module uses. */
interface WebGpuBackend {
  readonly device?: {
    readonly limits: { readonly maxStorageBufferBindingSize: number; readonly maxBufferSize: number };
  };
}

/**
 * Returns the largest integer n such that the active backend computes exactly with all int32 values up to n.
 * TensorFlow.js's WebGPU kernels compute int32 as float32. Values that are only stored or read remain exact.
 */
export function largestExactInteger(tf: Tf): number {
  return tf.getBackend() === 'webgpu' ? 2 ** 24 : 2 ** 31 - 1;
}

const BYTES_OF_A_NUMBER = 4;

/** The number of elements of the largest array that every host supports. */
const LARGEST_ARRAY = 2 ** 31 / BYTES_OF_A_NUMBER;

/**
 * The maximum number of activations of one layer that are in memory at once. This limits the memory of a step to a few
 * hundred MiB.
 */
const MAX_ACTIVATIONS = 2 ** 24;

/** Returns the maximum number of values that intermediate results should have at any time. */
export function maxActivations(tf: Tf): number {
  return Math.min(MAX_ACTIVATIONS, largestTensor(tf));
}

/** Returns the maximum number of values that one tensor of the active backend may contain. */
export function largestTensor(tf: Tf): number {
  const limits = (tf.backend() as WebGpuBackend).device?.limits;
  if (limits === undefined) return LARGEST_ARRAY;
  return Math.floor(Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize) / BYTES_OF_A_NUMBER);
}

/** The number of rows per training step, or 'auto' to choose this number based on the data and the backend. */
export type BatchSize = number | 'auto';

/** The size of a training task. */
interface Work {
  /** The number of training rows. */
  readonly rows: number;
  /** The number of networks trained together. */
  readonly models: number;
  /** The number of units of each hidden layer of one network. */
  readonly hidden: readonly number[];
  /** The number of groups. Each group has a column in a batch. */
  readonly groups: number;
  /** The maximum number of rows per step, for methods whose cost is quadratic in the number of rows. */
  readonly maxRows?: number | undefined;
}

/** The minimum number of steps per epoch. With fewer steps, a network learns less in the same number of epochs. */
const MIN_STEPS = 50;

/** The smallest batch size. In smaller batches, the fixed cost of a step exceeds the cost of processing its rows. */
const SMALLEST = 32;

/** The largest batch size. Larger batches save time on a GPU but not on a CPU. */
const LARGEST = { host: 512, device: 8192 };

/**
 * Chooses a batch size: the largest power of two for which an epoch still has 50 steps. The batch size is 32 to 512 on
 * a CPU and 32 to 8,192 on a GPU. The batch size is lower if memory is limited, or if a penalty compares rows pairwise.
 * The choice depends on the task and the kind of backend, but not on the backend's speed.
 */
export function chooseBatchSize(
  tf: Tf,
  size: BatchSize,
  { rows, models, hidden, groups, maxRows: mostRows }: Work,
): number {
  if (size !== 'auto') return size;
  const widest = Math.max(models * Math.max(1, ...hidden), groups);
  const limit = Math.min(isOnDevice(tf) ? LARGEST.device : LARGEST.host, mostRows ?? Infinity);
  const most = Math.min(limit, rows / MIN_STEPS, maxActivations(tf) / widest);
  return Math.max(SMALLEST, 2 ** Math.floor(Math.log2(Math.max(1, most))));
}
