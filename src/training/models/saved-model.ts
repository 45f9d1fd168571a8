import type { Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import { DataValidationError, ValueError } from '../../exceptions/index.ts';
import { assertKnownOptions, invalidParameter, nearestNames, type OptionNames } from '../../internal/arguments.ts';
import { VERSION } from '../../internal/version.ts';
import { withTensors } from '../../metrics/reduce/tensors/row-states.ts';
import { isDeviceTensor, Table, type TensorLike } from '../../table/index.ts';
import { currentTensorflow, type Tf } from '../../tensor/index.ts';
import type { FeatureSpec } from '../data/feature-encoder.ts';
import { isTableSource, type MatrixSource } from '../data/read-matrix.ts';
import { columnNames, featureMatrix } from '../data/tensor-rows.ts';
import { decide, decideTensor } from '../estimators/estimator-rows.ts';
import type { Estimator } from '../estimators/estimator.ts';
import { featureTable } from '../networks/fit-inputs.ts';
import type { GridSearchReduction } from '../reductions/grid-search-reduction.ts';
import type { Randomization } from '../reductions/mixture.ts';
import type { ReductionsWrapper } from '../reductions/reductions-wrapper.ts';
import { describeGaps, describeTensorGaps } from './describe-gaps.ts';
import type { ModelCard } from './model-card.ts';

/** Options of {@link SavedModel.predict}. */
export interface SavedModelPredictOptions {
  /**
   * The decision threshold: the decision is 1 if the score is at least this value. If a threshold is set, a randomised
   * model decides deterministically, and its constraint may not hold for these decisions.
   * @defaultValue the threshold in the card (`card.decision_threshold`); otherwise 0.5 if scores are probabilities; no
   *   threshold for values and randomised models
   */
  readonly threshold?: number | undefined;
  /**
   * The seed for the random decisions of a randomised model.
   * @defaultValue the seed in the model
   */
  readonly seed?: number | undefined;
  /**
   * How the random number of a row is determined: by the row's position, or by a hash of the row's features. This
   * option applies only to randomised models.
   * @defaultValue the setting in the model
   */
  readonly randomization?: Randomization | undefined;
}

/** Lists the options of {@link SavedModelPredictOptions}. */
export const SAVED_MODEL_PREDICT_OPTION_NAMES: OptionNames<SavedModelPredictOptions> = {
  threshold: true,
  seed: true,
  randomization: true,
};

/**
 * Computes scores and decisions for one kind of model. A table must have the model's columns. A tensor holds them in the
 * order of `specs`, [rows, specs.length] float32, and the results for it are float32 tensors, which the caller disposes
 * of.
 */
export interface Predictor {
  readonly specs: readonly FeatureSpec[];
  /** The model itself, if its JSON was saved. */
  readonly restored: ReductionsWrapper | GridSearchReduction | Estimator | undefined;
  /** Returns the output of the layers model, [rows]. */
  scores(table: Table): Promise<Float64Array>;
  tensorScores(x: Tensor2D): Promise<Tensor1D>;
  /** Draws decisions or values at random; undefined for a deterministic model. */
  readonly draw?: ((table: Table, options: SavedModelPredictOptions) => Promise<Uint8Array | Float64Array>) | undefined;
  readonly tensorDraw?: ((x: Tensor2D, options: SavedModelPredictOptions) => Promise<Tensor1D>) | undefined;
}

/**
 * A model read from a folder by `loadModel`. Tables are encoded as in training: numbers are standardised, and text is
 * one-hot encoded. Missing values are marked if the training rows had missing values. Otherwise, they are replaced by
 * the mean.
 *
 * A matrix or tensor, [rows, columns], has no names. Its columns are the features of the card in their order, and there
 * must be as many. If the model itself was trained on a matrix whose columns were not named, its features are called x0,
 * x1 and so on; the column with the index k is then xk, and columns that the model does not use are ignored.
 *
 * The rows of a `tf.Tensor` stay on its device, whichever backend the model was loaded with: the results are float32
 * tensors there, which the caller disposes of. NaN is a missing value. What is read does not depend on the number of
 * rows.
 */
export class SavedModel {
  /** The content of the model's `card.json`. */
  readonly card: ModelCard;
  /** Warnings for users of the model, for example that another version saved the model. */
  readonly warnings: readonly string[];
  readonly #predictor: Predictor;

  /** Creates the model. Call `loadModel` instead. */
  constructor(card: ModelCard, predictor: Predictor) {
    this.card = card;
    this.#predictor = predictor;
    const { evenhand } = card.versions;
    this.warnings = Object.freeze(
      evenhand === VERSION ? [] : [`the model was saved by evenhand ${evenhand}, but this is ${VERSION}`],
    );
  }

  /** The columns that a table must have. */
  get columns(): readonly string[] {
    return this.#predictor.specs.map(({ name }) => name);
  }

  /** Whether decisions are random, so that equal rows may get different decisions (if no threshold is set). */
  get isRandomized(): boolean {
    return this.#predictor.draw !== undefined;
  }

  /** The restored reduction or estimator, whose methods need encoded features; undefined for a network. */
  get restored(): ReductionsWrapper | GridSearchReduction | Estimator | undefined {
    return this.#predictor.restored;
  }

  /**
   * Returns the output of the layers model for each row, [rows]. `card.output` says what the output is: the probability
   * of 1, the probability that a randomised model decides 1, or a value.
   * @throws {DataValidationError} if columns are missing or a value cannot be used; the error names the missing columns
   *   or the first such value
   */
  scores(x: Tensor2D): Promise<Tensor1D>;
  scores(x: MatrixSource): Promise<Float64Array>;
  async scores(x: MatrixSource): Promise<Float64Array | Tensor1D> {
    if (isDeviceTensor(x)) return this.#onDevice(x, (_, columns) => this.#predictor.tensorScores(columns));
    return this.#predictor.scores(await this.#read(x));
  }

  /**
   * Returns the {@link SavedModel.scores} of each row, [rows], in [0, 1]. The model must make decisions.
   * @throws {ValueError} if the model predicts values
   * @throws {DataValidationError} under the conditions of `scores`
   */
  predictProba(x: Tensor2D): Promise<Tensor1D>;
  predictProba(x: MatrixSource): Promise<Float64Array>;
  async predictProba(x: MatrixSource): Promise<Float64Array | Tensor1D> {
    if (this.card.task === 'binary') return this.scores(x);
    throw new ValueError('This model predicts values, not probabilities.', {
      context: { task: this.card.task },
      suggestion: 'Use predict or scores.',
    });
  }

  /**
   * Returns a prediction for each row, [rows]. The decision is 1 if the score is at least `threshold`. A randomised
   * model draws its decisions at random. With the same seed and the same rows, it draws the same decisions. For a
   * regression, predictions are values. From a tensor, the result is a tensor: float32, with decisions 0 and 1.
   * @throws {ValueError} if an option has no effect on this model, if options exclude each other, or if the random
   *   numbers of a tensor's rows depend on their features (randomization 'row')
   * @throws {DataValidationError} under the conditions of `scores`
   */
  predict(x: Tensor2D, options?: SavedModelPredictOptions): Promise<Tensor1D>;
  predict(x: MatrixSource, options?: SavedModelPredictOptions): Promise<Uint8Array | Float64Array>;
  async predict(
    x: MatrixSource,
    options: SavedModelPredictOptions = {},
  ): Promise<Uint8Array | Float64Array | Tensor1D> {
    assertKnownOptions('SavedModel.predict', options, SAVED_MODEL_PREDICT_OPTION_NAMES);
    const { draws, threshold } = this.#ruleOf(options);
    if (!isDeviceTensor(x)) {
      const table = await this.#read(x);
      const { draw } = this.#predictor;
      if (draws && draw !== undefined) return draw(table, options);
      return decideBy(await this.#predictor.scores(table), threshold);
    }
    return this.#onDevice(x, async (tf, columns) => {
      const { tensorDraw } = this.#predictor;
      if (draws && tensorDraw !== undefined) return tensorDraw(columns, options);
      const scores = await this.#predictor.tensorScores(columns);
      return threshold === undefined ? scores : decideTensor(tf, scores, threshold);
    });
  }

  /**
   * Returns the {@link SavedModel.scores} and the predictions of {@link SavedModel.predict}. The rows are scored once.
   * Random decisions are drawn separately.
   * @throws {ValueError} under the conditions of `predict`
   * @throws {DataValidationError} under the conditions of `scores`
   */
  async predictWithScores(
    x: Exclude<MatrixSource, TensorLike>,
    options: SavedModelPredictOptions = {},
  ): Promise<{ readonly scores: Float64Array; readonly predictions: Uint8Array | Float64Array }> {
    assertKnownOptions('SavedModel.predictWithScores', options, SAVED_MODEL_PREDICT_OPTION_NAMES);
    const { draws, threshold } = this.#ruleOf(options);
    const table = await this.#read(x);
    const { draw } = this.#predictor;
    const scores = await this.#predictor.scores(table);
    return {
      scores,
      predictions: draws && draw !== undefined ? await draw(table, options) : decideBy(scores, threshold),
    };
  }

  /** Returns whether decisions are drawn, and the threshold of decisions that are not; undefined for values. */
  #ruleOf(options: SavedModelPredictOptions): { readonly draws: boolean; readonly threshold: number | undefined } {
    this.#assertOptions(options);
    const chosen = options.threshold ?? this.card.decision_threshold ?? undefined;
    const threshold = chosen ?? (this.card.task === 'binary' ? 0.5 : undefined);
    return { draws: this.isRandomized && chosen === undefined, threshold };
  }

  /**
   * Describes how the given rows differ from the training rows. For example, they may have text values that did not
   * occur in training, or missing values. For a tensor, missing values are counted on its device.
   */
  async describeGaps(x: MatrixSource): Promise<string[]> {
    const { specs } = this.#predictor;
    if (!isDeviceTensor(x)) return describeGaps(await this.#read(x), specs);
    return this.#withColumns(x, (tf, columns) => describeTensorGaps(tf, columns, specs));
  }

  #assertOptions({ threshold, seed, randomization }: SavedModelPredictOptions): void {
    for (const [name, value] of Object.entries({ seed, randomization })) {
      if (value === undefined) continue;
      if (!this.isRandomized) throw invalidParameter(name, 'be left out: this model is not randomised', value);
      if (threshold === undefined && this.card.decision_threshold === null) continue;
      throw invalidParameter(name, 'be left out if a threshold is set', value);
    }
  }

  async #read(x: MatrixSource): Promise<Table> {
    const table = await featureTable(x);
    if (!isTableSource(x)) {
      const indices = this.#indicesAmong(table.columnNames.length);
      return Table.ofColumns(this.columns.map((name, index) => [name, table.column(`x${String(indices[index])}`)]));
    }
    assertColumns(table, this.columns);
    return table;
  }

  /** Calls a function with the model's columns of a tensor, [rows, columns] float32, in the order of the card. */
  #withColumns<T>(x: TensorLike, work: (tf: Tf, columns: Tensor2D) => Promise<T>): Promise<T> {
    const tf = currentTensorflow();
    return withTensors(tf, async (keep) => {
      const given = await featureMatrix(tf, keep, x);
      const [rows, width] = given.shape;
      const indices = this.#indicesAmong(width);
      const isSame = indices.length === width && indices.every((index, column) => index === column);
      if (isSame || rows === 0) return work(tf, given);
      return work(tf, keep(tf.tidy(() => tf.gather(given, tf.tensor1d(indices, 'int32'), 1))));
    });
  }

  /** Computes one number per row of a tensor on its device. Kernels are not called without rows. */
  #onDevice(x: TensorLike, work: (tf: Tf, columns: Tensor2D) => Promise<Tensor1D>): Promise<Tensor1D> {
    return this.#withColumns(x, async (tf, columns) =>
      columns.shape[0] === 0 ? tf.tensor1d([], 'float32') : work(tf, columns),
    );
  }

  /**
   * Returns for each of the model's columns its index among columns without names.
   * @throws {DataValidationError} if a column is missing
   */
  #indicesAmong(width: number): number[] {
    const { specs } = this.#predictor;
    const names = columnNames(width);
    // A network excludes columns that never vary, so that features x0 and x2 are not the first two columns.
    const byPosition = specs.every(({ name, kind }) => kind === 'numeric' && !/^x\d+$/.test(name));
    if (byPosition && specs.length === width) return [...specs.keys()];
    const indices = specs.map(({ name }) => names.indexOf(name));
    if (!indices.includes(-1)) return indices;
    const needed = byPosition ? `exactly these ${String(specs.length)} columns, in this order` : 'the columns of the training rows'; // prettier-ignore
    throw withoutNames(names, specs, needed);
  }
}

/** Returns the error for a matrix or tensor whose columns are not those of the model. */
function withoutNames(found: readonly string[], specs: readonly FeatureSpec[], position: string): DataValidationError {
  const shown = (names: readonly string[]): string => `${names.slice(0, 8).join(', ')}${names.length > 8 ? ', …' : ''}`;
  const text = specs.find(({ kind }) => kind === 'categorical');
  const names = specs.map(({ name }) => name);
  return new DataValidationError(
    `The model needs the columns ${shown(names.map((name) => `'${name}'`))}, but a tensor or matrix has no names: its ${found.length === 1 ? 'column is' : `${String(found.length)} columns are`} named ${shown(found)}.`,
    {
      code: 'unknown-column',
      context: { missing: names.filter((name) => !found.includes(name)), columns: found },
      suggestion:
        text === undefined
          ? `Give ${position}, or a table with columns of these names.`
          : `The column '${text.name}' holds texts, so give a table with columns of these names.`,
    },
  );
}

/** Returns decisions, or without a threshold the scores, which are values. */
function decideBy(scores: Float64Array, threshold: number | undefined): Uint8Array | Float64Array {
  return threshold === undefined ? scores : decide(scores, threshold);
}

/**
 * Checks that a table has the given columns.
 * @throws {DataValidationError} if columns are missing; the error names all missing columns, each with the most similar
 *   name
 */
export function assertColumns(table: Table, names: readonly string[]): void {
  const missing = names.filter((name) => !table.has(name));
  if (missing.length === 0) return;
  const shown = missing.slice(0, 8).map((name) => {
    const [near] = nearestNames(name, table.columnNames);
    return near === undefined ? `'${name}'` : `'${name}' (did you mean '${near}'?)`;
  });
  const more = missing.length > shown.length ? ` and ${String(missing.length - shown.length)} more` : '';
  throw new DataValidationError(
    `The rows lack ${missing.length === 1 ? 'a column' : `${String(missing.length)} columns`} that the model needs: ${shown.join(', ')}${more}.`,
    {
      code: 'unknown-column',
      context: { missing, columns: table.columnNames },
      suggestion: `Provide the columns on which the model was trained. The rows have ${String(table.columnNames.length)}: ${table.columnNames.slice(0, 8).join(', ')}${table.columnNames.length > 8 ? ', …' : ''}.`,
    },
  );
}
