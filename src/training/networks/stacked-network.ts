import type { Tensor, Tensor2D, Tensor3D, Variable } from '@tensorflow/tfjs';

import type { Random } from '../../internal/random.ts';
import { sharedDense, sharedDenseGradients, stackedDense, stackedDenseGradients, type Tf } from '../../tensor/index.ts';

/** The size of k equal networks trained side by side. */
export interface NetworkShape {
  /** Models, k. */
  readonly models: number;
  /** Features, d. */
  readonly inputs: number;
  /** Units of each hidden layer of one model. */
  readonly hidden: readonly number[];
}

/** The weights of one model, layer by layer: kernel [inputs, outputs] and bias [outputs], row-major. */
export interface LayerWeights {
  readonly inputs: number;
  readonly outputs: number;
  readonly kernel: Float32Array;
  readonly bias: Float32Array;
}

/** Outputs of all models, with what their gradient needs. */
interface ForwardPass {
  /** [k, n]; logits, or a regression's values. */
  readonly outputs: Tensor2D;
  /** The gradient of each variable, in their order, from that of the outputs, [k, n]. */
  gradients(upstream: Tensor2D): Tensor[];
}

/**
 * k networks that see the same rows, as one wide network: the first layer is a
 * single product, those after it one batched product each. The loss is the sum
 * of the models' losses, so the gradient of each model is its own.
 *
 * Gradients are written out: on wasm the products with transpose flags that
 * automatic ones make cost ten times as much as plain ones.
 *
 * All models start from the same weights, so that what differs between them is
 * their loss and not their luck.
 */
export interface StackedNetwork {
  readonly variables: readonly Variable[];
  /** Runs all models on rows [n, d]; inside `tf.tidy`. */
  forward(x: Tensor2D): ForwardPass;
  /** For each variable, 1 where a value belongs to a model chosen by `flags` ([k]), else 0; broadcasts over it. */
  masks(flags: ArrayLike<number>): Tensor[];
  /** The weights of each model, on the host. */
  read(): Promise<LayerWeights[][]>;
  dispose(): void;
}

/** One layer of all models: kernel [k, outputs, inputs], bias [k, outputs, 1]. */
interface StackedLayer {
  readonly inputs: number;
  readonly outputs: number;
  readonly kernel: Variable;
  readonly bias: Variable;
}

/** Makes k networks with uniform weights in +-1/sqrt(inputs of the layer), as PyTorch's default. */
export function createStackedNetwork(tf: Tf, shape: NetworkShape, random: Random): StackedNetwork {
  const k = shape.models;
  const widths = [shape.inputs, ...shape.hidden, 1];
  const layers = widths.slice(1).map((outputs, index): StackedLayer => {
    const inputs = widths[index] as number;
    const bound = 1 / Math.sqrt(Math.max(1, inputs));
    const draw = (size: number): Float32Array =>
      Float32Array.from({ length: size }, () => bound * (2 * random.next() - 1));
    const stack = (values: Float32Array, columns: number): Variable =>
      tf.tidy(() => tf.variable(tf.tensor3d(values, [1, outputs, columns]).tile([k, 1, 1])));
    return { inputs, outputs, kernel: stack(draw(inputs * outputs), inputs), bias: stack(draw(outputs), 1) };
  });
  const variables = layers.flatMap(({ kernel, bias }) => [kernel, bias]);
  return {
    variables,
    forward: (x) => runLayers(tf, layers, x, k),
    masks: (flags) => variables.map(() => tf.tensor3d(Float32Array.from(flags), [k, 1, 1])),
    async read() {
      const parts = await Promise.all(
        layers.map(async ({ kernel, bias }) => [await kernel.data(), await bias.data()] as const),
      );
      return Array.from({ length: k }, (_, model) =>
        layers.map(({ inputs, outputs }, index): LayerWeights => {
          const [kernel, bias] = parts[index] as readonly [Float32Array, Float32Array];
          const size = inputs * outputs;
          return {
            inputs,
            outputs,
            kernel: transposed(kernel.subarray(model * size, (model + 1) * size), outputs, inputs),
            bias: bias.slice(model * outputs, (model + 1) * outputs),
          };
        }),
      );
    },
    dispose() {
      tf.dispose([...variables]);
    },
  };
}

function runLayers(tf: Tf, layers: readonly StackedLayer[], rows: Tensor2D, k: number): ForwardPass {
  const [n] = rows.shape;
  const [first, ...others] = layers as [StackedLayer, ...StackedLayer[]];
  const flat = (variable: Variable): Tensor2D => variable.reshape([k * first.outputs, -1]);
  /** What enters each of the other layers. */
  const entering: Tensor3D[] = [];
  let z = sharedDense(tf, rows.transpose(), flat(first.kernel), flat(first.bias)).reshape<Tensor3D>([k, -1, n]);
  for (const { kernel, bias } of others) {
    z = tf.relu(z);
    entering.push(z);
    z = stackedDense(tf, z, kernel as Tensor3D, bias as Tensor3D);
  }
  return {
    outputs: z.reshape([k, n]),
    gradients(upstream) {
      const gradients: Tensor[] = [];
      let flow = upstream.reshape<Tensor3D>([k, 1, n]);
      for (const [index, { kernel }] of [...others.entries()].reverse()) {
        const input = entering[index] as Tensor3D;
        const [ofKernel, ofBias, ofInput] = stackedDenseGradients(tf, input, kernel as Tensor3D, flow);
        gradients.unshift(ofKernel, ofBias);
        // Only what passed the rectifier has a slope.
        flow = ofInput.mul(tf.step(input));
      }
      const [ofKernel, ofBias] = sharedDenseGradients(tf, rows, flow.reshape([k * first.outputs, n]));
      return [ofKernel.reshape(first.kernel.shape), ofBias.reshape(first.bias.shape), ...gradients];
    },
  };
}

/** A row-major matrix [rows, columns] as [columns, rows]. */
function transposed(values: Float32Array, rows: number, columns: number): Float32Array {
  return Float32Array.from(values, (_, place) => values[(place % rows) * columns + Math.floor(place / rows)] as number);
}
