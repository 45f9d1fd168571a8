import { readFile } from 'node:fs/promises';
import path from 'node:path';

import { z } from 'zod';

import { DataValidationError } from '../../exceptions/index.ts';
import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import { checkFile, checkJsonText } from '../../io/checksum.ts';
import { readTextFile } from '../../io/read-text-file.ts';
import { firstIssue } from '../../schemas/parse.ts';
import { requireInteger } from '../../stats/parameters.ts';
import { type BackendChoice, loadTensorflow, type Tf } from '../../tensor/runtime.ts';
import { type ClassifierVocabulary, encodeText, inputWidth, vocabularySchema } from './classifier-vocabulary.ts';
import type { ToxicityScorer } from './lexicon-toxicity.ts';

const TOPOLOGY_FILE = 'model.json';
const VOCABULARY_FILE = 'vocabulary.json';

/** The maximum size of a JSON file in bytes. A larger file cannot be part of a classifier. */
const LARGEST_JSON = 64 * 1024 * 1024;

/**
 * The schema of the parts of TensorFlow.js's format that are checked here. TensorFlow.js checks the layers when it
 * loads the model.
 */
const topologySchema = z.object({
  modelTopology: z.looseObject({}),
  weightsManifest: z.array(
    z.object({
      paths: z.array(z.string().min(1)),
      weights: z.array(z.looseObject({ name: z.string(), shape: z.array(z.int().min(0)), dtype: z.string() })),
    }),
  ),
});

/** The contents of a classifier's folder. */
interface ClassifierFiles {
  readonly modelTopology: object;
  readonly weightSpecs: readonly object[];
  readonly weightData: ArrayBuffer;
  readonly vocabulary: ClassifierVocabulary;
}

/**
 * Reads the files of a classifier's folder. Weights are read only from files in this folder. If `vocabulary.json`
 * contains checksums, they are verified.
 * @throws {DataValidationError} if a file is missing, changed or invalid; the message names the file
 */
async function readClassifierFiles(folder: string): Promise<ClassifierFiles> {
  const vocabulary = await readJson(folder, VOCABULARY_FILE, vocabularySchema);
  const { modelTopology, weightsManifest } = await readJson(folder, TOPOLOGY_FILE, topologySchema);
  for (const [name, expected] of Object.entries(vocabulary.checksums ?? {})) {
    checkFile(await readPart(folder, name, VOCABULARY_FILE), expected, path.join(folder, name));
  }
  const parts: Buffer[] = [];
  for (const name of weightsManifest.flatMap(({ paths }) => paths))
    parts.push(await readPart(folder, name, TOPOLOGY_FILE));
  const bytes = Buffer.concat(parts);
  return {
    modelTopology,
    weightSpecs: weightsManifest.flatMap(({ weights }) => weights),
    weightData: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength),
    vocabulary,
  };
}

async function readJson<Schema extends z.ZodType>(
  folder: string,
  name: string,
  schema: Schema,
): Promise<z.output<Schema>> {
  const file = await readTextFile(path.join(folder, name), LARGEST_JSON);
  if (file.text === null) throw badClassifier(folder, name, file.problem, file.cause);
  let json: unknown;
  try {
    json = JSON.parse(checkJsonText(file.text, path.join(folder, name)).text);
  } catch (cause) {
    throw badClassifier(folder, name, 'it is not complete JSON', cause);
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  throw badClassifier(folder, name, firstIssue(parsed.error), parsed.error);
}

/** @param namedBy the file that refers to this file by `name` */
async function readPart(folder: string, name: string, namedBy: string): Promise<Buffer> {
  if (path.basename(name) !== name || name === '..') {
    const what = namedBy === TOPOLOGY_FILE ? 'weights' : 'a file';
    throw badClassifier(folder, namedBy, `it names ${what} outside the folder: '${name}'`);
  }
  try {
    return await readFile(path.join(folder, name));
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    throw badClassifier(folder, name, code === 'ENOENT' ? 'there is no such file' : `the system says ${code}`, cause);
  }
}

/** Creates the error for a folder that does not contain a complete classifier. */
function badClassifier(folder: string, name: string, reason: string, cause?: unknown): DataValidationError {
  return new DataValidationError(`Cannot load the text classifier '${folder}': ${name}: ${reason}.`, {
    code: 'unreadable-file',
    context: { path: folder, file: name },
    suggestion: `A classifier is a folder with ${TOPOLOGY_FILE}, its weights and ${VOCABULARY_FILE}; see models/README.md for an example.`,
    cause,
  });
}

type LayersModel = Awaited<ReturnType<Tf['loadLayersModel']>>;

/** Options of {@link tfjsToxicityScorer}. */
export interface TfjsToxicityOptions {
  /**
   * The number of texts that are scored in one batch.
   * @defaultValue 64
   */
  readonly batchSize?: number | undefined;
  /**
   * The TensorFlow.js backend.
   * @defaultValue EVENHAND_TF_BACKEND, else 'auto'
   */
  readonly backend?: BackendChoice | undefined;
}

const TFJS_TOXICITY_OPTION_NAMES: OptionNames<TfjsToxicityOptions> = { batchSize: true, backend: true };

/** A loaded classifier. `dispose` frees its weights. */
export interface TfjsToxicityScorer extends ToxicityScorer {
  (texts: readonly string[]): Promise<readonly number[]>;
  readonly label: string;
  dispose(): void;
}

/**
 * Loads a custom TensorFlow.js text classifier as a scorer.
 *
 * The folder contains `vocabulary.json`, and `model.json` with its weights, as written by `model.save` of a layers
 * model. `vocabulary.json` has the fields `format` ("evenhand-text-classifier"), `name` (the label in reports), `words`
 * (the vocabulary), `input` and `output`. `output` is the index of the output column that contains the toxicity, from 0
 * to 1. The default of `output` is 0. Texts are normalized to NFKC and lower case and split into words of letters and
 * digits. If `input` is "bag_of_words", the model receives the count of each vocabulary word, as a tensor [texts,
 * words]. If `input` is "sequence", `max_length` is required, and the model receives word codes as a tensor [texts,
 * max_length]. The code of a word is its index in the vocabulary plus 2. Any other word has the code 1, and 0 is
 * padding after the text. Longer texts are truncated.
 *
 * The meaning of a score depends on the model. Scores are computed in single precision.
 * @throws {DataValidationError} if a file is missing or invalid; the message names the file
 * @throws {DependencyError} if the chosen backend cannot start
 * @throws {ValueError} if the batch size is not a whole number of at least 1
 */
export async function tfjsToxicityScorer(
  folder: string,
  options: TfjsToxicityOptions = {},
): Promise<TfjsToxicityScorer> {
  assertKnownOptions('tfjsToxicityScorer', options, TFJS_TOXICITY_OPTION_NAMES);
  const { batchSize = 64, backend } = options;
  requireInteger('batchSize', batchSize, 1);
  const files = await readClassifierFiles(folder);
  const { tf } = await loadTensorflow({ backend });
  const model = await loadModel(tf, folder, files);
  try {
    assertFits(folder, model, files.vocabulary);
  } catch (error) {
    model.dispose();
    throw error;
  }
  const index = new Map(files.vocabulary.words.map((word, position) => [word, position]));
  const score = async (texts: readonly string[]): Promise<readonly number[]> => {
    const scores: number[] = [];
    for (let first = 0; first < texts.length; first += batchSize) {
      scores.push(...(await scoreBatch(tf, model, texts.slice(first, first + batchSize), files.vocabulary, index)));
    }
    return scores;
  };
  return Object.assign(score, { label: files.vocabulary.name, dispose: () => void model.dispose() });
}

async function loadModel(tf: Tf, folder: string, files: ClassifierFiles): Promise<LayersModel> {
  try {
    return await tf.loadLayersModel(tf.io.fromMemory(files));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw badClassifier(folder, 'model.json', reason.split('\n', 1).join('').replace(/\.$/, ''), cause);
  }
}

/** Checks that the model's input width matches the vocabulary, and that its output has the toxicity column. */
function assertFits(folder: string, model: LayersModel, vocabulary: ClassifierVocabulary): void {
  const problem = (reason: string): never => {
    throw badClassifier(folder, 'model.json', reason);
  };
  if (model.inputs.length !== 1 || model.outputs.length !== 1) problem('it must have one input and one output');
  const [, width = null, ...more] = model.inputs[0]?.shape ?? [];
  const given = inputWidth(vocabulary);
  if (more.length > 0 || (width !== null && width !== given)) {
    problem(`its input takes ${String(width)} numbers per text, but vocabulary.json defines ${String(given)}`);
  }
  const [, columns = null, ...deeper] = model.outputs[0]?.shape ?? [];
  if (deeper.length > 0 || columns === null || columns <= vocabulary.output) {
    problem(`its output has ${String(columns)} columns, but vocabulary.json names column ${String(vocabulary.output)}`);
  }
}

async function scoreBatch(
  tf: Tf,
  model: LayersModel,
  texts: readonly string[],
  vocabulary: ClassifierVocabulary,
  index: ReadonlyMap<string, number>,
): Promise<Float32Array> {
  const width = inputWidth(vocabulary);
  const rows = new Float32Array(texts.length * width);
  texts.forEach((text, row) => {
    encodeText(text, vocabulary, index, rows.subarray(row * width, (row + 1) * width));
  });
  const scores = tf.tidy(() => {
    const output = model.predictOnBatch(tf.tensor2d(rows, [texts.length, width])) as ReturnType<Tf['tensor2d']>;
    return output.slice([0, vocabulary.output], [-1, 1]).flatten();
  });
  try {
    return (await scores.data()) as Float32Array;
  } finally {
    scores.dispose();
  }
}
