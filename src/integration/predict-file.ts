import path from 'node:path';

import { loadData, loadTexts } from '../io/load-data.ts';
import { type FairnessPipeline, loadPipeline } from '../pipeline/index.ts';
import type { Table } from '../table/index.ts';
import { addPredictions, type PredictedTable, predictFile } from '../training/jobs/predict-table.ts';
import { loadModel, type LoadModelOptions } from '../training/models/load-model.ts';
import type { SavedModel, SavedModelPredictOptions } from '../training/models/saved-model.ts';

/** In a model's folder, what rows must go through before the model takes them. */
export const MODEL_PIPELINE_FILE = 'pipeline.json';

/** A model and what it says of a file's rows. */
export interface FilePredictions {
  readonly model: SavedModel;
  readonly predicted: PredictedTable;
}

/**
 * Loads a saved model and applies it to a file. A model that a workflow saved
 * keeps the steps that change values with it; the rows go through them first,
 * and must have the columns that they need, sensitive ones too. What the steps
 * say of these rows (unseen groups, rows without one) is among the warnings.
 * @throws {DataValidationError} for a folder without a model, or rows without its columns
 * @throws {PipelineExecutionError} where a step fails on these rows
 * @throws {ValueError} for options that do nothing with this model
 */
export async function predictWithSavedModel(
  folder: string,
  file: string,
  options: SavedModelPredictOptions & LoadModelOptions = {},
): Promise<FilePredictions> {
  const { eta, backend, ...how } = options;
  const model = await loadModel(folder, { eta, backend });
  if (!model.card.files.includes(MODEL_PIPELINE_FILE)) return { model, predicted: await predictFile(model, file, how) };
  const pipeline = await loadPipeline(path.join(folder, MODEL_PIPELINE_FILE));
  const { rows, notes } = await passThrough(pipeline, await loadData(file));
  const predicted = await addPredictions(model, rows, await loadTexts(file), how);
  return {
    model,
    predicted: Object.freeze({ ...predicted, warnings: Object.freeze([...notes, ...predicted.warnings]) }),
  };
}

/** Rows after a pipeline's steps, and what these say of the rows: not what a training said of its own. */
async function passThrough(
  pipeline: FairnessPipeline,
  given: Table,
): Promise<{ readonly rows: Table; readonly notes: readonly string[] }> {
  const saidBefore = pipeline.steps.map(({ transformer }) => transformer.warnings.length);
  const { data } = await pipeline.transform(given);
  const notes = pipeline.steps.flatMap(({ name, transformer }, place) =>
    transformer.warnings.slice(saidBefore[place]).map((note) => `${name}: ${note}`),
  );
  return { rows: data, notes };
}
