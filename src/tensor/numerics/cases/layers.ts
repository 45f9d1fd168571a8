import { sharedDense, sharedDenseGradients, stackedDense, stackedDenseGradients } from '../../ops/stacked-dense.ts';
import { each, ofModels, partOf, product, rowSums, turned } from '../float64.ts';
import type { NumericsCase } from '../numerics-case.ts';
import { roundings, sumOf, tensorCase, uniform } from '../pose.ts';

/** The numbers of rows, features and units of a first layer. */
const SHARED: readonly (readonly [n: number, d: number, units: number])[] = [
  [1, 1, 1],
  [3, 33, 5],
  [255, 7, 33],
  [257, 107, 4],
];

/** Computes the output of a layer: the matrix product plus the bias of each unit. */
function layer(
  w: ArrayLike<number>,
  x: ArrayLike<number>,
  b: ArrayLike<number>,
  q: number,
  p: number,
  n: number,
): number[] {
  return each(product(w, x, q, p, n), (sum, index) => sum + (b[Math.floor(index / n)] as number));
}

const SHARED_CASES: readonly NumericsCase[] = SHARED.flatMap(([n, d, units]) => {
  const sizes = `${String(units)} units, ${String(d)} features, ${String(n)} rows`;
  return [
    tensorCase({ op: 'sharedDense', name: sizes, tolerance: sumOf(d) + roundings(1) }, () => {
      const [x, w, b] = [uniform(1, d * n), uniform(2, units * d), uniform(3, units)];
      return {
        ask: (tf) => sharedDense(tf, tf.tensor2d(x, [d, n]), tf.tensor2d(w, [units, d]), tf.tensor2d(b, [units, 1])),
        expected: layer(w, x, b, units, d, n),
      };
    }),
    tensorCase({ op: 'sharedDenseGradients', name: sizes, tolerance: sumOf(n), answers: 2 }, () => {
      const [rows, flow] = [uniform(1, n * d), uniform(4, units * n)];
      return {
        ask: (tf) => sharedDenseGradients(tf, tf.tensor2d(rows, [n, d]), tf.tensor2d(flow, [units, n])),
        expected: [product(flow, rows, units, n, d), rowSums(flow, units, n)],
      };
    }),
  ];
});

/** The numbers of models, units of the layer, units of the previous layer, and rows. */
const STACKED: readonly (readonly [k: number, q: number, p: number, n: number])[] = [
  [1, 1, 1, 1],
  [3, 1, 33, 257],
  [5, 4, 3, 255],
  [2, 33, 5, 3],
];

const STACKED_CASES: readonly NumericsCase[] = STACKED.flatMap(([k, q, p, n]) => {
  const sizes = `${String(k)} models, ${String(q)} units on ${String(p)}, ${String(n)} rows`;
  return [
    tensorCase({ op: 'stackedDense', name: sizes, tolerance: sumOf(p) + roundings(1) }, () => {
      const [z, w, b] = [uniform(5, k * p * n), uniform(6, k * q * p), uniform(7, k * q)];
      return {
        ask: (tf) => stackedDense(tf, tf.tensor3d(z, [k, p, n]), tf.tensor3d(w, [k, q, p]), tf.tensor3d(b, [k, q, 1])),
        expected: ofModels(k, (m) => layer(partOf(w, m, k), partOf(z, m, k), partOf(b, m, k), q, p, n)),
      };
    }),
    tensorCase({ op: 'stackedDenseGradients', name: sizes, tolerance: sumOf(Math.max(n, q)), answers: 3 }, () => {
      const [z, w, flow] = [uniform(5, k * p * n), uniform(6, k * q * p), uniform(8, k * q * n)];
      return {
        ask: (tf) =>
          stackedDenseGradients(tf, tf.tensor3d(z, [k, p, n]), tf.tensor3d(w, [k, q, p]), tf.tensor3d(flow, [k, q, n])),
        expected: [
          ofModels(k, (m) => product(partOf(flow, m, k), turned(partOf(z, m, k), p, n), q, n, p)),
          rowSums(flow, k * q, n),
          ofModels(k, (m) => product(turned(partOf(w, m, k), q, p), partOf(flow, m, k), p, q, n)),
        ],
      };
    }),
  ];
});

/** Cases for the layers of networks, and their gradients. */
export const LAYER_CASES: readonly NumericsCase[] = [...SHARED_CASES, ...STACKED_CASES];
