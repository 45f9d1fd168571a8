import type { DuckDBDataChunk } from '@duckdb/node-api';

import { assertKnownOptions, type OptionNames } from '../internal/arguments.ts';
import { unmarkCell } from '../internal/spreadsheet-text.ts';
import { type Column, sortLabels, Table } from '../table/index.ts';
import { cannotRead } from './csv-header.ts';
import { type DataFormat, queryDataFile } from './data-file.ts';
import { type DuckDbSession, withDuckDb } from './duckdb.ts';
import { withLoadedLabels } from './exact-labels.ts';
import { columnKind, isNumeric, type Relation } from './relation.ts';
import { quoteIdentifier } from './sql-engine.ts';

/** Options of {@link loadData}. */
export interface LoadDataOptions {
  /**
   * The columns to read, in this order.
   * @defaultValue all columns of the file
   */
  readonly columns?: readonly string[];
  /** Further columns to read if the file has them. */
  readonly optionalColumns?: readonly string[];
  /**
   * Columns that name groups or ids. Such a column is read as text if its labels would lose digits or change as
   * numbers.
   * @defaultValue none
   */
  readonly labels?: readonly string[];
  /**
   * The format of the file.
   * @defaultValue detected from the content and the extension
   */
  readonly format?: DataFormat;
  /**
   * The maximum number of rows to read, from the start of the file.
   * @defaultValue all rows
   */
  readonly maxRows?: number;
}

const LOAD_DATA_OPTION_NAMES: OptionNames<LoadDataOptions> = {
  columns: true,
  optionalColumns: true,
  labels: true,
  format: true,
  maxRows: true,
};

/**
 * Reads a CSV file (comma, semicolon, tab or bar; optionally gzipped), a Parquet file, or a file with one JSON object
 * per line (.ndjson, .jsonl) into a table.
 *
 * Numbers become numeric columns; text, booleans, dates and all other values become categorical columns. An empty field
 * is missing. The first line of a text file is its header.
 * @throws {DataValidationError} if the file is missing, empty, ragged or without a header, or a column is unknown
 * @throws {DependencyError} if DuckDB's binary is not installed
 * @example
 * ```ts
 * import { writeFile } from 'node:fs/promises';
 * import { loadData } from 'evenhand/io';
 *
 * await writeFile('wages.csv', 'wage,sex\n7.5,female\n9,male\n');
 * const table = await loadData('wages.csv');
 * console.log(table.rowCount, table.columnNames);
 * // 2 [ 'wage', 'sex' ]
 * ```
 */
export async function loadData(path: string, options: LoadDataOptions = {}): Promise<Table> {
  assertKnownOptions('loadData', options, LOAD_DATA_OPTION_NAMES);
  return withDuckDb((session) =>
    queryDataFile(session, path, options.format, async (found) => {
      const file = await withLoadedLabels(session, found, options.labels ?? []);
      const optional = (options.optionalColumns ?? []).filter((name) => file.columns.has(name));
      const names =
        options.columns === undefined ? [...file.columns.keys()] : [...new Set([...options.columns, ...optional])];
      return readTable(session, path, withLimit(file, options.maxRows), names);
    }),
  );
}

function withLimit(file: Relation, maxRows: number | undefined): Relation {
  if (maxRows === undefined) return file;
  return { ...file, relation: `(SELECT * FROM ${file.relation} LIMIT ${String(maxRows)})` };
}

/**
 * Reads a CSV or Parquet file with every value as text, so that leading zeros and long numbers are kept. Use it to
 * write rows back unchanged.
 * @throws {DataValidationError} if the file is missing, empty, ragged or without a header
 * @throws {DependencyError} if DuckDB's binary is not installed
 */
export async function loadTexts(path: string): Promise<Table> {
  return withDuckDb((session) =>
    queryDataFile(session, path, undefined, async (found) => {
      const names = [...found.columns.keys()];
      const texts = { ...found, columns: new Map(names.map((name) => [name, 'text'] as const)) };
      const relation = found.csv === undefined ? found.relation : found.relation.replace(/\)$/, ', all_varchar=true)');
      return readTable(session, path, { ...texts, relation }, names);
    }),
  );
}

/**
 * Returns the size of the table in a file without loading it: from the footer of Parquet, or by a scan of text.
 * @throws {DataValidationError} if the file cannot be read
 */
export async function tableSize(
  path: string,
  format?: DataFormat,
): Promise<{ readonly rows: number; readonly columns: number }> {
  return withDuckDb((session) =>
    queryDataFile(session, path, format, async ({ relation, columns }) => {
      const [counted] = await session.rows(`SELECT CAST(count(*) AS DOUBLE) FROM ${relation}`);
      return { rows: Number(counted?.[0]), columns: columns.size };
    }),
  );
}

/** Reads columns: numbers become numeric columns, all other values categorical columns. */
async function readTable(
  session: DuckDbSession,
  path: string,
  file: Relation,
  names: readonly string[],
): Promise<Table> {
  const isNumber = names.map((name) => isNumeric(columnKind(file, name)));
  const builders = isNumber.map((is) => (is ? numericBuilder() : categoricalBuilder(file.csv !== undefined)));
  const selected = names.map(
    (name, index) => `CAST(${quoteIdentifier(name)} AS ${isNumber[index] === true ? 'DOUBLE' : 'VARCHAR'})`,
  );
  let rowCount = 0;
  for await (const chunk of session.chunks(`SELECT ${selected.join(', ')} FROM ${file.relation}`)) {
    rowCount += chunk.rowCount;
    builders.forEach((builder, index) => {
      builder.append(chunk, index);
    });
  }
  if (names.length > 0 && rowCount === 0) {
    throw cannotRead(path, 'it has a header and no rows', 'Check the query or filter that created the file.');
  }
  return Table.ofColumns(builders.map((builder, index) => [names[index] as string, builder.finish()]));
}

/** Collects one column from the chunks of a result. */
interface ColumnBuilder {
  append(chunk: DuckDBDataChunk, index: number): void;
  finish(): Column;
}

/**
 * Returns a builder that collects numbers in typed arrays.
 * @param encode converts a value of the database to a number
 */
function columnBuilder<Values extends Float64Array | Int32Array>(
  create: (length: number) => Values,
  encode: (value: unknown) => number,
  toColumn: (values: Values) => Column,
): ColumnBuilder {
  const parts: Values[] = [];
  return {
    append(chunk, index) {
      const vector = chunk.getColumnVector(index);
      const part = create(chunk.rowCount);
      for (let row = 0; row < part.length; row++) part[row] = encode(vector.getItem(row));
      parts.push(part);
    },
    finish() {
      const values = create(parts.reduce((sum, { length }) => sum + length, 0));
      let offset = 0;
      for (const part of parts) {
        values.set(part, offset);
        offset += part.length;
      }
      return toColumn(values);
    },
  };
}

function numericBuilder(): ColumnBuilder {
  return columnBuilder(
    (length) => new Float64Array(length),
    (value) => (value as number | null) ?? NaN,
    (values) => ({ kind: 'numeric', values }),
  );
}

/** @param isText whether the file is a text file, whose cells may be marked for spreadsheets */
function categoricalBuilder(isText: boolean): ColumnBuilder {
  const codeOf = new Map<unknown, number>([[null, -1]]);
  const codeOfLabel = new Map<string, number>();
  const encode = (text: unknown): number => {
    const known = codeOf.get(text);
    if (known !== undefined) return known;
    const label = isText ? unmarkCell(text as string) : (text as string);
    const code = codeOfLabel.get(label) ?? codeOfLabel.size;
    codeOfLabel.set(label, code);
    codeOf.set(text, code);
    return code;
  };
  return columnBuilder(
    (length) => new Int32Array(length),
    encode,
    (codes) => sortLabels(codes, [...codeOfLabel.keys()]),
  );
}
