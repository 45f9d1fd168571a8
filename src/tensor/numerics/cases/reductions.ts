import type { Tensor } from '@tensorflow/tfjs';

import { columnSums, rowSums, sumsByCode, turned } from '../float64.ts';
import type { NumericsCase } from '../numerics-case.ts';
import { codes, EXACT, roundings, spread, sumOf, tensorCase, uniform } from '../pose.ts';

/**
 * Matrix sizes that are difficult to reduce: one number, one row, one column, and slightly or many more rows than a
 * workgroup.
 */
const SIZES: readonly (readonly [rows: number, columns: number])[] = [
  [1, 1],
  [1, 257],
  [4097, 1],
  [255, 33],
  [3, 4097],
];

/** A reduction of each row or each column, and its expected result for a list of numbers. */
interface Reduction {
  readonly op: string;
  readonly apply: (x: Tensor, axis: number[]) => Tensor;
  readonly expected: (values: readonly number[]) => number;
  readonly tolerance: (terms: number) => number;
}

const REDUCTIONS: readonly Reduction[] = [
  {
    op: 'sum',
    apply: (x, axis) => x.sum(axis),
    expected: (values) => values.reduce((sum, value) => sum + value, 0),
    tolerance: sumOf,
  },
  { op: 'max', apply: (x, axis) => x.max(axis), expected: (values) => Math.max(...values), tolerance: () => EXACT },
  { op: 'min', apply: (x, axis) => x.min(axis), expected: (values) => Math.min(...values), tolerance: () => EXACT },
];

const OVER_AXES: readonly NumericsCase[] = REDUCTIONS.flatMap(({ op, apply, expected, tolerance }) =>
  SIZES.map(([rows, columns]) =>
    tensorCase(
      {
        op,
        name: `of [${String(rows)}, ${String(columns)}] over rows, over columns and over both`,
        tolerance: tolerance(rows * columns),
        answers: 3,
      },
      () => {
        const values = uniform(rows, rows * columns);
        const lists = (given: ArrayLike<number>, size: number): number[][] =>
          Array.from({ length: given.length / size }, (_, list) =>
            Array.from({ length: size }, (__, index) => given[list * size + index] as number),
          );
        return {
          ask: (tf) => {
            const x = tf.tensor2d(values, [rows, columns]);
            return [apply(x, [0]), apply(x, [1]), apply(x, [0, 1])];
          },
          expected: [
            lists(turned(values, rows, columns), rows).map(expected),
            lists(values, columns).map(expected),
            [expected([...values])],
          ],
        };
      },
    ),
  ),
);

const OTHERS: readonly NumericsCase[] = [
  tensorCase({ op: 'sum', name: 'of [5, 7, 33] over its last two axes', tolerance: sumOf(7 * 33) }, () => {
    const values = uniform(1, 5 * 7 * 33);
    return {
      ask: (tf) => tf.tensor3d(values, [5, 7, 33]).sum([1, 2]),
      expected: rowSums(values, 5, 7 * 33),
    };
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
      ask: (tf) => tf.bincount(tf.tensor1d(given, 'int32'), tf.tensor1d([], 'float32'), 33),
      expected: sumsByCode(given, 33),
    };
  }),
];

/** On a GPU, TensorFlow's native library has no weighted `bincount`, so `cellCounts` uses another op there. */
const WEIGHED: NumericsCase = {
  ...tensorCase({ op: 'bincount', name: 'weights of 255 codes in 3 cells', tolerance: roundings(255, 1) }, () => {
    const given = codes(6, 255, 3);
    const weights = uniform(7, 255);
    return {
      ask: (tf) =>
        tf.getBackend() === 'tensorflow'
          ? tf.unsortedSegmentSum(tf.tensor1d(weights), tf.tensor1d(given, 'int32'), 3)
          : tf.bincount(tf.tensor1d(given, 'int32'), tf.tensor1d(weights), 3),
      expected: sumsByCode(given, 3, weights),
    };
  }),
};

/** Cases for reductions. */
export const REDUCTION_CASES: readonly NumericsCase[] = [...OVER_AXES, ...OTHERS, WEIGHED];
