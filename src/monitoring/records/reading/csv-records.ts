import { unmarkCell } from '../../../internal/spreadsheet-text.ts';
import type { MonitoringRecord } from '../monitoring-record.ts';
import { CSV_HEADER } from '../record-lines.ts';
import {
  areQuotesClosed,
  type CsvField,
  findLayout,
  parseCsvRow,
  type RecordLayout,
  requireReadable,
} from './record-layout.ts';
import {
  problemAt,
  LineProblem,
  type LineReader,
  readMeasured,
  readSize,
  readTimestamp,
  readWindow,
} from './record-values.ts';

/** The maximum length of a row with quotes. An unclosed quote would otherwise consume the rest of the file. */
const MAX_ROW_LENGTH = 2 ** 20;

const MISSING: CsvField = { text: '', isQuoted: false };

/** Reads records from the lines of one CSV file, header first. */
export class CsvRecords implements LineReader {
  readonly #path: string;
  #layout: RecordLayout | undefined;
  /** The lines read so far of a row that has a line end within quotes. */
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
    // A truncated line is not followed by complete lines.
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

  /** Converts a time. Consecutive records often share a time, which is parsed once. */
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
