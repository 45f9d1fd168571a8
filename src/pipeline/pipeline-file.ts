import { readFile } from 'node:fs/promises';

import { DataValidationError } from '../exceptions/index.ts';
import { writeFileAtomic } from '../io/atomic-write.ts';
import { FairnessPipeline } from './fairness-pipeline.ts';

/**
 * Saves a pipeline with what it learned, as JSON.
 * @throws {DataValidationError} where the file cannot be written
 */
export async function savePipeline(pipeline: FairnessPipeline, path: string): Promise<void> {
  await writeFileAtomic(path, `${JSON.stringify(pipeline, undefined, 2)}\n`);
}

/**
 * Loads what {@link savePipeline} saved.
 * @throws {DataValidationError} for a file that cannot be read, or holds anything else
 */
export async function loadPipeline(path: string): Promise<FairnessPipeline> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw badFile(path, 'it cannot be read', cause);
  });
  try {
    return FairnessPipeline.fromJSON(JSON.parse(text));
  } catch (cause) {
    throw badFile(path, cause instanceof Error ? cause.message : String(cause), cause);
  }
}

function badFile(path: string, reason: string, cause: unknown): DataValidationError {
  return new DataValidationError(`'${path}' holds no pipeline: ${reason}`, {
    context: { path },
    suggestion: 'Name a file that savePipeline, or a workflow, wrote.',
    cause,
  });
}
