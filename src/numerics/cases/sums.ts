import type { Tensor2D } from '@tensorflow/tfjs';

import { groupColumnSums, groupSums, largestValues, normalEquations, uploadRowBlocks } from '../../tensor/index.ts';
import { each, product, sumsByCode, turned } from '../float64.ts';
import { between, codes, uniform } from '../inputs.ts';
import { hostCase, type NumericsCase, vectors } from '../numerics-case.ts';
import { EXACT, roundings, sumOf } from '../tolerances.ts';

/** The tolerance for a group's sum of values of the same sign, as documented for `groupSums`. */
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
      },
      () => {
        const values = between(rows, rows, 0, 1);
        const given = codes(rows + 1, rows, groups);
        return {
          given: (tf) => vectors(tf, { values, codes: given }),
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
    },
    () => {
      const sizes = [1e-6, 1, 1e6];
      const given = codes(1, 4097, 3);
      const values = between(2, 4097, 1, 1).map((value, row) => value * (sizes[given[row] as number] as number));
      const inShares = (sums: ArrayLike<number>): number[] =>
        each(sums, (sum, group) => sum / (sizes[group] as number));
      return {
        given: (tf) => vectors(tf, { values, codes: given }),
        ask: async (tf, tensors) => inShares(await groupSums(tf, tensors.values, tensors.codes, 3)),
        expected: inShares(sumsByCode(given, 3, values)),
      };
    },
  ),
  hostCase({ op: 'groupSums', name: 'no rows', tolerance: EXACT, reads: 0 }, () => ({
    given: (tf) => vectors(tf, { values: new Float32Array(), codes: new Int32Array() }),
    ask: (tf, tensors) => groupSums(tf, tensors.values, tensors.codes, 2),
    expected: [0, 0],
  })),
  hostCase(
    {
      op: 'groupColumnSums',
      name: 'two columns computed from one, rows excluded',
      tolerance: GROUP_SUM,
    },
    () => {
      const values = between(3, 257, 0, 2);
      const given = codes(4, 257, 4);
      // Rows with the fourth code are excluded: they belong to an extra group that is not compared.
      const squares = each(values, (value) => value * value);
      return {
        given: (tf) => vectors(tf, { values, codes: given }),
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
  hostCase({ op: 'largestValues', name: `two columns of ${String(rows)} rows`, tolerance: EXACT }, () => {
    const [up, down] = [uniform(rows, rows), between(rows + 1, rows, -3, 1)];
    return {
      given: (tf) => vectors(tf, { up, down }),
      ask: (tf, tensors) => largestValues(tf, rows, 2, (slice) => [slice(tensors.up), slice(tensors.down)]),
      expected: [Math.max(...up), Math.max(...down)],
    };
  }),
);

/**
 * The sizes of matrices for `normalEquations`. Either all rows fit in one block, or there is one row too many for a
 * block.
 */
const SIZES: readonly (readonly [rows: number, columns: number, withProducts: boolean])[] = [
  [1, 3, true],
  [257, 1, true],
  [4097, 5, true],
  [4097, 5, false],
];

const EQUATIONS: readonly NumericsCase[] = SIZES.map(([rows, columns, withProducts]) => {
  const name = `${String(rows)} rows of ${String(columns)} columns${withProducts ? '' : ', without products'}`;
  // The entries are sums of up to 4,096 products, each with an additional factor.
  const tolerance = sumOf(Math.min(rows, 4096)) + roundings(2);
  return hostCase({ op: 'normalEquations', name, tolerance }, () => {
    const x = uniform(rows, rows * columns);
    const [weights, residuals] = [between(rows + 1, rows, 0, 1), uniform(rows + 2, rows)];
    const weighed = each(x, (value, index) => value * (weights[Math.floor(index / columns)] as number));
    const products = withProducts ? product(turned(weighed, rows, columns), x, columns, rows, columns) : [];
    return {
      given: (tf) => ({ blocks: uploadRowBlocks(tf, x, columns) }),
      ask: async (tf, { blocks }) => {
        const found = await normalEquations(
          tf,
          blocks,
          ({ start, rows: size }) => {
            const part = (values: Float32Array): Tensor2D =>
              tf.tensor2d(values.subarray(start, start + size), [1, size]);
            return { weights: part(weights), residuals: part(residuals), losses: part(weights) };
          },
          withProducts,
        );
        return [...(found.products ?? []), ...found.gradient, found.loss];
      },
      expected: [
        ...products,
        ...product(residuals, x, 1, rows, columns),
        ...sumsByCode(new Int32Array(rows), 1, weights),
      ],
    };
  });
});

/** Cases for sums in float32, by group and over all rows. */
export const SUM_CASES: readonly NumericsCase[] = [...BY_GROUP, ...LARGEST, ...EQUATIONS];
