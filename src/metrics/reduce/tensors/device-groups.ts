import type { Tensor1D } from '@tensorflow/tfjs';

import type { Slice, Tf } from '../../../tensor/index.ts';
import type { Keep } from './tensor-scope.ts';

/** Groups of rows on the device, and their labels on the host, as `encodeGroups` gives them. */
export interface DeviceGroups {
  readonly rows: number;
  readonly labels: readonly string[];
  /** The codes of a chunk's rows, -1 where missing; float32. */
  readonly codesOf: (slice: Slice) => Tensor1D;
}

/**
 * The codes of rows whose places are known, by a table of codes on the device;
 * where all places are their own codes there is nothing to look up.
 */
export function translate(
  tf: Tf,
  keep: Keep,
  codes: Float32Array,
  placesOf: (slice: Slice) => Tensor1D,
): (slice: Slice) => Tensor1D {
  if (codes.every((code, place) => code === place)) return placesOf;
  const table = keep(tf.tensor1d(codes));
  return (slice) => tf.gather(table, placesOf(slice).cast('int32'));
}
