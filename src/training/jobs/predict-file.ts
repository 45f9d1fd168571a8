import { assertKnownOptions } from '../../internal/known-options.ts';
import { loadData } from '../../io/load-data.ts';
import { loadTexts } from '../../io/load-texts.ts';
import { Table, readTexts } from '../../table/index.ts';
import {
  assertColumns,
  SAVED_MODEL_PREDICT_OPTION_NAMES,
  type SavedModel,
  type SavedModelPredictOptions,
} from '../models/saved-model.ts';
import { addPredictions, type PredictedTable } from './predict-table.ts';

/**
 * {@link predictTable} for a CSV or Parquet file: the columns of the file come
 * back as the texts that stand in it, so that an identifier of twenty digits or
 * with leading zeros stays what it is.
 * @throws {DataValidationError} for a file that cannot be read, or lacks columns that the model needs
 * @throws {ValueError} for options that do nothing with this model
 */
export async function predictFile(
  model: SavedModel,
  path: string,
  options: SavedModelPredictOptions = {},
): Promise<PredictedTable> {
  assertKnownOptions('predictFile', options, SAVED_MODEL_PREDICT_OPTION_NAMES);
  const texts = await loadTexts(path);
  assertColumns(texts, model.columns);
  const numeric = model.card.features.filter(({ kind }) => kind === 'numeric').map(({ name }) => name);
  // As in training a file's own types say what a number is; a category is the text itself.
  const numbers = numeric.length === 0 ? Table.ofColumns([]) : await loadData(path, { columns: numeric });
  const given = Table.ofColumns(
    model.columns.map((name) => [name, numbers.has(name) ? numbers.column(name) : texts.column(name)]),
  );
  const features = model.card.features.map(({ name }) => name);
  const { table: rows, warnings } = readTexts(given, { groups: [], others: features });
  const predicted = await addPredictions(model, rows, texts, options);
  return Object.freeze({ ...predicted, warnings: Object.freeze([...warnings, ...predicted.warnings]) });
}
