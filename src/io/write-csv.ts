import type { Table } from '../table/index.ts';
import { writeFileAtomic } from './atomic-write.ts';

/**
 * What a reader may take for the delimiter. It decides by the header, so that
 * there each of them is quoted; and one column alone has no delimiter to go by.
 */
const AMBIGUOUS = /[",;|\t\n\r]/;

/** What RFC 4180 has quoted, by delimiter. */
const QUOTED = { ',': /[",\n\r]/, '\t': /["\t\n\r]/ } as const;

/** Writes a table as CSV with a header (RFC 4180); a missing value is an empty field. */
export async function writeCsv(path: string, table: Table): Promise<void> {
  await writeFileAtomic(path, delimitedText(table, ','));
}

/** Writes a table as {@link writeCsv} does, with tabs between the fields. */
export async function writeTsv(path: string, table: Table): Promise<void> {
  await writeFileAtomic(path, delimitedText(table, '\t'));
}

function delimitedText(table: Table, delimiter: keyof typeof QUOTED): string {
  // By name, since an object puts names that look like numbers first.
  const values = table.toColumns();
  const columns = table.columnNames.map((name) => values[name] ?? []);
  const quoted = columns.length === 1 ? AMBIGUOUS : QUOTED[delimiter];
  const lines = [table.columnNames.map((name) => quoteField(name, AMBIGUOUS)).join(delimiter)];
  for (let row = 0; row < table.rowCount; row++) {
    lines.push(columns.map((column) => quoteField(column[row] ?? '', quoted)).join(delimiter));
  }
  return `${lines.join('\n')}\n`;
}

function quoteField(value: string | number, quoted: RegExp): string {
  const text = String(value);
  return quoted.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
