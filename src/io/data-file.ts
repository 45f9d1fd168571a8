import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';

import { type DataValidationError, FairnessToolkitError } from '../exceptions/index.ts';
import { utf8Lines } from '../internal/decode-utf8.ts';
import { findJsonProblem } from '../internal/strict-json.ts';
import { assertCompleteGzip, cannotRead, explainCsv, readCsvHeader, readStart } from './csv-header.ts';
import { describe, type Relation, repeatedNames } from './relation.ts';
import { quoteIdentifier, quoteLiteral, type SqlSession } from './sql-engine.ts';

/** The number of bytes at the start of a file that are checked for the encoding. */
const START_BYTES = 64;

/** A problem with the encoding of a text table, and how to fix it. */
interface EncodingProblem {
  readonly reason: string;
  readonly suggestion: string;
}

const UTF_16: EncodingProblem = {
  reason: 'it is text in UTF-16',
  suggestion: 'Save it as UTF-8 (CSV UTF-8 in Excel).',
};

/**
 * Detects an unsupported encoding from the first bytes: a byte order mark of UTF-16, or NUL bytes. In UTF-16 text with
 * Latin letters, all NUL bytes have even or all have odd offsets.
 */
function findEncodingProblem(start: Uint8Array): EncodingProblem | undefined {
  const [first, second] = start;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return UTF_16;
  const nuls = [...start.keys()].filter((index) => start[index] === 0);
  if (nuls.length === 0) return undefined;
  const isEverySecond = new Set(nuls.map((index) => index % 2)).size === 1 && nuls.length > start.length / 4;
  return isEverySecond
    ? UTF_16
    : {
        reason: 'it holds NUL bytes, so it is not text',
        suggestion: 'Export it again as CSV in UTF-8, or as Parquet.',
      };
}

/** The formats of data files that can be read. */
export type DataFormat = 'csv' | 'parquet' | 'ndjson';

/**
 * Opens a file and runs a query over it. If a later row does not fit the column types of the first rows, it infers the
 * types from all rows and runs the query again.
 * @param run builds and runs the query from the columns of the file
 * @throws {DataValidationError} if the file is missing, empty, ragged or unreadable
 */
export async function queryDataFile<T>(
  session: SqlSession,
  path: string,
  format: DataFormat | undefined,
  run: (file: Relation) => Promise<T>,
): Promise<T> {
  const file = await openDataFile(session, path, format);
  try {
    return await run(file);
  } catch (cause) {
    if (!isConversionError(cause) || file.csv === undefined) throw await explain(session, path, file, cause);
    const thorough = file.relation.replace(/\)$/, ', sample_size=-1)');
    try {
      return await run({ ...file, relation: thorough, columns: await describe(session, thorough) });
    } catch (again) {
      throw await explain(session, path, file, again);
    }
  }
}

/** Opens a file: detects its format by content, then by extension, and reads its columns and their kinds. */
async function openDataFile(session: SqlSession, path: string, format?: DataFormat): Promise<Relation> {
  const found = await stat(path).catch((cause: unknown) => {
    throw cannotRead(path, 'there is no such file', 'Check the path.', cause);
  });
  if (found.isDirectory()) throw cannotRead(path, 'it is a folder', 'Give the path of a CSV or Parquet file.');
  if (!found.isFile()) throw cannotRead(path, 'it is not a regular file', 'Write the data to a file first.');
  if (found.size === 0) throw cannotRead(path, 'the file is empty', 'Export it again, with a header line.');
  const start = await readStart(path, false, 4).catch((cause: unknown) => {
    throw cannotRead(path, 'it cannot be opened', 'Check its permissions.', cause);
  });
  const magic = Buffer.from(start).toString('latin1');
  const form = format ?? formOf(path, magic);
  if (form === 'parquet') return openParquet(session, path);
  return form === 'ndjson' ? openNdjson(session, path) : openCsv(session, path, magic.startsWith('\x1f\x8b'));
}

function formOf(path: string, magic: string): DataFormat {
  if (magic.startsWith('PAR1') || path.endsWith('.parquet')) return 'parquet';
  return NDJSON_EXTENSIONS.test(path) ? 'ndjson' : 'csv';
}

async function openParquet(session: SqlSession, path: string): Promise<Relation> {
  const relation = `read_parquet(${quoteLiteral(globPattern(path))}, hive_partitioning=false)`;
  const columns = await describe(session, relation).catch((cause: unknown) => {
    throw cannotRead(path, 'it is not a complete Parquet file', 'Export it again.', cause);
  });
  return { title: `'${path}'`, relation, columns, ambiguous: [], csv: undefined };
}

async function openNdjson(session: SqlSession, path: string): Promise<Relation> {
  const pattern = globPattern(path);
  const relation = await ndjsonRelation(session, path, pattern);
  const columns = await describe(session, relation);
  const jsonLines = `read_ndjson_objects(${quoteLiteral(pattern)})`;
  return { title: `'${path}'`, relation, columns, ambiguous: [], jsonLines, csv: undefined };
}

async function openCsv(session: SqlSession, path: string, gzipped: boolean): Promise<Relation> {
  if (gzipped) {
    await assertCompleteGzip(path).catch((cause: unknown) => {
      throw cannotRead(path, 'its compressed content is damaged or cut off', 'Compress or export it again.', cause);
    });
  }
  const problem = findEncodingProblem(await readStart(path, gzipped, START_BYTES));
  if (problem !== undefined) throw cannotRead(path, problem.reason, problem.suggestion);
  const header = await readCsvHeader(path, gzipped);
  if (header.names.every((name) => name.trim() === '')) {
    throw cannotRead(path, 'its first line is blank', 'Begin the file with a line of column names.');
  }
  const dialect = csvDialect(header.delimiter, gzipped);
  const pattern = globPattern(path);
  const csv = { path, pattern, header, dialect };
  const relation = `read_csv(${quoteLiteral(pattern)}, ${dialect})`;
  const columns = await describe(session, relation).catch(async (cause: unknown) => {
    throw await explainCsv(session, csv, cause);
  });
  return { title: `'${path}'`, relation, columns, ambiguous: repeatedNames(header.names), csv };
}

/** Returns a pattern that matches exactly this file: wildcards are escaped, and `~` is not expanded. */
function globPattern(path: string): string {
  return resolve(path).replaceAll(/[*?[]/g, '[$&]');
}

/** Returns the complete CSV dialect. It sets every option, because auto-detection fails on ragged files. */
function csvDialect(delimiter: string, gzipped: boolean): string {
  return [
    `delim=${quoteLiteral(delimiter)}`,
    `quote='"'`,
    `escape='"'`,
    `comment=''`,
    'header=true',
    'skip=0',
    'strict_mode=true',
    // Otherwise a folder named s=1 would become a column.
    'hive_partitioning=false',
    // No booleans, dates or times: they would turn the labels 'f' and 'yes' into 'false' and 'true'.
    `auto_type_candidates=['BIGINT', 'DOUBLE', 'VARCHAR']`,
    ...(gzipped ? [`compression='gzip'`] : []),
  ].join(', ');
}

/** Returns errors of this package unchanged, and describes errors of the driver in one sentence. */
async function explain(session: SqlSession, path: string, file: Relation, cause: unknown): Promise<unknown> {
  if (FairnessToolkitError.isInstance(cause)) return cause;
  if (file.csv !== undefined) return explainCsv(session, file.csv, cause);
  if (file.relation.startsWith('read_json(')) return explainNdjson(path, cause);
  return cannotRead(path, 'its content cannot be read', 'Export it again.', cause);
}

function isConversionError(cause: unknown): boolean {
  return cause instanceof Error && cause.message.startsWith('Conversion Error');
}

/** Matches the extensions of files with one JSON object per line. */
const NDJSON_EXTENSIONS = /\.(ndjson|jsonl)$/i;

/**
 * Matches the SQL types that are read as numbers. All other types are read as text, because SQL would rewrite, for
 * example, dates.
 */
const NUMBERS = /^(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL.*|BOOLEAN)$/;

/**
 * Returns the SQL expression after FROM for a file with one JSON object per line. All lines determine the columns and
 * their kinds. If a line lacks a column, its value is missing.
 * @param pattern the path as a SQL file pattern
 * @throws {DataValidationError} if a line is not an object; the error has its number
 */
async function ndjsonRelation(session: SqlSession, path: string, pattern: string): Promise<string> {
  const options = `format='newline_delimited', records=true, sample_size=-1, maximum_depth=2, convert_strings_to_integers=false`;
  const found = `read_json(${quoteLiteral(pattern)}, ${options})`;
  try {
    const rows = await session.rows(`DESCRIBE SELECT * FROM ${found}`);
    const columns = rows.map(([name, type]) => {
      const kind = NUMBERS.test(String(type)) ? String(type) : 'VARCHAR';
      return `${quoteIdentifier(String(name))}: '${kind}'`;
    });
    return `read_json(${quoteLiteral(pattern)}, format='newline_delimited', records=true, columns={${columns.join(', ')}})`;
  } catch (cause) {
    throw await explainNdjson(path, cause);
  }
}

/** Reads a file again to find the invalid line. */
async function explainNdjson(path: string, cause: unknown): Promise<DataValidationError> {
  let [number, objects] = [0, 0];
  for await (const line of utf8Lines(createReadStream(path), `'${path}'`)) {
    number++;
    if (line.trim() === '') continue;
    const problem = problemOfLine(line);
    if (problem !== undefined) {
      return cannotRead(path, `line ${String(number)}: ${problem}`, 'Write one JSON object on each line.', cause);
    }
    objects++;
  }
  if (objects === 0)
    return cannotRead(path, 'it has no lines', 'Check the query or filter that created the file.', cause);
  return cannotRead(
    path,
    'its lines do not form a table',
    'Write one JSON object with plain values on each line.',
    cause,
  );
}

function problemOfLine(line: string): string | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'it is not an object';
    const problem = findJsonProblem(line);
    return problem === undefined ? undefined : `${problem.pointer} ${problem.reason}`;
  } catch {
    return 'it is not JSON';
  }
}
