import path from 'node:path';

import { briefReport, noteBlocks, type ReportDocument } from '../document/report-document.ts';
import { capital, counted, formatCount, formatNumber } from '../internal/format.ts';
import { findFiles } from '../io/find-files.ts';
import { loadData, loadTexts } from '../io/load-data.ts';
import { type FairnessPipeline, loadPipeline } from '../pipeline/index.ts';
import type { DataPaths, FileSource } from '../schemas/data-source.ts';
import { readTexts, Table } from '../table/index.ts';
import {
  addPredictions,
  missingTextsOf,
  type PredictedTable,
  predictFile,
  type PredictFileOptions,
} from '../training/jobs/predict-table.ts';
import { loadModel, type LoadModelOptions } from '../training/models/load-model.ts';
import type { SavedModel } from '../training/models/saved-model.ts';

/** The file in a model's folder with the pipeline steps that transform rows before prediction. */
export const MODEL_PIPELINE_FILE = 'pipeline.json';

/** A model and its predictions for the rows of files. */
export interface FilePredictions {
  readonly model: SavedModel;
  readonly predicted: PredictedTable;
}

/**
 * Loads a saved model and applies it to the rows of one or several files. A model saved by a workflow includes the
 * pipeline steps that change values. These steps transform the rows first. The rows must therefore have all columns
 * that the steps need, including sensitive columns. The result contains the warnings of the steps about the rows, for
 * example about unseen groups.
 * @throws {DataValidationError} if the folder has no model, or the rows lack its columns
 * @throws {PipelineExecutionError} if a step fails on these rows
 * @throws {ValueError} if an option has no effect with this model
 */
export async function predictWithSavedModel(
  folder: string,
  source: DataPaths | FileSource,
  options: PredictFileOptions & LoadModelOptions = {},
): Promise<FilePredictions> {
  const { eta, backend, ...how } = options;
  const files = await findFiles(source);
  const model = await loadModel(folder, { eta, backend });
  if (!model.card.files.includes(MODEL_PIPELINE_FILE))
    return { model, predicted: await predictFile(model, files, how) };
  const pipeline = await loadPipeline(path.join(folder, MODEL_PIPELINE_FILE));
  const { naValues = missingTextsOf(model), ...drawn } = how;
  const groups = sensitiveColumns(pipeline);
  const loaded = await loadData(files, { labels: groups });
  // As in the workflow that trained the model.
  const read = readTexts(loaded, { groups, others: loaded.columnNames, naValues });
  const { rows, notes } = await passThrough(pipeline, read.table);
  const predicted = await addPredictions(model, rows, await loadTexts(files), drawn);
  const warnings = Object.freeze([...read.warnings, ...notes, ...predicted.warnings]);
  return { model, predicted: Object.freeze({ ...predicted, warnings }) };
}

/** Returns the columns of groups that the steps of a pipeline use. */
function sensitiveColumns({ steps }: FairnessPipeline): string[] {
  const named = steps.flatMap(({ transformer }) => transformer.toJSON().params['sensitive']);
  return [...new Set(named.filter((name) => typeof name === 'string'))];
}

/** Transforms rows by the steps of a pipeline and returns only the new warnings, not the warnings from training. */
async function passThrough(
  pipeline: FairnessPipeline,
  given: Table,
): Promise<{ readonly rows: Table; readonly notes: readonly string[] }> {
  const saidBefore = pipeline.steps.map(({ transformer }) => transformer.warnings.length);
  const { data } = await pipeline.transform(given);
  const notes = pipeline.steps.flatMap(({ name, transformer }, index) =>
    transformer.warnings.slice(saidBefore[index]).map((note) => `${name}: ${note}`),
  );
  return { rows: data, notes };
}

/**
 * Converts numeric columns from text to numbers, for file formats that distinguish the two. All values are first read
 * as text, so that other formats contain them unchanged. A column stays text if a conversion would change its values,
 * such as identifiers with leading zeros.
 */
export async function withNumbers(table: Table, source: DataPaths | FileSource): Promise<Table> {
  const typed = await loadData(source);
  return Table.ofColumns(
    table.columnNames.map((name) => {
      const column = table.column(name);
      const losesDigits = column.kind === 'categorical' && column.labels.some(isIdentifier);
      return [name, typed.columnNames.includes(name) && !losesDigits ? typed.column(name) : column];
    }),
  );
}

/** Returns whether a text is an integer with leading zeros, or an integer that a float64 cannot represent exactly. */
function isIdentifier(text: string): boolean {
  return /^[-+]?0\d/.test(text) || (/^[-+]?\d+$/.test(text) && !Number.isSafeInteger(Number(text)));
}

/** Returns the sum of the predictions of a model of decisions, null for other models, and the mean score. */
function totalsOf({ model, predicted }: FilePredictions): { readonly positive: number | null; readonly mean: number } {
  const { table, scoreColumn, predictionColumn } = predicted;
  const total = (name: string): number => table.numeric(name).values.reduce((sum, value) => sum + value, 0);
  return {
    positive: model.card.task === 'binary' ? total(predictionColumn) : null,
    mean: total(scoreColumn) / table.rowCount,
  };
}

/** Returns a summary of predictions as plain JSON. */
export function predictionsToJson(predictions: FilePredictions): Record<string, unknown> {
  const {
    model: { card },
    predicted: { table, scoreColumn, predictionColumn, warnings },
  } = predictions;
  const { positive, mean } = totalsOf(predictions);
  return {
    n: table.rowCount,
    n_positive: positive,
    mean_score: mean,
    score_column: scoreColumn,
    prediction_column: predictionColumn,
    method: card.method,
    task: card.task,
    output: card.output,
    warnings,
  };
}

/** Returns the report of predictions. */
export function predictionsDocument(predictions: FilePredictions): ReportDocument {
  const {
    model: { card, isRandomized },
    predicted: { table, scoreColumn, predictionColumn, warnings },
  } = predictions;
  const n = table.rowCount;
  const { positive, mean } = totalsOf(predictions);
  const label = card.data?.positive_label;
  const outcome = `${card.data === null ? 'the outcome' : `'${card.data.target}'`}${label === null || label === undefined ? '' : ` = '${label}'`}`;
  const prediction =
    positive === null
      ? 'the predicted value'
      : `1 for ${formatCount(positive)} rows (${formatNumber((100 * positive) / n, 1)}%), 0 for the others${isRandomized ? ', drawn at random' : ''}`;
  const facts = [
    { name: scoreColumn, value: `${card.output}, ${formatNumber(mean)} on average` },
    { name: predictionColumn, value: prediction },
  ];
  const notes = noteBlocks(
    'Notes',
    warnings.map((warning) => `${capital(warning)}.`),
  );
  return briefReport({
    subject: `${counted(n, 'row')} scored for ${outcome} by a model of ${card.method.replaceAll('_', ' ')}.`,
    blocks: [{ kind: 'facts', facts }, ...notes],
  });
}
