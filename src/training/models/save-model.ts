import { writeFile } from 'node:fs/promises';
import path from 'node:path';

import { ValueError } from '../../exceptions/index.ts';
import { assertKnownOptions, invalidParameter, type OptionNames } from '../../internal/arguments.ts';
import { VERSION } from '../../internal/version.ts';
import { writeFolderAtomic } from '../../io/atomic-write.ts';
import { tensorflowInUse, type Tf } from '../../tensor/index.ts';
import { encodedWidth, type FeatureSpec } from '../data/feature-encoder.ts';
import { describeModel, type ModelParts, type SavableModel } from './describe-model.ts';
import { featureToJson, holdsOnlyModel, MODEL_KIND, type ModelCard, plainFeatures } from './model-card.ts';
import { checksumsOf, toJsonText, TOPOLOGY_FILE, WEIGHTS_FILE, writeCard, writeLayers } from './write-layers.ts';

/** What to say of a model beside what it knows itself; all of it goes into the card. */
export interface ModelDescription {
  /**
   * How columns become the model's inputs, or the names of columns that it takes as they are.
   * A trainer keeps the encoding that it learned, and takes names only: other names for its columns, in their order.
   * @defaultValue the columns and encoding that a trainer learned; else x0, x1 and so on, taken as they are
   */
  readonly features?: readonly FeatureSpec[] | readonly string[] | undefined;
  /**
   * The data learned from and judged on.
   * @defaultValue null
   */
  readonly data?: ModelData | undefined;
  /**
   * Rows trained on, by group.
   * @defaultValue null
   */
  readonly groups?: Readonly<Record<string, number>> | undefined;
  /**
   * What the model comes to, one entry per set of rows: `{ rows: 'test', accuracy: 0.8, accuracy_ci: [0.7, 0.9] }`.
   * @defaultValue no entries
   */
  readonly metrics?: readonly Readonly<Record<string, unknown>>[] | undefined;
  /**
   * Where it was trained.
   * @defaultValue what the model knows of it
   */
  readonly backend?: string | undefined;
  /**
   * Further files of text to keep with the model, by name: what must be done to rows before it takes them, say.
   * @defaultValue none
   */
  readonly attachments?: Readonly<Record<string, string>> | undefined;
  /**
   * The score from which a decision is 1: what `predict` of the saved model does, unless it is told otherwise.
   * @defaultValue null: the model's own rule
   */
  readonly decisionThreshold?: number | null | undefined;
  /**
   * What a user of the folder must know.
   * @defaultValue none
   */
  readonly notes?: readonly string[] | undefined;
}

const MODEL_DESCRIPTION_NAMES: OptionNames<ModelDescription> = {
  features: true,
  data: true,
  groups: true,
  metrics: true,
  backend: true,
  attachments: true,
  decisionThreshold: true,
  notes: true,
};

/** The data of a {@link ModelDescription}. */
export interface ModelData {
  readonly target: string;
  /** The label counted as 1; null where the target is 0/1 or a number. */
  readonly positiveLabel: string | null;
  readonly sensitive: readonly string[];
  readonly nTrain: number;
  readonly nTest: number;
  readonly nDropped: number;
}

/** The file with what a model's own `toJSON` gives. */
export const REDUCTIONS_FILE = 'reductions.json';
export const ESTIMATOR_FILE = 'estimator.json';

/** Said where no layers can be written. */
const NO_LAYERS =
  'There is no model.json: the predictors are not linear in the features, and TensorFlow.js has no layers for them. Load this folder with evenhand.';

/**
 * Saves a fitted model as a folder: a TensorFlow.js layers model (`model.json`,
 * `weights.bin`) that plain `@tensorflow/tfjs` loads, and `card.json` with
 * method, data, groups, constraint, metrics, the encoding of every feature, seed
 * and versions. The layers map encoded features to the card's `output`:
 *
 * - networks: their layers, the last one a sigmoid, or a regression's values in the target's units;
 * - linear estimators: one layer;
 * - `ReductionsWrapper` over them: the probability that the randomised model
 *   decides 1, sum_k w_k 1[x b_k + c_k >= 0], which is no probability of the label;
 * - `GridSearchReduction`: its best predictor.
 *
 * Estimators and reductions also keep their own JSON (`estimator.json`,
 * `reductions.json`), from which `loadModel` restores them to the last digit,
 * randomisation included. Where predictors are not linear there is that file alone,
 * and `notes` say so. Nothing is half-written; a folder that holds anything
 * but such a model is never replaced.
 * @param folder written whole or not at all
 * @returns the card
 * @throws {TrainingError} where the model has not been fitted
 * @throws {ValueError} for anything that is no model, or features that do not fit it
 * @throws {DataValidationError} where the folder cannot be written or holds something else
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
  const layers = parts.layersFor(encodedWidth(specs));
  const attachments = Object.entries(description.attachments ?? {});
  const files = [
    ...(layers === undefined ? [] : [TOPOLOGY_FILE, WEIGHTS_FILE]),
    ...jsonFile(parts),
    ...attachments.map(([name]) => name),
  ];
  const tf = await tensorflowInUse();
  let card = cardOf(tf, parts, specs, description, files);
  await writeFolderAtomic(
    folder,
    async (target) => {
      if (layers !== undefined) await writeLayers(tf, target, layers);
      for (const name of jsonFile(parts)) await writeFile(path.join(target, name), toJsonText(parts.json));
      for (const [name, text] of attachments) await writeFile(path.join(target, name), text);
      card = Object.freeze({ ...card, checksums: await checksumsOf(target, files) });
      await writeCard(target, card);
    },
    holdsOnlyModel,
  );
  return card;
}

/** The name of the file that holds the model's own JSON, if it has any. */
function jsonFile({ json, method }: ModelParts): string[] {
  if (json === null) return [];
  return [method === 'reductions' || method === 'grid_search' ? REDUCTIONS_FILE : ESTIMATOR_FILE];
}

function featuresOf({ specs, inputs }: ModelParts, given: ModelDescription['features']): readonly FeatureSpec[] {
  if (specs !== undefined) return given === undefined ? specs : renamed(specs, given);
  const names = Array.from({ length: inputs ?? 0 }, (_, index) => `x${String(index)}`);
  const features = (given ?? names).map((feature) => (typeof feature === 'string' ? plainFeature(feature) : feature));
  const width = encodedWidth(features);
  if (width > 0 && width === (inputs ?? width)) return features;
  throw new ValueError(
    inputs === undefined
      ? 'The features parameter must name the columns that the model takes, since the model does not know their number.'
      : `The features parameter must make ${String(inputs)} inputs. Got ${String(width)} instead.`,
    { context: { parameter: 'features', inputs, width }, suggestion: 'Name the columns that it was fitted on.' },
  );
}

/**
 * Gives the features of a trainer the names of its columns. The trainer keeps
 * the encodings that it has learned. Names that are its own, in any order, change
 * nothing; a mix of its own and other names may be a mistake in the order.
 */
function renamed(
  specs: readonly FeatureSpec[],
  given: NonNullable<ModelDescription['features']>,
): readonly FeatureSpec[] {
  const own = specs.map(({ name }) => name);
  const names = given.filter((feature) => typeof feature === 'string');
  if (names.length !== given.length) {
    throw invalidParameter('features', 'be names for a trainer, which has its own encodings', JSON.stringify(given));
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

function plainFeature(name: string): FeatureSpec {
  return plainFeatures([name])[0] as FeatureSpec;
}

function cardOf(
  tf: Tf,
  { method, task, output, constraint, seed, backend }: ModelParts,
  specs: readonly FeatureSpec[],
  { data, groups, metrics = [], ...more }: ModelDescription,
  files: readonly string[],
): ModelCard {
  const card: ModelCard = {
    kind: MODEL_KIND,
    method,
    task,
    output,
    files: [...files],
    checksums: null,
    versions: { evenhand: VERSION, tfjs: tf.version.tfjs },
    data:
      data === undefined
        ? null
        : {
            target: data.target,
            positive_label: data.positiveLabel,
            sensitive: [...data.sensitive],
            n_train: data.nTrain,
            n_test: data.nTest,
            n_dropped: data.nDropped,
          },
    groups: groups ?? null,
    constraint: constraint === null ? null : { ...constraint },
    metrics: metrics.map((entry) => ({ ...entry })),
    features: specs.map(featureToJson),
    decision_threshold: more.decisionThreshold ?? null,
    seed,
    backend: more.backend ?? backend,
    notes: [...(files.includes(TOPOLOGY_FILE) ? [] : [NO_LAYERS]), ...(more.notes ?? [])],
  };
  return card;
}
