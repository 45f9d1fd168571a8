import { open, stat } from 'node:fs/promises';

import { DataValidationError, FairnessToolkitError } from '../exceptions/index.ts';
import { unknownColumn } from '../table/index.ts';
import { assertWholeGzip, type CsvHeader, readCsvHeader } from './csv-header.ts';
import type { SqlSession } from './duckdb.ts';
import { quoteIdentifier, quoteLiteral } from './sql.ts';

/** The forms of data files that can be read. */
export type DataFormat = 'csv' | 'parquet';

/** How values of a column are stored in the file, as far as it matters here. */
export type StoredKind = 'number' | 'boolean' | 'text';

/** A data file, looked at but not read: what stands in it and how SQL names it. */
export interface DataFile {
  readonly path: string;
  /** The SQL table function that reads it. */
  readonly relation: string;
  readonly columns: ReadonlyMap<string, StoredKind>;
}

/**
 * Finds out what a file holds: its form by content first and extension second,
 * its columns and their kinds.
 * @throws {DataValidationError} for a missing, empty, ragged or unreadable file
 */
async function openDataFile(session: SqlSession, path: string, format?: DataFormat): Promise<DataFile> {
  const found = await stat(path).catch((cause: unknown) => {
    throw cannotRead(path, 'there is no such file', 'Check the path.', cause);
  });
  if (found.isDirectory()) throw cannotRead(path, 'it is a folder', 'Name a CSV or Parquet file.');
  if (found.size === 0) throw cannotRead(path, 'the file is empty', 'Export it again, with a header line.');
  const magic = await readMagic(path);
  const form = format ?? (magic.startsWith('PAR1') || path.endsWith('.parquet') ? 'parquet' : 'csv');
  if (form === 'parquet') return describe(session, path, `read_parquet(${quoteLiteral(path)})`);
  const gzipped = magic.startsWith('\x1f\x8b');
  if (gzipped) {
    await assertWholeGzip(path).catch((cause: unknown) => {
      throw cannotRead(path, 'its compressed content is damaged or cut off', 'Compress or export it again.', cause);
    });
  }
  const header = await readCsvHeader(path, gzipped);
  return describeCsv(session, path, header, gzipped);
}

/**
 * Runs a query over a file, once more with the kinds of columns taken from all
 * its rows where a late row did not fit the kind of the first rows.
 * @param run makes and runs the query from the file's columns
 */
export async function queryDataFile<T>(
  session: SqlSession,
  path: string,
  format: DataFormat | undefined,
  run: (file: DataFile) => Promise<T>,
): Promise<T> {
  const file = await openDataFile(session, path, format);
  try {
    return await run(file);
  } catch (cause) {
    if (FairnessToolkitError.isInstance(cause)) throw cause;
    if (!isConversionError(cause)) throw await explain(session, file, cause);
    const thorough = file.relation.replace(/\)$/, ', sample_size=-1)');
    try {
      return await run(await describe(session, path, thorough));
    } catch (again) {
      if (FairnessToolkitError.isInstance(again)) throw again;
      throw await explain(session, file, again);
    }
  }
}

/**
 * The kind of a column of a file.
 * @throws {DataValidationError} with the nearest names, where there is none
 */
export function columnKind(file: DataFile, name: string): StoredKind {
  const kind = file.columns.get(name);
  if (kind === undefined) throw unknownColumn(name, [...file.columns.keys()], `'${file.path}'`);
  return kind;
}

async function describeCsv(session: SqlSession, path: string, header: CsvHeader, gzipped: boolean): Promise<DataFile> {
  const dialect = csvDialect(header, gzipped);
  const relation = `read_csv(${quoteLiteral(path)}, ${dialect})`;
  try {
    return await describe(session, path, relation);
  } catch (cause) {
    throw await explainRagged(session, path, header, dialect, cause);
  }
}

async function describe(session: SqlSession, path: string, relation: string): Promise<DataFile> {
  const rows = await session.rows(`DESCRIBE SELECT * FROM ${relation}`).catch((cause: unknown) => {
    if (relation.startsWith('read_csv')) throw cause;
    throw cannotRead(path, firstLine(cause), 'Check that it is a whole Parquet file.', cause);
  });
  const columns = new Map(rows.map(([name, type]) => [String(name), storedKind(String(type))]));
  return { path, relation, columns };
}

/** The dialect is stated whole: what is left to guess would be guessed wrong on a ragged file. */
function csvDialect(header: CsvHeader, gzipped: boolean): string {
  return [
    `delim=${quoteLiteral(header.delimiter)}`,
    `quote='"'`,
    `escape='"'`,
    `comment=''`,
    'header=true',
    'skip=0',
    'strict_mode=true',
    // No booleans, dates or times: they would turn the labels 'f' and 'yes' into 'false' and 'true'.
    `auto_type_candidates=['BIGINT', 'DOUBLE', 'VARCHAR']`,
    ...(gzipped ? [`compression='gzip'`] : []),
  ].join(', ');
}

function storedKind(type: string): StoredKind {
  if (type === 'BOOLEAN') return 'boolean';
  return /^(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL.*)$/.test(type) ? 'number' : 'text';
}

/** Reads a CSV that could not be understood once more as text, which names the line at fault. */
async function explainRagged(
  session: SqlSession,
  path: string,
  header: CsvHeader,
  dialect: string,
  cause: unknown,
): Promise<DataValidationError> {
  const names = header.names.map((name, index) => `${quoteLiteral(`${String(index)}_${name}`)}: 'VARCHAR'`);
  const asText = `read_csv(${quoteLiteral(path)}, ${dialect}, auto_detect=false, columns={${names.join(', ')}})`;
  const column = quoteIdentifier(`0_${header.names[0] ?? ''}`);
  try {
    await session.rows(`SELECT count(${column}) FROM ${asText}`);
  } catch (better) {
    return csvError(path, better);
  }
  return csvError(path, cause);
}

async function explain(session: SqlSession, file: DataFile, cause: unknown): Promise<DataValidationError> {
  const text = firstLine(cause);
  if (/sniffing/.test(text)) {
    const gzipped = (await readMagic(file.path)).startsWith('\x1f\x8b');
    const header = await readCsvHeader(file.path, gzipped);
    return explainRagged(session, file.path, header, csvDialect(header, gzipped), cause);
  }
  return csvError(file.path, cause);
}

/** DuckDB's account of a broken CSV in one sentence. */
function csvError(path: string, cause: unknown): DataValidationError {
  const text = cause instanceof Error ? cause.message : String(cause);
  const line = /CSV Error on Line: (\d+)/.exec(text)?.[1];
  const where = line === undefined ? '' : `line ${line}: `;
  const fields = /Expected Number of Columns: (\d+) Found: (\d+)/.exec(text);
  const mend = 'Mend that line, or export the file again.';
  if (fields !== null) {
    const [, expected = '', found = ''] = fields;
    return cannotRead(path, `${where}it has ${found} fields where the header has ${expected}`, mend, cause);
  }
  if (text.includes('unterminated quote')) return cannotRead(path, `${where}a quoted value does not end`, mend, cause);
  if (text.includes('not utf-8')) {
    return cannotRead(path, `${where}the text is not UTF-8`, 'Save it as UTF-8.', cause);
  }
  return cannotRead(path, `${where}${firstLine(cause)}`, 'Check that it is a CSV, TSV or Parquet file.', cause);
}

function isConversionError(cause: unknown): boolean {
  return cause instanceof Error && cause.message.startsWith('Conversion Error');
}

function firstLine(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : String(cause);
  return (text.split('\n')[0] ?? '').replace(/\.$/, '');
}

async function readMagic(path: string): Promise<string> {
  try {
    const file = await open(path, 'r');
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
      return buffer.toString('latin1', 0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (cause) {
    throw cannotRead(path, firstLine(cause), 'Check its permissions.', cause);
  }
}

function cannotRead(path: string, reason: string, suggestion: string, cause?: unknown): DataValidationError {
  return new DataValidationError(`Cannot read '${path}': ${reason}.`, { context: { path }, suggestion, cause });
}
