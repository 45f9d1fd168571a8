import { readFileSync, statSync } from 'node:fs';

import { isMapping } from '../../internal/values.ts';
import { DataValidationError } from '../../exceptions/index.ts';
import { jsonReason, parseStrictJson } from '../../internal/strict-json.ts';
import { decodeUtf8 } from '../../internal/decode-utf8.ts';

/** Bytes that a file may have. */
const LARGEST = 512 * 1024 * 1024;

const NEWLINE = 10;

/** A line of a file with one JSON object a line. */
export interface JsonLine {
  /** From 1. */
  readonly line: number;
  readonly record: Readonly<Record<string, unknown>>;
}

/**
 * The objects of a file with one a line, read at once; blank lines and a byte order mark are passed over.
 * @throws {DataValidationError} for a file that cannot be read, and, with the line's number, for a line that is no JSON object
 */
export function readJsonLines(path: string): JsonLine[] {
  const bytes = readBytes(path);
  // Decoded line by line: a whole file may be longer than the longest string.
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

/** The error of one line. */
export function lineFault(path: string, line: number, problem: string, suggestion?: string): DataValidationError {
  return new DataValidationError(`The file ${path} has a fault in line ${String(line)}: ${problem}`, {
    context: { path, line },
    suggestion: suggestion ?? "Take the file as BBQ's authors publish it, one JSON object a line.",
  });
}

function readLine(bytes: Uint8Array, path: string, line: number): JsonLine['record'] | null {
  let text: string;
  try {
    text = decodeUtf8(bytes, path).trim();
  } catch {
    throw lineFault(path, line, 'it is no text in UTF-8.', 'Save the file as UTF-8.');
  }
  if (text === '') return null;
  const value = parse(text, path, line);
  if (isMapping(value)) return value;
  throw lineFault(path, line, 'it must hold a JSON object.');
}

function parse(text: string, path: string, line: number): unknown {
  try {
    return parseStrictJson(text);
  } catch (error) {
    throw lineFault(path, line, `${jsonReason(error, 'it is no JSON')}.`);
  }
}

function readBytes(path: string): Buffer {
  try {
    const { size } = statSync(path);
    if (size <= LARGEST) return readFileSync(path);
  } catch (cause) {
    throw new DataValidationError(`The BBQ file ${path} cannot be read.`, {
      context: { path },
      suggestion: 'Check the path: bbq_path must name a file with one JSON object a line.',
      cause,
    });
  }
  throw new DataValidationError(`The BBQ file ${path} has more than ${String(LARGEST)} bytes.`, {
    context: { path },
    suggestion: 'Split the file by category.',
  });
}
