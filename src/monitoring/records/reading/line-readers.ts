import { DataValidationError } from '../../../exceptions/index.ts';
import { type MonitoringRecord, type MonitoringWindow, WINDOWS } from '../monitoring-record.ts';
import { formatTime, parseDecimal, parseTime } from '../record-time.ts';
import { unmarkCell } from '../../../internal/spreadsheet-text.ts';
import { CSV_HEADER } from '../record-lines.ts';
import {
  areQuotesClosed,
  type CsvField,
  findLayout,
  parseCsvRow,
  type RecordLayout,
  requireReadable,
} from './record-layout.ts';
import { parseObject } from '../../../internal/values.ts';

/**
 * A problem with a line, thrown by code that does not know the number of the line. The reader converts this problem to
 * an error that includes the line number.
 */
class LineProblem extends Error {}

/** Returns the error for a problem in a line of a file. */
export function problemAt(path: string, line: number, problem: string, cause?: unknown): DataValidationError {
  return new DataValidationError(`Cannot read '${path}', line ${String(line)}: ${problem}.`, {
    code: 'unreadable-file',
    context: { path, line },
    suggestion: 'Fix or remove the line.',
    cause,
  });
}

/**
 * The window that records from older files get. Older files do not name a window, and their values cover the last
 * events.
 */
const OLDER_WINDOW: MonitoringWindow = 'sliding';

/**
 * Returns a time in the format of records.
 * @throws {LineProblem} if the text is not a time
 */
function readTimestamp(text: string): string {
  const time = parseTime(text.trim());
  if (!Number.isNaN(time)) return formatTime(time);
  throw new LineProblem(`'${text}' is not a time`);
}

/** @throws {LineProblem} if the text is neither a window nor empty */
function readWindow(text: string): MonitoringWindow {
  if (text === '') return OLDER_WINDOW;
  const window = WINDOWS.find((name) => name === text);
  if (window !== undefined) return window;
  throw new LineProblem(`'${text}' is not a window (${WINDOWS.join(', ')})`);
}

/**
 * Returns a number, or null for an empty field and for nan.
 * @throws {LineProblem} if the text is anything else
 */
function readMeasured(text: string, field: string): number | null {
  const trimmed = text.trim();
  if (trimmed === '' || /^nan$/i.test(trimmed)) return null;
  const value = parseDecimal(trimmed);
  if (Number.isFinite(value)) return value;
  throw new LineProblem(`the ${field} '${text}' is not a finite number`);
}

/** @throws {LineProblem} if the text is not a number of at least 0 */
function readSize(text: string): number {
  const n = readMeasured(text, 'n');
  if (n !== null && n >= 0) return n;
  throw new LineProblem(`the n '${text}' is not a number of at least 0`);
}

/** Converts the lines of one file to records, in order. */
export interface LineReader {
  /**
   * Reads a line without its line end.
   * @param number the line number, from 1
   * @returns the record that ends with this line, if there is one
   * @throws {DataValidationError} if the line is invalid; the error gives the line number
   */
  read(line: string, number: number): MonitoringRecord | undefined;
  /**
   * Reads the text after the last line ending.
   * @returns `whole` if the file ends correctly, `cut` if its last line is truncated, or a record if the text is a
   *   complete record
   * @throws {DataValidationError} if more than the last line is invalid; the error gives the line number
   */
  finish(rest: string, number: number): 'whole' | 'cut' | MonitoringRecord;
}

/**
 * The maximum length of a row with quotes. Without this limit, an unclosed quote would consume the rest of the file.
 */
const MAX_ROW_LENGTH = 2 ** 20;

const MISSING: CsvField = { text: '', isQuoted: false };

/** Reads records from the lines of one CSV file, header first. */
export class CsvRecords implements LineReader {
  readonly #path: string;
  #layout: RecordLayout | undefined;
  /** The lines read so far of a row that has a line ending within quotes. */
  #open: { readonly lines: string[]; readonly first: number; length: number } | undefined;
  #time = { text: '', timestamp: '' };

  constructor(path: string) {
    this.#path = path;
  }

  read(line: string, number: number): MonitoringRecord | undefined {
    const open = this.#open;
    const isOpen = (open !== undefined) === areQuotesClosed(line);
    if (isOpen) {
      this.#keepOpen(line, number);
      return undefined;
    }
    this.#open = undefined;
    const row = open === undefined ? line : [...open.lines, line].join('\n');
    return this.#readRow(row.endsWith('\r') ? row.slice(0, -1) : row, open?.first ?? number);
  }

  finish(rest: string, number: number): 'whole' | 'cut' {
    const { lines, first } = this.#open ?? { lines: [], first: number };
    const text = [...lines, rest].join('\n');
    if (text === '') return 'whole';
    if (this.#layout === undefined && !CSV_HEADER.startsWith(text)) this.#readHeader(text, first);
    // If complete lines follow, the row was not truncated: a quote was left unclosed.
    const columns = this.#layout?.columnCount ?? 1;
    if (lines.slice(1).some((line) => line.split(',').length >= columns)) throw this.#openQuote(first);
    return 'cut';
  }

  #keepOpen(line: string, number: number): void {
    this.#open ??= { lines: [], first: number, length: 0 };
    this.#open.lines.push(line);
    this.#open.length += line.length + 1;
    if (this.#open.length > MAX_ROW_LENGTH) throw this.#openQuote(this.#open.first);
  }

  #openQuote(line: number): Error {
    return problemAt(this.#path, line, 'a quoted value is not closed');
  }

  #readRow(row: string, line: number): MonitoringRecord | undefined {
    if (row.trim() === '') return undefined;
    if (this.#layout === undefined) {
      this.#readHeader(row, line);
      return undefined;
    }
    try {
      return this.#toRecord(fieldsOf(row, this.#layout.columnCount), this.#layout);
    } catch (cause) {
      throw cause instanceof LineProblem ? problemAt(this.#path, line, cause.message, cause) : cause;
    }
  }

  #readHeader(row: string, line: number): void {
    const names = parseCsvRow(row)?.map(({ text }) => text);
    if (names === undefined) throw problemAt(this.#path, line, 'it has invalid CSV quotes');
    const layout = findLayout(names);
    requireReadable(layout, names, this.#path);
    this.#layout = layout;
  }

  #toRecord(fields: readonly CsvField[], layout: RecordLayout): MonitoringRecord {
    const field = (index: number): CsvField => fields[index] ?? MISSING;
    const text = (name: 'metric' | 'attribute' | 'window' | 'value' | 'n' | 'low' | 'high'): string =>
      field(layout[name]).text;
    const group = field(layout.group);
    return {
      timestamp: this.#timestamp(field(layout.time).text, layout.isTimeUnnamed),
      metric: unmarkCell(text('metric')),
      attribute: unmarkCell(text('attribute')),
      group: group.text === '' && !group.isQuoted ? null : unmarkCell(group.text),
      window: readWindow(text('window')),
      value: readMeasured(text('value'), 'value'),
      n: readSize(text('n')),
      low: readMeasured(text('low'), 'low'),
      high: readMeasured(text('high'), 'high'),
    };
  }

  /** Converts a time. Consecutive records often have the same time, so a time that repeats is parsed only once. */
  #timestamp(text: string, isUnnamed: boolean): string {
    if (text === this.#time.text && text !== '') return this.#time.timestamp;
    if (isUnnamed && /^\d+$/.test(text)) throw new LineProblem(`'${text}' in the column without a name is not a date`);
    this.#time = { text, timestamp: readTimestamp(text) };
    return this.#time.timestamp;
  }
}

function fieldsOf(row: string, count: number): CsvField[] {
  const fields = parseCsvRow(row);
  if (fields === undefined) throw new LineProblem('it has invalid CSV quotes');
  if (fields.length === count) return fields;
  throw new LineProblem(`it has ${String(fields.length)} fields, but the header has ${String(count)}`);
}

type Fields = Readonly<Record<string, unknown>>;

/** Reads records from the lines of one file with one JSON object per line. */
export class JsonRecords implements LineReader {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  read(line: string, number: number): MonitoringRecord | undefined {
    if (line.trim() === '') return undefined;
    try {
      const fields = parseObject(line);
      if (fields === undefined) throw new LineProblem('it is not a JSON object');
      return toRecord(fields);
    } catch (cause) {
      throw cause instanceof LineProblem ? problemAt(this.#path, number, cause.message, cause) : cause;
    }
  }

  finish(rest: string, number: number): 'whole' | 'cut' | MonitoringRecord {
    if (rest.trim() === '') return 'whole';
    // The closing brace is written last, so an object that can be parsed is complete.
    if (parseObject(rest) !== undefined) return this.read(rest, number) ?? 'whole';
    if (rest.startsWith('{')) return 'cut';
    throw problemAt(this.#path, number, 'it is not a JSON object');
  }
}

function toRecord(fields: Fields): MonitoringRecord {
  const { group } = fields;
  if (group !== null && group !== undefined && typeof group !== 'string')
    throw new LineProblem('the group is not text');
  return {
    timestamp: readTimestamp(scalarText(fields['time'] ?? fields['timestamp'], 'time')),
    metric: label(fields, 'metric'),
    attribute: 'attribute' in fields ? label(fields, 'attribute') : '',
    group: group ?? null,
    window: readWindow(scalarText(fields['window'] ?? '', 'window')),
    value: readMeasured(scalarText(fields['value'] ?? '', 'value'), 'value'),
    n: readSize(scalarText(fields['n'] ?? '', 'n')),
    low: readMeasured(scalarText(fields['low'] ?? '', 'low'), 'low'),
    high: readMeasured(scalarText(fields['high'] ?? '', 'high'), 'high'),
  };
}

function label(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value === 'string') return value;
  throw new LineProblem(`it has no ${name}`);
}

function scalarText(value: unknown, name: string): string {
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  throw new LineProblem(value === undefined ? `it has no ${name}` : `the ${name} is neither text nor a number`);
}
