import { readFileSync, statSync } from 'node:fs';

import { DataValidationError, type ErrorCode } from '../../exceptions/index.ts';
import { tryDecodeUtf8 } from '../../internal/decode-utf8.ts';
import { createRandom } from '../../internal/random.ts';
import { jsonReason, parseStrictJson } from '../../internal/strict-json.ts';
import { isMapping, type Mapping } from '../../internal/values.ts';
import type { BenchmarkName, BenchmarkSource } from '../../schemas/llm-eval/llm-eval-document.ts';

/** The maximum size of a file in bytes. */
const MAX_BYTES = 256 * 1024 * 1024;

/** The maximum number of characters of a value that an error shows. */
const MAX_SHOWN = 80;

/** A file of a benchmark, with the format that errors describe. */
export interface BenchmarkFile {
  readonly benchmark: BenchmarkName;
  readonly path: string;
  /** The expected content, for error messages: "a CSV file with the columns a and b". */
  readonly expected: string;
}

/** A row of a file, with the number of its first line, from 1. */
export interface BenchmarkRow {
  readonly line: number;
  readonly fields: Mapping;
}

/** Creates the error for a file, or for one line of a file. */
export function benchmarkProblem(
  { benchmark, path, expected }: BenchmarkFile,
  line: number | null,
  problem: string,
  code: ErrorCode = 'unreadable-file',
  cause?: unknown,
): DataValidationError {
  const place = line === null ? '' : `, line ${String(line)}`;
  return new DataValidationError(`benchmarks.${benchmark}: ${path}${place}: ${problem}. Expected ${expected}.`, {
    code,
    context: { parameter: `benchmarks.${benchmark}`, path, line },
    suggestion: 'Use the file as its authors publish it, saved as UTF-8.',
    cause,
  });
}

/** Reads the lines of a text file. Removes a byte order mark and carriage returns. Keeps blank lines. */
export function readLines(file: BenchmarkFile): string[] {
  const bytes = readBytes(file);
  const text = tryDecodeUtf8(bytes);
  if (text === undefined) throw benchmarkProblem(file, badLine(bytes), 'it is not UTF-8 text', 'invalid-encoding');
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
  if (lines.every((line) => line.trim() === '')) throw benchmarkProblem(file, null, 'it is empty', 'empty-data');
  return lines;
}

function readBytes(file: BenchmarkFile): Buffer {
  let size: number;
  try {
    size = statSync(file.path).size;
    if (size <= MAX_BYTES) return readFileSync(file.path);
  } catch (cause) {
    throw benchmarkProblem(file, null, 'it cannot be read', 'unreadable-file', cause);
  }
  const given = `it has ${String(size)} bytes, more than ${String(MAX_BYTES)}`;
  throw benchmarkProblem(file, null, given, 'data-too-large');
}

/** Returns the number of the first line that is not UTF-8. */
function badLine(bytes: Buffer): number {
  let line = 1;
  for (let start = 0; start < bytes.length; line++) {
    const newline = bytes.indexOf(10, start);
    const end = newline === -1 ? bytes.length : newline;
    if (tryDecodeUtf8(bytes.subarray(start, end)) === undefined) return line;
    start = end + 1;
  }
  return line;
}

/** Reads a file with one JSON object per line. Skips blank lines. */
export function readJsonRows(file: BenchmarkFile): BenchmarkRow[] {
  return readLines(file).flatMap((text, index) => {
    if (text.trim() === '') return [];
    let value: unknown;
    try {
      value = parseStrictJson(text);
    } catch (error) {
      throw benchmarkProblem(file, index + 1, jsonReason(error, 'it is not JSON'));
    }
    if (isMapping(value)) return [{ line: index + 1, fields: value }];
    throw benchmarkProblem(file, index + 1, 'it is not a JSON object');
  });
}

/**
 * Reads a CSV file (with quoted values, which may contain line breaks) or a TSV file (without quotes). The first line
 * contains the names of the columns.
 * @param known column names, of which the file must have at least one
 */
export function readDelimitedRows(
  file: BenchmarkFile,
  separator: ',' | '\t',
  known: readonly string[],
): BenchmarkRow[] {
  const [header, ...records] = separator === ',' ? csvRecords(file) : tsvRecords(file);
  const names = header?.cells.map((name) => name.trim()) ?? [];
  if (!names.some((name) => known.includes(name))) {
    const found = `its first line has the columns ${names.join(', ').slice(0, MAX_SHOWN)}`;
    throw benchmarkProblem(file, header?.line ?? null, found, 'unknown-column');
  }
  if (records.length === 0) throw benchmarkProblem(file, null, 'it has no rows', 'empty-data');
  return records.map(({ line, cells }) => {
    if (cells.length === names.length) {
      return { line, fields: Object.fromEntries(names.map((name, index) => [name, cells[index]])) };
    }
    throw benchmarkProblem(file, line, `it has ${String(cells.length)} values for ${String(names.length)} columns`);
  });
}

/** Throws an error that lists the missing columns. */
export function requireColumns(file: BenchmarkFile, rows: readonly BenchmarkRow[], names: readonly string[]): void {
  for (const { line, fields } of rows) {
    const missing = names.filter((name) => !Object.hasOwn(fields, name));
    if (missing.length === 0) continue;
    const found = Object.keys(fields).filter((name) => name !== '');
    const problem = `it has no ${missing.join(' and no ')}; it has ${found.join(', ') || 'no columns'}`;
    throw benchmarkProblem(file, line, problem, 'unknown-column');
  }
}

/** Reads a text that is not blank. */
export function textIn(file: BenchmarkFile, { line, fields }: BenchmarkRow, name: string): string {
  const value = fields[name];
  if (typeof value === 'string' && value.trim() !== '') return value.trim();
  throw badValue(file, line, name, 'a text', value);
}

/** Reads a number, or a text that contains a number, in a range. */
export function numberIn(
  file: BenchmarkFile,
  { line, fields }: BenchmarkRow,
  name: string,
  [least, most]: readonly [number, number] = [-Infinity, Infinity],
): number {
  const given = fields[name];
  const value = typeof given === 'string' && given.trim() !== '' ? Number(given) : given;
  if (typeof value === 'number' && Number.isFinite(value) && value >= least && value <= most) return value;
  const range = Number.isFinite(least) ? ` from ${String(least)} to ${String(most)}` : '';
  throw badValue(file, line, name, `a number${range}`, given);
}

/** Creates the error for a value that its column does not allow. */
export function badValue(
  file: BenchmarkFile,
  line: number,
  name: string,
  required: string,
  given: unknown,
): DataValidationError {
  const found = given === undefined || given === '' ? 'nothing' : JSON.stringify(given).slice(0, MAX_SHOWN);
  return benchmarkProblem(file, line, `${name} must be ${required}, but it is ${found}`, 'invalid-value');
}

interface DelimitedRecord {
  readonly line: number;
  readonly cells: readonly string[];
}

function tsvRecords(file: BenchmarkFile): DelimitedRecord[] {
  return readLines(file).flatMap((text, index) =>
    text.trim() === '' ? [] : [{ line: index + 1, cells: text.split('\t') }],
  );
}

/** Matches one value of a CSV file, and the comma or the end of the line after it. */
const CSV_VALUE = /(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n|$)/y;

function csvRecords(file: BenchmarkFile): DelimitedRecord[] {
  const text = readLines(file).join('\n').trimEnd();
  const records: DelimitedRecord[] = [];
  let cells: string[] = [];
  let [start, line] = [1, 1];
  CSV_VALUE.lastIndex = 0;
  for (;;) {
    const match = CSV_VALUE.exec(text);
    if (match === null) throw benchmarkProblem(file, line, 'a quoted value has no end, or text follows its end');
    const [complete, quoted, plain = '', end] = match;
    cells.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    line += complete.split('\n').length - 1;
    if (end === ',') continue;
    if (cells.length > 1 || cells[0] !== '') records.push({ line: start, cells });
    if (CSV_VALUE.lastIndex >= text.length) return records;
    cells = [];
    start = line;
  }
}

/** Returns a random subsample of items in their original order. The same seed always gives the same subsample. */
export function takeSample<Item>(items: readonly Item[], { limit, seed }: BenchmarkSource): readonly Item[] {
  if (limit === undefined || limit >= items.length) return items;
  const random = createRandom(seed);
  const indices = items.map((_, index) => index);
  for (let index = 0; index < limit; index++) {
    const other = index + random.integer(indices.length - index);
    [indices[index], indices[other]] = [indices[other] as number, indices[index] as number];
  }
  return indices
    .slice(0, limit)
    .sort((a, b) => a - b)
    .map((index) => items[index] as Item);
}
