import type { Tf } from './runtime.ts';

/** WebGPU computes small tensors whose numbers never left the host on the host, unless this is off. */
const FORWARD_TO_HOST = 'WEBGPU_CPU_FORWARD';

/** Does work with every operation on the device itself, so that the device is what is examined. */
export async function onDeviceAlone<T>(tf: Tf, work: () => Promise<T>): Promise<T> {
  const environment = tf.env();
  // The flag is known only where that backend is loaded.
  if (tf.getBackend() !== 'webgpu') return work();
  const before = environment.getBool(FORWARD_TO_HOST);
  environment.set(FORWARD_TO_HOST, false);
  try {
    return await work();
  } finally {
    environment.set(FORWARD_TO_HOST, before);
  }
}

/** The parts of the WebGPU backend's buffer pool that are needed to empty it. */
interface BufferPool {
  /** By size and use; a list must stay, though empty, since a buffer that comes free is put on it unasked. */
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
 * Gives back the device memory that no tensor uses. The WebGPU backend of TensorFlow.js keeps every buffer for the next
 * tensor of exactly its size, for as long as the process lasts: work of ever new sizes would fill the device.
 *
 * Tensors stay as they are. Work under way goes on; what is yet to be submitted is submitted first. On other backends,
 * which free memory by themselves, nothing happens.
 * @example
 * const { tf } = await loadTensorflow({ backend: 'webgpu' });
 * // … train …
 * releaseUnused(tf);
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

/** What commands use that are not submitted yet counts as in use, though its tensors are gone. */
function submitPending(backend: PoolingBackend): void {
  if (backend.commandEncoder === null) return;
  backend.endComputePassEncoder();
  backend.submitQueue();
}
