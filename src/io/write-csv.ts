import { assertKnownOptions, type OptionNames } from '../internal/known-options.ts';
import { markCell } from '../internal/spreadsheet-text.ts';
import type { Table } from '../table/index.ts';
import { writeFileAtomic } from './atomic-write.ts';

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
export const WRITE_CSV_OPTION_NAMES: OptionNames<WriteCsvOptions> = { raw: true };

/**
 * Writes a table as CSV with a header (RFC 4180); a missing value is an empty field. Texts that a spreadsheet would take
 * for formulas are marked with an apostrophe, which `loadData` takes away again; numbers never are.
 */
export async function writeCsv(path: string, table: Table, options: WriteCsvOptions = {}): Promise<void> {
  assertKnownOptions('writeCsv', options, WRITE_CSV_OPTION_NAMES);
  await writeFileAtomic(path, delimitedText(table, ',', options));
}

/** Writes a table as {@link writeCsv} does, with tabs between the fields. */
export async function writeTsv(path: string, table: Table, options: WriteCsvOptions = {}): Promise<void> {
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
