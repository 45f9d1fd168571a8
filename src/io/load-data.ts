import type { DuckDBDataChunk } from '@duckdb/node-api';

import { DataValidationError } from '../exceptions/index.ts';
import { assertKnownOptions, type OptionNames } from '../internal/arguments.ts';
import { unmarkCell } from '../internal/spreadsheet-text.ts';
import { type CategoricalColumn, type Column, sortLabels, Table, toColumn } from '../table/index.ts';
import { type DataFormat, queryDataFile } from './data-file.ts';
import type { DuckDbSession } from './duckdb-session.ts';
import { withDuckDb } from './duckdb.ts';
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
   * Columns that name groups or ids. Such a column is read as text if its numbers would lose digits or change as
   * labels.
   * @defaultValue none
   */
  readonly labels?: readonly string[];
  /**
   * The format of the file.
   * @defaultValue detected from the content and the extension
   */
  readonly format?: DataFormat;
}

const LOAD_DATA_OPTION_NAMES: OptionNames<LoadDataOptions> = {
  columns: true,
  optionalColumns: true,
  labels: true,
  format: true,
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
      const columns = await readColumns(session, file, names);
      if (columns.length > 0 && columns[0]?.rowCount === 0) {
        throw new DataValidationError(`Cannot read '${path}': it has a header and no rows.`, {
          code: 'unreadable-file',
          context: { path },
          suggestion: 'Check the query or the filter that made it.',
        });
      }
      return Table.ofColumns(columns.map((column, index) => [names[index] as string, column.finish()]));
    }),
  );
}

/** Collects one column from the chunks of a result. */
interface ColumnBuilder {
  readonly rowCount: number;
  append(chunk: DuckDBDataChunk, index: number): void;
  finish(): Column;
}

async function readColumns(session: DuckDbSession, file: Relation, names: readonly string[]): Promise<ColumnBuilder[]> {
  const kinds = names.map((name) => columnKind(file, name));
  const builders = kinds.map((kind) =>
    isNumeric(kind) ? numericBuilder() : categoricalBuilder(file.csv !== undefined),
  );
  const selected = names.map((name) => {
    const type = isNumeric(columnKind(file, name)) ? 'DOUBLE' : 'VARCHAR';
    return `CAST(${quoteIdentifier(name)} AS ${type})`;
  });
  for await (const chunk of session.chunks(`SELECT ${selected.join(', ')} FROM ${file.relation}`)) {
    builders.forEach((builder, index) => {
      builder.append(chunk, index);
    });
  }
  return builders;
}

function numericBuilder(): ColumnBuilder {
  const parts: Float64Array[] = [];
  let rowCount = 0;
  return {
    get rowCount() {
      return rowCount;
    },
    append(chunk, index) {
      const vector = chunk.getColumnVector(index);
      const part = new Float64Array(chunk.rowCount);
      for (let row = 0; row < part.length; row++) part[row] = (vector.getItem(row) as number | null) ?? NaN;
      parts.push(part);
      rowCount += part.length;
    },
    finish() {
      const values = new Float64Array(rowCount);
      concatenate(parts, values);
      return { kind: 'numeric', values };
    },
  };
}

/** @param isText whether the file is a text file, whose cells may be marked for spreadsheets */
function categoricalBuilder(isText: boolean): ColumnBuilder {
  const parts: Int32Array[] = [];
  const codeOf = new Map<string, number>();
  const codeOfLabel = new Map<string, number>();
  let rowCount = 0;
  const encode = (text: string | null): number => {
    if (text === null) return -1;
    const known = codeOf.get(text);
    if (known !== undefined) return known;
    const label = isText ? unmarkCell(text) : text;
    const code = codeOfLabel.get(label) ?? codeOfLabel.size;
    codeOfLabel.set(label, code);
    codeOf.set(text, code);
    return code;
  };
  return {
    get rowCount() {
      return rowCount;
    },
    append(chunk, index) {
      const vector = chunk.getColumnVector(index);
      const part = new Int32Array(chunk.rowCount);
      for (let row = 0; row < part.length; row++) part[row] = encode(vector.getItem(row) as string | null);
      parts.push(part);
      rowCount += part.length;
    },
    finish(): CategoricalColumn {
      const codes = new Int32Array(rowCount);
      concatenate(parts, codes);
      return sortLabels(codes, [...codeOfLabel.keys()]);
    },
  };
}

function concatenate<T extends Float64Array | Int32Array>(parts: readonly T[], into: T): void {
  let offset = 0;
  for (const part of parts) {
    into.set(part, offset);
    offset += part.length;
  }
}

/**
 * Reads a CSV or Parquet file with every value as text, so that leading zeros and long numbers are kept. Use it to
 * write rows back unchanged.
 * @throws {DataValidationError} if the file is missing, empty, ragged or without a header
 * @throws {DependencyError} if DuckDB's binary is not installed
 */
export async function loadTexts(path: string): Promise<Table> {
  return withDuckDb((session) =>
    queryDataFile(session, path, undefined, async (file) => {
      const names = [...file.columns.keys()];
      // Throws if two columns have the same name.
      for (const name of names) columnKind(file, name);
      const columns = await readTexts(session, file, names);
      if (columns[0]?.length === 0) {
        throw new DataValidationError(`Cannot read '${path}': it has a header and no rows.`, {
          code: 'unreadable-file',
          context: { path },
          suggestion: 'Check the query or the filter that made it.',
        });
      }
      return Table.ofColumns(
        columns.map((texts, index) => [names[index] as string, toColumn(texts, names[index] as string)]),
      );
    }),
  );
}

async function readTexts(
  session: DuckDbSession,
  file: Relation,
  names: readonly string[],
): Promise<(string | null)[][]> {
  const columns = names.map((): (string | null)[] => []);
  const relation = file.csv === undefined ? file.relation : file.relation.replace(/\)$/, ', all_varchar=true)');
  const selected = names.map((name) => `CAST(${quoteIdentifier(name)} AS VARCHAR)`);
  for await (const chunk of session.chunks(`SELECT ${selected.join(', ')} FROM ${relation}`)) {
    columns.forEach((texts, index) => {
      const vector = chunk.getColumnVector(index);
      for (let row = 0; row < chunk.rowCount; row++) {
        const text = vector.getItem(row) as string | null;
        texts.push(text === null || file.csv === undefined ? text : unmarkCell(text));
      }
    });
  }
  return columns;
}
