import type { Tensor1D } from '@tensorflow/tfjs';

import { toBinary } from '../../../table/index.ts';
import { type CellRows, currentTensorflow, largestValues, type Slice, type Tf } from '../../../tensor/index.ts';
import type { ClassificationStats } from '../../statistics/group-stats.ts';
import { type ClassificationRows, finishClassification, RAW_CELLS, RAW_STATES } from '../reduce-classification.ts';
import { assertSameLength } from '../row-arguments.ts';
import {
  areKnown,
  assertWeights,
  BAD_STATE,
  type DeviceGroups,
  stateOf,
  weighCells,
  weightExtremes,
  withTensors,
} from './row-states.ts';
import { assertDeviceLabels, assertTextsCanOccur, deviceColumns, withReadings } from './tensor-arguments.ts';

/**
 * Computes the statistics of decisions that are tensors, on the device of the tensors. The function reads back only
 * tables of [groups, 16], three numbers about weights, and the numbers that {@link encodeGroupTensors} reads. Counts
 * are exact, and weights are summed exactly as float32 values.
 * @throws {DataValidationError} if lengths differ, a value is not 0 or 1, or no row can be used
 */
export async function reduceClassificationTensors(rows: ClassificationRows): Promise<ClassificationStats> {
  const tf = currentTensorflow();
  assertTextsCanOccur(rows);
  return withTensors(tf, async (keep) => {
    const columns = deviceColumns(tf, keep, rows);
    const decisions = await columns.labels(rows.yPred, 'yPred', rows.positiveLabel);
    const truth =
      rows.yTrue && (await columns.labels(rows.yTrue, 'yTrue', rows.yTruePositiveLabel ?? rows.positiveLabel));
    assertDeviceLabels(rows, truth, decisions);
    const [yPred, yTrue] = [decisions.tensor, truth?.tensor];
    const weights = rows.sampleWeight && (await columns.weights(rows.sampleWeight));
    const groups = await columns.groups(rows.sensitive, rows.nanPolicy);
    assertSameLength({
      yPred: yPred.size,
      sensitive: groups.rows,
      yTrue: yTrue?.size,
      sampleWeight: weights?.size,
    });
    const { largest, lacksWeights } = await checkWeights(tf, weights, groups);
    const cells: CellRows = {
      rows: yPred.size,
      cells: (groups.labels.length + 1) * RAW_CELLS,
      codesOf: (slice) => rawCells(tf, slice, { codes: groups.codesOf(slice), yPred, yTrue, weights }),
    };
    const tables = await weighCells(tf, cells, weights, largest);
    await assertBinary(tables.counts, { yPred, yTrue });
    const stats = finishClassification(groups.labels, tables, { yTrue, yPred: { length: yPred.size }, lacksWeights });
    return withReadings(stats, columns);
  });
}

interface DeviceDecisions {
  readonly yPred: Tensor1D;
  readonly yTrue: Tensor1D | undefined;
}

/** Rejects invalid weights. Returns the largest weight, and whether any row with a group has no weight. */
async function checkWeights(
  tf: Tf,
  weights: Tensor1D | undefined,
  { codesOf }: DeviceGroups,
): Promise<{ largest: number; lacksWeights: boolean }> {
  if (weights === undefined) return { largest: 1, lacksWeights: false };
  const maxima = await largestValues(tf, weights.size, 3, (slice) => {
    const isMissing = tf.logicalNot(areKnown(tf, slice, [weights]));
    const lacks = tf.logicalAnd(isMissing, codesOf(slice).greaterEqual(0)).cast<Tensor1D>('float32');
    return [lacks, ...weightExtremes(tf, slice, weights)];
  });
  return { largest: await assertWeights(maxima.slice(1), weights), lacksWeights: maxima[0] === 1 };
}

/** Returns the cell index of each row. The indexes are those that `rawCell` returns on the host. */
function rawCells(
  tf: Tf,
  slice: Slice,
  rows: DeviceDecisions & { readonly codes: Tensor1D; readonly weights: Tensor1D | undefined },
): Tensor1D {
  let decision = stateOf(tf, slice(rows.yPred));
  if (rows.weights !== undefined) {
    // A row without a weight is treated as a row without a decision, unless its decision is invalid.
    const refused = tf.equal(decision, BAD_STATE).cast('float32').mul<Tensor1D>(BAD_STATE);
    decision = tf.where<Tensor1D>(areKnown(tf, slice, [rows.weights]), decision, refused);
  }
  const group = rows.codes.add(1).mul(RAW_STATES);
  const truth = rows.yTrue === undefined ? group : group.add(stateOf(tf, slice(rows.yTrue)));
  return truth.mul(RAW_STATES).add(decision).cast('int32');
}

/**
 * Rejects decisions and labels that are not 0 or 1. The values are read back only if one of them is invalid, to report
 * the first invalid value.
 */
async function assertBinary(counts: Float64Array, { yPred, yTrue }: DeviceDecisions): Promise<void> {
  const isSeen = (stateOfCell: (cell: number) => number): boolean =>
    counts.some((count, cell) => count > 0 && stateOfCell(cell % RAW_CELLS) === BAD_STATE);
  if (isSeen((cell) => cell % RAW_STATES)) toBinary(await yPred.data(), 'yPred');
  if (yTrue !== undefined && isSeen((cell) => Math.floor(cell / RAW_STATES))) toBinary(await yTrue.data(), 'yTrue');
}
