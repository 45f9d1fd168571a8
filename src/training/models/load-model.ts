import path from 'node:path';

import { FairnessToolkitError } from '../../exceptions/index.ts';
import { assertKnownOptions, type OptionNames } from '../../internal/known-options.ts';
import { checkFile, warnOfNoChecksum } from '../../io/checksum.ts';
import type { BackendChoice } from '../../tensor/index.ts';
import { encodedWidth, type FeatureSpec } from '../data/feature-encoder.ts';
import type { Estimator } from '../estimators/estimator.ts';
import { estimatorFromJson } from '../estimators/estimator-from-json.ts';
import { GridSearchReduction } from '../reductions/grid-search-reduction.ts';
import { ReductionsWrapper } from '../reductions/reductions-wrapper.ts';
import type { DenseLayer } from './dense-layer.ts';
import { featureFromJson } from './feature-json.ts';
import { linearPart } from './linear-part.ts';
import { CARD_FILE, cardSchema, type ModelCard } from './model-card.ts';
import { badModelFile, parseModelFile, readCardJson, readModelFile, readModelJson } from './model-files.ts';
import { estimatorPredictor, networkPredictor, reductionsPredictor } from './model-predictors.ts';
import { openSweep } from './open-sweep.ts';
import { readLayers } from './read-layers.ts';
import { ESTIMATOR_FILE, REDUCTIONS_FILE } from './save-model.ts';
import { type Predictor, SavedModel } from './saved-model.ts';
import { TOPOLOGY_FILE } from './write-layers.ts';

/** Options of {@link loadModel}. */
export interface LoadModelOptions {
  /**
   * Which network, where the folder holds a sweep's.
   * @defaultValue none: the folder holds one model
   */
  readonly eta?: number | undefined;
  /**
   * Where a network is computed; estimators and reductions need no tensors.
   * @defaultValue EVENHAND_TF_BACKEND, else 'auto'
   */
  readonly backend?: BackendChoice | undefined;
}

const LOAD_MODEL_OPTION_NAMES: OptionNames<LoadModelOptions> = { eta: true, backend: true };

/**
 * Loads a model that `saveModel`, a training job or `--save-model` saved. All
 * its files are read and checked: a file that is cut short, does not have the
 * checksum in the card, or tells of other shapes than another is an error, and
 * nothing in a file is run. A model of an earlier version, which has no
 * checksums, loads with a warning.
 * @param folder with `card.json`; one `eta-…` folder of a sweep, or the sweep's with `eta`
 * @throws {DataValidationError} for a folder that holds no whole model, with the file and what is wrong with it
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
  const layers = card.files.includes(TOPOLOGY_FILE) ? await readLayers(folder) : undefined;
  if (layers !== undefined) assertLayers(folder, layers, card, encodedWidth(specs));
  const predictor = await readPredictor(folder, card, specs, layers, options);
  await checkFiles(folder, card);
  if (!hasChecksum || card.checksums === null) warnOfNoChecksum(path.join(folder, CARD_FILE));
  return new SavedModel(Object.freeze(card), predictor);
}

/** Compares each file with its checksum in the card, after the checks that say more of what is wrong with it. */
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
  { backend }: LoadModelOptions,
): Promise<Predictor> {
  switch (card.method) {
    case 'regularized':
    case 'lagrangian':
      if (layers === undefined) throw badModelFile(folder, CARD_FILE, `files lacks ${TOPOLOGY_FILE}`);
      return networkPredictor(card, specs, layers, backend);
    case 'reductions': {
      const wrapper = await restore(folder, REDUCTIONS_FILE, (json) => {
        const read = ReductionsWrapper.fromJSON(json);
        return { model: read, predictors: read.predictors };
      });
      assertShares(folder, wrapper.model);
      assertInputs(folder, REDUCTIONS_FILE, wrapper.inputs, encodedWidth(specs));
      return reductionsPredictor(wrapper.model, specs);
    }
    case 'grid_search': {
      const search = await restore(folder, REDUCTIONS_FILE, (json) => {
        const read = GridSearchReduction.fromJSON(json);
        return { model: read, predictors: read.predictors };
      });
      const best: Estimator | undefined = search.model.predictors[search.model.bestIndex];
      if (best === undefined) throw badModelFile(folder, REDUCTIONS_FILE, 'best_index names no predictor');
      assertInputs(folder, REDUCTIONS_FILE, search.inputs, encodedWidth(specs));
      return { ...estimatorPredictor(best, specs), restored: search.model };
    }
    default: {
      const { model, inputs } = await restore(folder, ESTIMATOR_FILE, (json) => {
        const read = estimatorFromJson(json);
        return { model: read, predictors: [read] };
      });
      assertInputs(folder, ESTIMATOR_FILE, inputs, encodedWidth(specs));
      return estimatorPredictor(model, specs);
    }
  }
}

/**
 * A model from its own JSON, with the number of inputs of each of its
 * predictors (undefined where any will do). What is wrong with it, that it has
 * not been fitted too, is told with the file.
 */
async function restore<Model>(
  folder: string,
  name: string,
  read: (json: unknown) => { readonly model: Model; readonly predictors: readonly Estimator[] },
): Promise<{ readonly model: Model; readonly inputs: readonly (number | undefined)[] }> {
  const json = await readModelJson(folder, name);
  try {
    const { model, predictors } = read(json);
    return { model, inputs: predictors.map((predictor) => linearPart(predictor)?.coefficients?.length) };
  } catch (cause) {
    if (!FairnessToolkitError.isInstance(cause)) throw cause;
    throw badModelFile(folder, name, cause.message, cause);
  }
}

/** What layers follow one another in each kind of model. */
function assertLayers(
  folder: string,
  layers: readonly DenseLayer[],
  { method, task }: ModelCard,
  inputs: number,
): void {
  const fault = (reason: string): never => {
    throw badModelFile(folder, TOPOLOGY_FILE, reason);
  };
  const last = layers.at(-1);
  if (layers[0]?.inputs !== inputs)
    fault(`it takes ${String(layers[0]?.inputs)} inputs, and the card tells of ${String(inputs)}`);
  if (last?.outputs !== 1) fault(`it gives ${String(last?.outputs)} outputs, and not one`);
  if (method !== 'regularized' && method !== 'lagrangian') return;
  const areRelu = layers.slice(0, -1).every(({ activation }) => activation === 'relu');
  if (!areRelu || last?.activation !== (task === 'binary' ? 'sigmoid' : 'linear')) {
    fault(`its activations are not those of a ${task} network`);
  }
}

function assertShares(folder: string, { result }: ReductionsWrapper): void {
  const { predictors, weights } = result;
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const areShares = weights.every((weight) => weight >= 0) && Math.abs(total - 1) < 1e-6;
  if (weights.length === predictors.length && areShares) return;
  throw badModelFile(folder, REDUCTIONS_FILE, 'the weights are no probabilities of its predictors');
}

function assertInputs(folder: string, name: string, found: readonly (number | undefined)[], inputs: number): void {
  const other = found.find((count) => count !== undefined && count !== inputs);
  if (other === undefined) return;
  throw badModelFile(
    folder,
    name,
    `a predictor takes ${String(other)} inputs, and the card tells of ${String(inputs)}`,
  );
}
