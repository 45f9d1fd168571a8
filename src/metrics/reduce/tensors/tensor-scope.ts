import type { Tensor } from '@tensorflow/tfjs';

import type { Tf } from '../../../tensor/index.ts';

/** Has a tensor disposed of when the work that made it ends; gives it back. */
export type Keep = <T extends Tensor>(tensor: T) => T;

/**
 * Runs work that makes tensors of its own and waits in between, where
 * `tf.tidy` cannot; they go when it ends, well or not. The caller's tensors stay.
 */
export async function withTensors<T>(tf: Tf, work: (keep: Keep) => Promise<T>): Promise<T> {
  const kept: Tensor[] = [];
  try {
    return await work((tensor) => {
      kept.push(tensor);
      return tensor;
    });
  } finally {
    tf.dispose(kept);
  }
}
