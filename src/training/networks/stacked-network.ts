import type { Tensor2D, Tensor3D, Variable } from '@tensorflow/tfjs';

import type { Random } from '../../internal/random.ts';
import {
  type Activation,
  joinParameters,
  type MatrixShape,
  mostActivations,
  rectifierGradient,
  sharedDense,
  sharedDenseGradients,
  splitParameters,
  stackedDense,
  stackedDenseGradients,
  type Tf,
} from '../../tensor/index.ts';
import type { LayerWeights, NetworkWeights } from './network-weights.ts';

/** The number of networks that are trained together, and their common shape. */
export interface NetworkShape {
  /** The number of models, k. */
  readonly models: number;
  /** The number of features, d. */
  readonly inputs: number;
  /** The number of units of each hidden layer of one model. */
  readonly hidden: readonly number[];
}

/** k networks with the same inputs that are trained together. */
export interface TrainableNetworks {
  /** The weights and biases of each model, [k, m]. */
  readonly parameters: Variable;
  /** The number of rows per forward pass outside of training. */
  readonly rowsAtOnce: number;
  /**
   * Runs all models on rows [n, d]. Call this method inside `tf.tidy`.
   * @returns the outputs, [k, n]: logits, or the values of a regression
   */
  forward(x: Tensor2D): { readonly outputs: Tensor2D };
  /**
   * Runs all models on rows [n, d] for a step of training. Call this method inside `tf.tidy`.
   * @param slopeOf returns the gradient with respect to the outputs, [k, n]
   * @returns the outputs, and the gradient with respect to the parameters, [k, m]
   */
  learn(
    x: Tensor2D,
    slopeOf: (outputs: Tensor2D) => Tensor2D,
  ): { readonly outputs: Tensor2D; readonly gradient: Tensor2D };
  /** Converts the values of the parameters to the weights of each model. */
  weightsOf(parameters: Float32Array): readonly NetworkWeights[] | Promise<readonly NetworkWeights[]>;
  dispose(): void;
}

/** The outputs of all models, with a function that computes gradients from them. */
interface ForwardPass {
  /** The outputs, [k, n]: logits, or the values of a regression. */
  readonly outputs: Tensor2D;
  /**
   * Returns the gradient with respect to the parameters, [k, m], given the gradient with respect to the outputs, [k,
   * n].
   */
  gradient(upstream: Tensor2D): Tensor2D;
}

/**
 * k networks that process the same rows, computed as one wide network. The first layer is a single matrix product. Each
 * later layer is one batched product. The loss is the sum of the models' losses, so each model's gradient depends only
 * on its own loss.
 *
 * Gradients are implemented explicitly. On wasm, automatic differentiation uses products with transpose flags, which
 * take ten times as long as plain products.
 *
 * All models start from the same weights, so that the trained models differ only because of their losses.
 */
export interface StackedNetwork extends TrainableNetworks {
  /**
   * The weights and biases of each model, [k, m]: the parameters of the first layer, then of the second layer, and so
   * on.
   */
  readonly parameters: Variable;
  forward(x: Tensor2D): ForwardPass;
  weightsOf(parameters: Float32Array): LayerWeights[][];
}

/** One layer of all models: kernel [k, outputs, inputs], bias [k, outputs, 1]. */
interface StackedLayer {
  readonly kernel: Tensor3D;
  readonly bias: Tensor3D;
}

/** The maximum number of rows per forward pass. */
export const MAX_ROWS_AT_ONCE = 8192;

/** Creates k networks with weights drawn uniformly from +-1/sqrt(inputs of the layer), as is the default in PyTorch. */
export function createStackedNetwork(tf: Tf, shape: NetworkShape, random: Random): StackedNetwork {
  const k = shape.models;
  const widths = [shape.inputs, ...shape.hidden, 1];
  const sizes = widths.slice(1).map((outputs, index) => ({ inputs: widths[index] as number, outputs }));
  const matrices = sizes.flatMap(({ inputs, outputs }): MatrixShape[] => [
    { rows: outputs, columns: inputs },
    { rows: outputs, columns: 1 },
  ]);
  const drawn = matrices.flatMap(({ rows, columns }, index) => {
    const bound = 1 / Math.sqrt(Math.max(1, widths[index >> 1] as number));
    return Array.from({ length: rows * columns }, () => bound * (2 * random.next() - 1));
  });
  const parameters = tf.tidy(() => tf.variable(tf.tensor2d(drawn, [1, drawn.length], 'float32').tile([k, 1])));
  const widest = k * Math.max(...widths.slice(1));
  const forward = (x: Tensor2D): ForwardPass => {
    const parts = splitParameters(parameters as unknown as Tensor2D, matrices);
    const layers = sizes.map((_, layer): StackedLayer => {
      const [kernel, bias] = parts.slice(2 * layer) as [Tensor3D, Tensor3D];
      return { kernel, bias };
    });
    return runLayers(tf, layers, x, k);
  };
  return {
    parameters,
    rowsAtOnce: Math.max(1, Math.min(MAX_ROWS_AT_ONCE, Math.floor(mostActivations(tf) / widest))),
    forward,
    learn(x, slopeOf) {
      const pass = forward(x);
      return { outputs: pass.outputs, gradient: pass.gradient(slopeOf(pass.outputs)) };
    },
    weightsOf: (values) =>
      Array.from({ length: k }, (_, model) => {
        let start = model * drawn.length;
        const take = (size: number): Float32Array => values.slice(start, (start += size));
        return sizes.map(({ inputs, outputs }): LayerWeights => {
          const kernel = transposed(take(inputs * outputs), outputs, inputs);
          return { inputs, outputs, kernel, bias: take(outputs) };
        });
      }),
    dispose() {
      parameters.dispose();
    },
  };
}

function runLayers(tf: Tf, layers: readonly StackedLayer[], rows: Tensor2D, k: number): ForwardPass {
  const [n] = rows.shape;
  const [first, ...others] = layers as [StackedLayer, ...StackedLayer[]];
  const units = k * first.bias.shape[1];
  const flat = (matrix: Tensor3D): Tensor2D => matrix.reshape([units, -1]);
  const activation = (layer: number): Activation => (layer === others.length ? 'none' : 'relu');
  /** The inputs of each layer after the first. */
  const entering: Tensor3D[] = [];
  let z = sharedDense(tf, rows, flat(first.kernel), flat(first.bias), activation(0)).reshape<Tensor3D>([k, -1, n]);
  for (const [index, { kernel, bias }] of others.entries()) {
    entering.push(z);
    z = stackedDense(tf, z, kernel, bias, activation(index + 1));
  }
  return {
    outputs: z.reshape([k, n]),
    gradient(upstream) {
      const gradients: (Tensor2D | Tensor3D)[] = [];
      let flow = upstream.reshape<Tensor3D>([k, 1, n]);
      for (const [index, { kernel }] of [...others.entries()].reverse()) {
        const input = entering[index] as Tensor3D;
        const [ofKernel, ofBias, ofInput] = stackedDenseGradients(tf, input, kernel, flow);
        gradients.unshift(ofKernel, ofBias);
        flow = rectifierGradient(tf, ofInput, input);
      }
      gradients.unshift(...sharedDenseGradients(tf, rows, flow.reshape([units, n])));
      return joinParameters(tf, gradients, k);
    },
  };
}

/** Transposes a row-major matrix [rows, columns] to [columns, rows]. */
function transposed(values: Float32Array, rows: number, columns: number): Float32Array {
  return Float32Array.from(values, (_, index) => values[(index % rows) * columns + Math.floor(index / rows)] as number);
}
