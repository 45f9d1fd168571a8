import { assertKnownOptions, type OptionNames } from '../../internal/known-options.ts';
import { requireWhole } from '../../stats/parameters.ts';
import { type BackendChoice, loadTensorflow, type Tf } from '../../tensor/runtime.ts';
import { badClassifier, type ClassifierFiles, readClassifierFiles } from './classifier-files.ts';
import { type ClassifierVocabulary, encodeText, inputWidth, wordIndex } from './classifier-vocabulary.ts';
import type { ToxicityScorer } from './toxicity-scorer.ts';

type LayersModel = Awaited<ReturnType<Tf['loadLayersModel']>>;

/** Options of {@link tfjsToxicityScorer}. */
export interface TfjsToxicityOptions {
  /**
   * Texts that are scored at once.
   * @defaultValue 64
   */
  readonly batchSize?: number | undefined;
  /**
   * Where the model is computed.
   * @defaultValue EVENHAND_TF_BACKEND, else 'auto'
   */
  readonly backend?: BackendChoice | undefined;
}

const TFJS_TOXICITY_OPTION_NAMES: OptionNames<TfjsToxicityOptions> = { batchSize: true, backend: true };

/** A classifier that is loaded; `dispose` frees its weights. */
export interface TfjsToxicityScorer extends ToxicityScorer {
  (texts: readonly string[]): Promise<readonly number[]>;
  readonly label: string;
  dispose(): void;
}

/**
 * A scorer from your own TensorFlow.js text classifier.
 *
 * The folder holds `model.json` and its weights as `model.save` of a layers model
 * writes them, and `vocabulary.json`: `format` "evenhand-text-classifier", `name` (what reports call it), `words`
 * (the list), `input`, and `output` (which column is toxicity, from 0 to 1; 0 when left out).
 * Texts are put into NFKC and lower case and split into words of letters and digits.
 * With `input` "bag_of_words" the model gets the count of each word of the list, a tensor [texts, words]; with
 * "sequence" and `max_length` numbers of words, [texts, max_length]: the word's place in the list
 * plus 2, 1 for any other word, 0 after the end; what is longer is cut.
 *
 * What a score means is up to the model. Scores are of single precision.
 * @throws {DataValidationError} naming the file that is missing or does not fit
 * @throws {DependencyError} where the named backend cannot start
 * @throws {ValueError} for a batch size that is not a whole number of at least 1
 */
export async function tfjsToxicityScorer(
  folder: string,
  options: TfjsToxicityOptions = {},
): Promise<TfjsToxicityScorer> {
  assertKnownOptions('tfjsToxicityScorer', options, TFJS_TOXICITY_OPTION_NAMES);
  const { batchSize = 64, backend } = options;
  requireWhole('batchSize', batchSize, 1);
  const files = await readClassifierFiles(folder);
  const { tf } = await loadTensorflow({ backend });
  const model = await loadModel(tf, folder, files);
  try {
    assertFits(folder, model, files.vocabulary);
  } catch (error) {
    model.dispose();
    throw error;
  }
  const index = wordIndex(files.vocabulary);
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

/** The input must have the vocabulary's width, and the output the column of toxicity. */
function assertFits(folder: string, model: LayersModel, vocabulary: ClassifierVocabulary): void {
  const fault = (reason: string): never => {
    throw badClassifier(folder, 'model.json', reason);
  };
  if (model.inputs.length !== 1 || model.outputs.length !== 1) fault('it must have one input and one output');
  const [, width = null, ...more] = model.inputs[0]?.shape ?? [];
  const given = inputWidth(vocabulary);
  if (more.length > 0 || (width !== null && width !== given)) {
    fault(`its input takes ${String(width)} numbers a text, and vocabulary.json gives ${String(given)}`);
  }
  const [, columns = null, ...deeper] = model.outputs[0]?.shape ?? [];
  if (deeper.length > 0 || columns === null || columns <= vocabulary.output) {
    fault(`its output has ${String(columns)} columns, and vocabulary.json names column ${String(vocabulary.output)}`);
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
