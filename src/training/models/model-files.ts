import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';

import type { z } from 'zod';

import { DataValidationError } from '../../exceptions/index.ts';
import { decodeUtf8 } from '../../internal/decode-utf8.ts';
import { jsonReason, parseStrictJson } from '../../internal/strict-json.ts';
import { checkJsonText } from '../../io/checksum.ts';
import { firstIssue } from '../../schemas/parse.ts';

/** No file of a model is larger; what is would only fill the memory. */
const LARGEST_BYTES = 1024 * 1024 * 1024;

/**
 * The bytes of one file of a model folder.
 * @throws {DataValidationError} where it cannot be read
 */
export async function readModelFile(folder: string, name: string): Promise<Buffer> {
  const place = path.join(folder, name);
  try {
    const found = await stat(place);
    // A pipe would be waited for without end; a folder is named by its own error.
    if (!found.isFile() && !found.isDirectory()) throw new RangeError('it is not a regular file');
    if (found.size > LARGEST_BYTES) throw new RangeError(`it has ${String(found.size)} bytes`);
    return await readFile(place);
  } catch (cause) {
    throw badModelFile(folder, name, reasonOf(cause), cause);
  }
}

/**
 * A JSON file of a model folder.
 * @throws {DataValidationError} where it cannot be read, is not UTF-8 or is no JSON
 */
export async function readModelJson(folder: string, name: string): Promise<unknown> {
  return parseModelJson(folder, name, await readModelText(folder, name));
}

/**
 * The card of a model folder, whose own checksum is compared.
 * @throws {DataValidationError} where it cannot be read, is no JSON, or was changed after it was saved
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
    throw badModelFile(folder, name, jsonReason(cause, 'it is no whole JSON'), cause);
  }
}

/**
 * Plain data by a schema.
 * @throws {DataValidationError} naming the first field that is not as it should be
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

/** The error of a file that is no part of a model, or not whole. */
export function badModelFile(folder: string, name: string, reason: string, cause?: unknown): DataValidationError {
  return new DataValidationError(`Cannot load the model '${folder}': ${name}: ${reason.replace(/\.$/, '')}.`, {
    context: { path: folder, file: name },
    suggestion: 'Name a folder that saveModel wrote, or save the model again.',
    cause,
  });
}

function reasonOf(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'ENOTDIR') return 'the model is a folder, and this is a file';
  if (code === 'EISDIR') return 'it is a folder';
  return cause instanceof RangeError ? cause.message : `the system says ${code === '' ? String(cause) : code}`;
}

/** The name of the folder of a sweep's network. */
export function networkFolder(eta: number): string {
  return `eta-${String(eta)}`;
}
