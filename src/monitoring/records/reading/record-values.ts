import { DataValidationError } from '../../../exceptions/index.ts';
import { type MonitoringRecord, type MonitoringWindow, WINDOWS } from '../monitoring-record.ts';
import { formatTime, parseDecimal, parseTime } from '../record-time.ts';

/**
 * A problem of a line, without the line's position. It is converted to an error with a position before it leaves this
 * module.
 */
export class LineProblem extends Error {}

/** Returns the error for a problem at a position. */
export function problemAt(path: string, line: number, problem: string, cause?: unknown): DataValidationError {
  return new DataValidationError(`Cannot read '${path}', line ${String(line)}: ${problem}.`, {
    code: 'unreadable-file',
    context: { path, line },
    suggestion: 'Fix or remove that line.',
    cause,
  });
}

/** The window of records in older files, which do not name a window. Their values cover the last events. */
const OLDER_WINDOW: MonitoringWindow = 'sliding';

/**
 * Returns a time in the format of records.
 * @throws {LineProblem} if the text is not a time
 */
export function readTimestamp(text: string): string {
  const time = parseTime(text.trim());
  if (!Number.isNaN(time)) return formatTime(time);
  throw new LineProblem(`'${text}' is not a time`);
}

/** @throws {LineProblem} if the text is neither a window nor empty */
export function readWindow(text: string): MonitoringWindow {
  if (text === '') return OLDER_WINDOW;
  const window = WINDOWS.find((name) => name === text);
  if (window !== undefined) return window;
  throw new LineProblem(`'${text}' is not a window (${WINDOWS.join(', ')})`);
}

/**
 * Returns a number, or null for an empty field and for nan.
 * @throws {LineProblem} if the text is anything else
 */
export function readMeasured(text: string, field: string): number | null {
  const trimmed = text.trim();
  if (trimmed === '' || /^nan$/i.test(trimmed)) return null;
  const value = parseDecimal(trimmed);
  if (Number.isFinite(value)) return value;
  throw new LineProblem(`the ${field} '${text}' is not a finite number`);
}

/** @throws {LineProblem} if the text is not a number of at least 0 */
export function readSize(text: string): number {
  const n = readMeasured(text, 'n');
  if (n !== null && n >= 0) return n;
  throw new LineProblem(`the n '${text}' is not a number of at least 0`);
}

/** Converts the lines of one file to records, in order. */
export interface LineReader {
  /**
   * Reads a line without its line end.
   * @param number the line number, from 1
   * @returns a record, if the line completes one
   * @throws {DataValidationError} if the line is invalid; the error gives its number
   */
  read(line: string, number: number): MonitoringRecord | undefined;
  /**
   * Reads the text after the last line end.
   * @returns whether the file ends correctly, is truncated in its last line, or has one more record there
   * @throws {DataValidationError} if more than the last line is invalid; the error gives the line number
   */
  finish(rest: string, number: number): 'whole' | 'cut' | MonitoringRecord;
}
