import type { Tensor } from '@tensorflow/tfjs';

import { createRandom } from '../../internal/random.ts';
import type { Tf } from '../runtime.ts';
import type { NumericsCase } from './numerics-case.ts';

/**
 * The tolerances are the errors that float32 arithmetic may cause in a result, relative to max(1, |result|). Each
 * rounding changes a number by at most 2^-24 of its size, 6e-8. WGSL guarantees only the following. Sums, differences
 * and products are rounded once. The functions below are accurate to the given number of units in the last place, each
 * at most 2^-23.
 */

/** The tolerance for counts, integers, and values that are only moved. */
export const EXACT = 0;

const ROUNDING = 2 ** -24;
const LAST_PLACE = 2 ** -23;

/**
 * Returns the error of several roundings in the same direction, for numbers no larger than the result or the given
 * size.
 */
export function roundings(count: number, size = 1): number {
  return count * size * ROUNDING;
}

/**
 * Returns the tolerance for sums of products of numbers in [-1, 1]. Each term rounds a partial sum of about sqrt(terms)
 * / 3 up or down. The errors form a random walk whose standard deviation is a seventh of the tolerance.
 */
export function sumOf(terms: number): number {
  return roundings(terms + 1);
}

/** The tolerance for quotients: 2.5 units in the last place. */
export const QUOTIENT = 2.5 * LAST_PLACE;

/**
 * Returns the tolerance for weighted means of numbers in [0, 1]. It covers a quotient and two sums, in which each term
 * rounds a share up or down.
 */
export function meanOf(terms: number): number {
  return 2 * roundings(1 + 2 * Math.sqrt(terms)) + QUOTIENT;
}

/** Returns the tolerance for exponentials of numbers up to a size: 3 + 2 |x| units in the last place. */
export function exponential(largest: number): number {
  return (3 + 2 * largest) * LAST_PLACE;
}

/** The tolerance for logarithms: 2^-21 between 0.5 and 2, otherwise 3 units in the last place. */
export const LOGARITHM = 2 ** -21;

/** The tolerance for log(1 + x), computed as a sum and a logarithm: one additional rounding. */
export const LOGARITHM_OF_ONE_MORE = LOGARITHM + roundings(1);

/** The tolerance for square roots, as 1 / inverseSqrt(x): 2 and 2.5 units in the last place. */
export const SQUARE_ROOT = 4.5 * LAST_PLACE;

/**
 * The tolerance for 1 / (1 + exp(-x)). The exponential's error is scaled by p (1 - p), which leaves at most one unit in
 * the last place. A sum and a quotient follow.
 */
export const SIGMOID = LAST_PLACE + roundings(1) + QUOTIENT;

/**
 * The tolerance for log(1 + exp(-|x|)) + max(-x, 0). The exponential's error of at most 3 units is propagated
 * unchanged.
 */
export const SOFTPLUS = 3 * LAST_PLACE + LOGARITHM_OF_ONE_MORE + roundings(1);

/** The description of a case, and its tolerance. */
interface Asked {
  readonly op: string;
  readonly name: string;
  readonly tolerance: number;
}

/** A case whose results are tensors. It is created when it runs, so that its data use no memory until then. */
export interface TensorQuestion {
  /** Creates the inputs and calls the op; runs inside `tf.tidy`. */
  readonly ask: (tf: Tf) => Tensor | readonly Tensor[];
  /** The values of each result, in float64. */
  readonly expected: ArrayLike<number> | readonly ArrayLike<number>[];
}

/** A case whose op itself reads its result from the device. */
export interface HostQuestion<T extends Readonly<Record<string, Tensor>>> {
  readonly given: (tf: Tf) => T;
  readonly ask: (tf: Tf, given: T) => Promise<ArrayLike<number> | readonly ArrayLike<number>[]>;
  readonly expected: ArrayLike<number> | readonly ArrayLike<number>[];
}

/** Creates a case whose results are tensors. Each tensor is read once. */
export function tensorCase(asked: Asked & { readonly answers?: number }, pose: () => TensorQuestion): NumericsCase {
  const { op, name, tolerance, answers = 1 } = asked;
  const run: NumericsCase['run'] = async (tf) => {
    const { ask, expected } = pose();
    const tensors = tf.tidy((): Tensor[] => [ask(tf)].flat());
    try {
      const values = await Promise.all(tensors.map((tensor) => tensor.data()));
      return { actual: joined(values), expected: joined(expected) };
    } finally {
      tf.dispose(tensors);
    }
  };
  return { op, name, tolerance, reads: answers, run };
}

/** Creates a case whose op itself reads from the device, at most `reads` times. */
export function hostCase<T extends Readonly<Record<string, Tensor>>>(
  asked: Asked & { readonly reads: number },
  pose: () => HostQuestion<T>,
): NumericsCase {
  const { op, name, tolerance, reads } = asked;
  const run: NumericsCase['run'] = async (tf) => {
    const { given, ask, expected } = pose();
    const tensors = given(tf);
    try {
      return { actual: joined(await ask(tf, tensors)), expected: joined(expected) };
    } finally {
      tf.dispose(Object.values(tensors));
    }
  };
  return { op, name, tolerance, reads, run };
}

/** Joins one or more lists of numbers. */
function joined(values: ArrayLike<number> | readonly ArrayLike<number>[]): Float64Array {
  const parts = Array.from(values as ArrayLike<number | ArrayLike<number>>);
  return Float64Array.from(parts.flatMap((part) => (typeof part === 'number' ? [part] : Array.from(part))));
}

/** Generates float32 numbers in [-1, 1). They are the same on every run and machine. */
export function uniform(seed: number, size: number): Float32Array {
  const random = createRandom(seed);
  return Float32Array.from({ length: size }, () => 2 * random.next() - 1);
}

/** Generates float32 numbers in [min, min + width). */
export function between(seed: number, size: number, min: number, width: number): Float32Array {
  const random = createRandom(seed);
  return Float32Array.from({ length: size }, () => min + width * random.next());
}

/** Generates numbers of both signs whose magnitudes are spread over powers of ten, from 10^lowest to 10^highest. */
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
 * Generates memberships of rows in groups, [rows, groups], with weights in (0.5, 1.5]. The last `empty` groups have no
 * rows.
 */
export function memberships(seed: number, rows: number, groups: number, empty = 0): Float32Array {
  const random = createRandom(seed);
  const values = new Float32Array(rows * groups);
  for (let row = 0; row < rows; row++) {
    values[row * groups + random.integer(groups - empty)] = 1.5 - random.next();
  }
  return values;
}
