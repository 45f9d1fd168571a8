import type { Rank, Tensor, Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import { DataValidationError } from '../../exceptions/index.ts';
import { encodeGroupTensors } from '../../metrics/reduce/tensors/group-codes.ts';
import type { Keep } from '../../metrics/reduce/tensors/row-states.ts';
import { deviceColumns } from '../../metrics/reduce/tensors/tensor-arguments.ts';
import { assertSameLength } from '../../metrics/reduce/row-arguments.ts';
import { type ColumnSource, type SensitiveSource, sortLabels, type TensorLike } from '../../table/index.ts';
import {
  atRows,
  cellTables,
  largestExactInteger,
  largestValues,
  type NetworkTensors,
  rowsOfParts,
  sortedRows,
  takeRows,
  type Tf,
} from '../../tensor/index.ts';
import { encodeFeatureTensor, type FeatureColumns, readRanges } from './feature-tensors.ts';
import { encodedWidth, type FeatureSpec, type StandardScore } from './feature-encoder.ts';
import { numericTensor, toExactFloat } from './device-rows.ts';
import { assertRows } from './fit-rows.ts';

/** Rows whose features are a tensor. The other columns are tensors or arrays. */
export interface TensorRowSource {
  /** The features, [rows, columns]. NaN is missing. */
  readonly x: TensorLike;
  /** The targets, [rows]: 0 or 1, or numbers for a regression. */
  readonly y: ColumnSource;
  readonly sensitive: SensitiveSource;
  readonly sampleWeight?: ColumnSource | undefined;
}

/** How to read a {@link TensorRowSource}. */
export interface TensorRowOptions {
  /** Whether targets are 0 or 1. Otherwise they are numbers. */
  readonly isBinary: boolean;
  /** The names of the columns. */
  readonly names: readonly string[];
  /** The label of each integer code. By default, the codes themselves are the labels. */
  readonly labels?: readonly string[] | undefined;
  /**
   * Reads the source on the host to throw the error about its first invalid value. It is called only if a value is
   * invalid.
   */
  readonly reject: () => Promise<unknown>;
  /** Whether rows without a target or a group are excluded. Otherwise they are errors. */
  readonly dropsMissing: boolean;
}

/**
 * Rows on the tensor backend. The host knows only how many rows each stratum has: a group, or for binary targets a group
 * and a target. A position is the index of a row if the rows are sorted by stratum. Rows that do not count have no
 * position.
 */
export interface TensorRows extends FeatureColumns {
  /** The labels of the groups. */
  readonly labels: readonly string[];
  /** The stratum of each position, ascending: the group, or 2 group + target. */
  readonly strata: Int32Array;
  /** The number of rows without a position: no target, no group, or weight 0. */
  readonly nDropped: number;
  /** Gathers the rows at the given positions, in the order of the rows. The caller disposes of them. */
  take(positions: ArrayLike<number>): NetworkTensors;
  dispose(): void;
}

/** Returns the names of the columns of a matrix: x0, x1 and so on. */
export function columnNames(columns = 0): string[] {
  return Array.from({ length: columns }, (_, column) => `x${String(column)}`);
}

/**
 * Returns features as a matrix of float32 on the tensor backend.
 * @throws {DataValidationError} if the tensor is disposed or not 2-D, or if float32 cannot represent its integers
 */
export async function featureMatrix(tf: Tf, keep: Keep, x: TensorLike, name = 'X'): Promise<Tensor2D> {
  const tensor = numericTensor(x, name);
  if (tensor.rank === 2) return (await toExactFloat(tf, keep, tensor, name)) as Tensor2D;
  throw new DataValidationError(
    `${name} must be a 2-D tensor, [rows, features]; got one of shape [${x.shape.join(', ')}].`,
    {
      code: 'invalid-value',
      context: { argument: name, shape: x.shape },
      suggestion: 'Reshape it with tensor.reshape([rows, features]).',
    },
  );
}

/**
 * Reads rows whose features are a tensor. The rows stay on the tensor backend. What is read are the ranges of columns,
 * which groups occur, and the number of rows of each stratum.
 * @throws {DataValidationError} if lengths or shapes differ, or a value is invalid
 */
export async function readTensorRows(tf: Tf, source: TensorRowSource, options: TensorRowOptions): Promise<TensorRows> {
  const kept: Tensor[] = [];
  const keep: Keep = (tensor) => {
    kept.push(tensor);
    return tensor;
  };
  try {
    const x = await featureMatrix(tf, keep, source.x);
    const [n, inputs] = x.shape;
    const columns = deviceColumns(tf, keep, {});
    const y = await columns.numbers(source.y, 'y', 'true labels');
    const weights = source.sampleWeight && (await columns.weights(source.sampleWeight));
    const groups = await readGroupCodes(tf, keep, source.sensitive, options.labels);
    assertSameLength({ X: n, y: y.size, sensitive: groups.codes.size, sampleWeight: weights?.size });
    assertRows(n);
    assertCountable(tf, n, 'X');
    const largest = await checkValues(tf, { y, weights, codes: groups.codes }, options);
    const { labels } = groups;
    const { isBinary } = options;
    const cells = labels.length * (isBinary ? 2 : 1);
    const strata = keep(tf.tidy(() => strataOf(tf, { y, weights, codes: groups.codes }, cells, isBinary)));
    const { counts } = await cellTables(tf, { rows: n, cells: cells + 1, codesOf: (slice) => slice(strata) });
    const order = keep(sortedRows(tf, strata, counts));
    const column = (values: Tensor1D): Tensor2D => keep(tf.tidy(() => values.cast('float32').reshape([n, 1])));
    const rows: NetworkTensors = {
      x,
      y: column(y),
      groups: column(groups.codes),
      // Float32 represents weights relative to the largest weight.
      weights: weights && keep(tf.tidy(() => weights.cast<Tensor1D>('float32').div(largest).reshape([n, 1]))),
      inputs,
      groupCount: labels.length,
    };
    const { names } = options;
    return {
      labels,
      strata: repeated(counts.subarray(0, cells)),
      nDropped: counts[cells] as number,
      names,
      ranges: await readRanges(tf, x, names),
      take: (positions) => takePositions(tf, rows, order, positions),
      dispose() {
        tf.dispose(kept);
      },
    };
  } catch (error) {
    tf.dispose(kept);
    throw error;
  }
}

/** Gathers the rows at positions of an order, in their own order. */
function takePositions(tf: Tf, rows: NetworkTensors, order: Tensor1D, positions: ArrayLike<number>): NetworkTensors {
  const [PICKED, OTHER] = [0, 1];
  const parts = new Int32Array(order.size).fill(OTHER);
  for (let index = 0; index < positions.length; index++) parts[positions[index] as number] = PICKED;
  const counts = [positions.length, order.size - positions.length];
  return tf.tidy(() => {
    const [picked] = rowsOfParts(tf, atRows(tf, order, tf.tensor1d(parts, 'int32')), counts) as [Tensor1D];
    return { ...takeRows(tf, rows, picked) };
  });
}

/** How to encode rows for a network. */
interface Encoding {
  readonly specs: readonly FeatureSpec[];
  readonly target: StandardScore;
  readonly columns: FeatureColumns;
}

/**
 * Encodes rows for a network. All tensors of the result are new. Call it inside `tf.tidy`.
 * @throws {DataValidationError} if the features cannot be encoded
 */
export function encodeTensorRows(tf: Tf, rows: NetworkTensors, { specs, target, columns }: Encoding): NetworkTensors {
  const { x, y, groups, weights, groupCount } = rows;
  return {
    x: encodeFeatureTensor(tf, x, specs, columns).clone(),
    y: y.sub(target.mean).div(target.scale),
    groups: groups.clone(),
    weights: weights?.clone(),
    inputs: encodedWidth(specs),
    groupCount,
  };
}

/** Returns the code of each row's group, float32, -1 if it is missing. The codes follow the order of the labels. */
async function readGroupCodes(
  tf: Tf,
  keep: Keep,
  sensitive: SensitiveSource,
  named: readonly string[] | undefined,
): Promise<{ readonly codes: Tensor1D; readonly labels: readonly string[] }> {
  const { labels, codesOf } = await encodeGroupTensors(tf, keep, sensitive);
  const given = named === undefined ? labels : labels.map((code) => labelOf(code, named));
  // As on the host, groups are in the order of their labels.
  const sorted = sortLabels(Int32Array.from(labels.keys()), given);
  const codes = keep(
    tf.tidy(() => {
      const own = codesOf((rows) => rows);
      if (sorted.codes.every((code, index) => code === index)) return own.clone();
      const ranks = tf.gather(tf.tensor1d(Float32Array.of(-1, ...sorted.codes)), own.add(1).cast('int32'));
      return ranks;
    }),
  );
  return { codes, labels: sorted.labels };
}

function labelOf(code: string, labels: readonly string[]): string {
  const label = labels[Number(code)];
  if (label !== undefined) return label;
  throw new DataValidationError(
    `sensitive holds the code ${code}, but sensitiveLabels has ${String(labels.length)} labels.`,
    {
      code: 'invalid-value',
      context: { argument: 'sensitive', value: Number(code), labels: labels.length },
      suggestion: 'Use integer codes from 0, and one label per code.',
    },
  );
}

/** @throws {DataValidationError} if the backend cannot count the rows of an argument exactly */
export function assertCountable(tf: Tf, rows: number, name: string): void {
  const most = largestExactInteger(tf);
  if (rows <= most) return;
  throw new DataValidationError(
    `${name} has ${String(rows)} rows; this backend counts at most ${String(most)} exactly.`,
    {
      code: 'data-too-large',
      context: { rows, most },
      suggestion: 'Use a sample of the rows, or another backend.',
    },
  );
}

/** The columns that determine a row's stratum. */
interface StratumColumns {
  readonly y: Tensor1D;
  readonly weights: Tensor1D | undefined;
  readonly codes: Tensor1D;
}

/** Checks targets, weights and groups with one read. Returns the largest weight. */
async function checkValues(
  tf: Tf,
  { y, weights, codes }: StratumColumns,
  { isBinary, dropsMissing, reject }: TensorRowOptions,
): Promise<number> {
  const [isMissing, isInvalid, most = 0, negated = 0, hasNoWeight] = await largestValues(tf, y.size, 5, (slice) => {
    const targets = slice(y).cast<Tensor1D>('float32');
    const lacksTarget = tf.isNaN(targets);
    const isTarget = isBinary ? tf.logicalOr(targets.equal(0), targets.equal(1)) : tf.abs(targets).less(Infinity);
    const lacks = tf.logicalOr(lacksTarget, slice(codes).less(0));
    const isWrong = tf.logicalNot(tf.logicalOr(isTarget, lacksTarget));
    const ofRows = weights === undefined ? tf.ones<Rank.R1>([1]) : slice(weights).cast<Tensor1D>('float32');
    const lacksWeight = tf.isNaN(ofRows);
    const known = tf.where(lacksWeight, tf.zerosLike(ofRows), ofRows);
    return [lacks.cast('float32'), isWrong.cast('float32'), known, known.neg(), lacksWeight.cast('float32')];
  });
  const isBad = isInvalid === 1 || hasNoWeight === 1 || negated > 0 || most === 0 || most === Infinity;
  if (isBad || (isMissing === 1 && !dropsMissing)) {
    await reject();
    // The values on the host are valid, but float32 cannot represent them.
    throw new DataValidationError('sampleWeight or y holds values that are too small or too large for float32.', {
      code: 'invalid-value',
      context: { largestWeight: most },
      suggestion: 'Divide all weights by the largest weight, and standardise the targets of a regression.',
    });
  }
  return most;
}

/** Returns the stratum of each row, int32; `cells` for a row that does not count. */
function strataOf(tf: Tf, { y, weights, codes }: StratumColumns, cells: number, isBinary: boolean): Tensor1D {
  const targets = y.cast<Tensor1D>('float32');
  const lacks = tf.logicalOr(tf.isNaN(targets), codes.less(0));
  const isOut = weights === undefined ? lacks : tf.logicalOr(lacks, weights.cast('float32').lessEqual(0));
  const strata: Tensor1D = isBinary ? codes.mul(2).add(targets) : codes;
  return tf.where<Tensor1D>(isOut, tf.fill(codes.shape, cells), strata).cast('int32');
}

/** Repeats each code as often as it counts. */
export function repeated(counts: Float64Array): Int32Array {
  const codes = new Int32Array(counts.reduce((sum, count) => sum + count, 0));
  let start = 0;
  for (const [code, count] of counts.entries()) codes.fill(code, start, (start += count));
  return codes;
}
