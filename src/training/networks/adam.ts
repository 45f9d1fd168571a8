import type { Tensor, Variable } from '@tensorflow/tfjs';

import type { Tf } from '../../tensor/index.ts';

/** Options of {@link createAdam}. */
export interface AdamOptions {
  /**
   * Share of a weight that a step of rate 1 takes away, apart from the gradient.
   * @defaultValue 0
   */
  readonly weightDecay?: number;
}

/** Adam's running moments, and its steps. */
export interface Adam {
  /** Moves every variable against its gradient, at a learning rate. */
  step(gradients: readonly Tensor[], rate: number): void;
  dispose(): void;
}

const [BETA_1, BETA_2, EPSILON] = [0.9, 0.999, 1e-8];

/**
 * Adam with decoupled weight decay: m and v are running means of g and g^2,
 *
 *     w <- w - rate (m / (1 - b1^t) / (sqrt(v / (1 - b2^t)) + 1e-8) + decay w).
 *
 * The one of TensorFlow.js has neither weight decay nor a rate that may change.
 * Source: Kingma and Ba 2015; Loshchilov and Hutter 2019.
 */
export function createAdam(tf: Tf, variables: readonly Variable[], options: AdamOptions = {}): Adam {
  const decay = options.weightDecay ?? 0;
  const zeros = (): Variable[] =>
    variables.map((variable) => tf.tidy(() => tf.variable(tf.zerosLike(variable), false)));
  const means = zeros();
  const squares = zeros();
  let steps = 0;
  return {
    step(gradients, rate) {
      steps++;
      // Both corrections in one factor, so that no operation is spent on them.
      const correction = Math.sqrt(1 - BETA_2 ** steps);
      const scale = (-rate * correction) / (1 - BETA_1 ** steps);
      tf.tidy(() => {
        for (const [index, variable] of variables.entries()) {
          const gradient = gradients[index] as Tensor;
          const [mean, square] = [means[index] as Variable, squares[index] as Variable];
          mean.assign(mean.mul(BETA_1).add(gradient.mul(1 - BETA_1)));
          square.assign(square.mul(BETA_2).add(gradient.square().mul(1 - BETA_2)));
          const move = mean.div(square.sqrt().add(EPSILON * correction)).mul(scale);
          variable.assign((decay === 0 ? variable : variable.mul(1 - rate * decay)).add(move));
        }
      });
    },
    dispose() {
      tf.dispose([...means, ...squares]);
    },
  };
}
