import type { Tensor } from '@tensorflow/tfjs';

import type { Tf } from '../runtime.ts';

/**
 * Reads several tensors at once: each reading makes the host wait for the device.
 * @param tensors float32; they stay
 * @returns the values of each, flat
 */
export async function readTogether(tf: Tf, tensors: readonly Tensor[]): Promise<Float32Array[]> {
  const joined = tf.tidy(() => tf.concat(tensors.map((tensor) => tensor.flatten())));
  try {
    const values = await joined.data<'float32'>();
    let start = 0;
    return tensors.map(({ size }) => values.slice(start, (start += size)));
  } finally {
    joined.dispose();
  }
}
