import path from 'node:path';

import type { LayersModel } from '@tensorflow/tfjs';
import { z } from 'zod';

import { DataValidationError, FairnessToolkitError } from '../../exceptions/index.ts';
import { assertKnownOptions, invalidParameter, type OptionNames } from '../../internal/arguments.ts';
import { checkFile, warnOfNoChecksum } from '../../io/checksum.ts';
import { type BackendChoice, loadTensorflow } from '../../tensor/index.ts';
import { encodedWidth, type FeatureSpec } from '../data/feature-encoder.ts';
import { estimatorFromJson } from '../estimators/estimator-from-json.ts';
import type { Estimator } from '../estimators/estimator.ts';
import { weightSpecsSchema } from '../networks/network-json.ts';
import type { SavedLayers } from '../networks/network-weights.ts';
import { loadLayers } from '../networks/user-network.ts';
import { GridSearchReduction } from '../reductions/grid-search-reduction.ts';
import { ReductionsWrapper } from '../reductions/reductions-wrapper.ts';
import { linearPart } from './describe-model.ts';
import { CARD_FILE, cardSchema, featureFromJson, type ModelCard, SWEEP_KIND } from './model-card.ts';
import {
  badModelFile,
  networkFolder,
  parseModelFile,
  readCardJson,
  readModelFile,
  readModelJson,
} from './model-files.ts';
import { estimatorPredictor, networkPredictor, reductionsPredictor } from './predictors.ts';
import { ESTIMATOR_FILE, REDUCTIONS_FILE } from './save-model.ts';
import { type Predictor, SavedModel } from './saved-model.ts';
import {
  ACTIVATIONS,
  type DenseLayer,
  denseLayer,
  type LayerActivation,
  TOPOLOGY_FILE,
  WEIGHTS_FILE,
} from './write-layers.ts';

/** Activations by their names in model files. */
const NAMES: Readonly<Record<string, LayerActivation>> = {
  ...Object.fromEntries(ACTIVATIONS.map((name) => [name, name])),
  hard_sigmoid: 'hardSigmoid',
};

const size = z.int().min(1);

/** The schema of a stack of dense layers, the only kind of topology that this package writes and reads. */
const schema = z.object({
  modelTopology: z.object({
    class_name: z.literal('Sequential'),
    config: z.object({
      layers: z
        .array(
          z.object({
            class_name: z.literal('Dense'),
            config: z.object({
              units: size,
              activation: z.string().refine((name) => Object.hasOwn(NAMES, name), 'this activation is unknown'),
              use_bias: z.literal(true),
            }),
          }),
        )
        .min(1),
    }),
  }),
  weightsManifest: z.tuple([
    z.object({
      paths: z.tuple([z.literal(WEIGHTS_FILE)]),
      weights: z.array(z.object({ shape: z.array(size).min(1).max(2), dtype: z.literal('float32') })),
    }),
  ]),
});

/**
 * Reads a layers model that {@link writeLayers} wrote, without TensorFlow.js. Files are treated as data only: class
 * names and paths in them are ignored.
 * @throws {DataValidationError} if the topology has another kind of layer, shapes do not chain, or a file is truncated
 */
async function readLayers(folder: string): Promise<readonly DenseLayer[]> {
  const json = parseModelFile(folder, TOPOLOGY_FILE, schema, await readModelJson(folder, TOPOLOGY_FILE));
  const [{ weights }] = json.weightsManifest;
  const { layers } = json.modelTopology.config;
  const values = await readWeights(
    folder,
    weights.reduce((sum, { shape }) => sum + shape.reduce((product, side) => product * side, 1), 0),
  );
  let offset = 0;
  const take = (count: number): Float32Array => values.subarray(offset, (offset += count));
  return layers.map(({ config: { units, activation } }, index) => {
    const [inputs = 0, outputs] = weights[2 * index]?.shape ?? [];
    const [biases, ...more] = weights[2 * index + 1]?.shape ?? [];
    const before = index === 0 ? inputs : layers[index - 1]?.config.units;
    const doChain = inputs === before && outputs === units && biases === units && more.length === 0;
    if (!doChain || weights.length !== 2 * layers.length) {
      throw badModelFile(folder, TOPOLOGY_FILE, `the weights of layer ${String(index + 1)} do not match its shape`);
    }
    return denseLayer([inputs, units], take(inputs * units), take(units), NAMES[activation] ?? 'linear');
  });
}

async function readWeights(folder: string, count: number): Promise<Float32Array> {
  const bytes = await readModelFile(folder, WEIGHTS_FILE);
  if (bytes.byteLength !== 4 * count) {
    const found = `it has ${String(bytes.byteLength)} bytes, but ${TOPOLOGY_FILE} describes ${String(4 * count)}`;
    throw badModelFile(folder, WEIGHTS_FILE, found);
  }
  const values = Float32Array.from({ length: count }, (_, index) => bytes.readFloatLE(4 * index));
  const broken = values.findIndex((value) => !Number.isFinite(value));
  if (broken >= 0)
    throw badModelFile(folder, WEIGHTS_FILE, `weight ${String(broken + 1)} is ${String(values[broken])}`);
  return values;
}

/** The schema of a user's model. TensorFlow.js checks the topology itself. */
const userSchema = z.object({
  format: z.string().default('layers-model'),
  generatedBy: z.string().default(''),
  modelTopology: z.record(z.string(), z.unknown()),
  weightsManifest: z.tuple([
    z.object({
      paths: z.tuple([z.literal(WEIGHTS_FILE)]),
      weights: weightSpecsSchema,
    }),
  ]),
});

/**
 * Reads a `LayersModel` of the user's own, and returns the predictor that applies it.
 * @throws {DataValidationError} if a file is damaged, or the model does not match the card
 */
async function readUserModel(
  folder: string,
  { task }: ModelCard,
  specs: readonly FeatureSpec[],
  { backend }: LoadModelOptions,
): Promise<Predictor> {
  const { format, generatedBy, modelTopology, weightsManifest } = parseModelFile(
    folder,
    TOPOLOGY_FILE,
    userSchema,
    await readModelJson(folder, TOPOLOGY_FILE),
  );
  const bytes = await readModelFile(folder, WEIGHTS_FILE);
  const layers: SavedLayers = {
    format,
    generatedBy,
    modelTopology,
    weightSpecs: weightsManifest[0].weights,
    weightData: Uint8Array.from(bytes).buffer,
  };
  const { tf } = await loadTensorflow({ backend });
  let model: LayersModel;
  try {
    model = await loadLayers(tf, layers);
  } catch (cause) {
    throw badModelFile(folder, TOPOLOGY_FILE, cause instanceof Error ? cause.message : String(cause), cause);
  }
  const [shape] = model.inputs.map((input) => input.shape);
  model.dispose();
  const inputs = encodedWidth(specs);
  if (shape?.[1] !== inputs) {
    const problem = `it takes ${String(shape?.[1])} inputs, but the card describes ${String(inputs)}`;
    throw badModelFile(folder, TOPOLOGY_FILE, problem);
  }
  return networkPredictor({ task, specs, layers, target: PLAIN_TARGET }, backend);
}

/** The target of a saved network, which gives probabilities, or values in the target's units. */
const PLAIN_TARGET = { mean: 0, scale: 1 };

const sweep = z.object({ kind: z.literal(SWEEP_KIND), networks: z.array(z.string()) });

/**
 * Returns the name of the sub-folder that contains a sweep's network for the given eta.
 * @param card the content of the folder's card
 * @returns undefined if the folder does not contain a sweep
 * @throws {DataValidationError} if the folder contains a sweep, but no eta or an unknown eta is given; the error lists
 *   the networks
 * @throws {ValueError} if an eta is given, but the folder does not contain a sweep
 */
function openSweep(folder: string, card: unknown, eta: number | undefined): string | undefined {
  const parsed = sweep.safeParse(card);
  if (!parsed.success) {
    if (eta === undefined) return undefined;
    throw invalidParameter('eta', `be left out: '${folder}' is not the folder of a sweep`, eta);
  }
  const { networks } = parsed.data;
  const wanted = eta === undefined ? undefined : networkFolder(eta);
  if (wanted !== undefined && networks.includes(wanted)) return wanted;
  const first = networks[0] ?? networkFolder(0);
  throw new DataValidationError(
    `'${folder}' holds a sweep of ${String(networks.length)} networks${eta === undefined ? '' : `, but none for eta ${String(eta)}`}: ${networks.slice(0, 16).join(', ')}${networks.length > 16 ? ', …' : ''}.`,
    {
      context: { path: folder, networks, parameters: ['eta'] },
      suggestion: `Choose one of them (eta: ${first.replace(/^eta-/, '')}), or the folder ${path.join(folder, first)}.`,
    },
  );
}

/** Options for {@link loadModel}. */
export interface LoadModelOptions {
  /**
   * The eta of the network to load, if the folder contains a sweep.
   * @defaultValue none, for a folder with a single model
   */
  readonly eta?: number | undefined;
  /**
   * The backend that computes a network for arrays and tables. Estimators and reductions compute these without tensors.
   * Tensors are computed on the active backend.
   * @defaultValue EVENHAND_TF_BACKEND, else 'auto'
   */
  readonly backend?: BackendChoice | undefined;
}

const LOAD_MODEL_OPTION_NAMES: OptionNames<LoadModelOptions> = { eta: true, backend: true };

/**
 * Loads a model that was saved by `saveModel`, a training job or `--save-model`. Reads and checks all its files. Throws
 * if a file is truncated, if it does not match its checksum in the card, or if the shapes in two files differ. No
 * content of a file is executed. Loading a model from an earlier version without checksums produces a warning.
 * @param folder a folder with `card.json`: a single model, one `eta-…` folder of a sweep, or the folder of a sweep if
 *   `eta` is given
 * @throws {DataValidationError} if the folder does not contain a complete model; the error names the file and the
 *   problem
 * @example
 * ```ts
 * import { loadModel, ReductionsWrapper, saveModel } from 'evenhand/training';
 *
 * const X = [[0], [1], [2], [3], [4], [5], [2], [3], [4], [5], [6], [7]];
 * const y = [0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 1, 1];
 * const sensitive = ['a', 'a', 'a', 'a', 'a', 'a', 'b', 'b', 'b', 'b', 'b', 'b'];
 * const wrapper = await new ReductionsWrapper({ differenceBound: 0.05 }).fit(X, y, { sensitive });
 * await saveModel(wrapper, 'reductions');
 * const model = await loadModel('reductions');
 * const p = await model.predictProba(X);
 * console.log(model.card.output, p.join() === (await wrapper.predictProba(X)).join());
 * // probability of a positive randomised decision true
 * ```
 */
export async function loadModel(folder: string, options: LoadModelOptions = {}): Promise<SavedModel> {
  assertKnownOptions('loadModel', options, LOAD_MODEL_OPTION_NAMES);
  const { json, hasChecksum } = await readCardJson(folder, CARD_FILE);
  const inside = openSweep(folder, json, options.eta);
  if (inside !== undefined) return loadModel(path.join(folder, inside), { backend: options.backend });
  const card = parseModelFile(folder, CARD_FILE, cardSchema, json);
  const specs = card.features.map(featureFromJson);
  const isUserModel = card.method === 'layers_model';
  const layers = !isUserModel && card.files.includes(TOPOLOGY_FILE) ? await readLayers(folder) : undefined;
  if (layers !== undefined) assertLayers(folder, layers, card, encodedWidth(specs));
  const predictor = await readPredictor(folder, card, specs, layers, options);
  await checkFiles(folder, card);
  if (!hasChecksum || card.checksums === null) warnOfNoChecksum(path.join(folder, CARD_FILE));
  return new SavedModel(Object.freeze(card), predictor);
}

/**
 * Compares each file with its checksum in the card. Call this function after the checks whose errors are more specific.
 */
async function checkFiles(folder: string, { files, checksums }: ModelCard): Promise<void> {
  if (checksums === null) return;
  for (const name of files) {
    const expected = checksums[name];
    if (expected === undefined) throw badModelFile(folder, CARD_FILE, `checksums lacks ${name}`);
    checkFile(await readModelFile(folder, name), expected, path.join(folder, name));
  }
}

async function readPredictor(
  folder: string,
  card: ModelCard,
  specs: readonly FeatureSpec[],
  layers: readonly DenseLayer[] | undefined,
  options: LoadModelOptions,
): Promise<Predictor> {
  switch (card.method) {
    case 'regularized':
    case 'lagrangian':
      if (layers === undefined) throw badModelFile(folder, CARD_FILE, `files lacks ${TOPOLOGY_FILE}`);
      return networkPredictor({ task: card.task, specs, layers, target: PLAIN_TARGET }, options.backend);
    case 'layers_model':
      // Damaged files are rejected before TensorFlow.js allocates the weights.
      await checkFiles(folder, card);
      return readUserModel(folder, card, specs, options);
    case 'reductions': {
      const wrapper = await restore(folder, REDUCTIONS_FILE, (json) => ReductionsWrapper.fromJSON(json), specs);
      return reductionsPredictor(wrapper, specs);
    }
    case 'grid_search': {
      const search = await restore(folder, REDUCTIONS_FILE, (json) => GridSearchReduction.fromJSON(json), specs);
      return { ...estimatorPredictor(search.best, specs), restored: search };
    }
    default:
      return estimatorPredictor(await restore(folder, ESTIMATOR_FILE, estimatorFromJson, specs), specs);
  }
}

/**
 * Restores a model from its JSON file.
 * @throws {DataValidationError} if the file cannot be read, if the model is not fitted, or if its number of inputs
 *   differs from the card; the error names the folder, the file and the reason
 */
async function restore<Model extends ReductionsWrapper | GridSearchReduction | Estimator>(
  folder: string,
  name: string,
  read: (json: unknown) => Model,
  specs: readonly FeatureSpec[],
): Promise<Model> {
  const json = await readModelJson(folder, name);
  const inputs = encodedWidth(specs);
  let model: Model;
  let found: readonly (number | undefined)[];
  try {
    model = read(json);
    const predictors: readonly Estimator[] = 'predictors' in model ? model.predictors : [model];
    found = predictors.map((predictor) => linearPart(predictor)?.coefficients?.length);
  } catch (cause) {
    if (!FairnessToolkitError.isInstance(cause)) throw cause;
    throw badModelFile(folder, name, cause.message, cause);
  }
  const other = found.find((count) => count !== undefined && count !== inputs);
  if (other === undefined) return model;
  const problem = `a predictor takes ${String(other)} inputs, but the card describes ${String(inputs)}`;
  throw badModelFile(folder, name, problem);
}

/** Throws if the layers do not match the card: the number of inputs and outputs, and the activations of a network. */
function assertLayers(
  folder: string,
  layers: readonly DenseLayer[],
  { method, task }: ModelCard,
  inputs: number,
): void {
  const problem = (reason: string): never => {
    throw badModelFile(folder, TOPOLOGY_FILE, reason);
  };
  const last = layers.at(-1);
  if (layers[0]?.inputs !== inputs)
    problem(`it takes ${String(layers[0]?.inputs)} inputs, but the card describes ${String(inputs)}`);
  if (last?.outputs !== 1) problem(`it has ${String(last?.outputs)} outputs instead of one`);
  if (method !== 'regularized' && method !== 'lagrangian') return;
  const areRelu = layers.slice(0, -1).every(({ activation }) => activation === 'relu');
  if (!areRelu || last?.activation !== (task === 'binary' ? 'sigmoid' : 'linear')) {
    problem(`its activations do not match a ${task} network`);
  }
}
