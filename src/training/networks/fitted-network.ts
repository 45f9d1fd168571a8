import type { Tensor2D } from '@tensorflow/tfjs';

import { DependencyError } from '../../exceptions/index.ts';
import { loadTensorflow, type TensorBackend, type Tf } from '../../tensor/index.ts';
import { Table } from '../../table/index.ts';
import { encodeFeatures, encodedWidth, type FeatureSpec } from '../data/feature-encoder.ts';
import { sigmoid } from '../logistic.ts';
import type { NetworkTask } from './network-task.ts';
import type { LayerWeights } from './stacked-network.ts';

/** A trained network as plain data, with all information that is needed to apply the network. */
export interface FittedNetwork {
  readonly task: NetworkTask;
  /** The encoding of table columns as the network's inputs. */
  readonly specs: readonly FeatureSpec[];
  readonly layers: readonly LayerWeights[];
  /**
   * The mean and scale with which the targets of a regression were standardised, (y - mean) / scale; 0 and 1 for binary
   * targets.
   */
  readonly target: { readonly mean: number; readonly scale: number };
  readonly backend: TensorBackend;
}

/** The number of rows per forward pass. */
const ROWS_AT_ONCE = 8192;

/** Applies a network to each row of a table. Returns probabilities, or values in the target's units. */
export async function applyNetwork(network: FittedNetwork, table: Table): Promise<Float64Array> {
  const tf = await loadWhereFitted(network.backend);
  const x = encodeFeatures(table, network.specs);
  const outputs = await runNetwork(tf, network.layers, x, encodedWidth(network.specs));
  const { mean, scale } = network.target;
  return Float64Array.from(outputs, (output) => (network.task === 'binary' ? sigmoid(output) : mean + scale * output));
}

/**
 * Loads the backend that was used for fitting, so that results are identical. If that backend is not available on this
 * machine, loads the first available backend.
 */
async function loadWhereFitted(backend: TensorBackend): Promise<Tf> {
  try {
    return (await loadTensorflow({ backend })).tf;
  } catch (error) {
    if (!(error instanceof DependencyError)) throw error;
    return (await loadTensorflow({ backend: 'auto' })).tf;
  }
}

/** Returns the outputs of one network, [n], before any link function. */
async function runNetwork(
  tf: Tf,
  layers: readonly LayerWeights[],
  x: Float32Array,
  inputs: number,
): Promise<Float32Array> {
  const rows = inputs === 0 ? 0 : x.length / inputs;
  const weights = layers.map(({ kernel, bias, inputs: p, outputs: q }) => ({
    kernel: tf.tensor2d(kernel, [p, q]),
    bias: tf.tensor1d(bias),
  }));
  const forward = (given: Tensor2D): Tensor2D =>
    weights.reduce((z, { kernel, bias }, index) => {
      const out = tf.matMul(z, kernel).add<Tensor2D>(bias);
      return index === weights.length - 1 ? out : tf.relu(out);
    }, given);
  const parts: Tensor2D[] = [];
  try {
    for (let start = 0; start < rows; start += ROWS_AT_ONCE) {
      const size = Math.min(ROWS_AT_ONCE, rows - start);
      const part = x.subarray(start * inputs, (start + size) * inputs);
      parts.push(tf.tidy(() => forward(tf.tensor2d(part, [size, inputs]))));
    }
    if (parts.length === 0) return new Float32Array(0);
    // All outputs are downloaded from the device at once, regardless of the number of rows.
    const complete = tf.concat(parts);
    parts.push(complete);
    return await complete.data<'float32'>();
  } finally {
    tf.dispose([...parts, ...weights.flatMap(({ kernel, bias }) => [kernel, bias])]);
  }
}
