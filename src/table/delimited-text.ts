import type { OnProgress } from '../internal/progress.ts';
import { markCell } from '../internal/spreadsheet-text.ts';
import type { Table } from './table.ts';

/**
 * Matches texts that must be quoted in the header, and in tables with one column. Readers could otherwise detect a
 * wrong delimiter.
 */
const AMBIGUOUS = /[",;|\t\n\r]/;

/**
 * For each delimiter, matches texts that RFC 4180 requires to be quoted. The pattern also matches texts with another
 * delimiter before the start of a formula, which some spreadsheets would treat as a new cell.
 */
const QUOTED = { ',': /[",\n\r]|[;|\t][=+\-@]/, '\t': /["\t\n\r]|[;|,][=+\-@]/ } as const;

/** Options for writing text tables. */
export interface WriteCsvOptions {
  /**
   * Whether all texts are written unchanged, even texts that a spreadsheet would evaluate as formulas.
   * @defaultValue false: a text that begins with `=`, `+`, `-`, `@` or a tab gets an apostrophe before it
   */
  readonly raw?: boolean | undefined;
  /** Called with the number of rows that have been formatted. Parquet is written in one step. */
  readonly onProgress?: OnProgress | undefined;
}

/** The rows between two calls of `onProgress`. */
const PROGRESS_ROWS = 10_000;

/** Returns a table as text with a header; see {@link WriteCsvOptions}. A missing value is an empty field. */
export function delimitedText(table: Table, delimiter: keyof typeof QUOTED, options: WriteCsvOptions = {}): string {
  const { raw = false, onProgress } = options;
  // Accessed by name, since an object sorts numeric names first.
  const values = table.toColumns();
  const columns = table.columnNames.map((name) => values[name] ?? []);
  const quoted = columns.length === 1 ? AMBIGUOUS : QUOTED[delimiter];
  const shown = <Value extends string | number>(value: Value): Value | string =>
    raw || typeof value === 'number' ? value : markCell(value);
  const lines = [table.columnNames.map((name) => quoteField(shown(name), AMBIGUOUS)).join(delimiter)];
  const total = table.rowCount;
  for (let row = 0; row < total; row++) {
    if (row % PROGRESS_ROWS === 0) onProgress?.({ stage: 'writing rows', done: row, total });
    lines.push(columns.map((column) => quoteField(shown(column[row] ?? ''), quoted)).join(delimiter));
  }
  onProgress?.({ stage: 'writing rows', done: total, total });
  return `${lines.join('\n')}\n`;
}

function quoteField(value: string | number, quoted: RegExp): string {
  const text = String(value);
  return quoted.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
