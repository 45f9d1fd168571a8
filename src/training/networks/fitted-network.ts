import type { LayersModel, Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import { DependencyError } from '../../exceptions/index.ts';
import { withTensors } from '../../metrics/reduce/tensors/row-states.ts';
import { Table, type TensorLike } from '../../table/index.ts';
import { createRowChunks, currentTensorflow, loadTensorflow, type TensorBackend, type Tf } from '../../tensor/index.ts';
import { encodeFeatures, encodedWidth, type FeatureSpec } from '../data/feature-encoder.ts';
import { encodeFeatureTensor, readRanges } from '../data/feature-tensors.ts';
import { columnNames, featureMatrix } from '../data/tensor-rows.ts';
import { sigmoid } from '../logistic.ts';
import type { NetworkTask } from './network-task.ts';
import { type LayerWeights, type NetworkWeights, isSavedLayers } from './network-weights.ts';
import { damagedNetwork, loadLayers, outputActivation, rowsAtOnce } from './user-network.ts';

/** A trained network as plain data, with all information that is needed to apply the network. */
export interface FittedNetwork {
  readonly task: NetworkTask;
  /** The encoding of table columns as the network's inputs. */
  readonly specs: readonly FeatureSpec[];
  /** The weights of a plain network, or a user's own network, which gives probabilities or standardised values. */
  readonly layers: NetworkWeights;
  /**
   * The mean and scale with which the targets of a regression were standardised, (y - mean) / scale; 0 and 1 for binary
   * targets.
   */
  readonly target: { readonly mean: number; readonly scale: number };
  readonly backend: TensorBackend;
}

/** The number of rows per forward pass of a plain network. */
const ROWS_AT_ONCE = 8192;

/** Applies a network to each row of a table. Returns probabilities, or values in the target's units. */
export async function applyNetwork(network: FittedNetwork, table: Table): Promise<Float64Array> {
  const tf = await loadWhereFitted(network.backend);
  const x = encodeFeatures(table, network.specs);
  const outputs = await runNetwork(tf, network, x);
  const { mean, scale } = network.target;
  if (network.task === 'regression') return Float64Array.from(outputs, (output) => mean + scale * output);
  return isSavedLayers(network.layers) ? Float64Array.from(outputs) : Float64Array.from(outputs, sigmoid);
}

/**
 * Applies a network to each row of a tensor of features, on the device of the tensor. Only the ranges of the columns are
 * read. The caller disposes of the result.
 * @param names the names of the columns, x0, x1 and so on by default
 * @returns [rows], float32
 * @throws {DataValidationError} if a column of the network is missing or text, or if a value is infinite
 */
export async function applyToTensor(
  network: Omit<FittedNetwork, 'backend'>,
  given: TensorLike,
  names: readonly string[] = columnNames(given.shape[1]),
): Promise<Tensor1D> {
  const tf = currentTensorflow();
  return withTensors(tf, async (keep) => {
    const x = await featureMatrix(tf, keep, given);
    const columns = { names, ranges: await readRanges(tf, x, names) };
    const runner = await createRunner(tf, network);
    try {
      return tf.tidy((): Tensor1D => {
        if (x.shape[0] === 0) return tf.tensor1d([], 'float32');
        const outputs = createRowChunks(tf, { x }, runner.rowsAtOnce).map((chunk) =>
          runner.forward(encodeFeatureTensor(tf, chunk, network.specs, columns)).reshape([1, -1]),
        );
        const { mean, scale } = network.target;
        const flat: Tensor1D = outputs.flatten();
        if (network.task === 'regression') return flat.mul(scale).add(mean);
        return isSavedLayers(network.layers) ? flat : tf.sigmoid(flat);
      });
    } finally {
      runner.dispose();
    }
  });
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

/** The weights of a layer on the tensor backend. */
interface LayerTensors {
  readonly kernel: Tensor2D;
  readonly bias: Tensor1D;
}

function uploadLayers(tf: Tf, layers: readonly LayerWeights[]): LayerTensors[] {
  return layers.map(({ kernel, bias, inputs, outputs }) => ({
    kernel: tf.tensor2d(kernel, [inputs, outputs]),
    bias: tf.tensor1d(bias),
  }));
}

function forward(tf: Tf, layers: readonly LayerTensors[], rows: Tensor2D): Tensor2D {
  return layers.reduce((z, { kernel, bias }, index) => {
    const out = tf.matMul(z, kernel).add<Tensor2D>(bias);
    return index === layers.length - 1 ? out : tf.relu(out);
  }, rows);
}

/** The last activation of a user's own network for each task. */
const LINKS = { binary: 'sigmoid', regression: 'linear' } as const;

function shapeOf(model: LayersModel): string {
  const [inputs, outputs] = [model.inputs, model.outputs].map((symbols) =>
    symbols.map(({ shape }) => shape.slice(1).map(String).join(' x ')).join(' and '),
  );
  return `${inputs ?? ''} inputs, ${outputs ?? ''} output, ${outputActivation(model) ?? 'no activation'}`;
}

/** A network on the tensor backend. */
interface NetworkRunner {
  /** The number of rows per forward pass. */
  readonly rowsAtOnce: number;
  /** Returns the outputs for rows [n, d], [n, 1]: before the link function if the network is plain. */
  forward(rows: Tensor2D): Tensor2D;
  dispose(): void;
}

async function createRunner(tf: Tf, network: Pick<FittedNetwork, 'task' | 'specs' | 'layers'>): Promise<NetworkRunner> {
  const { task, specs, layers } = network;
  if (isSavedLayers(layers)) {
    const model = await loadLayers(tf, layers);
    const [found, wanted] = [shapeOf(model), `${String(encodedWidth(specs))} inputs, 1 output, ${LINKS[task]}`];
    if (found !== wanted) {
      model.dispose();
      throw damagedNetwork(`it has ${found}; expected ${wanted}`);
    }
    return {
      rowsAtOnce: rowsAtOnce(tf, model),
      forward: (rows) => model.apply(rows, { training: false }) as Tensor2D,
      dispose() {
        model.dispose();
      },
    };
  }
  const weights = uploadLayers(tf, layers);
  return {
    rowsAtOnce: ROWS_AT_ONCE,
    forward: (rows) => forward(tf, weights, rows),
    dispose() {
      tf.dispose(weights.map(({ kernel, bias }) => ({ kernel, bias })));
    },
  };
}

/** Returns the outputs of one network, [n], before the link function if the network is plain. */
export async function runNetwork(
  tf: Tf,
  network: Pick<FittedNetwork, 'task' | 'specs' | 'layers'>,
  x: Float32Array,
): Promise<Float32Array> {
  const inputs = encodedWidth(network.specs);
  const rows = inputs === 0 ? 0 : x.length / inputs;
  const runner = await createRunner(tf, network);
  const parts: Tensor2D[] = [];
  try {
    for (let start = 0; start < rows; start += runner.rowsAtOnce) {
      const size = Math.min(runner.rowsAtOnce, rows - start);
      const part = x.subarray(start * inputs, (start + size) * inputs);
      parts.push(tf.tidy(() => runner.forward(tf.tensor2d(part, [size, inputs]))));
    }
    if (parts.length === 0) return new Float32Array(0);
    // All outputs are downloaded from the device at once, regardless of the number of rows.
    const complete = tf.concat(parts);
    parts.push(complete);
    return await complete.data<'float32'>();
  } finally {
    tf.dispose(parts);
    runner.dispose();
  }
}
