import type { Tensor1D } from '@tensorflow/tfjs';

import { DataValidationError } from '../../../exceptions/index.ts';
import { joinLabels, sortLabels } from '../../../table/index.ts';
import { cellTables, type Slice, type Tf } from '../../../tensor/index.ts';
import { type DeviceGroups, translate } from './device-groups.ts';
import type { Keep } from './tensor-scope.ts';

/** Pairs of groups that are counted on the device at most. */
const MOST_PAIRS = 2 ** 16;

/**
 * Crosses two attributes; reads back which pairs of their groups occur, and
 * only those become groups, with the labels that `encodeGroups` gives them.
 * @returns undefined where there are too many pairs
 * @throws {DataValidationError} where the attributes differ in length
 */
export async function crossOnDevice(
  tf: Tf,
  keep: Keep,
  left: DeviceGroups,
  right: DeviceGroups,
): Promise<DeviceGroups | undefined> {
  if (left.rows !== right.rows) throw differentLengths(left.rows, right.rows);
  const width = right.labels.length;
  const pairs = left.labels.length * width;
  if (pairs > MOST_PAIRS) return undefined;
  const placesOf = (slice: Slice): Tensor1D => {
    const [a, b] = [left.codesOf(slice), right.codesOf(slice)];
    const isMissing = tf.minimum(a, b).less(0);
    return tf.where<Tensor1D>(isMissing, tf.fill(a.shape, pairs), a.mul(width).add(b));
  };
  const { counts } = await cellTables(tf, {
    rows: left.rows,
    cells: pairs + 1,
    codesOf: (slice) => placesOf(slice).cast('int32'),
  });
  const occurring = Array.from(counts.keys()).filter((pair) => pair < pairs && counts[pair] !== 0);
  const parts = occurring.map((pair) => [
    left.labels[Math.floor(pair / width)] as string,
    right.labels[pair % width] as string,
  ]);
  // Sorting labels renumbers the codes that go with them: those of the pairs, in their order.
  const { codes: ranks, labels } = sortLabels(Int32Array.from(occurring.keys()), joinLabels(parts));
  const codes = new Float32Array(pairs + 1).fill(-1);
  if (counts[pairs] === 0) codes[pairs] = pairs;
  occurring.forEach((pair, index) => (codes[pair] = ranks[index] as number));
  return { rows: left.rows, labels, codesOf: translate(tf, keep, codes, placesOf) };
}

function differentLengths(left: number, right: number): DataValidationError {
  return new DataValidationError(`The sensitive attributes differ in length: ${String(left)} and ${String(right)}.`, {
    context: { argument: 'sensitive' },
    suggestion: 'Give every attribute one value per row.',
  });
}
