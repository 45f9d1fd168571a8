import type { Tensor1D } from '@tensorflow/tfjs';

import { type ClassificationStats, reduceClassificationTensors } from '../../metrics/index.ts';
import { cellIndex, sum } from '../../metrics/statistics/group-stats.ts';
import { onHost, type TableSource, type TensorLike } from '../../table/index.ts';
import { currentTensorflow } from '../../tensor/index.ts';
import { type EventBlock, NO_COLUMNS } from './event-block.ts';
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
 * Counts a batch on the device of its tensors. Only one table of [groups, 6] per attribute and the rows that the
 * sliding window needs are read back.
 * @throws {DataValidationError} if a prediction or label is invalid
 */
export async function countTensors(batch: TensorBatch, options: FilledTrackerOptions): Promise<CountedBatch> {
  const { columns, attributes, windowSize } = options;
  const decisions = await decide(columnOf(batch, columns.yPred), options);
  try {
    const yTrue = columns.yTrue === undefined ? undefined : batch[columns.yTrue];
    const counted: ClassificationStats[] = [];
    for (const { name } of attributes) {
      counted.push(await reduceClassificationTensors({ yPred: decisions, yTrue, sensitive: columnOf(batch, name) }));
    }
    const [first] = counted as [ClassificationStats];
    const events = sum(first.counts) + sum(first.ungrouped.counts);
    const missingPredictions = decisions.size - events;
    // If predictions are missing, the number of rows that the window needs can only be found from the rows themselves.
    const size = missingPredictions > 0 ? decisions.size : Math.min(decisions.size, windowSize);
    const tail = await tailOf({ ...batch, [columns.yPred]: decisions }, size);
    return { attributes: counted, events, missingPredictions, tail };
  } finally {
    decisions.dispose();
  }
}

/** Returns the last rows as a block. The missing values of these rows were already counted with the complete batch. */
export function blockOfTail(
  tail: ReadonlyMap<string, ArrayLike<number>>,
  { columns }: FilledTrackerOptions,
  groups: readonly GroupCodes[],
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
      return Int32Array.from(rows, (row) =>
        Number.isNaN(values[row]) ? NO_GROUP : (groups[index] as GroupCodes).codeOf(String(values[row])),
      );
    }),
    cells: Uint8Array.from(rows, (row) => {
      const truth = truths[row] ?? NaN;
      return cellIndex(Number.isNaN(truth) ? 2 : (truth as 0 | 1), predictions[row] as 0 | 1);
    }),
    ...NO_COLUMNS,
  };
}

/**
 * Reads the batch back to the host. Scores are converted to decisions on the device, because a threshold in float32
 * differs from a threshold in float64.
 * @param keepsScores if true, the predictions are returned unchanged, because they are needed to compute errors
 */
export async function readTensors(
  batch: TensorBatch,
  options: FilledTrackerOptions,
  keepsScores: boolean,
): Promise<TableSource> {
  if (keepsScores) return await onHost(batch);
  const { yPred } = options.columns;
  const decisions = await decide(columnOf(batch, yPred), options);
  try {
    return await onHost({ ...batch, [yPred]: decisions });
  } finally {
    decisions.dispose();
  }
}

function columnOf(batch: TensorBatch, name: string): TensorBatch[string] {
  const column = Object.hasOwn(batch, name) ? batch[name] : undefined;
  if (column !== undefined) return column;
  throw badValue({ column: name, row: undefined }, 'be among the tensors', 'missing');
}

/** Converts scores to decisions on the device. Missing scores stay missing. */
async function decide(
  column: TensorBatch[string],
  { decisionThreshold, columns }: FilledTrackerOptions,
): Promise<Tensor1D> {
  const tf = currentTensorflow();
  const scores = column as unknown as Tensor1D;
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
  return tf.tidy(() => {
    const decided = scores.greaterEqual(decisionThreshold).cast('float32');
    return tf.where(tf.isNaN(scores), tf.fill(scores.shape, NaN), decided) as Tensor1D;
  });
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
