import type { Tensor1D } from '@tensorflow/tfjs';

import { type ClassificationStats, reduceClassificationTensors } from '../../metrics/index.ts';
import { type Keep, withTensors } from '../../metrics/reduce/tensors/row-states.ts';
import { assertNumberLabel, type DeviceColumns, deviceColumns } from '../../metrics/reduce/tensors/tensor-arguments.ts';
import { cellIndex, sum } from '../../metrics/statistics/group-stats.ts';
import { onHost, type TableSource, type TensorLike } from '../../table/index.ts';
import { currentTensorflow } from '../../tensor/index.ts';
import { type EventBlock, NO_COLUMNS } from './event-block.ts';
import type { EventReader } from './event-reader.ts';
import { badValue } from './event-values.ts';
import { type GroupCodes, NO_GROUP } from './group-codes.ts';
import type { FilledTrackerOptions } from './tracker-options.ts';

/** A batch whose columns are 1-D tensors, on any device. */
export type TensorBatch = Readonly<Record<string, TensorLike & { data(): Promise<ArrayLike<number>> }>>;

/** The result of counting a batch: tables of counts, and the last rows of the batch. */
export interface CountedBatch {
  /** The counts of each attribute. There are no intersections. */
  readonly attributes: readonly ClassificationStats[];
  /** The number of rows that have a prediction. */
  readonly events: number;
  readonly missingPredictions: number;
  /** The last rows of the batch, on the host. The sliding window needs these rows. */
  readonly tail: ReadonlyMap<string, ArrayLike<number>>;
}

/** Returns whether all columns of a batch are tensors. */
export function isTensorBatch(batch: TableSource | TensorBatch): batch is TensorBatch {
  const values = Object.values(batch) as unknown[];
  return (
    Object.getPrototypeOf(batch) === Object.prototype &&
    values.length > 0 &&
    values.every((value) => typeof value === 'object' && value !== null && 'dataSync' in value && 'data' in value)
  );
}

/**
 * Counts a batch on the device of its tensors. Only one table of [groups, 6] per attribute, and the rows that the
 * sliding window needs, are read back. With a positive label, which labels occur is read back too.
 * @throws {DataValidationError} if a prediction or label is invalid, or a positive label is not a number
 */
export async function countTensors(batch: TensorBatch, options: FilledTrackerOptions): Promise<CountedBatch> {
  const { columns, attributes, windowSize } = options;
  return withTensors(currentTensorflow(), async (keep) => {
    const read = deviceColumns(currentTensorflow(), keep, { naValues: options.naValues });
    const decisions = await decide(keep, read, columnOf(batch, columns.yPred), options);
    const truth = columns.yTrue === undefined ? undefined : batch[columns.yTrue];
    const yTrue = truth && (await read.labels(truth, 'yTrue', labelsOf(options).yTrue)).tensor;
    const counted: ClassificationStats[] = [];
    for (const { name } of attributes) {
      counted.push(await reduceClassificationTensors({ yPred: decisions, yTrue, sensitive: columnOf(batch, name) }));
    }
    const [first] = counted as [ClassificationStats];
    const events = sum(first.counts) + sum(first.ungrouped.counts);
    const missingPredictions = decisions.size - events;
    // If predictions are missing, the number of rows that the window needs can only be found from the rows themselves.
    const size = missingPredictions > 0 ? decisions.size : Math.min(decisions.size, windowSize);
    const changed = { [columns.yPred]: decisions, ...(yTrue && { [columns.yTrue as string]: yTrue }) };
    const tail = await tailOf({ ...batch, ...changed }, size);
    return { attributes: counted, events, missingPredictions, tail };
  });
}

/** Returns the last rows as a block. The missing values of these rows were already counted with the complete batch. */
export function blockOfTail(
  tail: ReadonlyMap<string, ArrayLike<number>>,
  { columns }: FilledTrackerOptions,
  reader: EventReader,
): EventBlock {
  const column = (name: string | undefined): ArrayLike<number> => (name === undefined ? [] : (tail.get(name) ?? []));
  const predictions = column(columns.yPred);
  const truths = column(columns.yTrue);
  const rows = Array.from({ length: predictions.length }, (_, row) => row).filter(
    (row) => !Number.isNaN(predictions[row]),
  );
  return {
    length: rows.length,
    codes: columns.protected.map((name, index) => {
      const values = column(name);
      return Int32Array.from(rows, (row) => {
        const label = reader.readGroup(values[row], { column: columns.protected[index] as string, row });
        return label === undefined ? NO_GROUP : (reader.groups[index] as GroupCodes).codeOf(label);
      });
    }),
    cells: Uint8Array.from(rows, (row) => {
      const truth = truths[row] ?? NaN;
      return cellIndex(Number.isNaN(truth) ? 2 : (truth as 0 | 1), predictions[row] as 0 | 1);
    }),
    ...NO_COLUMNS,
  };
}

/**
 * Returns the batch on the host, with decisions as predictions. Scores are turned into decisions on the device, because
 * a threshold in float32 differs from a threshold in float64.
 */
export async function readDecisions(batch: TensorBatch, options: FilledTrackerOptions): Promise<TableSource> {
  const { yPred } = options.columns;
  return withTensors(currentTensorflow(), async (keep) => {
    const read = deviceColumns(currentTensorflow(), keep, { naValues: options.naValues });
    const decisions = await decide(keep, read, columnOf(batch, yPred), options);
    return onHost({ ...batch, [yPred]: decisions });
  });
}

/** @throws {DataValidationError} if a positive label is not a number, because a tensor holds numbers */
export function assertNumberLabels(options: FilledTrackerOptions): void {
  const { yPred, yTrue } = labelsOf(options);
  assertNumberLabel('yPred', yPred);
  assertNumberLabel('yTrue', yTrue);
}

/** Returns the labels that count as 1 in predictions and in true labels; undefined if there are none. */
function labelsOf({ positiveLabel, yTruePositiveLabel }: FilledTrackerOptions): {
  readonly yPred: string | undefined;
  readonly yTrue: string | undefined;
} {
  return { yPred: positiveLabel ?? undefined, yTrue: yTruePositiveLabel ?? positiveLabel ?? undefined };
}

function columnOf(batch: TensorBatch, name: string): TensorBatch[string] {
  const column = Object.hasOwn(batch, name) ? batch[name] : undefined;
  if (column !== undefined) return column;
  throw badValue({ column: name, row: undefined }, 'be among the tensors', 'missing');
}

/** Turns labels or scores into decisions on the device; missing values become NaN. */
async function decide(
  keep: Keep,
  read: DeviceColumns,
  column: TensorBatch[string],
  options: FilledTrackerOptions,
): Promise<Tensor1D> {
  const { decisionThreshold, columns } = options;
  const label = labelsOf(options).yPred;
  if (label !== undefined) return (await read.labels(column, 'yPred', label)).tensor;
  const tf = currentTensorflow();
  const scores = await read.numbers(column, 'yPred', 'predictions');
  const extremes = tf.tidy(() => {
    const known = tf.where(tf.isNaN(scores), tf.zerosLike(scores), scores);
    return tf.stack([known.min(), known.max()]);
  });
  const [low = 0, high = 0] = await extremes.data();
  extremes.dispose();
  if (low < 0 || high > 1) {
    throw badValue(
      { column: columns.yPred, row: undefined },
      'be decisions 0 or 1, or scores from 0 to 1',
      low < 0 ? low : high,
    );
  }
  return keep(
    tf.tidy(() => {
      const decided = scores.greaterEqual(decisionThreshold).cast('float32');
      return tf.where(tf.isNaN(scores), tf.fill(scores.shape, NaN), decided) as Tensor1D;
    }),
  );
}

async function tailOf(batch: TensorBatch, size: number): Promise<ReadonlyMap<string, ArrayLike<number>>> {
  const tails = Object.entries(batch).map(([name, column]) => {
    const tensor = column as unknown as Tensor1D;
    return [name, tensor.slice(tensor.size - size, size)] as const;
  });
  try {
    return new Map(await Promise.all(tails.map(async ([name, tail]) => [name, await tail.data()] as const)));
  } finally {
    for (const [, tail] of tails) tail.dispose();
  }
}
