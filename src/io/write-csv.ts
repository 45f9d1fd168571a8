import type { Table } from '../table/index.ts';
import { writeFileAtomic } from './atomic-write.ts';

/** Writes a table as CSV with a header (RFC 4180); a missing value is an empty field. */
export async function writeCsv(path: string, table: Table): Promise<void> {
  // By name, since an object puts names that look like numbers first.
  const values = table.toColumns();
  const columns = table.columnNames.map((name) => values[name] ?? []);
  const lines = [table.columnNames.map(quoteField).join(',')];
  for (let row = 0; row < table.rowCount; row++) {
    lines.push(columns.map((column) => quoteField(column[row] ?? '')).join(','));
  }
  await writeFileAtomic(path, `${lines.join('\n')}\n`);
}

function quoteField(value: string | number): string {
  const text = String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
