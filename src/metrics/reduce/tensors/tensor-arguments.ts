import type { Tensor1D } from '@tensorflow/tfjs';

import { DataValidationError } from '../../../exceptions/index.ts';
import { isNumberText } from '../../../internal/values.ts';
import {
  assertNotDisposed,
  type BinaryValues,
  type ColumnReading,
  type ColumnRole,
  type ColumnSource,
  isDeviceTensor,
  labelValue,
  missingOutcomes,
  type NanPolicy,
  numbersAmong,
  type PositiveLabelOptions,
  readingOfLabels,
  readingOfMissing,
  ruleOfNumbers,
  type SensitiveSource,
  type TensorLike,
  toBinary,
} from '../../../table/index.ts';
import { cellTables, currentTensorflow, type Tf } from '../../../tensor/index.ts';
import type { MetricRows } from '../../row-options.ts';
import type { GroupStats } from '../../statistics/group-stats.ts';
import { assertLabelsOccur } from '../assert-positive-label.ts';
import { toFiniteNumbers, toWeights } from '../row-arguments.ts';
import { encodeAttribute, encodeGroupTensors } from './group-codes.ts';
import { type DeviceGroups, type Keep, withTensors } from './row-states.ts';

/** Labels or decisions on the device, and the labels that occur. */
export interface DeviceLabels {
  /** 0, 1 and NaN, [n]. */
  readonly tensor: Tensor1D;
  /** The labels that occur, or all labels of an array, and their values. Empty if no label was looked up. */
  readonly source: ColumnSource;
  readonly values: BinaryValues;
}

/** Reads columns on the device of their tensors. Columns that are arrays are uploaded. */
export interface DeviceColumns {
  /** How labels and missing values in tensors were read. */
  readonly readings: readonly ColumnReading[];
  /** Returns the group of each row. */
  groups(sensitive: SensitiveSource, nanPolicy: NanPolicy | undefined): Promise<DeviceGroups>;
  /**
   * Returns numbers as a tensor, NaN if missing: the caller's own tensor, unless it contains a number of `naValues`.
   * @throws {DataValidationError} if a tensor is not 1-D, or a value is text
   */
  numbers(source: ColumnSource, name: string, role: ColumnRole): Promise<Tensor1D>;
  /** Returns the weights of rows like {@link DeviceColumns.numbers}. Weights in arrays are checked. */
  weights(source: ColumnSource): Promise<Tensor1D>;
  /**
   * Returns labels as 0, 1 and NaN: the caller's own tensor, unless there is a positive label or `naValues` contains
   * numbers. Reads back which labels occur, if they are integers less than 4,096 apart, otherwise the complete column.
   * @throws {DataValidationError} if the positive label of a tensor is not a number
   */
  labels(source: ColumnSource, name: 'yPred' | 'yTrue', positiveLabel: string | undefined): Promise<DeviceLabels>;
}

/** The roles of labels, by the names of their arguments. */
const ROLES = { yPred: 'predictions', yTrue: 'true labels' } as const;

/**
 * Returns a reader of columns. A missing value in a tensor is NaN, or a number of `naValues`, compared in the precision
 * of the tensor.
 */
export function deviceColumns(
  tf: Tf,
  keep: Keep,
  { naValues, average }: Pick<MetricRows, 'naValues' | 'average'>,
): DeviceColumns {
  const readings: ColumnReading[] = [];
  const note = (reading: ColumnReading): void => {
    readings.push(reading);
  };
  const upload = (values: ArrayLike<number>): Tensor1D => keep(tf.tensor1d(Float32Array.from(values)));
  const numbers: DeviceColumns['numbers'] = (source, name, role) =>
    isDeviceTensor(source)
      ? withoutNumbers(tf, keep, oneDimensional(source, name), role, { naValues, note })
      : Promise.resolve(upload(toFiniteNumbers(source, name, naValues)));
  return {
    readings,
    groups: (sensitive, nanPolicy) => encodeGroupTensors(tf, keep, sensitive, { nanPolicy, naValues, note }),
    numbers,
    weights: (source) =>
      isDeviceTensor(source)
        ? numbers(source, 'sampleWeight', 'weights')
        : Promise.resolve(upload(toWeights(source, naValues))),
    labels: (source, name, positiveLabel) => {
      if (isDeviceTensor(source)) {
        return labelTensor(tf, keep, oneDimensional(source, name), name, { positiveLabel, naValues, average, note });
      }
      const values = toBinary(source, name, positiveLabel, naValues);
      const tensor = upload(Float32Array.from(values, (value) => (value < 0 ? NaN : value)));
      return Promise.resolve({ tensor, source, values });
    },
  };
}

/** How labels and missing values are read. */
interface Reading extends Pick<MetricRows, 'positiveLabel' | 'naValues' | 'average'> {
  readonly note: (reading: ColumnReading) => void;
}

/** Replaces the numbers of `naValues` by NaN, and notes their counts. */
async function withoutNumbers(
  tf: Tf,
  keep: Keep,
  tensor: Tensor1D,
  role: ColumnRole,
  { naValues, note }: Reading,
): Promise<Tensor1D> {
  const numbers = numbersAmong(missingOutcomes(naValues));
  if (numbers.length === 0) return tensor;
  const { counts } = await cellTables(tf, {
    rows: tensor.size,
    cells: numbers.length + 1,
    codesOf: (slice) => {
      const values = slice(tensor).cast<Tensor1D>('float32');
      const codes = numbers.map((number, index) =>
        tf
          .equal(values, number)
          .cast('float32')
          .mul<Tensor1D>(index + 1),
      );
      return codes.reduce((one, other) => tf.maximum<Tensor1D>(one, other)).cast<Tensor1D>('int32');
    },
  });
  const found = Object.fromEntries(numbers.map((number, index) => [String(number), counts[index + 1] as number]));
  if (Object.values(found).every((count) => count === 0)) return tensor;
  note(readingOfMissing(role, found));
  return keep(
    tf.tidy(() => {
      const values = tensor.cast<Tensor1D>('float32');
      const nothing = values.mul<Tensor1D>(NaN);
      return numbers.reduce((rest, number) => tf.where<Tensor1D>(tf.equal(values, number), nothing, rest), values);
    }),
  );
}

/** Returns the labels of a tensor as 0, 1 and NaN by the same rules as an array of numbers, and notes their counts. */
async function labelTensor(
  tf: Tf,
  keep: Keep,
  tensor: Tensor1D,
  name: 'yPred' | 'yTrue',
  { positiveLabel, naValues, average, note }: Reading,
): Promise<DeviceLabels> {
  if (positiveLabel === undefined && numbersAmong(missingOutcomes(naValues)).length === 0) {
    return { tensor, source: [], values: new Int8Array(0) };
  }
  assertNumberLabel(name, positiveLabel);
  const { labels, codesOf } = await encodeAttribute(tf, keep, name, tensor, { nanPolicy: 'exclude' });
  const rule = ruleOfNumbers(labels, positiveLabel, naValues);
  // A number that is not a label stays as it is, so that later checks report it.
  const values = labels.map((label) => labelValue(label, rule) ?? Number(label));
  const { counts } = await cellTables(tf, {
    rows: tensor.size,
    cells: labels.length + 1,
    codesOf: (slice) => codesOf(slice).add(1).cast<Tensor1D>('int32'),
  });
  const read = labels.map((label, code) => ({
    label,
    count: counts[code + 1] as number,
    value: values[code] as number,
  }));
  // With 'macro', the positive label is one class of several, and the other labels are not negative.
  const named = average === 'macro' ? undefined : positiveLabel;
  const listed = named === undefined ? read.filter(({ value }) => value < 0) : read;
  if (listed.length > 0) note(readingOfLabels(ROLES[name], listed, { positiveLabel: named }));
  const table = keep(tf.tensor1d([NaN, ...values.map((value) => (value === -1 ? NaN : value))], 'float32'));
  return {
    tensor: keep(
      tf.tidy(() =>
        tf.gather(
          table,
          codesOf((all) => all)
            .add(1)
            .cast('int32'),
        ),
      ),
    ),
    source: labels.map(Number),
    values: Int8Array.from(values),
  };
}

/**
 * Returns the distinct numbers of labels in a tensor. Any other source is returned. The function reads what
 * `encodeAttribute` reads.
 */
export async function distinctValues(
  name: 'yPred' | 'yTrue',
  source: ColumnSource | undefined,
): Promise<ColumnSource | undefined> {
  if (!isDeviceTensor(source)) return source;
  const tf = currentTensorflow();
  return withTensors(tf, async (keep) => {
    const { labels } = await encodeAttribute(tf, keep, name, oneDimensional(source, name), {});
    return labels.map(Number);
  });
}

/** Adds how the tensors were read to statistics. */
export function withReadings<Stats extends GroupStats>(stats: Stats, { readings }: DeviceColumns): Stats {
  return readings.length === 0 ? stats : { ...stats, readings };
}

/**
 * Checks that the positive labels occur in the columns.
 * @throws {DataValidationError} if one does not
 */
export function assertDeviceLabels(
  rows: Pick<MetricRows, keyof PositiveLabelOptions | 'naValues' | 'average'>,
  yTrue: DeviceLabels | undefined,
  yPred: DeviceLabels,
): void {
  // A class may be absent from one of the columns.
  if (rows.average === 'macro') return;
  assertLabelsOccur({ ...rows, yPred: yPred.source, yTrue: yTrue?.source }, yTrue?.values, yPred.values);
}

/** @throws {DataValidationError} if `naValues` contains a text that is not a number, and all columns are tensors */
export function assertTextsCanOccur({ naValues, yPred, yTrue, yScore, sampleWeight, sensitive }: MetricRows): void {
  const text = naValues?.find((value) => value !== '' && !isNumberText(value));
  const isTable = Object.getPrototypeOf(sensitive) === Object.prototype;
  const groups: readonly unknown[] = isTable ? Object.values(sensitive) : [sensitive];
  const columns = [yPred, yTrue, yScore, sampleWeight, ...groups];
  if (text === undefined || columns.some((column) => column !== undefined && !isDeviceTensor(column))) return;
  throw new DataValidationError(
    `naValues contains the text '${text}', but all columns are tensors, which hold numbers.`,
    {
      code: 'invalid-value',
      context: { argument: 'naValues', value: text },
      suggestion: 'Give numbers, such as -999. NaN is always missing. For texts, give arrays.',
    },
  );
}

function oneDimensional(tensor: TensorLike, name: string): Tensor1D {
  assertNotDisposed(tensor, name);
  if (tensor.shape.length === 1) return tensor as unknown as Tensor1D;
  throw new DataValidationError(`${name} must be a 1-D tensor; got shape [${tensor.shape.join(', ')}].`, {
    code: 'invalid-value',
    context: { argument: name, shape: tensor.shape },
    suggestion: 'Reshape the tensor, as in tensor.reshape([-1]).',
  });
}

/** @throws {DataValidationError} if the positive label of a tensor is not a number */
export function assertNumberLabel(name: 'yPred' | 'yTrue', label: string | undefined): void {
  if (label === undefined || isNumberText(label)) return;
  throw new DataValidationError(
    `${name} is a tensor, which holds numbers, but its positive label '${label}' is text.`,
    {
      code: 'invalid-value',
      context: { argument: name, positiveLabel: label },
      suggestion: "Give the number that counts as positive, such as positiveLabel: '1', or give arrays of labels.",
    },
  );
}
