import path from 'node:path';

import { findFiles } from '../io/find-files.ts';
import { loadData, loadTexts } from '../io/load-data.ts';
import { type FairnessPipeline, loadPipeline } from '../pipeline/index.ts';
import type { DataPaths, FileSource } from '../schemas/data-source.ts';
import { readTexts, type Table } from '../table/index.ts';
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
