import path from 'node:path';

import { loadData } from '../io/load-data.ts';
import { loadTexts } from '../io/load-texts.ts';
import { loadPipeline } from '../pipeline/index.ts';
import { predictFile } from '../training/jobs/predict-file.ts';
import { addPredictions, type PredictedTable } from '../training/jobs/predict-table.ts';
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
 * and must have the columns that they need, sensitive ones too.
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
  const { data } = await pipeline.transform(await loadData(file));
  return { model, predicted: await addPredictions(model, data, await loadTexts(file), how) };
}
