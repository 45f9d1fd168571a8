import { DataValidationError } from '../exceptions/index.ts';
import { splitHeader } from './plain-csv.ts';
import type { TextColumn } from './text-column.ts';

/** Returns the error for a file that cannot be read. */
export function cannotRead(path: string, reason: string, suggestion: string, cause?: unknown): DataValidationError {
  return new DataValidationError(`Cannot read '${path}': ${reason}.`, {
    code: 'unreadable-file',
    context: { path },
    suggestion,
    cause,
  });
}

/** A problem with the encoding of a text table, and how to fix it. */
export interface EncodingProblem {
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
export function findEncodingProblem(start: Uint8Array): EncodingProblem | undefined {
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

/** The header of a text table, and how its lines are written. */
export interface CsvForm {
  /** The name of the file in errors. */
  readonly title: string;
  readonly delimiter: string;
  readonly lineEnd: '\n' | '\r\n' | '\r';
  /** The names of the columns, as DuckDB names them. */
  readonly names: readonly string[];
  /** The names that more than one column has. Names that differ only in case count as the same name. */
  readonly repeated: readonly string[];
}

/** Rejects a first line such as `sep=;`, which only tells Excel the separator. */
export function assertNoSeparatorLine(title: string, line: string): void {
  if (!/^\uFEFF?sep=.?\s*$/i.test(line)) return;
  throw cannotRead(
    title,
    `its first line is '${line.trim()}', which only Excel reads`,
    'Remove this line. The separator is found in the header.',
  );
}

/**
 * Returns the header of a text table, by the rules of the command line.
 * @param start the start of the text, at least up to the end of the first line
 * @throws {DataValidationError} if the text is empty, contains NUL characters, or its first line is blank
 */
export function csvHeader(title: string, start: string, decimal: '.' | ',' = '.'): CsvForm {
  if (start === '') throw cannotRead(title, 'the file is empty', 'Export it again, with a header line.');
  assertText(title, start);
  const end = endOfRecord(start);
  const lineEnd = start.startsWith('\r\n', end) ? '\r\n' : start[end] === '\r' ? '\r' : '\n';
  const line = start.slice(0, end);
  assertNoSeparatorLine(title, line);
  const { delimiter } = splitHeader(line, decimal);
  const given = splitFields(line, delimiter);
  if (given.every((name) => name.trim() === '')) {
    throw cannotRead(title, 'its first line is blank', 'Begin the file with a line of column names.');
  }
  const names = given.map((name, index) => (name.trim() === '' ? `column${String(index)}` : name.trim()));
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name.toLowerCase(), (counts.get(name.toLowerCase()) ?? 0) + 1);
  const repeated = names.filter((name) => (counts.get(name.toLowerCase()) ?? 0) > 1);
  return { title, delimiter, lineEnd, names, repeated };
}

function assertText(title: string, text: string): void {
  if (!text.includes('\0')) return;
  throw cannotRead(title, 'it holds NUL bytes, so it is not text', 'Export it again as CSV in UTF-8, or as Parquet.');
}

/** Returns the index at which the first line ends. A line end in quotes does not end it. */
function endOfRecord(text: string): number {
  let quoted = false;
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (character === '"') quoted = !quoted;
    else if (!quoted && (character === '\n' || character === '\r')) return index;
  }
  return text.length;
}

/** Returns the fields of a header line. */
export function splitFields(line: string, delimiter: string): string[] {
  const fields: string[] = [];
  let field = '';
  let quoted = false;
  for (const character of line) {
    if (character === '"') quoted = !quoted;
    else if (character === delimiter && !quoted) {
      fields.push(field);
      field = '';
    } else field += character;
  }
  return [...fields, field];
}

/** A quote starts a quoted field only at its start, or after spaces. */
const SPACE = ' ';

/** The maximum number of characters of a line, as for DuckDB. */
const MAX_LINE_LENGTH = 2_000_000;

/**
 * Reads the rows of a text table in parts, with the strict rules of the command line: every row has as many fields as
 * the header, all lines have the same line end, and a quote that starts a field also ends it. Blank lines are skipped.
 */
export class CsvReader {
  /** The number of rows that were read. */
  rowCount = 0;
  readonly #form: CsvForm;
  readonly #columns: readonly (TextColumn | undefined)[];
  #rest = '';
  #line = 0;
  #maxRows: number;

  /**
   * @param columns the column that receives the fields at each position; undefined if the fields are not needed
   * @param maxRows the number of rows after which the rest is ignored
   */
  constructor(form: CsvForm, columns: readonly (TextColumn | undefined)[], maxRows = Infinity) {
    this.#form = form;
    this.#columns = columns;
    this.#maxRows = maxRows;
  }

  /** Whether as many rows were read as are needed. */
  get isDone(): boolean {
    return this.rowCount >= this.#maxRows;
  }

  /**
   * Reads the next part of the text. The first part starts with the header.
   * @throws {DataValidationError} if a row is not valid; the error has the number of its line
   */
  write(part: string): void {
    if (this.isDone) return;
    assertText(this.#form.title, part);
    const text = this.#rest === '' ? part : this.#rest + part;
    // The last line may not be complete, and a line end may consist of two characters.
    const read = this.#read(text, false);
    this.#rest = this.rowCount >= this.#maxRows ? '' : text.slice(read);
    if (this.#rest.length <= MAX_LINE_LENGTH) return;
    this.#line++;
    throw this.#lineError(this.#rest.includes('"') ? 'a quoted value does not end' : 'the line is too long');
  }

  /**
   * Reads the last line, which needs no line end.
   * @throws {DataValidationError} if it is not valid, or there are no rows
   */
  end(): void {
    if (!this.isDone && this.#rest !== '') this.#read(this.#rest, true);
    this.#rest = '';
    if (this.rowCount === 0) {
      throw cannotRead(
        this.#form.title,
        'it has a header and no rows',
        'Check the query or filter that created the file.',
      );
    }
  }

  /** Reads complete lines, and returns the index of the first character after them. */
  #read(text: string, isLast: boolean): number {
    const { lineEnd } = this.#form;
    const isPlain = !text.includes('"');
    if (isPlain) this.#assertLineEnds(text, isLast);
    let start = 0;
    let quote = isPlain ? -1 : 0;
    while (start < text.length && !this.isDone) {
      let end = text.indexOf(lineEnd, start);
      if (quote >= 0) {
        if (quote <= start) quote = text.indexOf('"', start);
        if (quote >= 0 && (end < 0 || quote < end)) {
          const next = this.#readQuoted(text, start, isLast);
          if (next < 0) break;
          start = next;
          continue;
        }
      }
      if (end < 0) {
        if (!isLast) break;
        end = text.length;
      }
      if (!isPlain) this.#assertLineEnds(text.slice(start, end), true);
      this.#readLine(text, start, end);
      start = end + lineEnd.length;
    }
    return Math.min(start, text.length);
  }

  /** Throws if a text without quotes has other line ends than the header. */
  #assertLineEnds(text: string, isLast: boolean): void {
    const { lineEnd } = this.#form;
    const isOther =
      lineEnd === '\n'
        ? text.includes('\r')
        : lineEnd === '\r'
          ? text.includes('\n')
          : /\r(?!\n)|(?<!\r)\n/.test(isLast || !text.endsWith('\r') ? text : text.slice(0, -1));
    if (isOther) throw this.#notATable();
  }

  #notATable(): DataValidationError {
    return cannotRead(
      this.#form.title,
      'its lines do not form a table (mixed line ends, stray quotes or delimiters?)',
      'Export the file again.',
    );
  }

  #readLine(text: string, start: number, end: number): void {
    this.#line++;
    if (this.#line === 1) return;
    const { delimiter } = this.#form;
    const columns = this.#columns;
    const count = columns.length;
    if (start === end) {
      // A blank line is a missing value in a table with one column.
      if (count > 1) return;
      columns[0]?.add('');
      this.rowCount++;
      return;
    }
    let index = 0;
    let from = start;
    for (;;) {
      let to = text.indexOf(delimiter, from);
      if (to < 0 || to > end) to = end;
      if (index < count) columns[index]?.add(text.slice(from, to));
      index++;
      if (to === end) break;
      from = to + 1;
    }
    // A delimiter at the end of a line is allowed.
    if (index !== count && !(index === count + 1 && from === end)) throw this.#wrongCount(index);
    this.rowCount++;
  }

  /** Reads a record with quotes. Returns the index after its line end; -1 if it is not complete. */
  #readQuoted(text: string, start: number, isLast: boolean): number {
    const { delimiter, lineEnd } = this.#form;
    const fields: string[] = [];
    let from = start;
    for (;;) {
      let open = from;
      while (text[open] === SPACE) open++;
      let end: number;
      if (text[open] === '"') {
        let close = text.indexOf('"', open + 1);
        while (close >= 0 && text[close + 1] === '"') close = text.indexOf('"', close + 2);
        // A quote at the end of a part may be the first of two.
        if (close < 0 || (!isLast && close === text.length - 1)) {
          if (isLast) throw this.#unterminated();
          return -1;
        }
        fields.push(text.slice(open + 1, close).replaceAll('""', '"'));
        end = close + 1;
        while (text[end] === SPACE) end++;
        if (end === text.length && !isLast) return -1;
      } else {
        const line = text.indexOf(lineEnd, from);
        const next = text.indexOf(delimiter, from);
        end = next >= 0 && (line < 0 || next < line) ? next : line;
        if (end < 0) {
          if (!isLast) return -1;
          end = text.length;
        }
        const field = text.slice(from, end);
        this.#assertLineEnds(field, true);
        fields.push(field);
      }
      if (end >= text.length) {
        this.#addFields(fields);
        return end;
      }
      if (text.startsWith(lineEnd, end)) {
        this.#addFields(fields);
        return end + lineEnd.length;
      }
      if (text[end] !== delimiter) {
        if (!isLast && lineEnd.startsWith(text.slice(end))) return -1;
        throw this.#unterminated();
      }
      from = end + 1;
    }
  }

  #addFields(fields: readonly string[]): void {
    this.#line++;
    if (this.#line === 1) return;
    const count = this.#columns.length;
    if (fields.length !== count && !(fields.length === count + 1 && fields[count] === '')) {
      throw this.#wrongCount(fields.length);
    }
    for (let index = 0; index < count; index++) this.#columns[index]?.add(fields[index] as string);
    this.rowCount++;
  }

  #wrongCount(found: number): DataValidationError {
    return this.#lineError(
      `it has ${String(found)} ${found === 1 ? 'field' : 'fields'} where the header has ${String(this.#columns.length)}`,
    );
  }

  #unterminated(): DataValidationError {
    this.#line++;
    return this.#lineError('a quoted value does not end');
  }

  #lineError(reason: string): DataValidationError {
    return cannotRead(
      this.#form.title,
      `line ${String(this.#line)}: ${reason}`,
      'Fix the line, or export the file again.',
    );
  }
}
