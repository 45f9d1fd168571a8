import type { Tensor1D } from '@tensorflow/tfjs';

import { missingLabel, type NanPolicy } from '../../../table/index.ts';
import { cellTables, largestExactInteger, largestValues, type Slice, type Tf } from '../../../tensor/index.ts';
import { type DeviceGroups, translate } from './device-groups.ts';
import { areKnown, known } from './row-states.ts';
import type { Keep } from './tensor-scope.ts';

/** Whole numbers further apart are not counted on the device. */
const WIDEST_RANGE = 4096;

/**
 * Encodes whole numbers that are no further apart than {@link WIDEST_RANGE};
 * reads back their range and which of it occur. NaN is missing.
 * @param values [n], of any type of number
 * @returns undefined for other numbers
 */
export async function encodeWholeNumbers(
  tf: Tf,
  keep: Keep,
  values: Tensor1D,
  nanPolicy: NanPolicy,
): Promise<DeviceGroups | undefined> {
  const range = await wholeRange(tf, values);
  if (range === undefined) return undefined;
  const { least, span } = range;
  const placesOf = (slice: Slice): Tensor1D => places(tf, slice, values, least, span);
  const { counts } = await cellTables(tf, {
    rows: values.size,
    cells: span + 1,
    codesOf: (slice) => placesOf(slice).cast('int32'),
  });
  const occurring = Array.from(counts.keys()).filter((place) => place < span && counts[place] !== 0);
  const labels = occurring.map((place) => String(least + place));
  const codes = new Float32Array(span + 1).fill(-1);
  occurring.forEach((place, code) => (codes[place] = code));
  // A place that does not occur may have any code; its own spares the look-up.
  if (counts[span] === 0) codes[span] = span;
  else if (nanPolicy === 'include') {
    codes[span] = labels.length;
    labels.push(missingLabel(labels));
  }
  return { rows: values.size, labels: Object.freeze(labels), codesOf: translate(tf, keep, codes, placesOf) };
}

/** How far each number is from the least one; `span` where it is missing. */
function places(tf: Tf, slice: Slice, values: Tensor1D, least: number, span: number): Tensor1D {
  const rows = slice(values);
  if (rows.dtype === 'float32') return known(tf, areKnown(tf, slice, [values]), rows.sub(least), span);
  // In int32, since float32 has not all of its numbers.
  return rows.cast('int32').sub(tf.scalar(least, 'int32')).cast('float32');
}

/** The least number and how many the range holds; undefined where a number is not whole or they are far apart. */
async function wholeRange(tf: Tf, values: Tensor1D): Promise<{ least: number; span: number } | undefined> {
  const isFloat = values.dtype === 'float32';
  const [largest, negated, fraction] = (await largestValues(tf, values.size, isFloat ? 3 : 2, (slice) => {
    if (!isFloat) {
      const numbers = slice(values).cast<Tensor1D>('int32');
      // Not neg(), which on wasm takes the bits of an int32 for a float32.
      return [numbers, tf.scalar(0, 'int32').sub(numbers)];
    }
    const isKnown = areKnown(tf, slice, [values]);
    const numbers = slice(values);
    return [
      known(tf, isKnown, numbers, -Infinity),
      known(tf, isKnown, numbers.neg(), -Infinity),
      known(tf, isKnown, numbers.notEqual(tf.floor(numbers)).cast('float32')),
    ];
  })) as unknown as [number, number, number?];
  if (largest === -Infinity) return { least: 0, span: 0 };
  const span = largest + negated + 1;
  if (!isFloat && Math.max(largest, negated) >= largestExactInteger(tf)) return undefined;
  return fraction !== 1 && span >= 1 && span <= WIDEST_RANGE ? { least: -negated, span } : undefined;
}
