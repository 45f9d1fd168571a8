import { DataValidationError } from '../exceptions/index.ts';
import type { CategoricalColumn, Column } from './column.ts';
import { encodeLabels } from './encode-labels.ts';

/** The properties of a danfojs Series that this package uses. */
interface SeriesLike {
  readonly values: unknown;
  readonly shape: readonly number[];
}

/** The properties of a tensor that this package uses. */
export interface TensorLike {
  readonly shape: readonly number[];
  readonly dtype: string;
  readonly isDisposed?: boolean;
  dataSync(): ArrayLike<unknown>;
}

/** A source of one column: an array, a typed array, a column, a danfojs Series or a 1-D tensor. */
export type ColumnSource = ArrayLike<unknown> | Column | SeriesLike | TensorLike;

/** Returns whether a value is a tensor, which may have been created by another copy of TensorFlow.js. */
export function isTensorLike(source: unknown): source is TensorLike {
  return typeof source === 'object' && source !== null && 'dataSync' in source && 'dtype' in source;
}

/** Returns whether a value is a tensor stored on the device. String tensors are always stored on the host. */
export function isDeviceTensor(source: unknown): source is TensorLike {
  return isTensorLike(source) && source.dtype !== 'string';
}

/**
 * Reads a source of one column.
 *
 * Numbers, bigints and typed arrays become a numeric column. Strings, booleans and mixed types become a categorical
 * column. A column also becomes categorical if it contains a bigint that float64 would round. `null`, `undefined` and
 * NaN are missing.
 * @param source the column
 * @param name the name of the column in errors
 * @throws {DataValidationError} if the source has more than one dimension, or a value is an object
 */
export function toColumn(source: ColumnSource, name: string): Column {
  const values = unwrap(source, name);
  if (isColumn(values)) return values;
  if (isBigIntArray(values)) return numericFrom(values, name);
  if (ArrayBuffer.isView(values)) return { kind: 'numeric', values: Float64Array.from(values as ArrayLike<number>) };
  return holdsOnlyNumbers(values) ? numericFrom(values, name) : categoricalFrom(values, name);
}

/** Returns the array or column inside a source: the values of a series, or the data of a tensor. */
export function unwrap(source: ColumnSource, name: string): ArrayLike<unknown> | Column {
  if (isColumn(source)) return source;
  if (isTensorLike(source)) {
    if (source.shape.length !== 1) throw wrongShape(name, `a tensor of shape [${source.shape.join(', ')}]`);
    return readTensor(source, name);
  }
  if (isSeries(source)) return source.values as ArrayLike<unknown>;
  if (isArrayLike(source)) return source;
  throw wrongShape(name, String(source));
}

/** Returns whether a value is a {@link Column}. */
export function isColumn(source: unknown): source is Column {
  return typeof source === 'object' && source !== null && 'kind' in source && ('codes' in source || 'values' in source);
}

/** Returns whether a value is a typed array of 64-bit integers. */
export function isBigIntArray(source: unknown): source is BigInt64Array | BigUint64Array {
  return source instanceof BigInt64Array || source instanceof BigUint64Array;
}

/**
 * Returns the values of a tensor in row-major order.
 * @throws {DataValidationError} if the tensor is disposed, or if its device can only be read asynchronously
 */
export function readTensor(tensor: TensorLike, name: string): ArrayLike<unknown> {
  assertNotDisposed(tensor, name);
  try {
    return tensor.dataSync();
  } catch (cause) {
    throw new DataValidationError(`${name} is a tensor on a device, which cannot be read synchronously.`, {
      code: 'invalid-data',
      context: { argument: name },
      suggestion:
        'Read the tensor first with await tensor.data(), or use FairnessAnalyzer, whose methods return promises.',
      cause,
    });
  }
}

/** Returns the columns of a 2-D tensor, named `name[0]`, `name[1]` and so on. Any other tensor is one column. */
export function columnsOfTensor(tensor: TensorLike, name: string): [name: string, source: ColumnSource][] {
  if (tensor.shape.length !== 2) return [[name, tensor]];
  const [rows = 0, width = 0] = tensor.shape;
  const values = readTensor(tensor, name);
  return Array.from({ length: width }, (_, column) => [
    nameOfPosition(name, column),
    Array.from({ length: rows }, (__, row) => values[row * width + column]),
  ]);
}

/** Returns a name for a column that is identified only by its index. */
export function nameOfPosition(name: string, column: number): string {
  return `${name}[${String(column)}]`;
}

/** @throws {DataValidationError} if the tensor is disposed */
export function assertNotDisposed(tensor: TensorLike, name: string): void {
  if (tensor.isDisposed !== true) return;
  throw new DataValidationError(`${name} is a tensor that has been disposed.`, {
    code: 'invalid-data',
    context: { argument: name },
    suggestion: 'Compute the metrics before tf.tidy ends, or keep the tensor with tf.keep.',
  });
}

function isSeries(source: unknown): source is SeriesLike {
  return typeof source === 'object' && source !== null && 'values' in source && Array.isArray(source.values);
}

function isArrayLike(source: unknown): source is ArrayLike<unknown> {
  return Array.isArray(source) || (ArrayBuffer.isView(source) && 'length' in source);
}

function wrongShape(name: string, got: string): DataValidationError {
  return new DataValidationError(`${name} must be one column of values; got ${got}.`, {
    code: 'invalid-value',
    context: { argument: name },
    suggestion: 'Give an array, a typed array, a column, a danfojs Series or a 1-D tensor.',
  });
}

function isMissing(value: unknown): boolean {
  return value === null || value === undefined || (typeof value === 'number' && Number.isNaN(value));
}

function holdsOnlyNumbers(values: ArrayLike<unknown>): boolean {
  for (let row = 0; row < values.length; row++) {
    const value = values[row];
    if (typeof value !== 'number' && typeof value !== 'bigint' && !isMissing(value)) return false;
  }
  return true;
}

function numericFrom(values: ArrayLike<unknown>, name: string): Column {
  const numbers = new Float64Array(values.length);
  for (let row = 0; row < values.length; row++) {
    const value = values[row];
    numbers[row] = isMissing(value) ? NaN : Number(value);
    if (typeof value === 'bigint' && BigInt(numbers[row] as number) !== value) return categoricalFrom(values, name);
  }
  return { kind: 'numeric', values: numbers };
}

function categoricalFrom(values: ArrayLike<unknown>, name: string): CategoricalColumn {
  return encodeLabels(values.length, (row) => {
    const value = values[row];
    if (typeof value === 'string') return value;
    if (isMissing(value)) return undefined;
    if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value);
    throw new DataValidationError(
      `${name} holds ${Array.isArray(value) ? 'a list' : `a value of type ${typeof value}`} at index ${String(row)}.`,
      {
        code: 'invalid-value',
        context: { argument: name, index: row },
        suggestion: 'Give one number, string or boolean per row.',
      },
    );
  });
}

/**
 * Copies all device tensors of the rows to the host, including tensors in objects of columns. Returns the rows with
 * these copies.
 * @throws {DataValidationError} if a tensor is disposed
 */
export async function onHost<Rows extends object>(rows: Rows): Promise<Rows> {
  const read = Object.entries(rows).map(async ([name, value]) => [name, await readTensors(value, name)] as const);
  return Object.fromEntries(await Promise.all(read)) as Rows;
}

async function readTensors(value: unknown, name: string): Promise<unknown> {
  if (isTensorLike(value) && 'data' in value) {
    assertNotDisposed(value, name);
    const data = await (value.data as () => Promise<ArrayLike<unknown>>)();
    return { shape: value.shape, dtype: value.dtype, dataSync: () => data };
  }
  const isPlain = typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
  return isPlain ? onHost(value) : value;
}
