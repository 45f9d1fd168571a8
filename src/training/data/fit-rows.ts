import { DataValidationError } from '../../exceptions/index.ts';
import { assertSameLength, toFiniteNumbers, toWeights } from '../../metrics/reduce/row-arguments.ts';
import {
  type CategoricalColumn,
  type ColumnSource,
  encodeGroups,
  onHost,
  type SensitiveSource,
  toBinary,
  toColumn,
} from '../../table/index.ts';
import { type Matrix, type MatrixSource, readMatrix } from './read-matrix.ts';

/** Training rows on the host, without missing values. */
export interface FitRows {
  readonly x: Matrix;
  /** The targets, [rows], finite. */
  readonly y: Float64Array;
  /** The weights, [rows], 0 or more. At least one weight is above 0. All weights are 1 if no weights were given. */
  readonly weights: Float64Array;
}

/**
 * Reads features, targets and weights.
 * @throws {DataValidationError} if lengths differ, if there are no rows, if values are missing or infinite, or if all
 *   weights are 0
 */
export async function readFitRows(
  x: MatrixSource,
  y: ColumnSource,
  sampleWeight: ColumnSource | undefined,
): Promise<FitRows> {
  const matrix = await readMatrix(x);
  const { targets, weights } = await readTargets(matrix.rows, y, sampleWeight);
  return { x: matrix, y: targets, weights };
}

/**
 * Reads targets and weights of the given number of rows. Booleans and the texts "0" and "1" are read as numbers.
 * @throws {DataValidationError} under the conditions of {@link readFitRows}
 */
export async function readTargets(
  rows: number,
  y: ColumnSource,
  sampleWeight: ColumnSource | undefined,
): Promise<{ readonly targets: Float64Array; readonly weights: Float64Array }> {
  const given = await onHost({ y, sampleWeight });
  const targets = withoutMissing(numbersOf(given.y), 'y');
  const weights = readWeights(given.sampleWeight, rows);
  assertSameLength({ X: rows, y: targets.length, sampleWeight: weights.length });
  assertRows(rows);
  if (!weights.some((weight) => weight > 0)) throw withoutWeight();
  return { targets, weights };
}

/** Reads weights of 0 or more. Returns weights of 1 if none were given. */
export function readWeights(sampleWeight: ColumnSource | undefined, rows: number): Float64Array {
  if (sampleWeight === undefined) return new Float64Array(rows).fill(1);
  return withoutMissing(toWeights(sampleWeight), 'sampleWeight');
}

/** @throws {DataValidationError} if there are no rows */
export function assertRows(rows: number): void {
  if (rows > 0) return;
  throw new DataValidationError('There are no rows to learn from.', {
    code: 'empty-data',
    suggestion: 'Check the query or the filter that made the data.',
  });
}

/** Returns the error for weights that are all 0. */
export function withoutWeight(suggestion?: string): DataValidationError {
  return new DataValidationError('sampleWeight is 0 in every row, so there is nothing to learn from.', {
    code: 'empty-data',
    context: { argument: 'sampleWeight' },
    ...(suggestion === undefined ? {} : { suggestion }),
  });
}

function numbersOf(y: ColumnSource): Float64Array {
  const column = toColumn(y, 'y');
  const isText = column.kind === 'categorical' && column.labels.length > 0;
  if (!isText) return toFiniteNumbers(column, 'y');
  return Float64Array.from(toBinary(column, 'y'), (value) => (value < 0 ? NaN : value));
}

/**
 * Checks that every target is 0 or 1.
 * @throws {DataValidationError} if a target is not 0 or 1; the error names the first such value
 */
export function assertBinary(y: Float64Array): void {
  const isBinary = (value: number): boolean => value === 0 || value === 1;
  assertValues('y', 'hold 0 and 1', y, isBinary, 'Map the label that counts as positive to 1 and the others to 0.');
}

/** @throws {DataValidationError} if a value does not meet a requirement; the error names the first such value */
export function assertValues(
  argument: string,
  required: string,
  values: Float64Array,
  holds: (value: number) => boolean,
  suggestion: string,
): void {
  const index = values.findIndex((value) => !holds(value));
  if (index < 0) return;
  throw invalidValue(argument, required, values[index] as number, index, suggestion);
}

/**
 * Returns the error for a value that does not meet a requirement.
 * @param index the index of the row, or of the row and the column
 */
export function invalidValue(
  argument: string,
  required: string,
  value: number,
  index: number | readonly number[],
  suggestion: string,
): DataValidationError {
  const where = typeof index === 'number' ? String(index) : `[${index.join(', ')}]`;
  return new DataValidationError(`${argument} must ${required}, but holds ${String(value)} at index ${where}.`, {
    code: 'invalid-value',
    context: { argument, index, value },
    suggestion,
  });
}

/**
 * Reads the group of each row.
 * @param name the argument's name in errors
 * @throws {DataValidationError} if a group is missing, or if the number of groups is not the number of rows
 */
export async function readGroups(
  source: SensitiveSource,
  rows: number,
  name = 'sensitive',
): Promise<CategoricalColumn> {
  const groups = encodeGroups((await onHost({ source })).source);
  assertSameLength({ X: rows, [name]: groups.codes.length });
  assertNoneMissing(name, groups.codes, (code) => code < 0, 'Exclude these rows, or assign them to a separate group.');
  return groups;
}

function withoutMissing(values: Float64Array, name: string): Float64Array {
  assertNoneMissing(name, values, Number.isNaN);
  return values;
}

/**
 * Checks that no row has a missing value.
 * @param argument the name of the argument in errors
 * @throws {DataValidationError} if a value is missing; the error names the first such row
 */
export function assertNoneMissing(
  argument: string,
  values: Float64Array | Int8Array | Uint8Array | Int32Array,
  isMissing: (value: number) => boolean,
  suggestion?: string,
): void {
  for (let index = 0; index < values.length; index++) {
    if (isMissing(values[index] as number)) throw missingValue(argument, index, suggestion);
  }
}

/** Returns the error for a missing value. */
export function missingValue(
  argument: string,
  index: number,
  suggestion = 'Exclude rows with missing values first.',
): DataValidationError {
  return new DataValidationError(`${argument} is missing at index ${String(index)}.`, {
    code: 'invalid-value',
    context: { argument, index },
    suggestion,
  });
}
