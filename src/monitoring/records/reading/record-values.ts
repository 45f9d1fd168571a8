import { DataValidationError } from '../../../exceptions/index.ts';
import { type MonitoringRecord, type MonitoringWindow, WINDOWS } from '../monitoring-record.ts';
import { formatTime, parseDecimal, parseTime } from '../record-time.ts';

/** What is wrong with a line, told without its place; never leaves the reading. */
export class LineFault extends Error {}

/** A fault with the place where it was found. */
export function faultAt(path: string, line: number, fault: string, cause?: unknown): DataValidationError {
  return new DataValidationError(`Cannot read '${path}', line ${String(line)}: ${fault}.`, {
    context: { path, line },
    suggestion: 'Mend or remove that line.',
    cause,
  });
}

/** Older files have no windows: their numbers were those of the last events. */
const OLDER_WINDOW: MonitoringWindow = 'sliding';

/**
 * A time as a record has it.
 * @throws {LineFault} where the text is no time
 */
export function readTimestamp(text: string): string {
  const time = parseTime(text.trim());
  if (!Number.isNaN(time)) return formatTime(time);
  throw new LineFault(`'${text}' is no time`);
}

/** @throws {LineFault} where the text is neither a window nor empty */
export function readWindow(text: string): MonitoringWindow {
  if (text === '') return OLDER_WINDOW;
  const window = WINDOWS.find((name) => name === text);
  if (window !== undefined) return window;
  throw new LineFault(`'${text}' is no window (${WINDOWS.join(', ')})`);
}

/**
 * A number, or null for an empty field and for nan.
 * @throws {LineFault} where the text is anything else
 */
export function readMeasured(text: string, field: string): number | null {
  const trimmed = text.trim();
  if (trimmed === '' || /^nan$/i.test(trimmed)) return null;
  const value = parseDecimal(trimmed);
  if (Number.isFinite(value)) return value;
  throw new LineFault(`the ${field} '${text}' is no number`);
}

/** @throws {LineFault} where it is no number of at least 0 */
export function readSize(text: string): number {
  const n = readMeasured(text, 'n');
  if (n !== null && n >= 0) return n;
  throw new LineFault(`the n '${text}' is no number of at least 0`);
}

/** Makes records of the lines of one file, in their order. */
export interface LineReader {
  /**
   * Takes a line without its end.
   * @param number counted from 1
   * @returns a record, where the line completes one
   * @throws {DataValidationError} naming the line, where it is broken
   */
  read(line: string, number: number): MonitoringRecord | undefined;
  /**
   * Takes what follows the last line end.
   * @returns whether the file ends as it should, is cut short in its last line, or has one more record there
   * @throws {DataValidationError} naming the line, where more is broken than the last one
   */
  finish(rest: string, number: number): 'whole' | 'cut' | MonitoringRecord;
}
