import type { Tensor } from '@tensorflow/tfjs';

import type { Tf } from '../../tensor/index.ts';
import type { StackedNetwork } from './stacked-network.ts';

/** The parameters of each model where it was at its best. */
export interface BestParameters {
  /** Takes the parameters of the models that are at their best now: [k], 1 or 0 each. */
  take(flags: Uint8Array): void;
  /** Gives the network back what was best. */
  restore(): void;
  dispose(): void;
}

/** Starts with the parameters as they are. */
export function createBestParameters(tf: Tf, { parameters }: StackedNetwork): BestParameters {
  let best: Tensor = parameters.clone();
  return {
    take(flags) {
      const before = best;
      best = tf.tidy(() => {
        const isBetter = tf.tensor2d(Float32Array.from(flags), [flags.length, 1]).greater(0);
        return tf.where(isBetter.broadcastTo(parameters.shape), parameters, before);
      });
      before.dispose();
    },
    restore() {
      parameters.assign(best);
    },
    dispose() {
      best.dispose();
    },
  };
}
