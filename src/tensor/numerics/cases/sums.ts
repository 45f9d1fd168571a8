import type { Tensor2D } from '@tensorflow/tfjs';

import { groupColumnSums, groupSums } from '../../ops/group-sums.ts';
import { normalEquations, uploadRowBlocks } from '../../ops/normal-equations.ts';
import { largestValues } from '../../ops/reduce-chunks.ts';
import { each, product, sumsByCode, turned } from '../float64.ts';
import type { NumericsCase } from '../numerics-case.ts';
import { between, codes, EXACT, hostCase, roundings, sumOf, uniform } from '../pose.ts';

/** The tolerance for a group's sum if all signs are equal, as documented for `groupSums`. */
const GROUP_SUM = 1e-5;

const BY_GROUP: readonly NumericsCase[] = [
  ...(
    [
      [1, 1],
      [255, 2],
      [257, 1],
      [4097, 33],
    ] as const
  ).map(([rows, groups]) =>
    hostCase(
      {
        op: 'groupSums',
        name: `${String(rows)} rows in ${String(groups)} groups`,
        tolerance: GROUP_SUM,
        reads: 1,
      },
      () => {
        const values = between(rows, rows, 0, 1);
        const given = codes(rows + 1, rows, groups);
        return {
          given: (tf) => ({ values: tf.tensor1d(values), codes: tf.tensor1d(given, 'int32') }),
          ask: (tf, tensors) => groupSums(tf, tensors.values, tensors.codes, groups),
          expected: sumsByCode(given, groups, values),
        };
      },
    ),
  ),
  hostCase(
    {
      op: 'groupSums',
      name: 'groups whose values differ by 12 orders of magnitude, each relative to its own sum',
      tolerance: GROUP_SUM,
      reads: 1,
    },
    () => {
      const sizes = [1e-6, 1, 1e6];
      const given = codes(1, 4097, 3);
      const values = between(2, 4097, 1, 1).map((value, row) => value * (sizes[given[row] as number] as number));
      const inShares = (sums: ArrayLike<number>): number[] =>
        each(sums, (sum, group) => sum / (sizes[group] as number));
      return {
        given: (tf) => ({ values: tf.tensor1d(values), codes: tf.tensor1d(given, 'int32') }),
        ask: async (tf, tensors) => inShares(await groupSums(tf, tensors.values, tensors.codes, 3)),
        expected: inShares(sumsByCode(given, 3, values)),
      };
    },
  ),
  hostCase({ op: 'groupSums', name: 'no rows', tolerance: EXACT, reads: 0 }, () => ({
    given: (tf) => ({ values: tf.tensor1d([]), codes: tf.tensor1d([], 'int32') }),
    ask: (tf, tensors) => groupSums(tf, tensors.values, tensors.codes, 2),
    expected: [0, 0],
  })),
  hostCase(
    {
      op: 'groupColumnSums',
      name: 'two columns computed from one, rows excluded',
      tolerance: GROUP_SUM,
      reads: 1,
    },
    () => {
      const values = between(3, 257, 0, 2);
      const given = codes(4, 257, 4);
      // The fourth code excludes a row: it belongs to an extra group that is not compared.
      const squares = each(values, (value) => value * value);
      return {
        given: (tf) => ({ values: tf.tensor1d(values), codes: tf.tensor1d(given, 'int32') }),
        ask: async (tf, tensors) => {
          const rows = { rows: 257, cells: 4, codesOf: () => tensors.codes };
          const sums = await groupColumnSums(tf, rows, 2, (slice) => [
            slice(tensors.values),
            slice(tensors.values).square(),
          ]);
          return sums.map((sum) => sum.subarray(0, 3));
        },
        expected: [values, squares].map((column) => sumsByCode(given, 3, column)),
      };
    },
  ),
];

const LARGEST: readonly NumericsCase[] = [1, 255, 4097].map((rows) =>
  hostCase({ op: 'largestValues', name: `two columns of ${String(rows)} rows`, tolerance: EXACT, reads: 1 }, () => {
    const [up, down] = [uniform(rows, rows), between(rows + 1, rows, -3, 1)];
    return {
      given: (tf) => ({ up: tf.tensor1d(up), down: tf.tensor1d(down) }),
      ask: (tf, tensors) => largestValues(tf, rows, 2, (slice) => [slice(tensors.up), slice(tensors.down)]),
      expected: [Math.max(...up), Math.max(...down)],
    };
  }),
);

/** The sizes of matrices. They have at most one block of rows for `normalEquations`, or one row more than a block. */
const SIZES: readonly (readonly [rows: number, columns: number, withProducts: boolean])[] = [
  [1, 3, true],
  [257, 1, true],
  [4097, 5, true],
  [4097, 5, false],
];

const EQUATIONS: readonly NumericsCase[] = SIZES.map(([rows, columns, withProducts]) => ({
  op: 'normalEquations',
  name: `${String(rows)} rows of ${String(columns)} columns${withProducts ? '' : ', without products'}`,
  // These are sums of up to 4,096 products, each with an additional factor.
  tolerance: sumOf(Math.min(rows, 4096)) + roundings(2),
  reads: 1,
  run: async (tf) => {
    const [x, weights, residuals] = [
      uniform(rows, rows * columns),
      between(rows + 1, rows, 0, 1),
      uniform(rows + 2, rows),
    ];
    const blocks = uploadRowBlocks(tf, x, columns);
    try {
      const part = (values: Float32Array, start: number, size: number): Tensor2D =>
        tf.tensor2d(values.subarray(start, start + size), [1, size]);
      const found = await normalEquations(
        tf,
        blocks,
        ({ start, rows: size }) => ({
          weights: part(weights, start, size),
          residuals: part(residuals, start, size),
          losses: part(weights, start, size),
        }),
        withProducts,
      );
      const weighed = each(x, (value, index) => value * (weights[Math.floor(index / columns)] as number));
      const products = withProducts ? product(turned(weighed, rows, columns), x, columns, rows, columns) : [];
      const gradient = product(residuals, x, 1, rows, columns);
      const loss = sumsByCode(new Int32Array(rows), 1, weights);
      return {
        actual: [...(found.products ?? []), ...found.gradient, found.loss],
        expected: [...products, ...gradient, ...loss],
      };
    } finally {
      blocks.dispose();
    }
  },
}));

/** Cases for sums in float32, by group and over all rows. */
export const SUM_CASES: readonly NumericsCase[] = [...BY_GROUP, ...LARGEST, ...EQUATIONS];
