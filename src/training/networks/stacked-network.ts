import type { Tensor, Tensor1D, Tensor2D, Variable } from '@tensorflow/tfjs';

import type { Random } from '../../internal/random.ts';
import { blockDense, blockOutputs, dense, type Tf } from '../../tensor/index.ts';

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

/**
 * k networks that see the same rows, as one wide network: the first layer is a
 * single product [n, d] x [d, k h], the last is block-diagonal. The loss is the
 * sum of the models' losses, so the gradient of each model is its own.
 *
 * All models start from the same weights, so that what differs between them is
 * their loss and not their luck.
 */
export interface StackedNetwork {
  readonly variables: readonly Variable[];
  /** Logits of all models, [n, k]. */
  readonly forward: (x: Tensor2D) => Tensor2D;
  /** For each variable, 1 where a value belongs to a model chosen by `flags` ([k]), else 0; broadcasts over it. */
  masks(flags: ArrayLike<number>): Tensor[];
  /** The weights of each model, on the host. */
  read(): Promise<LayerWeights[][]>;
  dispose(): void;
}

/** Makes k networks with uniform weights in +-1/sqrt(inputs of the layer), as PyTorch's default. */
export function createStackedNetwork(tf: Tf, shape: NetworkShape, random: Random): StackedNetwork {
  const { models: k, inputs, hidden } = shape;
  const widths = [inputs, ...hidden, 1];
  const layers = widths.slice(1).map((outputs, index) => {
    const rows = widths[index] as number;
    const bound = 1 / Math.sqrt(Math.max(1, rows));
    const draw = (size: number): Float32Array =>
      Float32Array.from({ length: size }, () => bound * (2 * random.next() - 1));
    const role = roleOf(index, widths.length - 1);
    const kernel = draw(rows * outputs);
    const bias = draw(outputs);
    return {
      inputs: rows,
      outputs,
      role,
      kernel: tf.tidy(() => tf.variable(stackKernel(tf, role, kernel, [rows, outputs], k))),
      bias: tf.tidy(() => tf.variable(tf.tensor1d(bias).tile([k]))),
    };
  });
  const lastInputs = widths.at(-2) as number;
  const blocks = tf.tidy(() =>
    tf
      .eye(k)
      .expandDims(1)
      .tile([1, lastInputs, 1])
      .reshape<Tensor2D>([k * lastInputs, k]),
  );
  const variables = layers.flatMap(({ kernel, bias }) => [kernel, bias]);

  return {
    variables,
    forward: (x) =>
      layers.reduce<Tensor2D>((z, { role, kernel, bias }, index) => {
        const isLast = index === layers.length - 1;
        const out =
          role === 'only' || role === 'first'
            ? dense(tf, z, kernel as Tensor2D, bias as Tensor1D)
            : role === 'middle'
              ? blockDense(tf, z, kernel, bias as Tensor1D)
              : blockOutputs(tf, z, kernel as Tensor2D, bias as Tensor1D, blocks);
        return isLast ? out : tf.relu(out);
      }, x),
    masks: (flags) =>
      tf.tidy(() =>
        layers.flatMap(({ role, inputs: p, outputs: q }) => {
          const chosen = tf.tensor1d(Float32Array.from(flags));
          const spread = (units: number): Tensor =>
            chosen
              .expandDims(1)
              .tile([1, units])
              .reshape([k * units]);
          const bias = spread(q);
          if (role === 'last') return [spread(p).expandDims(1), bias];
          if (role === 'middle') return [chosen.reshape([k, 1, 1]), bias];
          return [bias.expandDims(0), bias];
        }),
      ),
    async read() {
      const parts = await Promise.all(
        layers.map(async ({ kernel, bias }) => [await kernel.data(), await bias.data()] as const),
      );
      return Array.from({ length: k }, (_, model) =>
        layers.map(({ role, inputs: p, outputs: q }, index): LayerWeights => {
          const [kernel, bias] = parts[index] as (typeof parts)[number];
          return {
            inputs: p,
            outputs: q,
            kernel: readKernel(role, kernel as Float32Array, [p, q], k, model),
            bias: Float32Array.from((bias as Float32Array).subarray(model * q, (model + 1) * q)),
          };
        }),
      );
    },
    dispose() {
      tf.dispose([...variables, blocks]);
    },
  };
}

/** Where a layer stands decides how its k kernels lie side by side. */
type LayerRole = 'only' | 'first' | 'middle' | 'last';

function roleOf(index: number, layers: number): LayerRole {
  if (layers === 1) return 'only';
  if (index === 0) return 'first';
  return index === layers - 1 ? 'last' : 'middle';
}

function stackKernel(
  tf: Tf,
  role: LayerRole,
  kernel: Float32Array,
  [rows, outputs]: readonly [number, number],
  k: number,
): Tensor {
  const one = tf.tensor2d(kernel, [rows, outputs]);
  if (role === 'last') return one.tile([k, 1]);
  if (role === 'middle') return one.expandDims(0).tile([k, 1, 1]);
  return one.tile([1, k]);
}

/** One model's kernel out of the stacked one. */
function readKernel(
  role: LayerRole,
  stacked: Float32Array,
  [p, q]: readonly [number, number],
  k: number,
  model: number,
): Float32Array {
  if (role === 'middle' || role === 'last')
    return Float32Array.from(stacked.subarray(model * p * q, (model + 1) * p * q));
  const kernel = new Float32Array(p * q);
  for (let row = 0; row < p; row++) {
    const start = row * k * q + model * q;
    kernel.set(stacked.subarray(start, start + q), row * q);
  }
  return kernel;
}
