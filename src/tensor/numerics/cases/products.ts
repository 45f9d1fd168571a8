import { ofModels, partOf, product, turned } from '../float64.ts';
import type { NumericsCase } from '../numerics-case.ts';
import { EXACT, spread, sumOf, tensorCase, uniform } from '../pose.ts';

/** Sizes of [n, d] times [d, m]: single numbers, vectors, and sizes above and below the tile sizes 32 and 64. */
const SIZES: readonly (readonly [n: number, d: number, m: number])[] = [
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

const PLAIN: readonly NumericsCase[] = SIZES.flatMap(([n, d, m]) =>
  FLAGS.map(([transposeA, transposeB]) =>
    tensorCase(
      {
        op: 'matMul',
        name: `[${String(n)}, ${String(d)}]${transposeA ? ' transposed' : ''} by [${String(d)}, ${String(m)}]${transposeB ? ' transposed' : ''}`,
        tolerance: sumOf(d),
      },
      () => {
        const [a, b] = [uniform(n, n * d), uniform(m, d * m)];
        return {
          ask: (tf) =>
            tf.matMul(
              transposeA ? tf.tensor2d(turned(a, n, d), [d, n]) : tf.tensor2d(a, [n, d]),
              transposeB ? tf.tensor2d(turned(b, d, m), [m, d]) : tf.tensor2d(b, [d, m]),
              transposeA,
              transposeB,
            ),
          expected: product(a, b, n, d, m),
        };
      },
    ),
  ),
);

/** The sizes of stacks of matrices. */
const [K, N, D, M] = [5, 7, 33, 3];

const STACKED: readonly NumericsCase[] = FLAGS.map(([transposeA, transposeB]) =>
  tensorCase(
    {
      op: 'matMul',
      name: `5 matrices each, flags ${String(transposeA)} and ${String(transposeB)}`,
      tolerance: sumOf(D),
    },
    () => {
      const [a, b] = [uniform(1, K * N * D), uniform(2, K * D * M)];
      const turnedA = ofModels(K, (model) => turned(partOf(a, model, K), N, D));
      const turnedB = ofModels(K, (model) => turned(partOf(b, model, K), D, M));
      return {
        ask: (tf) =>
          tf.matMul(
            transposeA ? tf.tensor3d(turnedA, [K, D, N]) : tf.tensor3d(a, [K, N, D]),
            transposeB ? tf.tensor3d(turnedB, [K, M, D]) : tf.tensor3d(b, [K, D, M]),
            transposeA,
            transposeB,
          ),
        expected: ofModels(K, (model) => product(partOf(a, model, K), partOf(b, model, K), N, D, M)),
      };
    },
  ),
);

const SPECIAL: readonly NumericsCase[] = [
  tensorCase({ op: 'matMul', name: 'a product with ones sums integers exactly', tolerance: EXACT }, () => {
    // 4,097 numbers of at most 1,000 add up to less than 2^24.
    const values = Float32Array.from({ length: 4097 }, (_, index) => (index * 7) % 1001);
    return {
      ask: (tf) => tf.matMul(tf.tensor2d(values, [1, 4097]), tf.ones([4097, 1])),
      expected: product(values, new Float64Array(4097).fill(1), 1, 4097, 1),
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

/** Cases for products of matrices, and of stacks of matrices. */
export const PRODUCT_CASES: readonly NumericsCase[] = [...PLAIN, ...STACKED, ...SPECIAL];
