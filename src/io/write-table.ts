import path from 'node:path';

import { ValueError } from '../exceptions/index.ts';
import { assertKnownOptions, type OptionNames } from '../internal/arguments.ts';
import { markCell } from '../internal/spreadsheet-text.ts';
import type { Table } from '../table/index.ts';
import { writeFileAtomic } from './atomic-write.ts';
import { writeParquet } from './write-parquet.ts';

/**
 * What a reader may take for the delimiter. It decides by the header, so that
 * there each of them is quoted; and one column alone has no delimiter to go by.
 */
const AMBIGUOUS = /[",;|\t\n\r]/;

/**
 * What RFC 4180 has quoted, by delimiter; and a delimiter of other spreadsheets before what begins a formula, which
 * would make a cell of it.
 */
const QUOTED = { ',': /[",\n\r]|[;|\t][=+\-@]/, '\t': /["\t\n\r]|[;|,][=+\-@]/ } as const;

/** How a text table is written. */
export interface WriteCsvOptions {
  /**
   * Writes texts as they are, also those that a spreadsheet would compute as formulas.
   * @defaultValue false: a text that begins with `=`, `+`, `-`, `@` or a tab gets an apostrophe before it
   */
  readonly raw?: boolean | undefined;
}

/** Lists the options of {@link WriteCsvOptions}. */
const WRITE_CSV_OPTION_NAMES: OptionNames<WriteCsvOptions> = { raw: true };

/**
 * Writes a table as CSV with a header (RFC 4180); a missing value is an empty field. Texts that a spreadsheet would take
 * for formulas are marked with an apostrophe, which `loadData` takes away again; numbers never are.
 */
export async function writeCsv(path: string, table: Table, options: WriteCsvOptions = {}): Promise<void> {
  assertKnownOptions('writeCsv', options, WRITE_CSV_OPTION_NAMES);
  await writeFileAtomic(path, delimitedText(table, ',', options));
}

/** Writes a table as {@link writeCsv} does, with tabs between the fields. */
async function writeTsv(path: string, table: Table, options: WriteCsvOptions = {}): Promise<void> {
  await writeFileAtomic(path, delimitedText(table, '\t', options));
}

function delimitedText(table: Table, delimiter: keyof typeof QUOTED, { raw = false }: WriteCsvOptions): string {
  // By name, since an object puts names that look like numbers first.
  const values = table.toColumns();
  const columns = table.columnNames.map((name) => values[name] ?? []);
  const quoted = columns.length === 1 ? AMBIGUOUS : QUOTED[delimiter];
  const shown = <Value extends string | number>(value: Value): Value | string =>
    raw || typeof value === 'number' ? value : markCell(value);
  const lines = [table.columnNames.map((name) => quoteField(shown(name), AMBIGUOUS)).join(delimiter)];
  for (let row = 0; row < table.rowCount; row++) {
    lines.push(columns.map((column) => quoteField(shown(column[row] ?? ''), quoted)).join(delimiter));
  }
  return `${lines.join('\n')}\n`;
}

function quoteField(value: string | number, quoted: RegExp): string {
  const text = String(value);
  return quoted.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

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
