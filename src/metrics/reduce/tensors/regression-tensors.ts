import type { Tensor1D } from '@tensorflow/tfjs';

import { DataValidationError } from '../../../exceptions/index.ts';
import { emptyMoments, type Moments } from '../../../stats/moments.ts';
import {
  type CellRows,
  currentTensorflow,
  groupColumnSums,
  largestValues,
  type Slice,
  type Tf,
  unitOf,
} from '../../../tensor/index.ts';
import {
  makeMoments,
  REGRESSION_QUANTITIES,
  type RegressionQuantity,
  type RegressionStats,
} from '../../statistics/group-stats.ts';
import type { RegressionRows } from '../reduce-regression.ts';
import { assertSameLength, countDropped, toFiniteNumbers } from '../row-arguments.ts';
import {
  areKnown,
  assertWeights,
  droppedRows,
  known,
  sizesOf,
  weighCells,
  weightExtremes,
  withTensors,
} from './row-states.ts';
import { assertTextsCanOccur, deviceColumns, withReadings } from './tensor-arguments.ts';

/**
 * Computes the statistics of predicted numbers that are tensors, on the device of the tensors. The function reads back
 * only tables of [groups], five numbers about sizes, and the numbers that {@link encodeGroupTensors} reads. Counts are
 * exact; the numbers of each row have float32 precision.
 * @throws {DataValidationError} if lengths differ, a value is infinite, or no row can be used
 */
export async function reduceRegressionTensors(rows: RegressionRows): Promise<RegressionStats> {
  const tf = currentTensorflow();
  assertTextsCanOccur(rows);
  return withTensors(tf, async (keep) => {
    const columns = deviceColumns(tf, keep, { naValues: rows.naValues });
    const yPred = await columns.numbers(rows.yPred, 'yPred', 'predictions');
    const yTrue = rows.yTrue && (await columns.numbers(rows.yTrue, 'yTrue', 'true labels'));
    const weights = rows.sampleWeight && (await columns.weights(rows.sampleWeight));
    const groups = await columns.groups(rows.sensitive, rows.nanPolicy);
    assertSameLength({
      yPred: yPred.size,
      sensitive: groups.rows,
      yTrue: yTrue?.size,
      sampleWeight: weights?.size,
    });
    const isKnown = (slice: Slice): Tensor1D => areKnown(tf, slice, [yPred, yTrue, weights]);
    const largest = await checkNumbers(tf, { isKnown, yPred, yTrue, weights });
    // An incomplete row goes to the cell before the first group.
    const cells: CellRows = {
      rows: yPred.size,
      cells: groups.labels.length + 1,
      codesOf: (slice) => known(tf, isKnown(slice), groups.codesOf(slice), -1).add(1).cast('int32'),
    };
    const tables = await weighCells(tf, cells, weights, largest.weight);
    const counts = tables.counts.slice(1);
    const nDropped = countDropped(counts, yPred.size);
    const dropped = nDropped === 0 ? new Float64Array(counts.length) : await droppedRows(tf, groups, isKnown);
    const stats: RegressionStats = {
      kind: 'regression',
      labels: groups.labels,
      counts,
      weights: tables.weights.slice(1),
      squaredWeights: tables.squaredWeights.slice(1),
      moments: await tensorMoments(tf, { cells, isKnown, yPred, yTrue, weights, largest }, tables.weights),
      hasTruth: yTrue !== undefined,
      dropped,
      nDropped,
    };
    return withReadings(stats, columns);
  });
}

/**
 * Rejects invalid numbers, and finds the largest absolute value of each column.
 * @returns the largest absolute value of each column
 * @throws {DataValidationError} if a value is invalid; only then is a tensor read, to report the value and its index
 */
async function checkNumbers(
  tf: Tf,
  { isKnown, yPred, yTrue, weights }: Omit<DeviceNumbers, 'cells' | 'largest'>,
): Promise<DeviceNumbers['largest']> {
  const sizes = await largestValues(tf, yPred.size, 3 + (weights === undefined ? 0 : 2), (slice) => {
    const truth = yTrue ?? yPred;
    const error = slice(yPred).cast('float32').sub<Tensor1D>(slice(truth).cast('float32'));
    return [
      sizesOf(tf, slice, yPred),
      sizesOf(tf, slice, truth),
      known(tf, isKnown(slice), error).abs(),
      ...weightExtremes(tf, slice, weights),
    ];
  });
  const [prediction, truth, error] = Array.from(sizes, (size) => Math.max(0, size)) as [number, number, number];
  if (prediction === Infinity) toFiniteNumbers(await yPred.data(), 'yPred');
  if (yTrue !== undefined && truth === Infinity) toFiniteNumbers(await yTrue.data(), 'yTrue');
  const weight = await assertWeights(sizes.subarray(3), weights);
  if (error < Infinity) return { prediction, truth, error, weight };
  throw new DataValidationError('The prediction errors are too large for float32.', {
    code: 'data-too-large',
    suggestion: 'Scale the target, or give arrays.',
  });
}

/** Predicted and true numbers on the device. */
interface DeviceNumbers {
  /** The cell of each row. There are groups + 1 cells, and the first cell contains the incomplete rows. */
  readonly cells: CellRows;
  readonly isKnown: (slice: Slice) => Tensor1D;
  readonly yPred: Tensor1D;
  readonly yTrue: Tensor1D | undefined;
  readonly weights: Tensor1D | undefined;
  readonly largest: Readonly<Record<'prediction' | 'truth' | 'error' | 'weight', number>>;
}

/**
 * Computes the moments of the quantities by group, in two steps on the device: first sums for the means, then sums of
 * powers of the distances from the means. The sum of the first powers gives the rounding error of the float32 mean,
 * which is used to correct the mean and the moments.
 * @param totals the weights of the cells, [groups + 1]
 */
async function tensorMoments(
  tf: Tf,
  numbers: DeviceNumbers,
  totals: Float64Array,
): Promise<RegressionStats['moments']> {
  const weightUnit = unitOf(numbers.largest.weight);
  const shares = totals.map((total) => total / weightUnit);
  const columns = numbers.yTrue === undefined ? 1 : REGRESSION_QUANTITIES.length;
  const sums = await groupColumnSums(tf, numbers.cells, columns, (slice) => {
    const { quantities, weigh } = prepare(tf, numbers, slice);
    return quantities.map(weigh);
  });
  const centres = sums.map((sum) =>
    Float32Array.from(sum, (value, cell) => (shares[cell] === 0 ? 0 : value / (shares[cell] as number))),
  );
  let scales: readonly Float32Array[] = centres.map((centre) => centre.map(() => 1));
  let powers = await powerSums(tf, numbers, centres, scales);
  const finer = scales.map((_, column) => spreadUnits(powers[3 * column + 1] as Float64Array, shares));
  if (finer.some((scale) => scale.some((value) => value < SMALL_SPREAD))) {
    scales = finer;
    powers = await powerSums(tf, numbers, centres, scales);
  }
  const units = unitsOf(numbers);
  return makeMoments((name, column) => {
    const [centre, scale] = [centres[column], scales[column]];
    if (centre === undefined || scale === undefined) return emptyMoments(totals.length - 1);
    const [first, second, third] = powers.slice(3 * column) as [Float64Array, Float64Array, Float64Array];
    return finishMoments({ centre, scale, first, second, third, shares }, units[name], weightUnit);
  });
}

/**
 * If the spread of a group, divided by the largest value of all groups, is below this limit, third powers may be
 * denormal numbers. TensorFlow's native library replaces denormal numbers by 0.
 */
const SMALL_SPREAD = 1e-9;

/** Returns one power of two per group: a number near the spread of the group, or 1 if all its values are equal. */
function spreadUnits(second: Float64Array, shares: Float64Array): Float32Array {
  return Float32Array.from(second, (sum, cell) => (sum > 0 ? unitOf(Math.sqrt(sum / (shares[cell] as number))) : 1));
}

/** Returns a divisor for each quantity, chosen so that powers of the quotient stay in the range of float32. */
function unitsOf({ largest }: DeviceNumbers): Record<RegressionQuantity, number> {
  const error = unitOf(largest.error);
  return {
    prediction: unitOf(largest.prediction),
    truth: unitOf(largest.truth),
    error,
    absoluteError: error,
    squaredError: error * error,
  };
}

/**
 * Returns the quantities of a chunk in the order of their names, each divided by its unit. Also returns a function that
 * applies the weights.
 */
function prepare(
  tf: Tf,
  numbers: DeviceNumbers,
  slice: Slice,
): { quantities: Tensor1D[]; weigh: (values: Tensor1D) => Tensor1D } {
  const isKnown = numbers.isKnown(slice);
  const units = unitsOf(numbers);
  const read = (values: Tensor1D): Tensor1D => known(tf, isKnown, slice(values));
  const share = numbers.weights && read(numbers.weights).div<Tensor1D>(unitOf(numbers.largest.weight));
  const weigh = (values: Tensor1D): Tensor1D => (share === undefined ? values : values.mul(share));
  const prediction = read(numbers.yPred);
  const quantities = [prediction.div<Tensor1D>(units.prediction)];
  if (numbers.yTrue !== undefined) {
    const truth = read(numbers.yTrue);
    const error = prediction.sub(truth).div<Tensor1D>(units.error);
    quantities.push(truth.div(units.truth), error, error.abs(), error.square());
  }
  return { quantities, weigh };
}

/**
 * Computes weighted sums of the first three powers of scaled distances: for each quantity, the distances of its values
 * from the centres.
 */
async function powerSums(
  tf: Tf,
  numbers: DeviceNumbers,
  centres: readonly Float32Array[],
  scales: readonly Float32Array[],
): Promise<Float64Array[]> {
  return withTensors(tf, (keep) => {
    const factors = scales.map((scale) => scale.map((value) => 1 / value));
    const ofGroups = keep(tf.tensor2d([...centres, ...factors].map((values) => Array.from(values))));
    return groupColumnSums(tf, numbers.cells, 3 * centres.length, (slice, codes) => {
      const { quantities, weigh } = prepare(tf, numbers, slice);
      // One look-up for all quantities, since on wasm each look-up checks every code in JavaScript.
      const around = tf.gather(ofGroups, codes, 1);
      const rowOf = (row: number): Tensor1D => around.slice([row, 0], [1, codes.size]).reshape([codes.size]);
      return quantities.flatMap((quantity, column) => {
        const distance = quantity.sub(rowOf(column)).mul<Tensor1D>(rowOf(centres.length + column));
        const first = weigh(distance);
        const second = first.mul<Tensor1D>(distance);
        return [first, second, second.mul<Tensor1D>(distance)];
      });
    });
  });
}

/**
 * Converts moments around a centre c near the mean to moments around the mean. The first cell is skipped. The formulas,
 * with mean = c + d and d = S1 / W, are m2 = S2 - W d^2 and m3 = S3 - 3 d S2 + 2 W d^3.
 */
function finishMoments(
  sums: Readonly<Record<'centre' | 'scale' | 'first' | 'second' | 'third' | 'shares', ArrayLike<number>>>,
  unit: number,
  weightUnit: number,
): Moments {
  const { mean, m2, m3 } = emptyMoments(sums.shares.length - 1);
  for (let group = 0; group < mean.length; group++) {
    const at = (values: ArrayLike<number>): number => values[group + 1] as number;
    const share = at(sums.shares);
    if (share === 0) continue;
    const shift = at(sums.first) / share;
    const size = at(sums.scale) * unit;
    mean[group] = at(sums.centre) * unit + shift * size;
    m2[group] = Math.max(0, at(sums.second) - share * shift ** 2) * weightUnit * size ** 2;
    m3[group] = (at(sums.third) - 3 * shift * at(sums.second) + 2 * share * shift ** 3) * weightUnit * size ** 3;
  }
  return { mean, m2, m3 };
}
