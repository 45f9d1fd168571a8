import type { Rank, Tensor1D } from '@tensorflow/tfjs';

import { sumOf } from '../../../internal/values.ts';
import { type Keep, withTensors } from '../../../metrics/reduce/tensors/row-states.ts';
import type { ColumnSource } from '../../../table/index.ts';
import { atRows, cellTables, currentTensorflow, rowsOfParts, sortedRows, type Tf } from '../../../tensor/index.ts';
import { assertCountable, repeated } from '../../data/tensor-rows.ts';
import { type DeviceScores, keepRows } from '../device-scores.ts';
import { applyMaps } from './apply-on-device.ts';
import type { CalibrationRowOptions } from './calibration-rows.ts';
import { assertBothLabels, type CalibratorState } from './fit-calibrator.ts';
import { fitDeviceScores, readCalibrationTensors } from './fit-on-device.ts';
import { dealOut, type HeldOutResult, type HeldOutTask, oneLabelWithout, reportPart } from './held-out-parts.ts';

/**
 * Calibrates held-out rows on the device of their scores. The caller disposes of the tensors.
 * @param scores a tensor, [rows]
 * @throws {DataValidationError} under the conditions of `calibrateHeldOut`
 */
export function holdOutOnDevice(
  scores: ColumnSource,
  y: ColumnSource,
  options: CalibrationRowOptions,
  task: HeldOutTask,
): Promise<HeldOutResult<Tensor1D, Tensor1D>> {
  const tf = currentTensorflow();
  return withTensors(tf, async (keep) => {
    const all = await readCalibrationTensors(tf, keep, scores, y, options);
    const { sizes, partOf } = await assignParts(tf, keep, all, task);
    const states: CalibratorState[] = [];
    let calibrated = keep(tf.zeros<Rank.R1>([all.rows]));
    for (const part of sizes.keys()) {
      const state = await fitPart(tf, { all, partOf, part, parts: sizes.length }, task);
      const before = calibrated;
      calibrated = keep(
        tf.tidy(() => tf.where(partOf.equal(part), applyMaps(tf, state, all.scores, all.given), before)),
      );
      before.dispose();
      states.push(state);
      reportPart(task, part + 1, sizes.length);
    }
    const state =
      sizes.length === 1 ? (states[0] as CalibratorState) : await fitDeviceScores(tf, keep, all, task.settings);
    reportPart(task, sizes.length + 1, sizes.length);
    if (task.folds !== null) {
      const rows = tf.range(0, all.rows, 1, 'int32');
      return { rows, calibrated: calibrated.clone(), foldOf: partOf.clone(), states, state };
    }
    const [size = 0] = sizes;
    const [rows, train] = rowsOfParts(tf, partOf, [size, all.rows - size]) as [Tensor1D, Tensor1D];
    keep(train);
    return { rows, calibrated: tf.gather(calibrated, rows), foldOf: null, states, state };
  });
}

/**
 * Assigns rows to parts like the host, which needs only the number of rows of each stratum: it splits the positions of
 * rows that are sorted by stratum, and rows of a stratum keep their order.
 * @returns the number of rows that each part calibrates, and the part that calibrates each row, [rows] int32; rows that
 *   no part calibrates have the number of parts
 */
async function assignParts(
  tf: Tf,
  keep: Keep,
  { rows, y, groups, given }: DeviceScores,
  task: HeldOutTask,
): Promise<{ readonly sizes: readonly number[]; readonly partOf: Tensor1D }> {
  assertCountable(tf, rows, 'scores');
  const strata = keep(tf.tidy(() => given.codes.mul(2).add<Tensor1D>(y).cast<Tensor1D>('int32')));
  const { counts } = await cellTables(tf, { rows, cells: 2 * groups, codesOf: (slice) => slice(strata) });
  const positives = sumOf(counts.filter((_, stratum) => stratum % 2 === 1));
  assertBothLabels({ n: rows, positives, positiveRate: positives / rows });
  const parts = dealOut(repeated(counts), task);
  const partAt = new Int32Array(rows).fill(parts.length);
  for (const [part, positions] of parts.entries()) {
    for (const position of positions) partAt[position] = part;
  }
  const partOf = tf.tidy(() => atRows(tf, sortedRows(tf, strata, counts), tf.tensor1d(partAt, 'int32')));
  return { sizes: parts.map(({ length }) => length), partOf: keep(partOf) };
}

/** The rows of a part. */
interface DevicePart {
  readonly all: DeviceScores;
  readonly partOf: Tensor1D;
  readonly part: number;
  readonly parts: number;
}

function fitPart(
  tf: Tf,
  { all, partOf, part, parts }: DevicePart,
  { folds, settings }: HeldOutTask,
): Promise<CalibratorState> {
  return withTensors(tf, async (keep) => {
    if (folds === 1) return fitDeviceScores(tf, keep, all, settings);
    const rows = await keepRows(tf, keep, all, keep(partOf.notEqual(part)));
    const positives = sumOf(rows.counts.map((group) => group.positives));
    const isMixed = positives > 0 && positives < sumOf(rows.counts.map(({ n }) => n));
    if (!isMixed && parts > 1) throw oneLabelWithout(part, parts);
    return fitDeviceScores(tf, keep, rows, settings);
  });
}
