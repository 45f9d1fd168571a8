import { readFileSync, statSync } from 'node:fs';

import { isMapping } from '../../internal/values.ts';
import { DataValidationError } from '../../exceptions/index.ts';
import { jsonReason, parseStrictJson } from '../../internal/strict-json.ts';
import { decodeUtf8 } from '../../internal/decode-utf8.ts';

/** The maximum size of a file in bytes. */
const LARGEST = 512 * 1024 * 1024;

const NEWLINE = 10;

/** A line of a file with one JSON object per line. */
export interface JsonLine {
  /** The line number, from 1. */
  readonly line: number;
  readonly record: Readonly<Record<string, unknown>>;
}

/**
 * Reads a file with one JSON object per line. Loads the complete file at once. Skips blank lines and a byte order mark.
 * @throws {DataValidationError} if the file cannot be read, or if a line is not a JSON object; the error then contains
 * the line number
 */
export function readJsonLines(path: string): JsonLine[] {
  const bytes = readBytes(path);
  // Lines are decoded separately, because a complete file may exceed the maximum string length.
  const found: JsonLine[] = [];
  let start = 0;
  for (let line = 1; start < bytes.length; line++) {
    const newline = bytes.indexOf(NEWLINE, start);
    const end = newline === -1 ? bytes.length : newline;
    const record = readLine(bytes.subarray(start, end), path, line);
    if (record !== null) found.push({ line, record });
    start = end + 1;
  }
  return found;
}

/** Creates the error for one line of a file. */
export function lineProblem(path: string, line: number, problem: string, suggestion?: string): DataValidationError {
  return new DataValidationError(`The file ${path} has an error in line ${String(line)}: ${problem}`, {
    code: 'unreadable-file',
    context: { path, line },
    suggestion: suggestion ?? "Use the file as BBQ's authors publish it, with one JSON object per line.",
  });
}

function readLine(bytes: Uint8Array, path: string, line: number): JsonLine['record'] | null {
  let text: string;
  try {
    text = decodeUtf8(bytes, path).trim();
  } catch {
    throw lineProblem(path, line, 'it is not UTF-8 text.', 'Save the file as UTF-8.');
  }
  if (text === '') return null;
  const value = parse(text, path, line);
  if (isMapping(value)) return value;
  throw lineProblem(path, line, 'it must be a JSON object.');
}

function parse(text: string, path: string, line: number): unknown {
  try {
    return parseStrictJson(text);
  } catch (error) {
    throw lineProblem(path, line, `${jsonReason(error, 'it is not JSON')}.`);
  }
}

function readBytes(path: string): Buffer {
  try {
    const { size } = statSync(path);
    if (size <= LARGEST) return readFileSync(path);
  } catch (cause) {
    throw new DataValidationError(`The BBQ file ${path} cannot be read.`, {
      code: 'unreadable-file',
      context: { path },
      suggestion: 'Check the path: bbq_path must name a file with one JSON object per line.',
      cause,
    });
  }
  throw new DataValidationError(`The BBQ file ${path} has more than ${String(LARGEST)} bytes.`, {
    code: 'data-too-large',
    context: { path },
    suggestion: 'Split the file by category.',
  });
}
