import type { Tensor1D } from '@tensorflow/tfjs';

import { DataValidationError } from '../../../exceptions/index.ts';
import { type CellRows, currentTensorflow, largestValues, type Slice, type Tf } from '../../../tensor/index.ts';
import type { RegressionStats } from '../../statistics/group-stats.ts';
import type { RegressionRows } from '../reduce-regression.ts';
import { assertSameLength, countDropped, toFiniteNumbers } from '../row-arguments.ts';
import { encodeGroupTensors } from './group-codes.ts';
import { type DeviceNumbers, tensorMoments } from './tensor-moments.ts';
import { areKnown, droppedRows, known, sizesOf } from './row-states.ts';
import { numbersTensor, weightsTensor } from './tensor-arguments.ts';
import { withTensors } from './tensor-scope.ts';
import { assertWeights, weighCells, weightExtremes } from './tensor-weights.ts';

/**
 * Reduces predicted numbers that are tensors where they are. Read back are
 * tables of [groups], five numbers about sizes, and what
 * {@link encodeGroupTensors} reads. Counts are exact; each row's numbers have
 * float32's precision.
 * @throws {DataValidationError} where lengths differ, a value is infinite, or no row is left
 */
export async function reduceRegressionTensors(rows: RegressionRows): Promise<RegressionStats> {
  const tf = currentTensorflow();
  return withTensors(tf, async (keep) => {
    const groups = await encodeGroupTensors(tf, keep, rows.sensitive, rows.nanPolicy);
    const yPred = numbersTensor(tf, keep, rows.yPred, 'yPred');
    const yTrue = rows.yTrue === undefined ? undefined : numbersTensor(tf, keep, rows.yTrue, 'yTrue');
    const weights = rows.sampleWeight === undefined ? undefined : weightsTensor(tf, keep, rows.sampleWeight);
    assertSameLength({
      yPred: yPred.size,
      sensitive: groups.rows,
      yTrue: yTrue?.size,
      sampleWeight: weights?.size,
    });
    const isKnown = (slice: Slice): Tensor1D => areKnown(tf, slice, [yPred, yTrue, weights]);
    const largest = await checkNumbers(tf, { isKnown, yPred, yTrue, weights });
    // A row that lacks something goes to the place before the first group.
    const cells: CellRows = {
      rows: yPred.size,
      cells: groups.labels.length + 1,
      codesOf: (slice) => known(tf, isKnown(slice), groups.codesOf(slice), -1).add(1).cast('int32'),
    };
    const tables = await weighCells(tf, cells, weights, largest.weight);
    const counts = tables.counts.slice(1);
    const nDropped = countDropped(counts, yPred.size);
    const dropped = nDropped === 0 ? new Float64Array(counts.length) : await droppedRows(tf, groups, isKnown);
    return {
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
  });
}

/**
 * Refuses numbers that cannot be used, and measures the others.
 * @returns the largest size of each
 * @throws {DataValidationError} with the value and its index, for which alone a tensor is read
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
  throw new DataValidationError('The errors are too large for float32.', {
    suggestion: 'Scale the target, or give arrays.',
  });
}
