import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';

import type { z } from 'zod';

import { DataValidationError } from '../../exceptions/index.ts';
import { decodeUtf8 } from '../../internal/decode-utf8.ts';
import { jsonReason, parseStrictJson } from '../../internal/strict-json.ts';
import { checkJsonText } from '../../io/checksum.ts';
import { firstIssue } from '../../schemas/parse.ts';

/** The maximum size of each file of a model, which limits memory use. */
const LARGEST_BYTES = 1024 * 1024 * 1024;

/**
 * Reads the bytes of one file of a model folder.
 * @throws {DataValidationError} if the file cannot be read
 */
export async function readModelFile(folder: string, name: string): Promise<Buffer> {
  const location = path.join(folder, name);
  try {
    const found = await stat(location);
    // Reading a pipe could block indefinitely. A folder is not rejected here, because `readFile` reports it with a
    // specific error.
    if (!found.isFile() && !found.isDirectory()) throw new RangeError('it is not a regular file');
    if (found.size > LARGEST_BYTES) throw new RangeError(`it has ${String(found.size)} bytes`);
    return await readFile(location);
  } catch (cause) {
    throw badModelFile(folder, name, reasonOf(cause), cause);
  }
}

/**
 * Reads a JSON file of a model folder.
 * @throws {DataValidationError} if the file cannot be read, is not UTF-8 or is not valid JSON
 */
export async function readModelJson(folder: string, name: string): Promise<unknown> {
  return parseModelJson(folder, name, await readModelText(folder, name));
}

/**
 * Reads the card of a model folder and compares the card with the checksum that it contains.
 * @throws {DataValidationError} if the file cannot be read, is not valid JSON, or was changed after it was saved
 */
export async function readCardJson(
  folder: string,
  name: string,
): Promise<{ readonly json: unknown; readonly hasChecksum: boolean }> {
  const { text, hasChecksum } = checkJsonText(await readModelText(folder, name), path.join(folder, name));
  return { json: parseModelJson(folder, name, text), hasChecksum };
}

async function readModelText(folder: string, name: string): Promise<string> {
  const bytes = await readModelFile(folder, name);
  try {
    return decodeUtf8(bytes, 'it');
  } catch (cause) {
    throw badModelFile(folder, name, cause instanceof Error ? cause.message : String(cause), cause);
  }
}

function parseModelJson(folder: string, name: string, text: string): unknown {
  try {
    return parseStrictJson(text);
  } catch (cause) {
    throw badModelFile(folder, name, jsonReason(cause, 'it is not complete, valid JSON'), cause);
  }
}

/**
 * Checks plain data against a schema.
 * @throws {DataValidationError} if a field is not valid; the error names the first such field
 */
export function parseModelFile<Schema extends z.ZodType>(
  folder: string,
  name: string,
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw badModelFile(folder, name, firstIssue(parsed.error), parsed.error);
}

/** Creates the error for an invalid file in a model folder. */
export function badModelFile(folder: string, name: string, reason: string, cause?: unknown): DataValidationError {
  return new DataValidationError(`Cannot load the model '${folder}': ${name}: ${reason.replace(/\.$/, '')}.`, {
    code: 'unreadable-file',
    context: { path: folder, file: name },
    suggestion: 'Pass a folder that saveModel wrote, or save the model again.',
    cause,
  });
}

function reasonOf(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'ENOTDIR') return 'the path is a file, but a model is a folder';
  if (code === 'EISDIR') return 'it is a folder';
  return cause instanceof RangeError ? cause.message : `the system reports ${code === '' ? String(cause) : code}`;
}

/** Returns the name of the folder of a sweep's network. */
export function networkFolder(eta: number): string {
  return `eta-${String(eta)}`;
}
