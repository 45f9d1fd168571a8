import type { Tensor, Tensor1D } from '@tensorflow/tfjs';

import { DataValidationError } from '../../exceptions/index.ts';
import { toFiniteNumbers } from '../../metrics/reduce/row-arguments.ts';
import { encodeGroupTensors } from '../../metrics/reduce/tensors/group-codes.ts';
import type { Keep } from '../../metrics/reduce/tensors/row-states.ts';
import { deviceColumns } from '../../metrics/reduce/tensors/tensor-arguments.ts';
import {
  assertNotDisposed,
  type ColumnSource,
  isDeviceTensor,
  isTensorLike,
  type SensitiveSource,
  type TensorLike,
  toBinary,
} from '../../table/index.ts';
import { largestValues, readTogether, type Tf } from '../../tensor/index.ts';
import { invalidValue, missingValue } from './fit-rows.ts';

/** The number of group codes in a tensor. One table of this size is read to find the codes that occur. */
const CODES = 2 ** 16;

/** The smallest number above 0 that every device distinguishes from 0 in float32. */
const SMALLEST_NORMAL = 2 ** -126;

/** How to compute on the host, in suggestions. */
const IN_FLOAT64 = "compute in float64: give only arrays, and precision 'float64' where there is this option";

/** The largest integer up to which float32 represents all integers. */
const LARGEST_INTEGER = 2 ** 24;

/** A requirement on every value of a column. */
interface Requirement {
  /** The requirement in words, after "must". */
  readonly text: string;
  readonly suggestion: string;
  /** Returns whether each value meets the requirement, bool. The result for NaN does not matter. */
  readonly holds: (tf: Tf, values: Tensor) => Tensor;
}

const REQUIREMENTS = {
  finite: {
    text: 'be finite',
    suggestion: 'Exclude rows with missing or infinite values first.',
    holds: (tf, values) => tf.isFinite(values),
  },
  unit: {
    text: 'lie in [0, 1]',
    suggestion: 'Divide by the largest possible score, or apply a logistic function to decision values.',
    holds: (tf, values) => tf.logicalAnd(values.greaterEqual(0), values.lessEqual(1)),
  },
  binary: {
    text: 'hold 0 and 1',
    suggestion: 'Map the positive label to 1 and the others to 0.',
    holds: (tf, values) => tf.logicalOr(values.equal(0), values.equal(1)),
  },
  weight: {
    text: 'be 0 or more and finite',
    suggestion: 'Set the weight of rows to exclude to 0.',
    holds: (tf, values) => tf.logicalAnd(values.greaterEqual(0), tf.isFinite(values)),
  },
} as const satisfies Record<string, Requirement>;

/** Returns the requirement on codes of groups. */
function codesBelow(count: number): Requirement {
  return {
    text: `hold whole numbers from 0 to ${String(count - 1)}`,
    suggestion: 'Number the groups from 0, and exclude rows without a group.',
    holds: (tf, values) =>
      tf.logicalAnd(values.equal(tf.floor(values)), tf.logicalAnd(values.greaterEqual(0), values.less(count))),
  };
}

/** A column of rows to read on the device. */
export interface DeviceColumn {
  /** A tensor, which stays on its device, or a source on the host, which is uploaded. */
  readonly source: ColumnSource;
  /**
   * The requirement on every value. `binary` sources on the host may hold text labels. With `any`, the values are not
   * checked again, and their extremes are unknown. A number is a number of codes: every value is a code below it.
   */
  readonly must: keyof typeof REQUIREMENTS | 'any' | number;
  /**
   * The number of dimensions: 1 for one value per row, 2 for features, [rows, columns].
   * @defaultValue 1
   */
  readonly rank?: 1 | 2;
  /** For `binary` columns: the label that is treated as 1. For a tensor, it must be a number. */
  readonly positiveLabel?: string | undefined;
}

/** A checked column on the device. */
interface CheckedColumn {
  /** The values, float32, [rows] or [rows, columns]. */
  readonly tensor: Tensor;
  /** The smallest value; Infinity if there are no rows. */
  readonly min: number;
  /** The largest value; -Infinity if there are no rows. */
  readonly max: number;
}

/** The group of each row. */
export interface DeviceCodes {
  /** The labels of the groups that occur, as `encodeGroups` returns them. */
  readonly labels: readonly string[];
  /** The index of each row's label, float32, [rows]. */
  readonly codes: Tensor1D;
}

/** The columns and groups of rows, by their names in errors. */
export interface DeviceRowSources<Name extends string> {
  /** The columns. The first one determines the number of rows. Undefined columns are skipped. */
  readonly columns: Readonly<Record<Name, DeviceColumn | undefined>>;
  /** The groups, under one name: a 1-D tensor of group codes, or any other source of groups. */
  readonly groups: Readonly<Record<string, SensitiveSource>>;
}

/** Checked rows on the device. */
export interface DeviceRows<Name extends string> {
  readonly rows: number;
  readonly columns: Readonly<Partial<Record<Name, CheckedColumn>>>;
  readonly groups: DeviceCodes;
}

/**
 * Reads rows on the device of their tensors, without missing values. All columns are checked in one read of three
 * numbers per column. Groups need two more reads: the range of their codes, and a table of the codes that occur.
 * @param keep disposes of the tensors that this function creates
 * @throws {DataValidationError} if a tensor has another shape or dtype, lengths differ, or a value does not meet its
 *   requirement; the error names one such value
 */
export async function readDeviceRows<Name extends string>(
  tf: Tf,
  keep: Keep,
  { columns, groups }: DeviceRowSources<Name>,
): Promise<DeviceRows<Name>> {
  const given = await rawColumns(tf, keep, columns);
  const rows = given[0]?.tensor.shape[0] ?? 0;
  const [groupName, source] = Object.entries(groups)[0] as [string, SensitiveSource];
  const checked = await checkValues(tf, [...given, ...rawCodes(keep, groupName, source, rows)]);
  return {
    rows,
    columns: columnsByName(checked.slice(0, given.length)),
    groups: await readGroups(tf, keep, groupName, source, rows),
  };
}

/**
 * Reads columns like {@link readDeviceRows}, without groups.
 * @throws {DataValidationError} as `readDeviceRows`
 */
export async function readDeviceColumns<Name extends string>(
  tf: Tf,
  keep: Keep,
  columns: DeviceRowSources<Name>['columns'],
): Promise<DeviceRows<Name>['columns']> {
  return columnsByName(await checkValues(tf, await rawColumns(tf, keep, columns)));
}

/** The smallest weight relative to the largest one. Sums keep 40 bits below the largest weight. */
const SMALLEST_WEIGHT = 2 ** -30;

/** The largest total weight. The sums of a search, which multiply weights by costs and multipliers, stay finite. */
const LARGEST_TOTAL = 1e30;

/**
 * Returns whether float32 sums on a device can represent weights of the host: the total is at most 1e30, and no weight is
 * too small beside the largest one.
 */
export function weightsFitDevice(source: ColumnSource): boolean {
  let [smallest, largest, total] = [Infinity, 0, 0];
  for (const weight of toFiniteNumbers(source, 'sampleWeight')) {
    if (weight > 0) smallest = Math.min(smallest, weight);
    largest = Math.max(largest, weight);
    total += Math.abs(weight);
  }
  return total <= LARGEST_TOTAL && smallest >= Math.max(SMALLEST_NORMAL, largest * SMALLEST_WEIGHT);
}

/**
 * Checks that float32 sums of groups do not lose the smallest weights.
 * @param largest the largest weight
 * @throws {DataValidationError} if a weight above 0 is less than 2^-30 of the largest one
 */
export async function assertSimilarWeights(tf: Tf, weights: Tensor1D, largest: number): Promise<void> {
  const [negated = 0] = await largestValues(tf, weights.size, 1, (slice) => {
    const own = slice(weights);
    return [tf.where<Tensor1D>(own.greater(0), own.neg(), tf.fill(own.shape, -largest))];
  });
  const smallest = -negated;
  if (smallest >= largest * SMALLEST_WEIGHT) return;
  throw new DataValidationError(
    `sampleWeight holds ${String(smallest)} and ${String(largest)}, which differ too much for float32 sums on a device.`,
    {
      code: 'invalid-value',
      context: { argument: 'sampleWeight', smallest, largest },
      suggestion: `Set tiny weights to 0, or ${IN_FLOAT64}.`,
    },
  );
}

/**
 * Reads the groups of rows like {@link readDeviceRows}.
 * @throws {DataValidationError} as `readDeviceRows`
 */
export async function readDeviceGroups(
  tf: Tf,
  keep: Keep,
  name: string,
  source: SensitiveSource,
  rows: number,
): Promise<DeviceCodes> {
  await checkValues(tf, rawCodes(keep, name, source, rows));
  return readGroups(tf, keep, name, source, rows);
}

async function rawColumns<Name extends string>(
  tf: Tf,
  keep: Keep,
  columns: DeviceRowSources<Name>['columns'],
): Promise<RawColumn[]> {
  const given: RawColumn[] = [];
  for (const [name, column] of Object.entries(columns) as [Name, DeviceColumn | undefined][]) {
    if (column === undefined) continue;
    const { source, must, rank = 1 } = column;
    const shape = [given[0]?.tensor.shape[0], ...(rank === 2 ? [undefined] : [])];
    const tensor = isTensorLike(source) ? numericTensor(source, name) : keep(uploadColumn(tf, name, column));
    assertShape(name, tensor.shape, shape);
    const { positiveLabel } = column;
    const requirement = typeof must === 'number' ? codesBelow(must) : must === 'any' ? undefined : REQUIREMENTS[must];
    if (isTensorLike(source) && must === 'binary' && positiveLabel !== undefined) {
      const { tensor: labels } = await deviceColumns(tf, keep, {}).labels(source, 'yTrue', positiveLabel);
      given.push({ name, requirement, tensor: labels });
    } else given.push({ name, requirement, tensor: toFloat(keep, tensor), isInteger: tensor.dtype === 'int32' });
  }
  return given;
}

/** Returns the codes of groups as a column to check, if they are a tensor of codes. */
function rawCodes(keep: Keep, name: string, source: SensitiveSource, rows: number): RawColumn[] {
  if (!isCodes(source)) return [];
  const tensor = numericTensor(source, name);
  assertShape(name, tensor.shape, [rows]);
  return [{ name, requirement: codesBelow(CODES), tensor: toFloat(keep, tensor) }];
}

function columnsByName<Name extends string>(checked: [string, CheckedColumn][]): DeviceRows<Name>['columns'] {
  return Object.fromEntries(checked) as Partial<Record<Name, CheckedColumn>>;
}

/** Returns whether groups are a tensor of codes. A 2-D tensor crosses several attributes. */
function isCodes(source: SensitiveSource): source is TensorLike {
  return isTensorLike(source) && source.shape.length !== 2;
}

/** A column before its values are checked. */
interface RawColumn {
  readonly name: string;
  /** Undefined if the values are not checked. */
  readonly requirement: Requirement | undefined;
  readonly tensor: Tensor;
  /** Whether the values were int32, of which float32 represents only those up to 2^24. */
  readonly isInteger?: boolean;
}

/**
 * Checks an argument that must be a tensor, and returns it.
 * @throws {DataValidationError} if it is not a tensor, is disposed, or does not hold real numbers
 */
export function requireTensor(source: unknown, name: string): Tensor {
  if (isTensorLike(source)) return numericTensor(source, name);
  const found = Array.isArray(source) || ArrayBuffer.isView(source) ? 'an array' : typeof source;
  throw new DataValidationError(`${name} must be a tensor; got ${found}.`, {
    code: 'invalid-value',
    context: { argument: name, expected: 'tensor', received: found },
    suggestion: 'Create one with tf.tensor1d or tf.tensor2d and, for groups, tf.oneHot(codes, groupCount).',
  });
}

/** @throws {DataValidationError} if a tensor is disposed, or does not hold real numbers */
export function numericTensor(source: TensorLike, name: string): Tensor {
  assertNotDisposed(source, name);
  if (isDeviceTensor(source) && source.dtype !== 'complex64') return source as unknown as Tensor;
  throw new DataValidationError(`${name} has dtype ${source.dtype}; expected float32, int32 or bool.`, {
    code: 'invalid-value',
    context: { argument: name, dtype: source.dtype },
    suggestion: 'Give a tensor of numbers. Number text labels from 0 first.',
  });
}

function uploadColumn(tf: Tf, name: string, { source, must, positiveLabel }: DeviceColumn): Tensor1D {
  if (must === 'binary') {
    const labels = toBinary(source, name, positiveLabel);
    return tf.tensor1d(Float32Array.from(labels, (label) => (label < 0 ? NaN : label)));
  }
  const given = toFiniteNumbers(source, name);
  const values = Float32Array.from(given);
  const lost =
    must === 'weight' ? values.findIndex((value, row) => Math.abs(value) < SMALLEST_NORMAL && given[row] !== 0) : -1;
  if (lost < 0) return tf.tensor1d(values);
  const required = `be 0, or at least ${String(SMALLEST_NORMAL)} for float32 on a device`;
  throw invalidValue(name, required, given[lost] as number, lost, `Set tiny weights to 0, or ${IN_FLOAT64}.`);
}

/** @param expected the length of each axis; undefined if any length is allowed */
function assertShape(name: string, shape: readonly number[], expected: readonly (number | undefined)[]): void {
  const isRank = shape.length === expected.length;
  if (isRank && expected.every((length, axis) => length === undefined || length === shape[axis])) return;
  const words = expected.map((length, axis) => String(length ?? (axis === 0 ? 'rows' : 'columns')));
  throw new DataValidationError(`${name} has shape [${shape.join(', ')}]; expected [${words.join(', ')}].`, {
    code: isRank ? 'length-mismatch' : 'invalid-value',
    context: { argument: name, shape, expected: words },
    suggestion: isRank
      ? 'Give one value per row in every argument, in the same order.'
      : 'Reshape the tensor, as in tensor.reshape([-1]) for one value per row.',
  });
}

function toFloat(keep: Keep, tensor: Tensor): Tensor {
  return tensor.dtype === 'float32' ? tensor : keep(tensor.cast('float32'));
}

/** Checks the values of all columns in one read. */
async function checkValues(tf: Tf, columns: readonly RawColumn[]): Promise<[string, CheckedColumn][]> {
  const filled = columns.flatMap(({ name, tensor, requirement }) =>
    requirement === undefined || tensor.size === 0 ? [] : [{ name, tensor, requirement }],
  );
  const summaries = filled.map(({ tensor, requirement }) =>
    tf.tidy(() => tf.stack([meets(tf, tensor, requirement).min(), tensor.min(), tensor.max()])),
  );
  try {
    const read = filled.length === 0 ? [] : await readTogether(tf, summaries);
    const found = new Map(filled.map(({ name }, index) => [name, read[index] as Float32Array]));
    for (const column of filled) if (found.get(column.name)?.[0] === 0) throw await badValue(tf, column);
    return columns.map(({ name, tensor, isInteger }) => {
      const [, min = Infinity, max = -Infinity] = found.get(name) ?? [];
      if (isInteger === true && Math.max(-min, max) > LARGEST_INTEGER) throw tooLarge(name, Math.max(-min, max));
      return [name, { tensor, min, max }];
    });
  } finally {
    tf.dispose(summaries);
  }
}

/**
 * Returns a tensor of numbers as float32.
 * @throws {DataValidationError} if float32 cannot represent the integers of an int32 tensor
 */
export async function toExactFloat(tf: Tf, keep: Keep, tensor: Tensor, name: string): Promise<Tensor> {
  if (tensor.dtype === 'int32' && tensor.size > 0) {
    const extreme = tf.tidy(() => tf.stack([tensor.max(), tensor.min().neg()]).max());
    const [largest = 0] = await extreme.data();
    extreme.dispose();
    if (largest > LARGEST_INTEGER) throw tooLarge(name, largest);
  }
  return toFloat(keep, tensor);
}

function tooLarge(name: string, largest: number): DataValidationError {
  return new DataValidationError(
    `${name} holds integers up to ${String(largest)}, but float32 on a device represents them only up to ${String(LARGEST_INTEGER)}.`,
    {
      code: 'invalid-value',
      context: { argument: name, largest },
      suggestion: 'Give an array, which is computed in float64, or subtract a constant first.',
    },
  );
}

/** Returns 1 for each value that meets a requirement, otherwise 0; float32. */
function meets(tf: Tf, values: Tensor, requirement: Requirement): Tensor {
  const isMissing = tf.isNaN(values);
  return tf.logicalAnd(requirement.holds(tf, values), tf.logicalNot(isMissing)).cast('float32');
}

/** Returns the error for a column with a bad value. Only the index and the value are read. */
async function badValue(
  tf: Tf,
  { name, tensor, requirement }: RawColumn & { requirement: Requirement },
): Promise<DataValidationError> {
  const index = tf.tidy(() => meets(tf, tensor, requirement).flatten().argMin());
  const [position = 0] = await index.data();
  const value = tf.tidy(() => tensor.flatten().slice([position], [1]));
  const [found = NaN] = await value.data();
  tf.dispose([index, value]);
  const { text, suggestion } = requirement;
  const width = tensor.shape[1];
  const where = width === undefined ? position : [Math.floor(position / width), position % width];
  return invalidValue(name, text, found, where, suggestion);
}

async function readGroups(
  tf: Tf,
  keep: Keep,
  name: string,
  source: SensitiveSource,
  rows: number,
): Promise<DeviceCodes> {
  const { labels, codesOf, rows: length } = await encodeGroupTensors(tf, keep, source, {}, CODES);
  assertShape(name, [length], [rows]);
  const codes = keep(tf.tidy(() => codesOf((tensor) => tensor).clone()));
  if (isCodes(source) || length === 0) return { labels, codes };
  const lowest = keep(tf.tidy(() => tf.concat([codes.min().flatten(), codes.argMin().cast('float32').flatten()])));
  const [code = 0, index = 0] = await lowest.data();
  if (code < 0) throw missingValue(name, index);
  return { labels, codes };
}
