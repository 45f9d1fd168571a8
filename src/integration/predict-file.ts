import path from 'node:path';

import { findFiles } from '../io/find-files.ts';
import { loadData, loadTexts } from '../io/load-data.ts';
import { type FairnessPipeline, loadPipeline } from '../pipeline/index.ts';
import type { DataPaths, FileSource } from '../schemas/data-source.ts';
import type { Table } from '../table/index.ts';
import { addPredictions, type PredictedTable, predictFile } from '../training/jobs/predict-table.ts';
import { loadModel, type LoadModelOptions } from '../training/models/load-model.ts';
import type { SavedModel, SavedModelPredictOptions } from '../training/models/saved-model.ts';

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
  options: SavedModelPredictOptions & LoadModelOptions = {},
): Promise<FilePredictions> {
  const { eta, backend, ...how } = options;
  const files = await findFiles(source);
  const model = await loadModel(folder, { eta, backend });
  if (!model.card.files.includes(MODEL_PIPELINE_FILE))
    return { model, predicted: await predictFile(model, files, how) };
  const pipeline = await loadPipeline(path.join(folder, MODEL_PIPELINE_FILE));
  const { rows, notes } = await passThrough(pipeline, await loadData(files));
  const predicted = await addPredictions(model, rows, await loadTexts(files), how);
  return {
    model,
    predicted: Object.freeze({ ...predicted, warnings: Object.freeze([...notes, ...predicted.warnings]) }),
  };
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
