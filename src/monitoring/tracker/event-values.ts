import { DataValidationError } from '../../exceptions/index.ts';
import { type Column, missingOutcomes } from '../../table/index.ts';
import { parseDecimal, parseTime } from '../records/record-time.ts';
import { shownKind } from '../require-kind.ts';

/** The position of a value, for messages. */
export interface ValuePosition {
  readonly column: string;
  /** The row index from 0; undefined for a single event. */
  readonly row: number | undefined;
}

/** Reads one value of a field. */
export type ReadValue<Value> = (value: unknown, position: ValuePosition) => Value;

/** The largest number that a field accepts, so that sums of weight times squared error stay finite. */
const LARGEST = 1e75;

/** Returns a value as a number; NaN if it is missing. Booleans and numeric texts count as numbers. */
export function readNumber(value: unknown, position: ValuePosition): number {
  const number = numberOf(value);
  if (number === undefined) throw badValue(position, 'be a number', value);
  if (number === Infinity || number === -Infinity) throw badValue(position, 'be finite', value);
  if (Math.abs(number) > LARGEST) throw badValue(position, 'be a number of at most 1e75', value);
  return number;
}

function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (value === null || value === undefined) return NaN;
  if (typeof value === 'boolean' || typeof value === 'bigint') return Number(value);
  return typeof value === 'string' ? numberOfText(value) : undefined;
}

const WORDS: ReadonlyMap<string, number> = new Map([
  ['true', 1],
  ['false', 0],
  ['nan', NaN],
  ['', NaN],
]);

const MISSING = missingOutcomes(undefined);

function numberOfText(text: string): number | undefined {
  if (MISSING.has(text)) return NaN;
  const trimmed = text.trim().toLowerCase();
  const word = WORDS.get(trimmed);
  if (word !== undefined) return word;
  const number = Number(trimmed);
  return Number.isFinite(number) ? number : undefined;
}

/**
 * Returns a function that reads decisions and true labels. If no positive label is given, the values must be numbers.
 * If a positive label is given, it is read as 1, and every other label is read as 0.
 */
export function outcomeReader(positiveLabel: string | null): ReadValue<number> {
  if (positiveLabel === null) return readNumber;
  return (value, position) => {
    const label = readLabel(value, position);
    if (label === positiveLabel) return 1;
    return label === undefined || MISSING.has(label) ? NaN : 0;
  };
}

/**
 * The first and the last time that have a year of four digits, in milliseconds since 1970. The format of records
 * requires four digits.
 */
export const EARLIEST_TIME = -62_167_219_200_000;
export const LATEST_TIME = 253_402_300_799_999;

/** The unit of a time given as a number. */
export type TimestampUnit = 'milliseconds' | 'auto';

/**
 * Returns a function that reads times as milliseconds since 1970. A time is a Date, ISO 8601 text, or a number (which
 * can be given as text). Missing times are NaN.
 * @param unit 'auto' infers the unit from the size of the number: see {@link parseTime}
 */
export function timeReader(unit: TimestampUnit): ReadValue<number> {
  return (value, position) => {
    if (value === null || value === undefined || value === '' || Number.isNaN(value)) return NaN;
    const time = value instanceof Date ? value.getTime() : timeOf(value, unit);
    if (time >= EARLIEST_TIME && time <= LATEST_TIME) return time;
    throw badValue(position, 'be a time: a Date, ISO 8601 text, or a number since 1970, in the years 0 to 9999', value);
  };
}

function timeOf(value: unknown, unit: TimestampUnit): number {
  if (typeof value !== 'number' && typeof value !== 'string') return NaN;
  const number = typeof value === 'number' ? value : parseDecimal(value.trim());
  if (unit === 'milliseconds' && !Number.isNaN(number)) return number;
  return parseTime(String(value).trim());
}

/** Returns the label of a group; undefined if it is missing. */
export function readLabel(value: unknown, position: ValuePosition): string | undefined {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
      return Number.isNaN(value) ? undefined : String(value);
    case 'boolean':
    case 'bigint':
      return String(value);
    default:
      if (value === null || value === undefined) return undefined;
      throw badValue(position, 'be a text, a number or a boolean', value);
  }
}

/** Returns an event's id; null if it is missing. */
export function readId(value: unknown, position: ValuePosition): string | number | null {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return Number.isNaN(value) ? null : value;
  if (typeof value === 'bigint') return String(value);
  if (value === null || value === undefined) return null;
  throw badValue(position, 'be a text or a number', value);
}

/** Reads the values of a column of numbers or times. In a column of texts, each distinct text is read only once. */
export function readColumn(column: Column, name: string, read: ReadValue<number>): Float64Array {
  if (column.kind === 'numeric') {
    const isPlain = (value: number): boolean => Math.abs(value) <= LARGEST;
    if (read !== readNumber) {
      return column.values.map((value, at) => read(value, { column: name, row: at }));
    }
    // For speed, a position object is created only for numbers that need a check.
    return column.values.every(isPlain)
      ? column.values
      : column.values.map((value, at) => (isPlain(value) ? value : read(value, { column: name, row: at })));
  }
  const known = new Float64Array(column.labels.length);
  const isRead = new Uint8Array(column.labels.length);
  return Float64Array.from(column.codes, (code, row) => {
    if (code < 0) return read(null, { column: name, row });
    if (isRead[code] === 0) {
      known[code] = read(column.labels[code], { column: name, row });
      isRead[code] = 1;
    }
    return known[code] as number;
  });
}

/** Returns the error for a value that is invalid in its field. */
export function badValue({ column, row }: ValuePosition, required: string, value: unknown): DataValidationError {
  const where = row === undefined ? '' : ` in row ${String(row + 1)}`;
  return new DataValidationError(`The field '${column}' must ${required}; it is ${shownKind(value)}${where}.`, {
    code: 'invalid-value',
    context: { column, row, value },
    suggestion: 'No event of this call was counted. Fix the value, or leave it empty if it is unknown.',
  });
}
