import type { Tensor } from '@tensorflow/tfjs';

import { columnSums, ofModels, partOf, product, rowSums, sumsByCode, turned } from '../float64.ts';
import { codes, spread, uniform } from '../inputs.ts';
import { type NumericsCase, tensorCase } from '../numerics-case.ts';
import { EXACT, roundings, sumOf } from '../tolerances.ts';

/**
 * Sizes of the matrices in [n, d] times [d, m]: single numbers, vectors, and sizes above and below the tile sizes 32
 * and 64.
 */
const FACTORS: readonly (readonly [n: number, d: number, m: number])[] = [
  [1, 1, 1],
  [1, 257, 1],
  [1, 4097, 33],
  [33, 255, 3],
  [257, 3, 5],
  [65, 33, 63],
];

const FLAGS: readonly (readonly [transposeA: boolean, transposeB: boolean])[] = [
  [false, false],
  [true, false],
  [false, true],
  [true, true],
];

/**
 * Creates a case for the product of matrices of shapes [n, d] and [d, m], or of stacks of such matrices. `stack`
 * contains the size of the stacks; it is empty for single matrices.
 */
function matMulCase(
  name: string,
  [n, d, m]: readonly [n: number, d: number, m: number],
  [transposeA, transposeB]: readonly [transposeA: boolean, transposeB: boolean],
  { seeds, stack = [] }: { readonly seeds: readonly [number, number]; readonly stack?: readonly number[] },
): NumericsCase {
  return tensorCase({ op: 'matMul', name, tolerance: sumOf(d) }, () => {
    const [k = 1] = stack;
    const [a, b] = [uniform(seeds[0], k * n * d), uniform(seeds[1], k * d * m)];
    const turnedA = ofModels(k, (model) => turned(partOf(a, model, k), n, d));
    const turnedB = ofModels(k, (model) => turned(partOf(b, model, k), d, m));
    return {
      ask: (tf) =>
        tf.matMul(
          transposeA ? tf.tensor(turnedA, [...stack, d, n]) : tf.tensor(a, [...stack, n, d]),
          transposeB ? tf.tensor(turnedB, [...stack, m, d]) : tf.tensor(b, [...stack, d, m]),
          transposeA,
          transposeB,
        ),
      expected: ofModels(k, (model) => product(partOf(a, model, k), partOf(b, model, k), n, d, m)),
    };
  });
}

const nameOf = (rows: number, columns: number, isTransposed: boolean): string =>
  `[${String(rows)}, ${String(columns)}]${isTransposed ? ' transposed' : ''}`;

/** Cases for products of matrices, and of stacks of matrices. */
export const PRODUCT_CASES: readonly NumericsCase[] = [
  ...FACTORS.flatMap(([n, d, m]) =>
    FLAGS.map(([transposeA, transposeB]) => {
      const name = `${nameOf(n, d, transposeA)} by ${nameOf(d, m, transposeB)}`;
      return matMulCase(name, [n, d, m], [transposeA, transposeB], { seeds: [n, m] });
    }),
  ),
  ...FLAGS.map((flags) =>
    matMulCase(`5 matrices each, flags ${flags.join(' and ')}`, [7, 33, 3], flags, { seeds: [1, 2], stack: [5] }),
  ),
  tensorCase({ op: 'matMul', name: 'a product with ones sums integers exactly', tolerance: EXACT }, () => {
    // 4,097 numbers of at most 1,000 add up to less than 2^24.
    const values = Float32Array.from({ length: 4097 }, (_, index) => (index * 7) % 1001);
    return {
      ask: (tf) => tf.matMul(tf.tensor2d(values, [1, 4097]), tf.ones([4097, 1])),
      expected: rowSums(values, 1, 4097),
    };
  }),
  tensorCase(
    { op: 'matMul', name: 'columns of 0 and 1 select numbers over 12 orders of magnitude exactly', tolerance: EXACT },
    () => {
      const values = spread(3, 33, -6, 6);
      const order = Array.from({ length: 33 }, (_, index) => (index * 5) % 33);
      const picks = order.flatMap((_, row) => order.map((column) => (column === row ? 1 : 0)));
      return {
        ask: (tf) => tf.matMul(tf.tensor2d(values, [1, 33]), tf.tensor2d(picks, [33, 33])),
        expected: order.map((column) => values[column] as number),
      };
    },
  ),
];

/** Edge cases of matrix sizes: one number, one row, one column, and sizes next to powers of two. */
const SIZES: readonly (readonly [rows: number, columns: number])[] = [
  [1, 1],
  [1, 257],
  [4097, 1],
  [255, 33],
  [3, 4097],
];

/** The ops that reduce each row or each column, with the same functions for a list of numbers. */
const REDUCTIONS: readonly (readonly [
  op: 'max' | 'min' | 'sum',
  tolerance: (terms: number) => number,
  expected: (values: readonly number[]) => number,
])[] = [
  ['sum', sumOf, (values) => values.reduce((sum, value) => sum + value, 0)],
  ['max', () => EXACT, (values) => Math.max(...values)],
  ['min', () => EXACT, (values) => Math.min(...values)],
];

const OVER_AXES: readonly NumericsCase[] = REDUCTIONS.flatMap(([op, tolerance, expected]) =>
  SIZES.map(([rows, columns]) => {
    const name = `of ${nameOf(rows, columns, false)} over rows, over columns and over both`;
    return tensorCase({ op, name, tolerance: tolerance(rows * columns), reads: 3 }, () => {
      const values = uniform(rows, rows * columns);
      const ofLists = (given: ArrayLike<number>, count: number): number[] =>
        ofModels(count, (list) => [expected(partOf(given, list, count))]);
      return {
        ask: (tf) => {
          const x: Tensor = tf.tensor2d(values, [rows, columns]);
          return [x[op]([0]), x[op]([1]), x[op]([0, 1])];
        },
        expected: [ofLists(turned(values, rows, columns), columns), ofLists(values, rows), ofLists(values, 1)],
      };
    });
  }),
);

/** Cases for reductions. */
export const REDUCTION_CASES: readonly NumericsCase[] = [
  ...OVER_AXES,
  tensorCase({ op: 'sum', name: 'of [5, 7, 33] over its last two axes', tolerance: sumOf(7 * 33) }, () => {
    const values = uniform(1, 5 * 7 * 33);
    return { ask: (tf) => tf.tensor3d(values, [5, 7, 33]).sum([1, 2]), expected: rowSums(values, 5, 7 * 33) };
  }),
  tensorCase({ op: 'sum', name: 'that keeps its axis, of [5, 33]', tolerance: sumOf(5) }, () => {
    const values = uniform(2, 5 * 33);
    return { ask: (tf) => tf.tensor2d(values, [5, 33]).sum(0, true), expected: columnSums(values, 5, 33) };
  }),
  tensorCase({ op: 'sum', name: 'of integers is exact', tolerance: EXACT }, () => {
    const values = Float32Array.from(codes(3, 4097, 1000));
    return { ask: (tf) => tf.tensor1d(values).sum(), expected: rowSums(values, 1, 4097) };
  }),
  tensorCase({ op: 'max', name: 'of negative numbers of 12 orders of magnitude', tolerance: EXACT }, () => {
    const values = spread(4, 257, -6, 6).map((value) => -Math.abs(value));
    return { ask: (tf) => tf.tensor1d(values).max(), expected: [Math.max(...values)] };
  }),
  tensorCase({ op: 'bincount', name: '4,097 codes in 33 cells', tolerance: EXACT }, () => {
    const given = codes(5, 4097, 33);
    return {
      ask: (tf) => tf.bincount(tf.tensor1d(given), tf.tensor1d([], 'float32'), 33),
      expected: sumsByCode(given, 33),
    };
  }),
  tensorCase({ op: 'bincount', name: 'weights of 255 codes in 3 cells', tolerance: roundings(255, 1) }, () => {
    const given = codes(6, 255, 3);
    const weights = uniform(7, 255);
    return {
      // On a GPU, TensorFlow's native library has no weighted `bincount`, so `cellCounts` uses another op there.
      ask: (tf) =>
        tf.getBackend() === 'tensorflow'
          ? tf.unsortedSegmentSum(tf.tensor1d(weights), tf.tensor1d(given), 3)
          : tf.bincount(tf.tensor1d(given), tf.tensor1d(weights), 3),
      expected: sumsByCode(given, 3, weights),
    };
  }),
];
