import { sigmoid } from '../../../internal/values.ts';

/** Prototypes, which are stored in one array of parameters: log-odds of labels, then positions. */
export interface Prototypes {
  /** The labels, [prototypes]. */
  readonly labels: Float64Array;
  /** The positions, [prototypes, columns]. */
  readonly positions: Float64Array;
}

/** Reads parameters: `count` log-odds, then `count` rows of positions. */
export function readPrototypes(point: Float64Array, count: number): Prototypes {
  return { labels: point.subarray(0, count).map(sigmoid), positions: point.subarray(count) };
}

/**
 * Writes the memberships of one row in the prototypes to `into`. The memberships are the softmax of the negative
 * Euclidean distances.
 */
export function memberships(
  x: Float64Array,
  start: number,
  columns: number,
  positions: Float64Array,
  into: Float64Array,
): void {
  let min = Infinity;
  for (let k = 0; k < into.length; k++) {
    let square = 0;
    for (let p = 0; p < columns; p++)
      square += ((x[start + p] as number) - (positions[k * columns + p] as number)) ** 2;
    into[k] = Math.sqrt(square);
    min = Math.min(min, into[k] as number);
  }
  let sum = 0;
  for (let k = 0; k < into.length; k++) sum += into[k] = Math.exp(min - (into[k] as number));
  for (let k = 0; k < into.length; k++) into[k] = (into[k] as number) / sum;
}

/** Computes the reconstruction of a row from its memberships, and writes it to `into`. */
export function reconstruct(shares: Float64Array, positions: Float64Array, into: Float64Array): void {
  into.fill(0);
  for (let k = 0; k < shares.length; k++) {
    for (let p = 0; p < into.length; p++) {
      into[p] = (into[p] as number) + (shares[k] as number) * (positions[k * into.length + p] as number);
    }
  }
}
