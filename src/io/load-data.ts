import { stat } from 'node:fs/promises';

import { assertKnownOptions, type OptionNames } from '../internal/arguments.ts';
import { unmarkCell } from '../internal/spreadsheet-text.ts';
import { sumOf } from '../internal/values.ts';
import {
  type DataPaths,
  type DecimalSeparator,
  type FileSource,
  type FoundFiles,
  isRemote,
} from '../schemas/data-source.ts';
import { type Column, sortLabels, Table, withPoints } from '../table/index.ts';
import { type ColumnChunk, openColumnStream, readColumnStream, type StreamedColumn } from './column-stream.ts';
import { cannotRead } from './csv-header.ts';
import { queryDataFile } from './data-file.ts';
import type { DataFormat } from './data-format.ts';
import { type DuckDbSession, withDuckDb } from './duckdb.ts';
import { withLoadedLabels } from './exact-labels.ts';
import { findFiles } from './find-files.ts';
import type { Relation } from './relation.ts';

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
   * Columns that contain group names or ids. Such a column is read as text if a conversion to numbers would change its
   * labels.
   * @defaultValue none
   */
  readonly labels?: readonly string[];
  /**
   * The format of the file.
   * @defaultValue detected from the content and the extension
   */
  readonly format?: DataFormat;
  /**
   * The decimal separator of numbers in text files. With `,`, a number that contains a point is an error, because the
   * point may separate thousands.
   * @defaultValue '.'
   */
  readonly decimal?: DecimalSeparator | undefined;
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
  decimal: true,
  maxRows: true,
};

/**
 * Reads CSV files (comma, semicolon, tab or bar; optionally gzipped), Parquet files, or a file with one JSON object per
 * line (.ndjson, .jsonl), and returns a table.
 *
 * The source is a path, a glob or a folder, or a list of paths, globs and folders. The rows of several files form one
 * table, so their columns must be the same. Subfolders named `key=value` become columns if they are below a folder, or
 * match the part of a glob from its first wildcard on.
 *
 * Numbers become numeric columns; text, booleans, dates and all other values become categorical columns. An empty field
 * is missing. The first line of a text file is its header.
 * @throws {DataValidationError} if a file is missing, empty, ragged or without a header, the columns of the files
 *   differ, or a column is unknown
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
export async function loadData(source: DataPaths | FileSource, options: LoadDataOptions = {}): Promise<Table> {
  assertKnownOptions('loadData', options, LOAD_DATA_OPTION_NAMES);
  const files = await findFiles(source, options.decimal);
  return withDuckDb((session) =>
    queryDataFile(session, files, options.format, async (found) => {
      const file = await withLoadedLabels(session, found, options.labels ?? []);
      const optional = (options.optionalColumns ?? []).filter((name) => file.columns.has(name));
      const names =
        options.columns === undefined ? [...file.columns.keys()] : [...new Set([...options.columns, ...optional])];
      return readTable(session, files, withLimit(file, options.maxRows), names, options.labels);
    }),
  );
}

function withLimit(file: Relation, maxRows: number | undefined): Relation {
  if (maxRows === undefined) return file;
  return { ...file, relation: `(SELECT * FROM ${file.relation} LIMIT ${String(maxRows)})` };
}

/**
 * Reads CSV or Parquet files with every value as text, so that leading zeros and long numbers stay unchanged. Use this
 * function if the rows are later written to a file unchanged.
 * @throws {DataValidationError} if the file is missing, empty, ragged or without a header
 * @throws {DependencyError} if DuckDB's binary is not installed
 */
export async function loadTexts(source: DataPaths | FileSource): Promise<Table> {
  const files = await findFiles(source);
  return withDuckDb((session) =>
    queryDataFile(session, files, undefined, async (found) => {
      const names = [...found.columns.keys()];
      const texts = { ...found, columns: new Map(names.map((name) => [name, 'text'] as const)) };
      const relation = found.csv?.withTexts(names) ?? found.relation;
      return readTable(session, files, { ...texts, relation }, names, names);
    }),
  );
}

/**
 * Returns the number of rows and columns in a file without loading the table. The size comes from the footer of a
 * Parquet file, or from a scan of a text file.
 * @throws {DataValidationError} if the file cannot be read
 */
export async function tableSize(
  path: DataPaths | FileSource,
  format?: DataFormat,
): Promise<{ readonly rows: number; readonly columns: number }> {
  return withDuckDb((session) =>
    queryDataFile(session, path, format, async ({ relation, columns }) => {
      const [counted] = await session.rows(`SELECT CAST(count(*) AS DOUBLE) FROM ${relation}`);
      return { rows: Number(counted?.[0]), columns: columns.size };
    }),
  );
}

/** The number of bytes up to which files are read at once. */
const SMALL_BYTES = 8 * 2 ** 20;

/** The size of a file elsewhere is not known before it is read. */
async function areSmall(files: FoundFiles['files']): Promise<boolean> {
  if (files.some(({ path }) => isRemote(path))) return false;
  const sizes = await Promise.all(files.map(async ({ path }) => (await stat(path)).size));
  return sumOf(sizes) <= SMALL_BYTES;
}

/**
 * Reads columns into a table. Numbers become numeric columns, and all other values become categorical columns.
 * @param labels columns whose texts are kept exactly as they are written
 */
async function readTable(
  session: DuckDbSession,
  { files, title }: FoundFiles,
  file: Relation,
  names: readonly string[],
  labels: readonly string[] = [],
): Promise<Table> {
  if (names.length === 0) return Table.ofColumns([]);
  const isSmall = await areSmall(files);
  const stream = await (isSmall ? readColumnStream : openColumnStream)(session, file, names);
  if (stream.rowCount === 0) {
    throw files.length === 1
      ? cannotRead(title, 'it has a header and no rows', 'Check the query or filter that created the file.')
      : cannotRead(title, 'the files have headers and no rows', 'Check the query or filter that created the files.');
  }
  const builders = stream.columns.map((column) => builderOf(column, stream.rowCount, file.csv !== undefined));
  let start = 0;
  for await (const chunk of stream.chunks()) {
    builders.forEach((builder, index) => {
      builder.append(chunk, index, start);
    });
    start += chunk.rowCount;
  }
  return Table.ofColumns(
    builders.map((builder, index) => {
      const name = names[index] as string;
      const column = builder.finish();
      return [name, file.csv?.decimal === ',' && !labels.includes(name) ? withPoints(name, column) : column];
    }),
  );
}

/** Collects one column from the chunks of a stream. */
interface ColumnBuilder {
  /** Adds the values of a chunk whose first row is row `start` of the table. */
  append(chunk: ColumnChunk, index: number, start: number): void;
  finish(): Column;
}

/** @param isText whether the file is a text file, in which cells may have an apostrophe for spreadsheets */
function builderOf(column: StreamedColumn, rowCount: number, isText: boolean): ColumnBuilder {
  if (column.kind === 'numbers') {
    const values = new Float64Array(rowCount);
    return {
      append(chunk, index, start) {
        chunk.copyNumbers(index, values, start);
      },
      finish: () => ({ kind: 'numeric', values }),
    };
  }
  const codes = new Int32Array(rowCount);
  const labels = createLabels(isText);
  if (column.kind === 'labels') {
    const codeOf = column.labels.map(labels.codeOf);
    const isSame = codeOf.every((code, index) => code === index);
    return {
      append(chunk, index, start) {
        chunk.copyCodes(index, codes, start);
      },
      finish: () => sortLabels(isSame ? codes : codes.map((code) => codeOf[code] ?? -1), labels.all()),
    };
  }
  return {
    append(chunk, index, start) {
      for (const [row, text] of chunk.texts(index).entries()) codes[start + row] = labels.codeOf(text);
    },
    finish: () => sortLabels(codes, labels.all()),
  };
}

/** Numbers labels in the order of their occurrence. */
function createLabels(isText: boolean): {
  readonly codeOf: (text: string | null) => number;
  readonly all: () => string[];
} {
  const codeOf = new Map<string | null, number>([[null, -1]]);
  const codeOfLabel = new Map<string, number>();
  return {
    codeOf(text) {
      const known = codeOf.get(text);
      if (known !== undefined) return known;
      const label = isText ? unmarkCell(text as string) : (text as string);
      const code = codeOfLabel.get(label) ?? codeOfLabel.size;
      codeOfLabel.set(label, code);
      codeOf.set(text, code);
      return code;
    },
    all: () => [...codeOfLabel.keys()],
  };
}
