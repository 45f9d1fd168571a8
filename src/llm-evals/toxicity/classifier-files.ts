import { readFile } from 'node:fs/promises';
import path from 'node:path';

import { z } from 'zod';

import { DataValidationError } from '../../exceptions/index.ts';
import { checkFile, checkJsonText } from '../../io/checksum.ts';
import { readTextFile } from '../../io/read-text-file.ts';
import { type ClassifierVocabulary, vocabularySchema } from './classifier-vocabulary.ts';
import { firstIssue } from '../../schemas/first-issue.ts';

const TOPOLOGY_FILE = 'model.json';
const VOCABULARY_FILE = 'vocabulary.json';

/** A JSON file that is larger is another file. */
const LARGEST_JSON = 64 * 1024 * 1024;

/** What TensorFlow.js writes; it checks the layers itself. */
const topologySchema = z.object({
  modelTopology: z.looseObject({}),
  weightsManifest: z.array(
    z.object({
      paths: z.array(z.string().min(1)),
      weights: z.array(z.looseObject({ name: z.string(), shape: z.array(z.int().min(0)), dtype: z.string() })),
    }),
  ),
});

/** The parts of a classifier's folder. */
export interface ClassifierFiles {
  readonly modelTopology: object;
  readonly weightSpecs: readonly object[];
  readonly weightData: ArrayBuffer;
  readonly vocabulary: ClassifierVocabulary;
}

/**
 * Reads the parts of a classifier's folder. Weights are read from files in it and from nowhere else. The checksums that
 * `vocabulary.json` has are compared; a classifier of your own needs none.
 * @throws {DataValidationError} naming the file that is missing, changed, or not as it should be
 */
export async function readClassifierFiles(folder: string): Promise<ClassifierFiles> {
  const vocabulary = parse(folder, VOCABULARY_FILE, vocabularySchema, await readJson(folder, VOCABULARY_FILE));
  const { modelTopology, weightsManifest } = parse(
    folder,
    TOPOLOGY_FILE,
    topologySchema,
    await readJson(folder, TOPOLOGY_FILE),
  );
  for (const [name, expected] of Object.entries(vocabulary.checksums ?? {})) {
    checkFile(await readPart(folder, name, VOCABULARY_FILE), expected, path.join(folder, name));
  }
  const parts: Buffer[] = [];
  for (const name of weightsManifest.flatMap(({ paths }) => paths))
    parts.push(await readPart(folder, name, TOPOLOGY_FILE));
  const bytes = Buffer.concat(parts);
  return {
    modelTopology,
    weightSpecs: weightsManifest.flatMap(({ weights }) => weights),
    weightData: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength),
    vocabulary,
  };
}

async function readJson(folder: string, name: string): Promise<unknown> {
  const file = await readTextFile(path.join(folder, name), LARGEST_JSON);
  if (file.text === null) throw badClassifier(folder, name, file.problem, file.cause);
  try {
    return JSON.parse(checkJsonText(file.text, path.join(folder, name)).text);
  } catch (cause) {
    throw badClassifier(folder, name, 'it is no whole JSON', cause);
  }
}

/** @param namedBy the file that names it */
async function readPart(folder: string, name: string, namedBy: string): Promise<Buffer> {
  if (path.basename(name) !== name || name === '..') {
    const what = namedBy === TOPOLOGY_FILE ? 'weights' : 'a file';
    throw badClassifier(folder, namedBy, `it names ${what} outside of the folder: '${name}'`);
  }
  try {
    return await readFile(path.join(folder, name));
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    throw badClassifier(folder, name, code === 'ENOENT' ? 'there is no such file' : `the system says ${code}`, cause);
  }
}

function parse<Schema extends z.ZodType>(
  folder: string,
  name: string,
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw badClassifier(folder, name, firstIssue(parsed.error), parsed.error);
}

/** The error of a folder that holds no whole classifier. */
export function badClassifier(folder: string, name: string, reason: string, cause?: unknown): DataValidationError {
  return new DataValidationError(`Cannot load the text classifier '${folder}': ${name}: ${reason}.`, {
    context: { path: folder, file: name },
    suggestion: `A classifier is a folder with ${TOPOLOGY_FILE}, its weights and ${VOCABULARY_FILE}; models/README.md shows one.`,
    cause,
  });
}
