import { DataValidationError } from '../../exceptions/index.ts';
import {
  type Column,
  labelValue,
  missingGroups,
  missingOutcomes,
  numbersAmong,
  positiveLabelFor,
} from '../../table/index.ts';
import { isNumberText } from '../../internal/values.ts';
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

/** The texts and numbers of a field that mean a missing value. */
interface MissingValues {
  readonly texts: ReadonlySet<string>;
  readonly numbers: ReadonlySet<number>;
}

function missingValues(texts: ReadonlySet<string>): MissingValues {
  return { texts, numbers: new Set(numbersAmong(texts)) };
}

function isMissing(value: unknown, { texts, numbers }: MissingValues): boolean {
  if (typeof value === 'string') return texts.has(value);
  if (typeof value === 'number') return Number.isNaN(value) || numbers.has(value);
  return value === null || value === undefined;
}

/** Returns whether a number is missing. As in a numeric column of a file, a text is compared by value. */
function isMissingNumber(value: unknown, missing: MissingValues): boolean {
  const { numbers } = missing;
  return isMissing(value, missing) || (numbers.size > 0 && isNumberText(value) && numbers.has(Number(value)));
}

/** Reads numbers. Columns of numbers are checked without a call for each value. */
export interface NumberReader extends ReadValue<number> {
  /** Returns whether a number is read as itself, without an error. */
  readonly isPlain: (value: number) => boolean;
}

/**
 * Returns a reader of numbers; NaN if they are missing. Booleans and numeric texts count as numbers.
 * @param naValues texts that mean a missing value, instead of `MISSING_TEXTS`
 */
export function numberReader(naValues: readonly string[] | undefined): NumberReader {
  const missing = missingValues(missingOutcomes(naValues));
  const read: ReadValue<number> = (value, position) => {
    if (isMissingNumber(value, missing)) return NaN;
    const number = numberOf(value);
    if (number === undefined) throw badValue(position, 'be a number', value);
    if (number === Infinity || number === -Infinity) throw badValue(position, 'be finite', value);
    if (Math.abs(number) > LARGEST) throw badValue(position, 'be a number of at most 1e75', value);
    return number;
  };
  return Object.assign(read, {
    isPlain: (value: number) => Math.abs(value) <= LARGEST && !missing.numbers.has(value),
  });
}

function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean' || typeof value === 'bigint') return Number(value);
  return typeof value === 'string' ? numberOfText(value) : undefined;
}

const WORDS: ReadonlyMap<string, number> = new Map([
  ['true', 1],
  ['false', 0],
  ['nan', NaN],
  ['', NaN],
]);

function numberOfText(text: string): number | undefined {
  const trimmed = text.trim().toLowerCase();
  const word = WORDS.get(trimmed);
  if (word !== undefined) return word;
  const number = Number(trimmed);
  return Number.isFinite(number) ? number : undefined;
}

/**
 * Returns a reader of decisions or true labels. Without a positive label, it reads numbers. Otherwise the positive
 * label is 1 and every other label is 0, by the rules of {@link labelValue}.
 * @param negatives receives the first labels that count as 0
 */
export function outcomeReader(
  positiveLabel: string | null,
  naValues: readonly string[] | undefined,
  negatives: Set<string> = new Set(),
): NumberReader | ReadValue<number> {
  if (positiveLabel === null) return numberReader(naValues);
  const missing = missingValues(missingOutcomes(naValues, positiveLabel));
  // As in files, a column of true and false needs no positive label.
  const isOfTexts = positiveLabelFor(['true', 'false'], positiveLabel, missing.texts) === undefined;
  return (value, position) => {
    if (value === null || value === undefined || Number.isNaN(value)) return NaN;
    if (typeof value === 'boolean' && isOfTexts) return Number(value);
    const rule = { positiveLabel, missing: missing.texts, isNumeric: typeof value === 'number' };
    const label = labelOf(value, position);
    if (labelValue(label, rule) === 1) return 1;
    if (isMissing(value, missing)) return NaN;
    if (negatives.size < MAX_NEGATIVES) negatives.add(label);
    return 0;
  };
}

/** The maximum number of negative labels that are remembered. */
const MAX_NEGATIVES = 5;

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
 * @param naValues texts that mean a missing value, instead of `MISSING_TEXTS`
 */
export function timeReader(unit: TimestampUnit, naValues: readonly string[] | undefined): ReadValue<number> {
  const missing = missingValues(missingOutcomes(naValues));
  return (value, position) => {
    if (isMissing(value, missing)) return NaN;
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

/**
 * Returns a reader of the labels of groups; undefined if they are missing.
 * @param naValues texts that mean a missing value, in addition to the empty text
 */
export function groupReader(naValues: readonly string[] | undefined): ReadValue<string | undefined> {
  const missing = missingGroups(naValues);
  return (value, position) => {
    if (value === null || value === undefined || Number.isNaN(value)) return undefined;
    const label = labelOf(value, position);
    return missing.has(label) ? undefined : label;
  };
}

function labelOf(value: unknown, position: ValuePosition): string {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
    case 'boolean':
    case 'bigint':
      return String(value);
    default:
      throw badValue(position, 'be a text, a number or a boolean', value);
  }
}

/**
 * Returns a reader of the ids of events; null if they are missing. An id may be `NA`, so only the empty text and
 * `naValues` mean a missing value. Unlike groups, `007` and `7` are different ids.
 */
export function idReader(naValues: readonly string[] | undefined): ReadValue<string | number | null> {
  const missing = missingValues(new Set(['', ...(naValues ?? [])]));
  return (value, position) => {
    if (isMissing(value, missing)) return null;
    if (typeof value === 'string' || typeof value === 'number') return value;
    if (typeof value === 'bigint') return String(value);
    throw badValue(position, 'be a text or a number', value);
  };
}

/** Reads the values of a column of numbers or times. In a column of texts, each distinct label is read once. */
export function readColumn(column: Column, name: string, read: ReadValue<number> | NumberReader): Float64Array {
  if (column.kind === 'numeric') {
    if (!('isPlain' in read)) return column.values.map((value, at) => read(value, { column: name, row: at }));
    const { isPlain } = read;
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
