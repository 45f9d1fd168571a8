import type { Tensor2D } from '@tensorflow/tfjs';

import { DependencyError } from '../../exceptions/index.ts';
import { loadTensorflow, type TensorBackend, type Tf } from '../../tensor/index.ts';
import { Table } from '../../table/index.ts';
import { encodeFeatures, encodedWidth, type FeatureSpec } from '../data/feature-encoder.ts';
import { sigmoid } from '../logistic.ts';
import type { NetworkTask } from './network-task.ts';
import type { LayerWeights } from './stacked-network.ts';

/** A trained network with all that is needed to apply it. Plain data. */
export interface FittedNetwork {
  readonly task: NetworkTask;
  /** How columns become the network's inputs. */
  readonly specs: readonly FeatureSpec[];
  readonly layers: readonly LayerWeights[];
  /** A regression's targets were (y - mean) / scale; 0 and 1 for decisions. */
  readonly target: { readonly mean: number; readonly scale: number };
  readonly backend: TensorBackend;
}

/** Rows sent through at once. */
const ROWS_AT_ONCE = 8192;

/** What a network gives each row of a table: a probability, or a value in the target's units. */
export async function applyNetwork(network: FittedNetwork, table: Table): Promise<Float64Array> {
  const tf = await loadWhereFitted(network.backend);
  const x = encodeFeatures(table, network.specs);
  const outputs = await runNetwork(tf, network.layers, x, encodedWidth(network.specs));
  const { mean, scale } = network.target;
  return Float64Array.from(outputs, (output) => (network.task === 'binary' ? sigmoid(output) : mean + scale * output));
}

/** The backend of the fit, for the same digits; where it cannot start, as on another machine, the first that can. */
async function loadWhereFitted(backend: TensorBackend): Promise<Tf> {
  try {
    return (await loadTensorflow({ backend })).tf;
  } catch (error) {
    if (!(error instanceof DependencyError)) throw error;
    return (await loadTensorflow({ backend: 'auto' })).tf;
  }
}

/** The outputs of one network, [n], before any link function. */
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
    // One reading, however many rows.
    const whole = tf.concat(parts);
    parts.push(whole);
    return await whole.data<'float32'>();
  } finally {
    tf.dispose([...parts, ...weights.flatMap(({ kernel, bias }) => [kernel, bias])]);
  }
}
