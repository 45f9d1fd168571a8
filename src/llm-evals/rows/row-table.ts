import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import path from 'node:path';

import { DataValidationError } from '../../exceptions/index.ts';
import { utf8Lines } from '../../internal/decode-utf8.ts';
import { findJsonProblem } from '../../internal/strict-json.ts';
import { isMapping, type Mapping } from '../../internal/values.ts';
import { formatOf } from '../../io/data-format.ts';
import { loadTexts } from '../../io/load-data.ts';
import { cannotRead } from '../../table/index.ts';

/** Rows of texts, from a file or from records. */
export interface RowTable {
  /** The name in messages: `'answers.csv'` or `answers`. */
  readonly title: string;
  readonly columns: readonly string[];
  readonly rowCount: number;
  /** Returns a value as text; null if it is missing or blank. */
  valueOf(column: string, row: number): string | null;
  /** Returns the position of a row for messages: `row 3`, `line 3` or `answers[2]`. */
  positionOf(row: number): string;
}

/**
 * Reads a CSV, TSV or Parquet file, or a file with one JSON object per line (.jsonl, .ndjson). All values are read as
 * text, so that labels such as 01 stay unchanged.
 * @throws {DataValidationError} if the file cannot be read, has no rows, or a line is invalid
 */
export async function readRowTable(file: string): Promise<RowTable> {
  const title = `'${file}'`;
  if (formatOf(file, await magicOf(file)) === 'ndjson') return readJsonLines(file, title);
  const table = await loadTexts(file);
  const columns = table.columnNames.map((name) => [name, table.column(name)] as const);
  const texts = new Map(
    columns.map(([name, column]) => [
      name,
      (row: number): string | null => {
        if (column.kind === 'numeric') return Number.isNaN(column.values[row]) ? null : String(column.values[row]);
        return column.labels[column.codes[row] ?? -1] ?? null;
      },
    ]),
  );
  return {
    title,
    columns: table.columnNames,
    rowCount: table.rowCount,
    valueOf: (column, row) => blankToNull(texts.get(column)?.(row) ?? null),
    positionOf: (row) => `row ${String(row + 1)}`,
  };
}

/** Returns the first four bytes of a file, or '' if it cannot be read. Its reader then reports the reason. */
async function magicOf(file: string): Promise<string> {
  const found = await stat(file).catch(() => undefined);
  if (found?.isFile() !== true) return '';
  const handle = await open(file).catch(() => undefined);
  if (handle === undefined) return '';
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(4), 0, 4, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } finally {
    await handle.close();
  }
}

async function readJsonLines(file: string, title: string): Promise<RowTable> {
  const found = await stat(file).catch((cause: unknown) => {
    throw cannotRead(file, 'there is no such file', 'Check the path.', cause);
  });
  if (!found.isFile()) throw cannotRead(file, 'it is not a regular file', 'Give the path of a file.');
  const records: Mapping[] = [];
  const lines: number[] = [];
  let number = 0;
  for await (const line of utf8Lines(createReadStream(file), `'${path.basename(file)}'`)) {
    number++;
    if (line.trim() === '') continue;
    records.push(parseLine(file, line, number));
    lines.push(number);
  }
  if (records.length === 0) throw cannotRead(file, 'it has no lines', 'Write one JSON object on each line.');
  return recordTable(title, records, (row) => `line ${String(lines[row])}`);
}

function parseLine(file: string, line: string, number: number): Mapping {
  const refuse = (problem: string, cause?: unknown): DataValidationError =>
    cannotRead(file, `line ${String(number)}: ${problem}`, 'Write one JSON object on each line.', cause);
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    throw refuse('it is not JSON', cause);
  }
  if (!isMapping(value)) throw refuse('it is not a JSON object');
  const problem = findJsonProblem(line, new Set(Object.keys(value)));
  if (problem !== undefined) throw refuse(`${problem.pointer} ${problem.reason}`);
  return value;
}

/**
 * Builds the table of a list of records. A record that lacks a key has no value in this column.
 * @throws {DataValidationError} if a value is a list or an object
 */
export function recordTable(
  title: string,
  records: readonly Mapping[],
  positionOf = (row: number): string => `${title}[${String(row)}]`,
): RowTable {
  const columns = new Set<string>();
  records.forEach((record, row) => {
    for (const [column, value] of Object.entries(record)) {
      columns.add(column);
      if (typeof value === 'object' && value !== null) throw nested(title, positionOf(row), column, value);
    }
  });
  return {
    title,
    columns: [...columns],
    rowCount: records.length,
    valueOf(column, row) {
      const record = records[row];
      const value = record !== undefined && Object.hasOwn(record, column) ? record[column] : undefined;
      if (value === undefined || value === null) return null;
      return blankToNull(typeof value === 'string' ? value : JSON.stringify(value));
    },
    positionOf,
  };
}

function nested(title: string, position: string, column: string, value: object): DataValidationError {
  const found = Array.isArray(value) ? 'a list' : 'an object';
  return new DataValidationError(
    `${title}, ${position}: '${column}' must be text, a number, true, false or null. Found ${found}.`,
    {
      code: 'invalid-value',
      context: { column, position },
      suggestion: `Write '${column}' as text, or leave it out.`,
    },
  );
}

function blankToNull(text: string | null): string | null {
  return text === null || text.trim() === '' ? null : text;
}
