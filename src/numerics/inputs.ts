import { createRandom } from '../internal/random.ts';

/** Generates float32 numbers in [-1, 1). The numbers are the same on every run and machine. */
export function uniform(seed: number, size: number): Float32Array {
  const random = createRandom(seed);
  return Float32Array.from({ length: size }, () => 2 * random.next() - 1);
}

/** Generates float32 numbers in [min, min + width). */
export function between(seed: number, size: number, min: number, width: number): Float32Array {
  const random = createRandom(seed);
  return Float32Array.from({ length: size }, () => min + width * random.next());
}

/**
 * Generates numbers of both signs. Their absolute values are spread over the powers of ten from 10^lowest to
 * 10^highest.
 */
export function spread(seed: number, size: number, lowest: number, highest: number): Float32Array {
  const random = createRandom(seed);
  return Float32Array.from({ length: size }, () => {
    const sign = random.next() < 0.5 ? -1 : 1;
    return sign * 10 ** (lowest + (highest - lowest) * random.next());
  });
}

/** Generates integers in [0, bound). */
export function codes(seed: number, size: number, bound: number): Int32Array {
  const random = createRandom(seed);
  return Int32Array.from({ length: size }, () => random.integer(bound));
}

/**
 * Generates a matrix [rows, groups] of the memberships of rows in groups, with weights in (0.5, 1.5]. The last `empty`
 * groups have no rows.
 */
export function memberships(seed: number, rows: number, groups: number, empty = 0): Float32Array {
  const random = createRandom(seed);
  const values = new Float32Array(rows * groups);
  for (let row = 0; row < rows; row++) {
    values[row * groups + random.integer(groups - empty)] = 1.5 - random.next();
  }
  return values;
}
