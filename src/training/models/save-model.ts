import { writeFile } from 'node:fs/promises';
import path from 'node:path';

import { ValueError } from '../../exceptions/index.ts';
import { assertKnownOptions, invalidParameter, type OptionNames } from '../../internal/arguments.ts';
import { VERSION } from '../../internal/version.ts';
import { writeFolderAtomic } from '../../io/atomic-write.ts';
import { tensorflowInUse, type Tf } from '../../tensor/index.ts';
import { encodedWidth, type FeatureSpec } from '../data/feature-encoder.ts';
import type { SavedLayers } from '../networks/network-weights.ts';
import { loadLayers, saveLayers, saveWithLink } from '../networks/user-network.ts';
import { describeModel, type ModelParts, type SavableModel } from './describe-model.ts';
import {
  dataToJson,
  featureToJson,
  holdsOnlyModel,
  MODEL_KIND,
  type ModelCard,
  type ModelData,
  plainFeatures,
} from './model-card.ts';
import {
  checksumsOf,
  toJsonText,
  TOPOLOGY_FILE,
  WEIGHTS_FILE,
  writeCard,
  writeLayers,
  writeModel,
} from './write-layers.ts';

/** Information about a model that the model itself does not contain. All fields are written to the card. */
export interface ModelDescription {
  /**
   * The encoding of columns as the model's inputs, or the names of columns that the model uses without encoding. A
   * trainer's encoding cannot be replaced: for a trainer, you can only give its columns new names, in the order of the
   * columns.
   * @defaultValue the columns and encoding of a trainer; otherwise x0, x1 and so on, without encoding
   */
  readonly features?: readonly FeatureSpec[] | readonly string[] | undefined;
  /**
   * The data on which the model was trained and evaluated.
   * @defaultValue null
   */
  readonly data?: ModelData | undefined;
  /**
   * The constraint under which a LayersModel was trained, for example `{ penalty: 'mean_gap', eta: 1 }`. The
   * constraints of other models are saved automatically.
   * @defaultValue null
   */
  readonly constraint?: Readonly<Record<string, unknown>> | undefined;
  /**
   * The number of training rows by group.
   * @defaultValue null
   */
  readonly groups?: Readonly<Record<string, number>> | undefined;
  /**
   * The model's metrics, one entry per set of rows: `{ rows: 'test', accuracy: 0.8, accuracy_ci: [0.7, 0.9] }`.
   * @defaultValue no entries
   */
  readonly metrics?: readonly Readonly<Record<string, unknown>>[] | undefined;
  /**
   * The backend on which the model was trained.
   * @defaultValue the backend that the model reports
   */
  readonly backend?: string | undefined;
  /**
   * Additional text files to save with the model, by name. For example, a text file can describe a transformation that
   * must be applied to rows before prediction.
   * @defaultValue none
   */
  readonly attachments?: Readonly<Record<string, string>> | undefined;
  /**
   * The default decision threshold of the saved model's `predict`.
   * @defaultValue null: the model's own rule
   */
  readonly decisionThreshold?: number | null | undefined;
  /**
   * Notes for users of the model.
   * @defaultValue none
   */
  readonly notes?: readonly string[] | undefined;
}

const MODEL_DESCRIPTION_NAMES: OptionNames<ModelDescription> = {
  features: true,
  data: true,
  constraint: true,
  groups: true,
  metrics: true,
  backend: true,
  attachments: true,
  decisionThreshold: true,
  notes: true,
};

/** The names of the files that contain the output of a model's `toJSON`. */
export const REDUCTIONS_FILE = 'reductions.json';
export const ESTIMATOR_FILE = 'estimator.json';

/** The note in the card if the model cannot be written as layers. */
const NO_LAYERS =
  'There is no model.json: the predictors are not linear in the features, so TensorFlow.js layers cannot represent them. Load this folder with evenhand.';

/**
 * Saves a fitted model as a folder with `card.json` and a TensorFlow.js layers model (`model.json`, `weights.bin`) that
 * plain `@tensorflow/tfjs` can load. The card contains method, data, groups, constraint, metrics, the encoding of every
 * feature, seed and versions. The layers map encoded features to the card's `output`:
 *
 * - networks: their layers. The last layer has a sigmoid activation or, for a regression, gives values in the target's
 *   units;
 * - linear estimators: one layer;
 * - `ReductionsWrapper` over linear estimators: the probability that the randomised model decides 1, sum_k w_k 1[x
 *   b_k + c_k >= 0], which is not a probability of the label;
 * - `GridSearchReduction`: its best predictor;
 * - a TensorFlow.js `LayersModel` of your own, with one input of shape [rows, features] and one output of shape [rows,
 *   1]: the model itself. Its output is a probability if the last layer has a sigmoid activation, and a value otherwise.
 *   If the model outputs logits, set `decisionThreshold` to 0.
 *
 * Estimators and reductions are also saved as JSON (`estimator.json`, `reductions.json`), from which `loadModel`
 * restores them exactly, including randomisation. If predictors are not linear, only this JSON file and the card are
 * written, and the card's `notes` say so. The folder is written atomically. A folder that contains anything else is
 * never replaced.
 * @param folder the target folder, which is written completely or not at all
 * @returns the card
 * @throws {TrainingError} if the model has not been fitted
 * @throws {ValueError} if the value is not a model, or if the features do not match the model
 * @throws {DataValidationError} if the folder cannot be written or has other content
 * @example
 * ```ts
 * import { loadModel, LogisticRegression, saveModel } from 'evenhand/training';
 *
 * const model = await new LogisticRegression().fit([[1], [2], [3], [4]], [0, 0, 1, 1]);
 * const card = await saveModel(model, 'model', { features: ['priors'] });
 * const loaded = await loadModel('model');
 * console.log(card.method, await loaded.predict({ priors: [1, 4] }));
 * // logistic_regression Uint8Array(2) [ 0, 1 ]
 * ```
 */
export async function saveModel(
  model: SavableModel,
  folder: string,
  description: ModelDescription = {},
): Promise<ModelCard> {
  assertKnownOptions('saveModel', description, MODEL_DESCRIPTION_NAMES);
  const parts = describeModel(model);
  const specs = featuresOf(parts, description.features);
  const { userModel } = parts;
  if (description.constraint !== undefined && (userModel === undefined || parts.constraint !== null)) {
    throw invalidParameter(
      'constraint',
      'be left out: this model knows its own',
      JSON.stringify(description.constraint),
    );
  }
  const layers = parts.layersFor(encodedWidth(specs));
  const hasLayers = layers !== undefined || userModel !== undefined;
  const attachments = Object.entries(description.attachments ?? {});
  const files = [
    ...(hasLayers ? [TOPOLOGY_FILE, WEIGHTS_FILE] : []),
    ...jsonFile(parts),
    ...attachments.map(([name]) => name),
  ];
  const tf = await tensorflowInUse();
  let card = cardOf(tf, parts, specs, description, files);
  await writeFolderAtomic(
    folder,
    async (target) => {
      if (layers !== undefined) await writeLayers(tf, target, layers);
      if (userModel !== undefined) {
        await writeModel(target, await savedLayersOf(tf, parts, userModel));
      }
      for (const name of jsonFile(parts)) await writeFile(path.join(target, name), toJsonText(parts.json));
      for (const [name, text] of attachments) await writeFile(path.join(target, name), text);
      card = Object.freeze({ ...card, checksums: await checksumsOf(target, files) });
      await writeCard(target, card);
    },
    holdsOnlyModel,
  );
  return card;
}

/** Returns a user's own model as it is saved, with values in the target's units. */
async function savedLayersOf(
  tf: Tf,
  { target }: ModelParts,
  model: NonNullable<ModelParts['userModel']>,
): Promise<SavedLayers> {
  if (!('modelTopology' in model)) return saveLayers(tf, model);
  if (target === undefined) return model;
  const loaded = await loadLayers(tf, model);
  try {
    return await saveWithLink(tf, loaded, target);
  } finally {
    loaded.dispose();
  }
}

/** Returns the name of the file for the output of the model's `toJSON`; empty if the model has no such output. */
function jsonFile({ json, method }: ModelParts): string[] {
  if (json === null) return [];
  return [method === 'reductions' || method === 'grid_search' ? REDUCTIONS_FILE : ESTIMATOR_FILE];
}

function featuresOf({ specs, inputs }: ModelParts, given: ModelDescription['features']): readonly FeatureSpec[] {
  if (specs !== undefined) return given === undefined ? specs : renamed(specs, given);
  const names = Array.from({ length: inputs ?? 0 }, (_, index) => `x${String(index)}`);
  const features = (given ?? names).flatMap((feature) =>
    typeof feature === 'string' ? plainFeatures([feature]) : feature,
  );
  const width = encodedWidth(features);
  if (width > 0 && width === (inputs ?? width)) return features;
  throw new ValueError(
    inputs === undefined
      ? 'The features parameter must name the columns that the model uses, since the model does not know their number.'
      : `The features parameter must encode to ${String(inputs)} inputs. Got ${String(width)} instead.`,
    {
      context: { parameter: 'features', inputs, width },
      suggestion: 'Specify the columns on which the model was fitted.',
    },
  );
}

/**
 * Renames the features of a trainer without changing the learned encodings. If the given names are the existing names,
 * even in another order, nothing changes. A mix of existing and new names is rejected, because the order may be wrong.
 */
function renamed(
  specs: readonly FeatureSpec[],
  given: NonNullable<ModelDescription['features']>,
): readonly FeatureSpec[] {
  const own = specs.map(({ name }) => name);
  const names = given.filter((feature) => typeof feature === 'string');
  if (names.length !== given.length) {
    throw invalidParameter(
      'features',
      'contain only names for a trainer, which has its own encodings',
      JSON.stringify(given),
    );
  }
  if (names.length !== own.length || new Set(names).size !== names.length) {
    throw invalidParameter('features', `be ${String(own.length)} different names`, JSON.stringify(names));
  }
  const kept = names.filter((name) => own.includes(name)).length;
  if (kept === own.length) return specs;
  if (kept === 0) return specs.map((spec, index) => ({ ...spec, name: names[index] as string }));
  throw invalidParameter(
    'features',
    `be the trainer's own columns (${own.join(', ')}) or other names for all of them`,
    JSON.stringify(names),
  );
}

function cardOf(
  tf: Tf,
  { method, task, output, seed, backend, ...parts }: ModelParts,
  specs: readonly FeatureSpec[],
  { data, groups, metrics = [], ...more }: ModelDescription,
  files: readonly string[],
): ModelCard {
  const constraint = more.constraint ?? parts.constraint;
  return {
    kind: MODEL_KIND,
    method,
    task,
    output,
    files: [...files],
    checksums: null,
    versions: { evenhand: VERSION, tfjs: tf.version.tfjs },
    data: data === undefined ? null : dataToJson(data),
    groups: groups ?? null,
    constraint: constraint === null ? null : { ...constraint },
    metrics: metrics.map((entry) => ({ ...entry })),
    features: specs.map(featureToJson),
    decision_threshold: more.decisionThreshold ?? null,
    seed,
    backend: more.backend ?? backend,
    notes: [...(files.includes(TOPOLOGY_FILE) ? [] : [NO_LAYERS]), ...(more.notes ?? [])],
  };
}
