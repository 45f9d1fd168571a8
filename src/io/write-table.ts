import path from 'node:path';

import { ValueError } from '../exceptions/index.ts';
import { assertKnownOptions } from '../internal/known-options.ts';
import type { Table } from '../table/index.ts';
import { WRITE_CSV_OPTION_NAMES, writeCsv, type WriteCsvOptions, writeTsv } from './write-csv.ts';
import { writeParquet } from './write-parquet.ts';

/** The forms in which a table can be written. */
export type TableFormat = 'csv' | 'tsv' | 'parquet';

/** How a table is written in each form. */
const WRITERS: Readonly<
  Record<TableFormat, (target: string, table: Table, options: WriteCsvOptions) => Promise<void>>
> = {
  csv: writeCsv,
  tsv: writeTsv,
  parquet: writeParquet,
};

/** The extensions of those forms, as a sentence names them. */
export const TABLE_EXTENSIONS = '.csv, .tsv or .parquet';

/**
 * The form that a path's extension names: `.csv`, `.tsv` or `.parquet`, in upper or lower case.
 * @throws {ValueError} for another extension
 */
export function tableFormat(target: string): TableFormat {
  const format = findTableFormat(target);
  if (format !== undefined) return format;
  throw new ValueError(`The path parameter must end in ${TABLE_EXTENSIONS}. Got '${target}' instead.`, {
    context: { parameter: 'path', value: target },
    suggestion: 'The extension names the form of the file.',
  });
}

/** The same, or undefined for another extension. */
export function findTableFormat(target: string): TableFormat | undefined {
  const extension = path.extname(target).toLowerCase();
  return (Object.keys(WRITERS) as TableFormat[]).find((name) => extension === `.${name}`);
}

/**
 * Writes a table in the form that the path's extension names: `.csv` and `.tsv`
 * (RFC 4180, with commas or tabs) or `.parquet`, in upper or lower case. The
 * file is whole or not there. In text, cells that a spreadsheet would take for
 * formulas are marked, as {@link WriteCsvOptions} says.
 * @throws {ValueError} for another extension
 * @throws {DataValidationError} for names that the form cannot hold, and where the place cannot be written
 * @throws {DependencyError} for Parquet, where DuckDB's binary is not installed
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
  await writeTableAs(target, table, tableFormat(target), options);
}

/** Writes a table in a form, whatever the path's extension. */
export async function writeTableAs(
  target: string,
  table: Table,
  format: TableFormat,
  options: WriteCsvOptions = {},
): Promise<void> {
  await WRITERS[format](target, table, options);
}
