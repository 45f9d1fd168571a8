import type { LayersModel, Tensor, Tensor2D, Variable } from '@tensorflow/tfjs';

import { DataValidationError, FairnessToolkitError, TrainingError } from '../../exceptions/index.ts';
import { invalidParameter } from '../../internal/arguments.ts';
import { mostActivations, type Tf } from '../../tensor/index.ts';
import type { StandardScore } from '../data/feature-encoder.ts';
import type { NetworkTask } from './network-task.ts';
import type { SavedLayers } from './network-weights.ts';
import { MAX_ROWS_AT_ONCE, type TrainableNetworks } from './stacked-network.ts';

/**
 * Creates an untrained network for encoded features: a new TensorFlow.js model with one input of shape [rows, inputs] and
 * one output of shape [rows, 1]. The last layer has a sigmoid or a linear activation. A linear output is a logit or, for
 * a regression, a value. Use the seed for the initial weights and for dropout, so that results can be repeated. Training
 * disposes of the model.
 */
export type NetworkFactory = (inputs: number, seed: number) => LayersModel | Promise<LayersModel>;

/** Returns a model's topology and weights as plain data. */
export async function saveLayers(tf: Tf, model: LayersModel): Promise<SavedLayers> {
  const saved: SavedLayers[] = [];
  await model.save(
    tf.io.withSaveHandler(({ format = '', generatedBy = '', modelTopology = {}, weightSpecs = [], weightData }) => {
      saved.push({
        format,
        generatedBy,
        modelTopology,
        weightSpecs,
        weightData: tf.io.CompositeArrayBuffer.join(weightData),
      });
      return Promise.resolve({ modelArtifactsInfo: { dateSaved: new Date(0), modelTopologyType: 'JSON' as const } });
    }),
  );
  return saved[0] as SavedLayers;
}

/**
 * Creates the model of {@link saveLayers}. The caller disposes of it.
 * @throws {DataValidationError} if the weights are damaged, or do not fit the topology
 */
export async function loadLayers(
  tf: Tf,
  { modelTopology, weightSpecs, weightData }: SavedLayers,
): Promise<LayersModel> {
  const sizes = weightSpecs.map(({ shape, dtype }) => ({
    values: shape.reduce((product, side) => product * side, 1),
    bytes: dtype === 'bool' ? 1 : 4,
  }));
  const bytes = sizes.reduce((sum, size) => sum + size.values * size.bytes, 0);
  if (bytes !== weightData.byteLength) {
    throw damagedNetwork(`it has ${String(weightData.byteLength)} bytes of weights, but needs ${String(bytes)}`);
  }
  const areNumbers = weightSpecs.every(({ dtype }) => dtype === 'float32');
  if (areNumbers && !new Float32Array(weightData).every(Number.isFinite)) {
    throw damagedNetwork('a weight is not a finite number');
  }
  // A layer has at least as many weights as units, so that a wrong number cannot use up the memory.
  const most = sizes.reduce((sum, { values }) => sum + values, 0);
  const large = largestSize(modelTopology);
  if (large > most) throw damagedNetwork(`a layer of size ${String(large)} cannot have only ${String(most)} weights`);
  const before = new Set(Object.keys(tf.engine().registeredVariables));
  const weights = tf.io.decodeWeights(weightData, [...weightSpecs]);
  try {
    const model = await tf.models.modelFromJSON({ modelTopology: { ...modelTopology } });
    model.loadWeights(weights);
    return model;
  } catch (cause) {
    for (const [name, variable] of Object.entries(tf.engine().registeredVariables)) {
      if (!before.has(name)) variable.dispose();
    }
    throw damagedNetwork(cause instanceof Error ? cause.message : String(cause), cause);
  } finally {
    tf.dispose(weights);
  }
}

/** Returns the error for a network that is not complete or does not match its description. */
export function damagedNetwork(reason: string, cause?: unknown): DataValidationError {
  return new DataValidationError(`The saved network cannot be loaded: ${reason.replace(/\.$/, '')}.`, {
    code: 'invalid-state',
    context: { reason },
    suggestion:
      'Save it again. Register classes of your own layers with tf.serialization.registerClass before loading.',
    cause,
  });
}

/** The settings of layers that determine the number of weights. */
const SIZES = new Set(['units', 'filters', 'input_dim', 'output_dim', 'inputDim', 'outputDim']);

/** Returns the largest setting of a topology that determines a number of weights. */
function largestSize(topology: unknown): number {
  if (typeof topology !== 'object' || topology === null) return 0;
  return Object.entries(topology).reduce(
    (most, [name, value]) => Math.max(most, SIZES.has(name) && typeof value === 'number' ? value : largestSize(value)),
    0,
  );
}

/** How to create a user's own network. */
export interface UserNetworkSpec {
  readonly create: NetworkFactory;
  readonly task: NetworkTask;
}

/**
 * Creates one network from a user's factory. Gradients are computed by automatic differentiation.
 * @throws {ValueError} if the factory's result is not a network for these inputs
 * @throws {TrainingError} if the factory fails
 */
export async function createUserNetwork(
  tf: Tf,
  spec: UserNetworkSpec,
  inputs: number,
  seed: number,
): Promise<TrainableNetworks> {
  const model = await createModel(spec.create, inputs, seed);
  assertNetwork(model, inputs, spec.task);
  await assertSavable(tf, model);
  const variables = model.trainableWeights.map((weight) => weight.read() as unknown as Variable);
  const isProbability = outputActivation(model) === 'sigmoid';
  const parameters = tf.tidy(() => tf.variable(flattened(tf, variables)));
  let loaded: object = parameters.dataId;
  /** Copies the parameters into the model, if they have changed. */
  const load = (): void => {
    if (loaded === parameters.dataId) return;
    loaded = parameters.dataId;
    tf.tidy(() => {
      const parts = tf.split<Tensor>(
        parameters.flatten(),
        variables.map(({ size }) => size),
      );
      for (const [index, variable] of variables.entries()) {
        variable.assign((parts[index] as Tensor).reshape(variable.shape));
      }
    });
  };
  /** Returns logits or values, [1, n]. */
  const run = (x: Tensor2D, training: boolean): Tensor2D => {
    const outputs = (model.apply(x, { training }) as Tensor).reshape<Tensor2D>([1, -1]);
    return isProbability ? logitsOf(tf, outputs) : outputs;
  };
  return {
    parameters,
    rowsAtOnce: rowsAtOnce(tf, model),
    forward(x) {
      load();
      return { outputs: run(x, false) };
    },
    learn(x, slopeOf) {
      load();
      const kept: Tensor[] = [];
      // The value does not matter: the gradient with respect to the outputs is the objective's own.
      const pull = tf.customGrad((outputs) => {
        kept.push(tf.keep((outputs as Tensor).clone()));
        return { value: tf.scalar(0), gradFunc: () => slopeOf(kept[0] as Tensor2D) };
      });
      try {
        const { grads } = tf.variableGrads(() => pull(run(x, true)).asScalar(), variables);
        const gradients = variables.map((variable) => grads[variable.name] ?? tf.zerosLike(variable));
        return { outputs: (kept[0] as Tensor2D).clone(), gradient: flattened(tf, gradients) };
      } finally {
        tf.dispose(kept);
      }
    },
    async weightsOf() {
      load();
      return [spec.task === 'binary' && !isProbability ? await saveWithLink(tf, model) : await saveLayers(tf, model)];
    },
    dispose() {
      parameters.dispose();
      model.dispose();
    },
  };
}

/** Joins tensors in one row, [1, m]. */
function flattened(tf: Tf, tensors: readonly Tensor[]): Tensor2D {
  return tf.concat(tensors.map((tensor) => tensor.flatten())).reshape([1, -1]);
}

/**
 * Saves a model with one more layer, which converts its logits to probabilities or, with a target, its standardised
 * values to the target's units.
 */
export async function saveWithLink(tf: Tf, model: LayersModel, target?: StandardScore): Promise<SavedLayers> {
  const names = new Set(model.layers.map((layer) => layer.name));
  let name = 'output';
  for (let number = 2; names.has(name); number++) name = `output_${String(number)}`;
  const link =
    target === undefined ? tf.layers.activation({ name, activation: 'sigmoid' }) : tf.layers.dense({ name, units: 1 });
  const outputs = link.apply(model.outputs) as LayersModel['outputs'];
  try {
    if (target !== undefined) {
      tf.tidy(() => {
        link.setWeights([tf.tensor2d([[target.scale]]), tf.tensor1d([target.mean])]);
      });
    }
    return await saveLayers(tf, tf.model({ inputs: model.inputs, outputs }));
  } finally {
    // The other layers belong to the model.
    link.dispose();
  }
}

/** Models that a factory returned before. Training changes and disposes of a model. */
const used = new WeakSet<LayersModel>();

async function createModel(create: NetworkFactory, inputs: number, seed: number): Promise<LayersModel> {
  try {
    const model = await create(inputs, seed);
    if (typeof model !== 'object' || !used.has(model)) {
      if (isLayersModel(model)) used.add(model);
      return model;
    }
  } catch (cause) {
    if (FairnessToolkitError.isInstance(cause)) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new TrainingError(`The function for network failed with ${String(inputs)} inputs: ${reason}`, {
      context: { parameter: 'network', inputs },
      suggestion: 'It is called as network(inputs, seed), and returns a new TensorFlow.js model.',
      cause,
    });
  }
  throw invalidParameter('network', 'return a new model each time', 'the same model twice');
}

function assertNetwork(model: LayersModel, inputs: number, task: NetworkTask): void {
  const shapesOf = (symbols: LayersModel['inputs'] | undefined): string =>
    (symbols ?? []).map(({ shape }) => `[${shape.map((side) => side ?? 'rows').join(', ')}]`).join(', ');
  const wanted = `[rows, ${String(inputs)}] and [rows, 1]`;
  const found = isLayersModel(model) ? `${shapesOf(model.inputs)} and ${shapesOf(model.outputs)}` : typeof model;
  const reject = (required: string, received: string): never => {
    if (isLayersModel(model)) model.dispose();
    throw invalidParameter('network', required, received);
  };
  if (found !== wanted) {
    reject(`return a LayersModel with one input and one output, of shapes ${wanted}`, found);
  }
  const activation = outputActivation(model);
  const isLinear = activation === 'linear';
  if (!isLinear && (activation !== 'sigmoid' || task === 'regression')) {
    const allowed = task === 'regression' ? 'a linear activation' : 'a sigmoid or a linear activation';
    reject(`return a model whose last layer has ${allowed}`, activation ?? 'no activation');
  }
  const layers = layersIn(model);
  // Batch normalisation updates its averages even if it is not trainable.
  const averaging = layers.find((layer) => layer.getClassName() === 'BatchNormalization');
  if (averaging !== undefined) {
    const required = 'return a model without running averages, as in batch normalisation (layer normalisation works)';
    reject(required, `the layer '${averaging.name}'`);
  }
  for (const layer of layers) {
    const found = Object.entries(layer.getConfig()).find(
      ([name, value]) => /(?:Regularizer|Constraint)$/.test(name) && typeof value === 'object' && value !== null,
    );
    if (found === undefined) continue;
    reject('return a model without regularizers and constraints; use weightDecay', `${found[0]} in '${layer.name}'`);
  }
  if (model.trainableWeights.length === 0) reject('return a model with weights to train', 'none');
}

/** Returns the layers of a model, and those of models in it. */
function layersIn({ layers }: LayersModel): LayersModel['layers'] {
  return layers.flatMap((layer) => (isLayersModel(layer) ? layersIn(layer) : [layer]));
}

/** Checks before training that the trained model can be loaded again. */
async function assertSavable(tf: Tf, model: LayersModel): Promise<void> {
  try {
    (await loadLayers(tf, await saveLayers(tf, model))).dispose();
  } catch (cause) {
    model.dispose();
    throw cause;
  }
}

/** Returns whether a value is a TensorFlow.js model of layers. */
export function isLayersModel(model: unknown): model is LayersModel {
  return typeof model === 'object' && model !== null && 'outputs' in model && 'trainableWeights' in model;
}

/** Returns the activation of the layer that computes a model's output; undefined if its configuration has none. */
export function outputActivation({ outputs }: LayersModel): string | undefined {
  const activation = outputs[0]?.sourceLayer.getConfig()['activation'];
  return typeof activation === 'string' ? activation : undefined;
}

/** Probabilities are clipped to this distance from 0 and 1 before a logit is computed, as in Keras. */
const MARGIN = 1e-7;

/** Returns the logits of probabilities, which are first clipped. */
export function logitsOf(tf: Tf, probabilities: Tensor2D): Tensor2D {
  // `clipByValue` is not used, because on wasm it returns a number for NaN, which would hide that training diverged.
  const kept = tf.maximum<Tensor2D>(tf.minimum(probabilities, 1 - MARGIN), MARGIN);
  return tf.log(kept).sub(tf.log1p(kept.neg()));
}

/** Returns the number of rows per forward pass outside of training, from the widest layer. */
export function rowsAtOnce(tf: Tf, { layers }: LayersModel): number {
  const sizes = layers.flatMap((layer) =>
    [layer.getOutputAt(0)]
      .flat()
      .map(({ shape }) => shape.slice(1).reduce<number>((size, side) => size * (side ?? 1), 1)),
  );
  return Math.max(1, Math.min(MAX_ROWS_AT_ONCE, Math.floor(mostActivations(tf) / Math.max(1, ...sizes))));
}
