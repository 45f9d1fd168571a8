import type { Tensor1D } from '@tensorflow/tfjs';

import { withTensors } from '../../../metrics/reduce/tensors/row-states.ts';
import type { ColumnSource, SensitiveSource } from '../../../table/index.ts';
import { ceilFloat32, cellCounts, currentTensorflow, type Tf } from '../../../tensor/index.ts';
import { type DeviceCodes, readDeviceRows } from '../../data/device-rows.ts';
import type { CalibrationMap, PlattInput } from './calibration-map.ts';
import { assertGroupsGiven } from './calibration-rows.ts';
import type { CalibratorState } from './fit-calibrator.ts';
import { deviceLogits } from './fit-on-device.ts';

/** Calibrated scores on the device, and the groups that occur but were not in `fit`. */
export interface DeviceCalibration {
  /** The probabilities, [rows] float32. The caller disposes of it. */
  readonly calibrated: Tensor1D;
  /** The number of rows of each group that was not in `fit`. */
  readonly unseen: ReadonlyMap<string, number>;
}

/**
 * Calibrates scores on their device with the map of each row's group. What is read does not depend on the number of
 * rows.
 * @param source a tensor, [rows], from 0 to 1
 * @throws {DataValidationError} under the conditions of `readDeviceRows`
 */
export async function applyOnDevice(
  state: CalibratorState,
  source: ColumnSource,
  groups: SensitiveSource,
): Promise<DeviceCalibration> {
  assertGroupsGiven(groups);
  const tf = currentTensorflow();
  return withTensors(tf, async (keep) => {
    const { columns, groups: codes } = await readDeviceRows(tf, keep, {
      columns: { scores: { source, must: 'unit' } },
      groups: { groups },
    });
    const unseen = await countUnseen(tf, state, codes);
    const scores = columns.scores?.tensor as Tensor1D;
    return { calibrated: tf.tidy(() => applyMaps(tf, state, scores, codes)), unseen };
  });
}

async function countUnseen(
  tf: Tf,
  state: CalibratorState,
  { labels, codes }: DeviceCodes,
): Promise<Map<string, number>> {
  const known = new Set(state.groups.map(({ label }) => label));
  const unseen = labels.filter((label) => !known.has(label));
  if (unseen.length === 0) return new Map();
  const indices = tf.tidy(() => codes.cast<Tensor1D>('int32').clone());
  try {
    const counts = await cellCounts(tf, indices, labels.length);
    return new Map(unseen.map((label) => [label, counts[labels.indexOf(label)] as number]));
  } finally {
    indices.dispose();
  }
}

/** Calibrates scores with the map of each row's group, [rows] float32. Call it inside `tf.tidy`. */
export function applyMaps(tf: Tf, state: CalibratorState, scores: Tensor1D, { labels, codes }: DeviceCodes): Tensor1D {
  if (scores.size === 0) return scores.clone();
  const ownOf = new Map(state.groups.map(({ label, map }) => [label, map]));
  const maps = labels.map((label) => ownOf.get(label) ?? state.pooled);
  const row = codes.cast<Tensor1D>('int32');
  const tableOf = (value: (map: CalibrationMap) => number): Tensor1D => tf.gather(tf.tensor1d(maps.map(value)), row);
  if (state.pooled.kind === 'isotonic') return interpolate(tf, scores, row, maps as IsotonicMap[]);
  const x = inputOf(state.pooled) === 'logit' ? deviceLogits(tf, scores, state.margin) : scores;
  const slope = tableOf((map) =>
    map.kind === 'temperature' ? 1 / map.temperature : map.kind === 'platt' ? map.slope : NaN,
  );
  const intercept = tableOf((map) => (map.kind === 'platt' ? map.intercept : 0));
  return tf.sigmoid(x.mul<Tensor1D>(slope).add<Tensor1D>(intercept));
}

/** All maps of a calibrator have the same kind and input. */
function inputOf(map: CalibrationMap): PlattInput {
  return map.kind === 'platt' ? map.input : 'logit';
}

type IsotonicMap = CalibrationMap & { readonly kind: 'isotonic' };

/** Interpolates between the points of each row's map. The points are found by a binary search in all maps at once. */
function interpolate(tf: Tf, scores: Tensor1D, row: Tensor1D, maps: readonly IsotonicMap[]): Tensor1D {
  const distinct = [...new Set(maps)];
  const startOf = new Map<IsotonicMap, number>();
  let size = 0;
  for (const map of distinct) {
    startOf.set(map, size);
    size += map.scores.length;
  }
  const [points, rates] = [
    // A score is at or above a point exactly if it is at or above the next float32 number.
    tf.tensor1d(distinct.flatMap((map) => map.scores.map(ceilFloat32))),
    tf.tensor1d(distinct.flatMap((map) => map.rates)),
  ];
  const starts = maps.map((map) => startOf.get(map) as number);
  const tableOf = (values: number[]): Tensor1D => tf.gather(tf.tensor1d(values, 'float32'), row);
  const first = tableOf(starts);
  const end = tableOf(maps.map((map, code) => (starts[code] as number) + map.scores.length));
  const at = (table: Tensor1D, index: Tensor1D): Tensor1D => tf.gather(table, index.cast<Tensor1D>('int32'));
  /** The number of points of earlier maps, plus the points of the row's map that are at most the score. */
  let [low, high] = [first, end];
  const longest = distinct.reduce((most, map) => Math.max(most, map.scores.length), 0);
  for (let width = longest; width > 0; width >>>= 1) {
    const [nextLow, nextHigh] = tf.tidy(() => {
      const middle = tf.floor(low.add(high).div<Tensor1D>(2));
      const isOpen = low.less(high);
      const isAtMost = tf.logicalAnd(isOpen, at(points, middle.minimum<Tensor1D>(size - 1)).lessEqual(scores));
      const isAbove = tf.logicalAnd(isOpen, tf.logicalNot(isAtMost));
      return [tf.where<Tensor1D>(isAtMost, middle.add(1), low), tf.where<Tensor1D>(isAbove, middle, high)];
    });
    [low, high] = [nextLow, nextHigh];
  }
  const left = tf.maximum<Tensor1D>(first, low.sub(1));
  const right = tf.minimum<Tensor1D>(end.sub(1), low);
  const [fromScore, toScore] = [at(points, left), at(points, right)];
  const [fromRate, toRate] = [at(rates, left), at(rates, right)];
  const gap = toScore.sub<Tensor1D>(fromScore);
  const share = scores.sub<Tensor1D>(fromScore).div<Tensor1D>(tf.where(gap.greater(0), gap, tf.onesLike(gap)));
  const between = fromRate.add<Tensor1D>(toRate.sub<Tensor1D>(fromRate).mul(share.clipByValue(0, 1)));
  // Rounding must not raise the value above the next rate.
  return tf.minimum(toRate, between);
}
