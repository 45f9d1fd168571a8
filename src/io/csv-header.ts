import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';

import { DataValidationError } from '../exceptions/index.ts';
import { Utf8Stream } from '../internal/decode-utf8.ts';
import { type DataFile, type DecimalSeparator, isRemote } from '../schemas/data-source.ts';
import { assertNoSeparatorLine, cannotRead, splitFields, splitHeader } from '../table/index.ts';
import { quoteIdentifier, quoteLiteral, type SqlSession } from './sql-engine.ts';

export { cannotRead };

/** The maximum number of characters of a header that are read. Columns after this limit are not counted. */
const MAX_HEADER_LENGTH = 64 * 1024 * 1024;

/**
 * The maximum number of columns of a text table. The time to open a table grows with the square of the number of
 * columns, and is 7 s at the limit.
 */
const MAX_COLUMNS = 20_000;

/** The header line of a text table. */
export interface CsvHeader {
  readonly delimiter: string;
  readonly names: readonly string[];
}

/**
 * Reads the header line, which determines the delimiter.
 * @throws {DataValidationError} if there are more than 20,000 columns
 */
export async function readCsvHeader(
  { path, name }: DataFile,
  gzipped: boolean,
  decimal: DecimalSeparator,
): Promise<CsvHeader> {
  return parseHeader(name, await readFirstLine(path, name, gzipped), decimal);
}

/**
 * Returns the header at the start of a text table.
 * @throws {DataValidationError} if there are more than 20,000 columns
 */
export function csvHeaderOf(name: string, start: string, decimal: DecimalSeparator): CsvHeader {
  return parseHeader(name, start.slice(0, endOfLine(start, false).index), decimal);
}

function parseHeader(name: string, line: string, decimal: DecimalSeparator): CsvHeader {
  assertNoSeparatorLine(name, line);
  const { delimiter, count } = splitHeader(line, decimal);
  if (count > MAX_COLUMNS) throw tooManyColumns(name, count, line.length >= MAX_HEADER_LENGTH);
  return { delimiter, names: splitFields(line, delimiter) };
}

/**
 * Decompresses a gzip file to verify its checksum. Without this check, a truncated file would be read as a shorter
 * file.
 * @throws {Error} if the content is damaged or incomplete
 */
export async function assertCompleteGzip(path: string): Promise<void> {
  const discard = new Writable({
    write(_chunk, _encoding, done) {
      done();
    },
  });
  await pipeline(createReadStream(path), createGunzip(), discard);
}

/** Returns at most `most` bytes from the start of the content. */
export async function readStart(path: string, gzipped: boolean, most: number): Promise<Uint8Array> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const bytes of chunksOf(path, gzipped)) {
    parts.push(bytes);
    length += bytes.length;
    if (length >= most) break;
  }
  return Buffer.concat(parts).subarray(0, most);
}

/**
 * Reads a file in chunks, and closes it if the caller stops early.
 * @yields the content, decompressed if `gzipped`
 */
async function* chunksOf(path: string, gzipped: boolean): AsyncGenerator<Buffer, void> {
  const file = createReadStream(path, { highWaterMark: 16 * 1024 });
  try {
    yield* gzipped ? file.pipe(createGunzip()) : (file as AsyncIterable<Buffer>);
  } finally {
    file.destroy();
  }
}

async function readFirstLine(path: string, name: string, gzipped: boolean): Promise<string> {
  const decoder = new Utf8Stream((line) => `Line ${String(line)} of '${name}'`);
  const parts: string[] = [];
  let length = 0;
  let quoted = false;
  for await (const bytes of chunksOf(path, gzipped)) {
    const part = decoder.write(bytes);
    const end = endOfLine(part, quoted);
    parts.push(part.slice(0, end.index));
    length += part.length;
    if (end.index < part.length || length >= MAX_HEADER_LENGTH) break;
    quoted = end.quoted;
  }
  return parts.join('');
}

/**
 * Returns the index at which the first line ends. If the line does not end in this part, returns the length of the
 * part. A newline in quotes does not end a line.
 */
function endOfLine(part: string, startsQuoted: boolean): { readonly index: number; readonly quoted: boolean } {
  let quoted = startsQuoted;
  for (let index = 0; index < part.length; index++) {
    const character = part[index];
    if (character === '"') quoted = !quoted;
    else if (!quoted && (character === '\n' || character === '\r')) return { index, quoted };
  }
  return { index: part.length, quoted };
}

function tooManyColumns(path: string, count: number, isCut: boolean): DataValidationError {
  const found = `its first line has ${isCut ? 'more than ' : ''}${count.toLocaleString('en-US')} columns`;
  return new DataValidationError(
    `Cannot read '${path}': ${found}, and a text file can have at most ${MAX_COLUMNS.toLocaleString('en-US')}.`,
    {
      code: 'unreadable-file',
      context: { path, columns: count },
      suggestion: 'Keep only the columns that you need, or check that the first line is a header.',
    },
  );
}

/**
 * Explains why a CSV file cannot be read. The file is read again as text to find the number of the invalid line.
 * @param dialect the options of `read_csv`
 * @returns undefined if the file can be read as text
 */
export async function findCsvProblem(
  session: SqlSession,
  { name, path }: DataFile,
  { names }: CsvHeader,
  dialect: string,
): Promise<DataValidationError | undefined> {
  const texts = names.map((column, index) => `${String(index)}_${column}`);
  const columns = texts.map((column) => `${quoteLiteral(column)}: 'VARCHAR'`).join(', ');
  const asText = `read_csv(${quoteLiteral(filePattern(path))}, ${dialect}, auto_detect=false, columns={${columns}})`;
  try {
    await session.rows(`SELECT count(${quoteIdentifier(texts[0] ?? '')}) FROM ${asText}`);
    return undefined;
  } catch (cause) {
    return csvProblem(name, cause);
  }
}

/** Returns a pattern that matches exactly this file: wildcards are escaped, and `~` is not expanded. */
export function filePattern(path: string): string {
  return escapeGlob(isRemote(path) ? path : resolve(path));
}

/** Returns a pattern that matches only the given path. */
export function escapeGlob(path: string): string {
  return path.replaceAll(/[*?[]/g, '[$&]');
}

/** Converts DuckDB's message about an invalid CSV file to an error with one sentence. */
export function csvProblem(path: string, cause: unknown): DataValidationError {
  const text = cause instanceof Error ? cause.message : String(cause);
  const line = /CSV Error on Line: (\d+)/.exec(text)?.[1];
  const where = line === undefined ? '' : `line ${line}: `;
  const fix = line === undefined ? 'Export the file again.' : 'Fix the line, or export the file again.';
  const problem = (reason: string, suggestion = fix): DataValidationError =>
    cannotRead(path, `${where}${reason}`, suggestion, cause);
  const [, expected, found] = /Expected Number of Columns: (\d+) Found: (\d+)/.exec(text) ?? [];
  if (expected !== undefined && found !== undefined) {
    return problem(`it has ${found} ${found === '1' ? 'field' : 'fields'} where the header has ${expected}`);
  }
  if (text.includes('unterminated quote')) return problem('a quoted value does not end');
  if (text.includes('not utf-8')) return problem('the text is not UTF-8', 'Save the file as UTF-8.');
  if (text.includes('Maximum line size')) return problem('the line is too long');
  return problem('its lines do not form a table (mixed line ends, stray quotes or delimiters?)');
}
