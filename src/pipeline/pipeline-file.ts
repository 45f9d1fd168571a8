import { DataValidationError } from '../exceptions/index.ts';
import { jsonReason, parseStrictJson } from '../internal/strict-json.ts';
import { writeFileAtomic } from '../io/atomic-write.ts';
import { checkJsonText, warnOfNoChecksum, withChecksum } from '../io/checksum.ts';
import { readTextFile } from '../io/read-text-file.ts';
import { FairnessPipeline } from './fairness-pipeline.ts';

/** A text cannot be much longer; what pipelines learn is far from it. */
const LARGEST_BYTES = 2 ** 28;

/**
 * Saves a pipeline with what it learned, as JSON whose last member is the SHA-256 of the rest.
 * @throws {DataValidationError} where the file cannot be written
 */
export async function savePipeline(pipeline: FairnessPipeline, path: string): Promise<void> {
  await writeFileAtomic(path, withChecksum(JSON.stringify(pipeline, undefined, 2)));
}

/**
 * Loads what {@link savePipeline} saved. A file of an earlier version, which has no checksum, loads with a warning.
 * @throws {DataValidationError} for a file that cannot be read, holds anything else, or was changed after it was saved
 */
export async function loadPipeline(path: string): Promise<FairnessPipeline> {
  const read = await readTextFile(path, LARGEST_BYTES);
  if (read.text === null) throw badFile(path, read.problem, read.cause);
  const checked = checkJsonText(read.text, path);
  const json = parseJson(checked.text, path);
  const pipeline = readPipeline(json, path);
  if (!checked.hasChecksum) warnOfNoChecksum(path);
  return pipeline;
}

function readPipeline(json: unknown, path: string): FairnessPipeline {
  try {
    return FairnessPipeline.fromJSON(json);
  } catch (cause) {
    throw badFile(path, reasonOf(cause), cause);
  }
}

function parseJson(text: string, path: string): unknown {
  try {
    return parseStrictJson(text);
  } catch (cause) {
    throw badFile(path, jsonReason(cause, 'it is no JSON, or not all of it'), cause);
  }
}

/** What is wrong with the content, as the end of a sentence. */
function reasonOf(cause: unknown): string {
  const problem = cause instanceof DataValidationError ? cause.context['problem'] : undefined;
  if (typeof problem === 'string') return problem;
  const message = (cause instanceof Error ? cause.message : String(cause)).replaceAll(/\s+/g, ' ').trim();
  return `${message.charAt(0).toLowerCase()}${message.slice(1)}`.replace(/\.$/, '');
}

function badFile(path: string, reason: string, cause: unknown): DataValidationError {
  return new DataValidationError(`'${path}' holds no pipeline: ${reason}.`, {
    context: { path },
    suggestion: 'Name a file that savePipeline wrote.',
    cause,
  });
}
