import { DataValidationError } from '../exceptions/index.ts';
import type { CsvHeader } from './csv-header.ts';
import { quoteIdentifier, quoteLiteral } from './sql.ts';
import type { SqlSession } from './sql-engine.ts';

/** The error for a file that cannot be read, whatever the reason. */
export function cannotRead(path: string, reason: string, suggestion: string, cause?: unknown): DataValidationError {
  return new DataValidationError(`Cannot read '${path}': ${reason}.`, { context: { path }, suggestion, cause });
}

/** A CSV as SQL reads it: the text of the path, the header found, the dialect stated. */
export interface CsvSource {
  readonly path: string;
  readonly pattern: string;
  readonly header: CsvHeader;
  readonly dialect: string;
}

/** Reads a CSV that could not be understood once more as text, which names the line at fault. */
export async function explainCsv(session: SqlSession, source: CsvSource, cause: unknown): Promise<DataValidationError> {
  const { path, pattern, header, dialect } = source;
  const names = header.names.map((name, index) => `${String(index)}_${name}`);
  const columns = names.map((name) => `${quoteLiteral(name)}: 'VARCHAR'`).join(', ');
  const asText = `read_csv(${quoteLiteral(pattern)}, ${dialect}, auto_detect=false, columns={${columns}})`;
  try {
    await session.rows(`SELECT count(${quoteIdentifier(names[0] ?? '')}) FROM ${asText}`);
  } catch (better) {
    return csvFault(path, better);
  }
  return csvFault(path, cause);
}

/** DuckDB's account of a broken CSV in one sentence. */
function csvFault(path: string, cause: unknown): DataValidationError {
  const text = cause instanceof Error ? cause.message : String(cause);
  const line = /CSV Error on Line: (\d+)/.exec(text)?.[1];
  const where = line === undefined ? '' : `line ${line}: `;
  const mend = line === undefined ? 'Export the file again.' : 'Mend that line, or export the file again.';
  const fields = /Expected Number of Columns: (\d+) Found: (\d+)/.exec(text);
  if (fields !== null) {
    const [, expected = '', found = ''] = fields;
    const noun = found === '1' ? 'field' : 'fields';
    return cannotRead(path, `${where}it has ${found} ${noun} where the header has ${expected}`, mend, cause);
  }
  if (text.includes('unterminated quote')) return cannotRead(path, `${where}a quoted value does not end`, mend, cause);
  if (text.includes('not utf-8')) {
    return cannotRead(path, `${where}the text is not UTF-8`, 'Save it as UTF-8.', cause);
  }
  if (text.includes('Maximum line size')) return cannotRead(path, `${where}the line is too long`, mend, cause);
  const reason = `${where}its lines do not make a table (mixed line ends, stray quotes or delimiters?)`;
  return cannotRead(path, reason, mend, cause);
}
