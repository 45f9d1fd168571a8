import type { Tensor, Variable } from '@tensorflow/tfjs';

import type { Tf } from '../runtime.ts';
import { fusedMap } from './fused-map.ts';

/** Options of {@link createAdam}. */
export interface AdamOptions {
  /**
   * The decoupled weight decay: the fraction of a weight that a step of learning rate 1 removes.
   * @defaultValue 0
   */
  readonly weightDecay?: number;
}

/** The state of Adam: running moments and the number of steps. */
export interface Adam {
  /** Updates the weights by one step against the gradient, with the given learning rate. */
  step(gradient: Tensor, rate: number): void;
  dispose(): void;
}

const [BETA_1, BETA_2, EPSILON] = [0.9, 0.999, 1e-8];

/**
 * Creates an Adam optimizer with decoupled weight decay: m and v are running means of g and g^2,
 *
 *     w <- w - rate (m / (1 - b1^t) / (sqrt(v / (1 - b2^t)) + 1e-8) + decay w).
 *
 * Adam in TensorFlow.js has neither weight decay nor a variable learning rate. A step takes three kernels on WebGPU and
 * a dozen kernels on other backends. Most of the cost is starting kernels, so store all weights in one variable.
 * Source: Kingma and Ba 2015; Loshchilov and Hutter 2019.
 */
export function createAdam(tf: Tf, weights: Variable, options: AdamOptions = {}): Adam {
  const decay = options.weightDecay ?? 0;
  const zeros = (): Variable => tf.tidy(() => tf.variable(tf.zerosLike(weights), false));
  const [mean, square] = [zeros(), zeros()];
  let steps = 0;
  return {
    step(gradient, rate) {
      steps++;
      // Combines both bias corrections in one factor, which saves operations.
      const correction = Math.sqrt(1 - BETA_2 ** steps);
      const numbers = {
        epsilon: EPSILON * correction,
        scale: (-rate * correction) / (1 - BETA_1 ** steps),
        kept: 1 - rate * decay,
      };
      tf.tidy(() => {
        mean.assign(movedTowards(tf, mean, gradient, BETA_1));
        square.assign(movedTowards(tf, square, gradient, BETA_2, true));
        weights.assign(moved(tf, { weights, mean, square }, numbers));
      });
    },
    dispose() {
      tf.dispose([mean, square]);
    },
  };
}

/** Updates a running mean with a gradient or with its square. */
function movedTowards(tf: Tf, mean: Tensor, gradient: Tensor, beta: number, isSquared = false): Tensor {
  const numbers = { beta, rest: 1 - beta };
  return fusedMap(tf, {
    name: isSquared ? 'adam_square' : 'adam_mean',
    shape: mean.shape,
    inputs: { mean, gradient },
    numbers,
    wgsl: `value = beta * mean + rest * gradient${isSquared ? ' * gradient' : ''};`,
    plain: () => mean.mul(beta).add((isSquared ? gradient.square() : gradient).mul(numbers.rest)),
  });
}

/** The coefficients of one step. */
interface StepNumbers {
  readonly epsilon: number;
  /** The negative learning rate, including both bias corrections. */
  readonly scale: number;
  /** The share of a weight that remains after decay. */
  readonly kept: number;
}

/** Computes the weights after a step. */
function moved(
  tf: Tf,
  inputs: { readonly weights: Tensor; readonly mean: Tensor; readonly square: Tensor },
  { epsilon, scale, kept }: StepNumbers,
): Tensor {
  const { weights, mean, square } = inputs;
  return fusedMap(tf, {
    name: 'adam_weights',
    shape: weights.shape,
    inputs: { ...inputs },
    numbers: { epsilon, scale, kept },
    wgsl: 'value = kept * weights + scale * mean / (sqrt(square) + epsilon);',
    plain: () => (kept === 1 ? weights : weights.mul(kept)).add(mean.div(square.sqrt().add(epsilon)).mul(scale)),
  });
}
