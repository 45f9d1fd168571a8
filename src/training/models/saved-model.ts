import { DataValidationError, ValueError } from '../../exceptions/index.ts';
import { assertKnownOptions, invalidParameter, nearestNames, type OptionNames } from '../../internal/arguments.ts';
import { VERSION } from '../../internal/version.ts';
import { MISSING_LABEL, type Table } from '../../table/index.ts';
import type { FeatureSpec } from '../data/feature-encoder.ts';
import type { MatrixSource } from '../data/read-matrix.ts';
import { decide } from '../estimators/estimator-rows.ts';
import type { Estimator } from '../estimators/estimator.ts';
import { featureTable } from '../networks/fit-inputs.ts';
import type { GridSearchReduction } from '../reductions/grid-search-reduction.ts';
import type { Randomization } from '../reductions/mixture.ts';
import type { ReductionsWrapper } from '../reductions/reductions-wrapper.ts';
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

/** Computes scores and decisions for one kind of model. The table must have the model's columns. */
export interface Predictor {
  readonly specs: readonly FeatureSpec[];
  /** The model itself, if its JSON was saved. */
  readonly restored: ReductionsWrapper | GridSearchReduction | Estimator | undefined;
  /** Returns the output of the layers model, [rows]. */
  scores(table: Table): Promise<Float64Array>;
  /** Draws decisions or values at random; undefined for a deterministic model. */
  readonly draw?: ((table: Table, options: SavedModelPredictOptions) => Promise<Uint8Array | Float64Array>) | undefined;
}

/**
 * A model read from a folder by `loadModel`. Tables are encoded as in training: numbers are standardised, and text is
 * one-hot encoded. Missing values are marked if the training rows had missing values. Otherwise, they are replaced by
 * the mean. The columns of a matrix are named x0, x1 and so on.
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
  async scores(x: MatrixSource): Promise<Float64Array> {
    return this.#predictor.scores(await this.#read(x));
  }

  /**
   * Returns the {@link SavedModel.scores} of each row, [rows], in [0, 1]. The model must make decisions.
   * @throws {ValueError} if the model predicts values
   * @throws {DataValidationError} under the conditions of `scores`
   */
  async predictProba(x: MatrixSource): Promise<Float64Array> {
    if (this.card.task === 'binary') return this.scores(x);
    throw new ValueError('This model predicts values, not probabilities.', {
      context: { task: this.card.task },
      suggestion: 'Use predict or scores.',
    });
  }

  /**
   * Returns a prediction for each row, [rows]. The decision is 1 if the score is at least `threshold`. A randomised
   * model draws its decisions at random. With the same seed and the same rows, it draws the same decisions. For a
   * regression, predictions are values.
   * @throws {ValueError} if an option has no effect on this model, or if options exclude each other
   * @throws {DataValidationError} under the conditions of `scores`
   */
  async predict(x: MatrixSource, options: SavedModelPredictOptions = {}): Promise<Uint8Array | Float64Array> {
    assertKnownOptions('SavedModel.predict', options, SAVED_MODEL_PREDICT_OPTION_NAMES);
    this.#assertOptions(options);
    const table = await this.#read(x);
    const { draw } = this.#predictor;
    const chosen = options.threshold ?? this.card.decision_threshold ?? undefined;
    if (draw !== undefined && chosen === undefined) return draw(table, options);
    const scores = await this.#predictor.scores(table);
    const threshold = chosen ?? (this.card.task === 'binary' ? 0.5 : undefined);
    return threshold === undefined ? scores : decide(scores, threshold);
  }

  /**
   * Describes how the given rows differ from the training rows. For example, they may have text values that did not
   * occur in training, or missing values.
   */
  async describeGaps(x: MatrixSource): Promise<string[]> {
    return describeGaps(await this.#read(x), this.#predictor.specs);
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
    assertColumns(table, this.columns);
    return table;
  }
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

/** Describes values that did not occur in training, with one sentence per problem. */
function describeGaps(table: Table, specs: readonly FeatureSpec[]): string[] {
  return specs.flatMap((spec) => {
    const gaps = spec.kind === 'numeric' ? numericGaps(table, spec) : categoricalGaps(table, spec);
    return gaps.map((gap) => `feature '${spec.name}': ${gap}`);
  });
}

function numericGaps(table: Table, spec: FeatureSpec & { kind: 'numeric' }): string[] {
  const missing = table.numeric(spec.name).values.reduce((sum, value) => sum + Number(Number.isNaN(value)), 0);
  if (missing === 0 || spec.marksMissing) return [];
  return [`${rows(missing)} no value, though all training rows had one; the mean is used`];
}

function categoricalGaps(table: Table, spec: FeatureSpec & { kind: 'categorical' }): string[] {
  const { codes, labels } = table.categorical(spec.name);
  const known = new Set(spec.levels);
  const isKnown = labels.map((label) => known.has(label));
  const marksMissing = known.has(MISSING_LABEL);
  let [unknown, missing] = [0, 0];
  for (const code of codes) {
    if (code < 0) missing++;
    else if (isKnown[code] === false) unknown++;
  }
  return [
    ...(unknown > 0 ? [`${rows(unknown)} a text without a column in the encoding`] : []),
    ...(missing > 0 && !marksMissing ? [`${rows(missing)} no value, though all training rows had one`] : []),
  ];
}

function rows(count: number): string {
  return count === 1 ? '1 row has' : `${count.toLocaleString('en-US')} rows have`;
}
