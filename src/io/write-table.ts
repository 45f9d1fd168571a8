import path from 'node:path';

import { ValueError } from '../exceptions/index.ts';
import { assertKnownOptions, type OptionNames } from '../internal/arguments.ts';
import { delimitedText, type Table, type WriteCsvOptions } from '../table/index.ts';
import { writeFileAtomic } from './atomic-write.ts';
import { assertTableArguments, writeParquet } from './write-parquet.ts';

export type { WriteCsvOptions };

/** Lists the options of {@link WriteCsvOptions}. */
const WRITE_CSV_OPTION_NAMES: OptionNames<WriteCsvOptions> = { raw: true, onProgress: true };

/**
 * Writes a table as CSV with a header (RFC 4180); a missing value is an empty field. Texts that a spreadsheet would
 * treat as formulas are marked with an apostrophe, which `loadData` removes. Numbers are never marked.
 * @throws {ValueError} if the first argument is not a path, or the second one is not a table
 */
export async function writeCsv(path: string, table: Table, options: WriteCsvOptions = {}): Promise<void> {
  assertKnownOptions('writeCsv', options, WRITE_CSV_OPTION_NAMES);
  assertTableArguments('writeCsv', path, table);
  await writeFileAtomic(path, delimitedText(table, ',', options));
}

/** Writes a table in the same way as {@link writeCsv}, but with tabs between the fields. */
async function writeTsv(path: string, table: Table, options: WriteCsvOptions = {}): Promise<void> {
  await writeFileAtomic(path, delimitedText(table, '\t', options));
}

/** The formats in which a table can be written. */
export type TableFormat = 'csv' | 'tsv' | 'parquet';

/** The writer of each format. */
const WRITERS: Readonly<
  Record<TableFormat, (target: string, table: Table, options: WriteCsvOptions) => Promise<void>>
> = {
  csv: writeCsv,
  tsv: writeTsv,
  parquet: writeParquet,
};

/** The extensions of the table formats, for messages. */
export const TABLE_EXTENSIONS = '.csv, .tsv or .parquet';

/**
 * Returns the format for the extension of a path: `.csv`, `.tsv` or `.parquet`, in upper or lower case.
 * @throws {ValueError} if the path has another extension
 */
export function tableFormat(target: string): TableFormat {
  const format = findTableFormat(target);
  if (format !== undefined) return format;
  throw new ValueError(`The path parameter must end in ${TABLE_EXTENSIONS}. Got '${target}' instead.`, {
    context: { parameter: 'path', value: target },
    suggestion: 'The extension determines the format of the file.',
  });
}

/** Returns the format for the extension of a path; undefined for other extensions. */
export function findTableFormat(target: string): TableFormat | undefined {
  const extension = path.extname(target).toLowerCase();
  return (Object.keys(WRITERS) as TableFormat[]).find((name) => extension === `.${name}`);
}

/**
 * Writes a table in the format of the path's extension: `.csv` and `.tsv` (RFC 4180, with commas or tabs) or
 * `.parquet`, in upper or lower case. The file is written completely or not at all. In text, cells that a spreadsheet
 * would treat as formulas are marked; see {@link WriteCsvOptions}.
 * @throws {ValueError} if the path has another extension
 * @throws {DataValidationError} if the format does not allow a column name, or the path cannot be written
 * @throws {DependencyError} for Parquet, if DuckDB's binary is not installed
 * @example
 * ```ts
 * import { readFileSync } from 'node:fs';
 * import { Table } from 'evenhand';
 * import { writeTable } from 'evenhand/io';
 *
 * await writeTable('wages.csv', Table.from({ wage: [7.5, null], sex: ['female', 'male'] }));
 * console.log(readFileSync('wages.csv', 'utf8').trimEnd());
 * // wage,sex
 * // 7.5,female
 * // ,male
 * ```
 */
export async function writeTable(target: string, table: Table, options: WriteCsvOptions = {}): Promise<void> {
  assertKnownOptions('writeTable', options, WRITE_CSV_OPTION_NAMES);
  assertTableArguments('writeTable', target, table);
  await writeTableAs(target, table, tableFormat(target), options);
}

/** Writes a table in a format, regardless of the extension of the path. */
export async function writeTableAs(
  target: string,
  table: Table,
  format: TableFormat,
  options: WriteCsvOptions = {},
): Promise<void> {
  await WRITERS[format](target, table, options);
}
