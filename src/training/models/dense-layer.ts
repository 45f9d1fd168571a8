import type { LayerWeights } from '../networks/stacked-network.ts';

/** What follows a layer's sums; `hardSigmoid` is x / 5 + 1 / 2 cut to [0, 1]. */
export const ACTIVATIONS = ['relu', 'sigmoid', 'linear', 'hardSigmoid'] as const;

/** One of {@link ACTIVATIONS}. */
export type LayerActivation = (typeof ACTIVATIONS)[number];

/** One layer of a TensorFlow.js layers model: activation(x kernel + bias). */
export interface DenseLayer extends LayerWeights {
  readonly activation: LayerActivation;
}

/** A layer from numbers of any precision. */
export function denseLayer(
  shape: readonly [inputs: number, outputs: number],
  kernel: ArrayLike<number>,
  bias: ArrayLike<number>,
  activation: LayerActivation,
): DenseLayer {
  const [inputs, outputs] = shape;
  return { inputs, outputs, kernel: Float32Array.from(kernel), bias: Float32Array.from(bias), activation };
}
