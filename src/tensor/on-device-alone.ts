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
