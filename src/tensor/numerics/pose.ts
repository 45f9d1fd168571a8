import type { Tensor } from '@tensorflow/tfjs';

import { createRandom } from '../../internal/random.ts';
import type { Tf } from '../runtime.ts';
import type { NumericsCase } from './numerics-case.ts';

/**
 * What float32 may leave of an answer, as a share of it, or of 1 where it is smaller. Each rounding moves a number by
 * at most 2^-24 of its size, 6e-8. WGSL asks more of nobody: it promises sums, differences and products rounded
 * once, and the accuracies below in units of the last place, of 2^-23 at most.
 */

/** Counts, whole numbers, and what is moved and not computed. */
export const EXACT = 0;

const ROUNDING = 2 ** -24;
const LAST_PLACE = 2 ** -23;

/** Some roundings, all one way, of numbers no larger than the answer, or than a given size. */
export function roundings(count: number, size = 1): number {
  return count * size * ROUNDING;
}

/**
 * Sums of products of numbers in [-1, 1]: each term rounds a partial sum of about sqrt(terms) / 3, up or down, which
 * is a random walk with a standard deviation of a seventh of this.
 */
export function sumOf(terms: number): number {
  return roundings(terms + 1);
}

/** Quotients: 2.5 units of the last place. */
export const QUOTIENT = 2.5 * LAST_PLACE;

/** Weighted means of numbers in [0, 1]: two sums, of which each term rounds a share, up or down, and a quotient. */
export function meanOf(terms: number): number {
  return 2 * roundings(1 + 2 * Math.sqrt(terms)) + QUOTIENT;
}

/** Exponentials of numbers up to a size: 3 + 2 |x| units of the last place. */
export function exponential(largest: number): number {
  return (3 + 2 * largest) * LAST_PLACE;
}

/** Logarithms: 2^-21 between 0.5 and 2, else 3 units of the last place. */
export const LOGARITHM = 2 ** -21;

/** log(1 + x), computed as that: one rounding more. */
export const LOGARITHM_OF_ONE_MORE = LOGARITHM + roundings(1);

/** Square roots, as 1 / inverseSqrt(x): 2 and 2.5 units of the last place. */
export const SQUARE_ROOT = 4.5 * LAST_PLACE;

/** 1 / (1 + exp(-x)): the exponential's error counts p (1 - p), at most a unit of the last place, then a sum and a quotient. */
export const SIGMOID = LAST_PLACE + roundings(1) + QUOTIENT;

/** log(1 + exp(-|x|)) + max(-x, 0): the exponential's error, at most 3 units, is passed on as it is. */
export const SOFTPLUS = 3 * LAST_PLACE + LOGARITHM_OF_ONE_MORE + roundings(1);

/** What is asked, in words, and how near the answer has to be. */
interface Asked {
  readonly op: string;
  readonly name: string;
  readonly tolerance: number;
}

/** A question whose answer is tensors, made when it is asked: its numbers cost nothing before. */
export interface TensorQuestion {
  /** Makes what is given, and asks; inside `tf.tidy`. */
  readonly ask: (tf: Tf) => Tensor | readonly Tensor[];
  /** The values of each answer, in float64. */
  readonly expected: ArrayLike<number> | readonly ArrayLike<number>[];
}

/** A question whose answer is read from the device by the op itself. */
export interface HostQuestion<T extends Readonly<Record<string, Tensor>>> {
  readonly given: (tf: Tf) => T;
  readonly ask: (tf: Tf, given: T) => Promise<ArrayLike<number> | readonly ArrayLike<number>[]>;
  readonly expected: ArrayLike<number> | readonly ArrayLike<number>[];
}

/** A case whose answer is tensors; each is read once. */
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

/** A case whose op reads by itself, at most so often. */
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

/** One list of numbers of one or several. */
function joined(values: ArrayLike<number> | readonly ArrayLike<number>[]): Float64Array {
  const parts = Array.from(values as ArrayLike<number | ArrayLike<number>>);
  return Float64Array.from(parts.flatMap((part) => (typeof part === 'number' ? [part] : Array.from(part))));
}

/** Numbers in [-1, 1), in float32; the same on every run and machine. */
export function uniform(seed: number, size: number): Float32Array {
  const random = createRandom(seed);
  return Float32Array.from({ length: size }, () => 2 * random.next() - 1);
}

/** Numbers in [least, least + width), in float32. */
export function between(seed: number, size: number, least: number, width: number): Float32Array {
  const random = createRandom(seed);
  return Float32Array.from({ length: size }, () => least + width * random.next());
}

/** Numbers of both signs whose sizes are spread over powers of ten, from 10^lowest to 10^highest. */
export function spread(seed: number, size: number, lowest: number, highest: number): Float32Array {
  const random = createRandom(seed);
  return Float32Array.from({ length: size }, () => {
    const sign = random.next() < 0.5 ? -1 : 1;
    return sign * 10 ** (lowest + (highest - lowest) * random.next());
  });
}

/** Whole numbers in [0, bound). */
export function codes(seed: number, size: number, bound: number): Int32Array {
  const random = createRandom(seed);
  return Int32Array.from({ length: size }, () => random.integer(bound));
}

/** Memberships of rows in groups, [rows, groups], with weights in (0.5, 1.5]; `empty` groups at the end have no rows. */
export function memberships(seed: number, rows: number, groups: number, empty = 0): Float32Array {
  const random = createRandom(seed);
  const values = new Float32Array(rows * groups);
  for (let row = 0; row < rows; row++) {
    values[row * groups + random.integer(groups - empty)] = 1.5 - random.next();
  }
  return values;
}
