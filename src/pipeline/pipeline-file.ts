import { DataValidationError } from '../exceptions/index.ts';
import { jsonReason, parseStrictJson } from '../internal/strict-json.ts';
import { writeFileAtomic } from '../io/atomic-write.ts';
import { checkJsonText, warnOfNoChecksum, withChecksum } from '../io/checksum.ts';
import { readTextFile } from '../io/read-text-file.ts';
import { FairnessPipeline } from './fairness-pipeline.ts';

/**
 * The maximum size of a pipeline file, which is close to the maximum length of a string. Saved pipelines are far
 * smaller.
 */
const LARGEST_BYTES = 2 ** 28;

/**
 * Saves a pipeline and its fitted state as JSON. The last member of the JSON object is the SHA-256 checksum of all
 * other members.
 * @throws {DataValidationError} if the file cannot be written
 */
export async function savePipeline(pipeline: FairnessPipeline, path: string): Promise<void> {
  await writeFileAtomic(path, withChecksum(JSON.stringify(pipeline, undefined, 2)));
}

/**
 * Loads a pipeline that {@link savePipeline} saved. If a file of an earlier version has no checksum, it is loaded with
 * a warning.
 * @throws {DataValidationError} if the file cannot be read, is not a saved pipeline, or was changed later
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
    throw badFile(path, jsonReason(cause, 'it is not complete, valid JSON'), cause);
  }
}

/** Describes what is wrong with the content of a file. The text is the end of a sentence. */
function reasonOf(cause: unknown): string {
  const problem = cause instanceof DataValidationError ? cause.context['problem'] : undefined;
  if (typeof problem === 'string') return problem;
  const message = (cause instanceof Error ? cause.message : String(cause)).replaceAll(/\s+/g, ' ').trim();
  return `${message.charAt(0).toLowerCase()}${message.slice(1)}`.replace(/\.$/, '');
}

function badFile(path: string, reason: string, cause: unknown): DataValidationError {
  return new DataValidationError(`'${path}' is not a saved pipeline: ${reason}.`, {
    code: 'invalid-state',
    context: { path },
    suggestion: 'Pass a file that savePipeline wrote.',
    cause,
  });
}
