import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import { formatCount } from '../../internal/format.ts';
import { loadData, loadTexts } from '../../io/load-data.ts';
import type { DataPaths, FileSource } from '../../schemas/data-source.ts';
import { type Column, readTable, readTexts, Table, type TableSource } from '../../table/index.ts';
import { describeUnlikelyNumbers } from '../models/describe-gaps.ts';
import { featureFromJson } from '../models/model-card.ts';
import {
  assertColumns,
  SAVED_MODEL_PREDICT_OPTION_NAMES,
  type SavedModel,
  type SavedModelPredictOptions,
} from '../models/saved-model.ts';

/** A table with a model's scores and predictions. */
export interface PredictedTable {
  /** The given rows with two additional columns. */
  readonly table: Table;
  /**
   * The names of the new columns: `score` and `prediction`, with a numeric suffix if the table already has columns with
   * these names.
   */
  readonly scoreColumn: string;
  readonly predictionColumn: string;
  /** Warnings, for example about differences from the training rows. */
  readonly warnings: readonly string[];
}

/**
 * Adds a model's scores and predictions to a table. The score is the output of the layers model (`card.output`). The
 * prediction is a decision, 0 or 1, or the value that a regression predicts. A randomised model draws its decisions. If
 * the table already has a column `score`, that column is kept, and the new column is named `score_2`.
 * @throws {DataValidationError} if columns are missing; the error names the missing columns
 * @throws {ValueError} if an option has no effect on this model
 * @example
 * ```ts
 * import { loadModel, LogisticRegression, predictTable, saveModel } from 'evenhand/training';
 *
 * const model = await new LogisticRegression().fit([[1], [2], [3], [4]], [0, 0, 1, 1]);
 * await saveModel(model, 'priors', { features: ['priors'] });
 * const { table } = await predictTable(await loadModel('priors'), { id: ['a', 'b'], priors: [0, 9] });
 * console.log(table.columnNames, table.numeric('prediction').values);
 * // [ 'id', 'priors', 'score', 'prediction' ] Float64Array(2) [ 0, 1 ]
 * ```
 */
export async function predictTable(
  model: SavedModel,
  rows: TableSource,
  options: SavedModelPredictOptions = {},
): Promise<PredictedTable> {
  assertKnownOptions('predictTable', options, SAVED_MODEL_PREDICT_OPTION_NAMES);
  const table = await readTable(rows);
  return addPredictions(model, table, table, options);
}

/**
 * Implements {@link predictTable}. The model reads one table, and the new columns are added to another table with the
 * same rows.
 */
export async function addPredictions(
  model: SavedModel,
  rows: Table,
  written: Table,
  options: SavedModelPredictOptions,
): Promise<PredictedTable> {
  const { scores, predictions } = await model.predictWithScores(rows, options);
  const isOverridden = model.isRandomized && (options.threshold ?? model.card.decision_threshold) !== null;
  const scoreColumn = freeName('score', written.columnNames);
  const predictionColumn = freeName('prediction', written.columnNames);
  const numbers = (values: ArrayLike<number>): Column => ({ kind: 'numeric', values: Float64Array.from(values) });
  return Object.freeze({
    table: Table.ofColumns([
      ...written.columnNames.map((name) => [name, written.column(name)] as const),
      [scoreColumn, numbers(scores)],
      [predictionColumn, numbers(predictions)],
    ]),
    scoreColumn,
    predictionColumn,
    warnings: Object.freeze([
      ...model.warnings,
      ...(await model.describeGaps(rows)),
      ...describeUnlikelyNumbers(rows, model.card.features.map(featureFromJson)),
      ...samePredictionNotes(predictions),
      ...(isOverridden ? ['the constraint was met by randomised decisions; with a threshold it may not hold'] : []),
      ...[scoreColumn, predictionColumn]
        .filter((name) => /_\d+$/.test(name))
        .map((name) => `the rows have a column '${name.replace(/_\d+$/, '')}' already, so the new one is '${name}'`),
    ]),
  });
}

/** The smallest number of rows that usually have different predictions. */
const MIN_ROWS = 30;

/** Notes predictions that are all the same. */
function samePredictionNotes(predictions: ArrayLike<number>): string[] {
  const first = predictions[0] ?? NaN;
  const areSame = Array.prototype.every.call(predictions, (one: number) => one === first);
  if (predictions.length < MIN_ROWS || !areSame) return [];
  return [
    `all ${formatCount(predictions.length)} predictions are ${String(Number(first.toPrecision(4)))}, so that no group can have another rate; check the columns, the threshold and the model`,
  ];
}

/**
 * Returns a name that no column has. Upper and lower case are not distinguished, because some file formats ignore case.
 */
function freeName(name: string, taken: readonly string[]): string {
  const known = new Set(taken.map((other) => other.toLowerCase()));
  let free = name;
  for (let number = 2; known.has(free); number++) free = `${name}_${String(number)}`;
  return free;
}

/** Options of {@link predictFile}. */
export interface PredictFileOptions extends SavedModelPredictOptions {
  /**
   * Texts that mean a missing value, in all columns that the model uses.
   * @defaultValue the texts of the model's training, from its card; without them `MISSING_TEXTS`, and only the empty
   *   text in columns of groups
   */
  readonly naValues?: readonly string[] | undefined;
}

const PREDICT_FILE_OPTION_NAMES: OptionNames<PredictFileOptions> = {
  ...SAVED_MODEL_PREDICT_OPTION_NAMES,
  naValues: true,
};

/**
 * Applies {@link predictTable} to the rows of CSV or Parquet files. The columns of the files are returned as their original text, so
 * that identifiers with twenty digits or leading zeros are preserved.
 * @throws {DataValidationError} if a file cannot be read, or lacks columns that the model needs
 * @throws {ValueError} if an option has no effect on this model
 */
export async function predictFile(
  model: SavedModel,
  source: DataPaths | FileSource,
  options: PredictFileOptions = {},
): Promise<PredictedTable> {
  assertKnownOptions('predictFile', options, PREDICT_FILE_OPTION_NAMES);
  const { naValues = missingTextsOf(model), ...how } = options;
  const texts = await loadTexts(source);
  assertColumns(texts, model.columns);
  const numeric = model.card.features.filter(({ kind }) => kind === 'numeric').map(({ name }) => name);
  // As in training, the types in the file determine which values are numbers. Categories are read as text.
  const numbers = numeric.length === 0 ? Table.ofColumns([]) : await loadData(source, { columns: numeric });
  const given = Table.ofColumns(
    model.columns.map((name) => [name, numbers.has(name) ? numbers.column(name) : texts.column(name)]),
  );
  const features = model.card.features.map(({ name }) => name);
  const { table: rows, warnings } = readTexts(given, { groups: [], others: features, naValues });
  const predicted = await addPredictions(model, rows, texts, how);
  return Object.freeze({ ...predicted, warnings: Object.freeze([...warnings, ...predicted.warnings]) });
}

/** Returns the texts that meant a missing value in a model's training; undefined for the default texts. */
export function missingTextsOf({ card }: SavedModel): readonly string[] | undefined {
  return card.data?.na_values ?? undefined;
}
