import type { Tf } from './runtime.ts';

/**
 * If this flag is on, TensorFlow.js computes on the host if the tensors are small and their values have never been
 * uploaded.
 */
const FORWARD_TO_HOST = 'WEBGPU_CPU_FORWARD';

/** Runs work with all operations on the device, so that a test covers the device and not the host. */
export async function onDeviceAlone<T>(tf: Tf, work: () => Promise<T>): Promise<T> {
  const environment = tf.env();
  // The flag exists only if the WebGPU backend is loaded.
  if (tf.getBackend() !== 'webgpu') return work();
  const before = environment.getBool(FORWARD_TO_HOST);
  environment.set(FORWARD_TO_HOST, false);
  try {
    return await work();
  } finally {
    environment.set(FORWARD_TO_HOST, before);
  }
}

/** The parts of the WebGPU backend's buffer pool that are needed to empty the pool. */
interface BufferPool {
  /**
   * The free buffers, by size and usage. Empty lists must be kept, because released buffers are appended without
   * checking that the list exists.
   */
  readonly freeBuffers: ReadonlyMap<string, { readonly size: number; destroy(): void }[]>;
  numFreeBuffers: number;
  numBytesAllocated: number;
}

interface PoolingBackend {
  readonly bufferManager: BufferPool;
  readonly commandEncoder: object | null;
  endComputePassEncoder(): void;
  submitQueue(): void;
}

/**
 * Frees device memory that no tensor uses. The WebGPU backend of TensorFlow.js keeps every buffer for the next tensor
 * of exactly the same size, until the process ends. Work with many different sizes would fill the device's memory.
 *
 * Tensors are unaffected. Running work continues, and pending commands are submitted first. The function has no effect
 * on other backends, which free memory automatically.
 * @example
 * const { tf } = await loadTensorflow({ backend: 'webgpu' }); // … train … releaseUnused(tf);
 */
export function releaseUnused(tf: Tf): void {
  if (tf.getBackend() !== 'webgpu') return;
  const backend = tf.backend() as unknown as PoolingBackend;
  submitPending(backend);
  const { bufferManager: pool } = backend;
  for (const buffers of pool.freeBuffers.values()) {
    for (const buffer of buffers.splice(0)) {
      buffer.destroy();
      pool.numFreeBuffers--;
      pool.numBytesAllocated -= buffer.size;
    }
  }
}

/**
 * Submits pending commands. Until commands are submitted, their buffers count as in use, even if the tensors are
 * disposed of.
 */
function submitPending(backend: PoolingBackend): void {
  if (backend.commandEncoder === null) return;
  backend.endComputePassEncoder();
  backend.submitQueue();
}
