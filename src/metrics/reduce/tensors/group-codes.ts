import type { Tensor, Tensor1D } from '@tensorflow/tfjs';

import { isDeviceTensor } from '../../../table/index.ts';
import { DataValidationError } from '../../../exceptions/index.ts';
import {
  type CategoricalColumn,
  type ColumnReading,
  type ColumnSource,
  encodeGroups,
  joinLabels,
  missingGroups,
  missingLabel,
  type NanPolicy,
  numbersAmong,
  readingOfGroups,
  type SensitiveSource,
  sortLabels,
  type TensorLike,
} from '../../../table/index.ts';
import { cellTables, largestExactInteger, largestValues, type Slice, type Tf } from '../../../tensor/index.ts';
import { groupReadings } from '../row-readings.ts';
import { areKnown, type DeviceGroups, isDeviceGroups, type Keep, known, translate } from './row-states.ts';

/** The treatment of rows without a group. */
export interface MissingGroups {
  readonly nanPolicy?: NanPolicy | undefined;
  /** Numbers, as text, that mean a missing group. */
  readonly naValues?: readonly string[] | undefined;
  /** Called with the groups of a tensor that `naValues` made missing. */
  readonly note?: ((reading: ColumnReading) => void) | undefined;
}

/** By default, the widest range of integers that is counted on the device. */
const WIDEST_RANGE = 4096;

/**
 * Encodes integers within a range of `widestRange`. It reads back the range and the numbers that occur. NaN and
 * the numbers of `naValues` are missing.
 * @param values [n], of any numeric type
 * @returns undefined if a number is not an integer or the range is too wide
 */
async function encodeIntegers(
  tf: Tf,
  keep: Keep,
  name: string,
  values: Tensor1D,
  { nanPolicy, naValues, note }: MissingGroups,
  widestRange: number,
): Promise<DeviceGroups | undefined> {
  const range = await completeRange(tf, values, widestRange);
  if (range === undefined) return undefined;
  const { min, span } = range;
  const positionsOf = (slice: Slice): Tensor1D => distances(tf, slice, values, min, span);
  const { counts } = await cellTables(tf, {
    rows: values.size,
    cells: span + 1,
    codesOf: (slice) => positionsOf(slice).cast('int32'),
  });
  const missing = new Set(numbersAmong(missingGroups(naValues)));
  const found = Array.from(counts.keys()).filter((position) => position < span && counts[position] !== 0);
  const [occurring, absent] = [false, true].map((isMissing) =>
    found.filter((position) => missing.has(min + position) === isMissing),
  ) as [number[], number[]];
  const labels = occurring.map((position) => String(min + position));
  const codes = new Float32Array(span + 1).fill(-1);
  occurring.forEach((position, code) => (codes[position] = code));
  // A number that does not occur may have any code; using its own index avoids the look-up.
  if (counts[span] === 0 && absent.length === 0) codes[span] = span;
  else if (nanPolicy === 'include') {
    for (const position of [span, ...absent]) codes[position] = labels.length;
    labels.push(missingLabel(labels));
  }
  if (absent.length > 0) {
    const read = absent.map((position) => ({ label: String(min + position), count: counts[position] as number, value: -1 })); // prettier-ignore
    for (const reading of readingOfGroups(name, read, naValues)) note?.(reading);
  }
  return { rows: values.size, labels: Object.freeze(labels), codesOf: translate(tf, keep, codes, positionsOf) };
}

/** Returns how far each number is above the smallest number; `span` for a missing number. */
function distances(tf: Tf, slice: Slice, values: Tensor1D, min: number, span: number): Tensor1D {
  const rows = slice(values);
  if (rows.dtype === 'float32') return known(tf, areKnown(tf, slice, [values]), rows.sub(min), span);
  // Subtracts in int32, since float32 cannot represent all int32 numbers.
  return rows.cast('int32').sub(tf.scalar(min, 'int32')).cast('float32');
}

/**
 * Returns the smallest number and the length of the range; undefined if a number is not an integer or the range is too
 * wide.
 */
async function completeRange(
  tf: Tf,
  values: Tensor1D,
  widestRange: number,
): Promise<{ min: number; span: number } | undefined> {
  const isFloat = values.dtype === 'float32';
  const [largest, negated, fraction] = (await largestValues(tf, values.size, isFloat ? 3 : 2, (slice) => {
    if (!isFloat) {
      const numbers = slice(values).cast<Tensor1D>('int32');
      // Avoids neg(), which on wasm interprets the bits of an int32 as a float32.
      return [numbers, tf.scalar(0, 'int32').sub(numbers)];
    }
    const isKnown = areKnown(tf, slice, [values]);
    const numbers = slice(values);
    return [
      known(tf, isKnown, numbers, -Infinity),
      known(tf, isKnown, numbers.neg(), -Infinity),
      known(tf, isKnown, numbers.notEqual(tf.floor(numbers)).cast('float32')),
    ];
  })) as unknown as [number, number, number?];
  if (largest === -Infinity) return { min: 0, span: 0 };
  const span = largest + negated + 1;
  if (!isFloat && Math.max(largest, negated) >= largestExactInteger(tf)) return undefined;
  return fraction !== 1 && span >= 1 && span <= widestRange ? { min: -negated, span } : undefined;
}

/** The maximum number of pairs of groups that are counted on the device. */
const MAX_PAIRS = 2 ** 16;

/** Two crossed attributes. */
interface CrossedGroups extends DeviceGroups {
  /** The labels of both attributes, for each code. */
  readonly parts: readonly (readonly [left: string, right: string])[];
}

/**
 * Crosses two attributes. To find the pairs of groups that occur, the function reads a table of counts back. Only these
 * pairs become groups. Their labels are the same as in `encodeGroups`.
 * @returns undefined if there are too many pairs
 * @throws {DataValidationError} if the attributes differ in length
 */
export async function crossOnDevice(
  tf: Tf,
  keep: Keep,
  left: DeviceGroups,
  right: DeviceGroups,
): Promise<CrossedGroups | undefined> {
  if (left.rows !== right.rows) throw differentLengths(left.rows, right.rows);
  const width = right.labels.length;
  const pairs = left.labels.length * width;
  if (pairs > MAX_PAIRS) return undefined;
  const positionsOf = (slice: Slice): Tensor1D => {
    const [a, b] = [left.codesOf(slice), right.codesOf(slice)];
    const isMissing = tf.minimum(a, b).less(0);
    return tf.where<Tensor1D>(isMissing, tf.fill(a.shape, pairs), a.mul(width).add(b));
  };
  const { counts } = await cellTables(tf, {
    rows: left.rows,
    cells: pairs + 1,
    codesOf: (slice) => positionsOf(slice).cast('int32'),
  });
  const occurring = Array.from(counts.keys()).filter((pair) => pair < pairs && counts[pair] !== 0);
  const found = occurring.map((pair): [string, string] => [
    left.labels[Math.floor(pair / width)] as string,
    right.labels[pair % width] as string,
  ]);
  // Sorting the labels renumbers their codes, which are the indexes of the pairs.
  const { codes: ranks, labels } = sortLabels(Int32Array.from(occurring.keys()), joinLabels(found));
  const parts: [string, string][] = [];
  ranks.forEach((rank, index) => (parts[rank] = found[index] as [string, string]));
  const codes = new Float32Array(pairs + 1).fill(-1);
  if (counts[pairs] === 0) codes[pairs] = pairs;
  occurring.forEach((pair, index) => (codes[pair] = ranks[index] as number));
  return { rows: left.rows, labels, parts, codesOf: translate(tf, keep, codes, positionsOf) };
}

function differentLengths(left: number, right: number): DataValidationError {
  return new DataValidationError(`The sensitive attributes differ in length: ${String(left)} and ${String(right)}.`, {
    code: 'length-mismatch',
    context: { argument: 'sensitive' },
    suggestion: 'Give every attribute one value per row.',
  });
}

/**
 * Encodes the group of each row on the device of the sensitive attributes: a 1-D tensor, a tensor of shape [n,
 * attributes], or an object of tensors and arrays. Groups that are already encoded are returned.
 *
 * The device counts which codes occur, and only the table of counts is read back. The table has at most 4,097 numbers
 * for a tensor of integers less than 4,096 apart, and 65,537 for crossed attributes. Tensors with fractions, a wider
 * range of numbers or more crossed groups are read completely and encoded on the host.
 * @param widestRange the widest range of integers that is counted on the device. The table grows with it.
 * @throws {DataValidationError} if a tensor has another shape, or attributes differ in length
 */
export async function encodeGroupTensors(
  tf: Tf,
  keep: Keep,
  sensitive: SensitiveSource | DeviceGroups,
  missing: MissingGroups = {},
  widestRange = WIDEST_RANGE,
): Promise<DeviceGroups> {
  if (isDeviceGroups(sensitive)) return sensitive;
  const attributes = deviceAttributes(tf, keep, sensitive);
  if (attributes === undefined) {
    return upload(tf, keep, encodeGroups(sensitive, missing.nanPolicy, missing.naValues));
  }
  const encoded: DeviceGroups[] = [];
  for (const [name, source] of attributes) {
    encoded.push(await encodeAttribute(tf, keep, name, source, missing, widestRange));
  }
  let [groups] = encoded as [DeviceGroups];
  for (const attribute of encoded.slice(1)) {
    groups =
      (await crossOnDevice(tf, keep, groups, attribute)) ??
      upload(tf, keep, encodeGroups({ left: await download(tf, groups), right: await download(tf, attribute) }));
  }
  return groups;
}

/** Returns the attributes by name if one of them is a tensor on the device; otherwise undefined. */
function deviceAttributes(tf: Tf, keep: Keep, sensitive: SensitiveSource): [string, ColumnSource][] | undefined {
  if (isDeviceTensor(sensitive)) return columnsOf(tf, keep, sensitive);
  if (Object.getPrototypeOf(sensitive) !== Object.prototype) return undefined;
  const entries = Object.entries(sensitive as Readonly<Record<string, ColumnSource>>);
  return entries.some(([, source]) => isDeviceTensor(source)) ? entries : undefined;
}

function columnsOf(tf: Tf, keep: Keep, tensor: TensorLike): [string, ColumnSource][] {
  const [rows = 0, columns = 0] = tensor.shape;
  if (tensor.shape.length === 1) return [['sensitive', tensor]];
  if (tensor.shape.length === 2 && columns > 0) {
    return Array.from({ length: columns }, (_, column) => [
      `sensitive[${String(column)}]`,
      keep(tf.tidy(() => (tensor as unknown as Tensor).slice([0, column], [rows, 1]).reshape([rows]))),
    ]);
  }
  throw wrongShape('sensitive', tensor);
}

/** Encodes the group of each row by one attribute. A tensor that cannot be counted on the device is read. */
export async function encodeAttribute(
  tf: Tf,
  keep: Keep,
  name: string,
  source: ColumnSource,
  missing: MissingGroups,
  widestRange = WIDEST_RANGE,
): Promise<DeviceGroups> {
  const { nanPolicy, naValues, note } = missing;
  if (!isDeviceTensor(source)) return upload(tf, keep, encodeGroups({ [name]: source }, nanPolicy, naValues));
  if (source.shape.length !== 1) throw wrongShape(name, source);
  const tensor = source as unknown as Tensor1D;
  const counted = await encodeIntegers(tf, keep, name, tensor, missing, widestRange);
  if (counted !== undefined) return counted;
  const values = await tensor.data();
  for (const reading of groupReadings({ [name]: values }, naValues)) note?.(reading);
  return upload(tf, keep, encodeGroups(values, nanPolicy, naValues));
}

function upload(tf: Tf, keep: Keep, { codes, labels }: CategoricalColumn): DeviceGroups {
  const tensor = keep(tf.tensor1d(Float32Array.from(codes)));
  return { rows: codes.length, labels, codesOf: (slice) => slice(tensor) };
}

async function download(tf: Tf, { labels, codesOf }: DeviceGroups): Promise<CategoricalColumn> {
  const tensor = tf.tidy(() => codesOf((rows) => rows).cast<Tensor1D>('int32'));
  try {
    return { kind: 'categorical', codes: (await tensor.data()) as Int32Array, labels };
  } finally {
    tensor.dispose();
  }
}

function wrongShape(name: string, tensor: TensorLike): DataValidationError {
  return new DataValidationError(
    `${name} must be a 1-D tensor, or a 2-D tensor for several attributes; got shape [${tensor.shape.join(', ')}].`,
    {
      code: 'invalid-value',
      context: { argument: name, shape: tensor.shape },
      suggestion: 'Give one row per observation.',
    },
  );
}
