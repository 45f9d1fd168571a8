import type { Tensor, Tensor2D } from '@tensorflow/tfjs';

import { columnSums, each, product, sigmoid, turned } from '../float64.ts';
import { between, memberships, uniform } from '../inputs.ts';
import { type NumericsCase, tensorCase } from '../numerics-case.ts';
import { EXACT, QUOTIENT, roundings, SIGMOID, SQUARE_ROOT, sumOf } from '../tolerances.ts';

const [N, D, G] = [257, 7, 3];

/** Cases for automatic gradients of TensorFlow.js, compared with analytical gradients. */
export const GRADIENT_CASES: readonly NumericsCase[] = [
  tensorCase(
    { op: 'grad', name: 'of sum (sigmoid(x w) v) in w: x^t (v p (1 - p))', tolerance: sumOf(N) + N * SIGMOID },
    () => {
      const [x, w, v] = [uniform(1, N * D), uniform(2, D), uniform(3, N)];
      const p = each(product(x, w, N, D, 1), sigmoid);
      const flow = each(p, (score, row) => (v[row] as number) * score * (1 - score));
      return {
        ask: (tf) =>
          tf.grad((given) =>
            tf
              .sigmoid(tf.matMul(tf.tensor2d(x, [N, D]), given as Tensor2D))
              .mul(tf.tensor2d(v, [N, 1]))
              .sum(),
          )(tf.tensor2d(w, [D, 1])),
        expected: product(turned(x, N, D), flow, D, N, 1),
      };
    },
  ),
  tensorCase({ op: 'grad', name: 'of sum |s m| in s: sign(s m) m^t', tolerance: roundings(2 * G) }, () => {
    const [s, m] = [uniform(4, N), memberships(5, N, G)];
    return {
      ask: (tf) =>
        tf.grad((given) =>
          tf
            .matMul(given as Tensor2D, tf.tensor2d(m, [N, G]))
            .abs()
            .sum(),
        )(tf.tensor2d(s, [1, N])),
      expected: product(m, each(product(s, m, 1, N, G), Math.sign), N, G, 1),
    };
  }),
  tensorCase(
    {
      op: 'grad',
      name: 'of sum sqrt(x^2 + 1) / y in x: x / (y sqrt(x^2 + 1))',
      tolerance: SQUARE_ROOT + 2 * QUOTIENT + roundings(4),
    },
    () => {
      const [x, y] = [uniform(6, N), between(7, N, 1, 3)];
      return {
        ask: (tf) => tf.grad((given: Tensor) => given.square().add(1).sqrt().div(tf.tensor1d(y)).sum())(tf.tensor1d(x)),
        expected: each(x, (value, row) => value / ((y[row] as number) * Math.sqrt(value * value + 1))),
      };
    },
  ),
  tensorCase({ op: 'grad', name: 'of the largest value of each row: 1 at its position', tolerance: EXACT }, () => {
    const x = uniform(8, N * D);
    return {
      ask: (tf) => tf.grad((given: Tensor) => given.max(1).sum())(tf.tensor2d(x, [N, D])),
      expected: each(x, (value, index) => {
        const start = Math.floor(index / D) * D;
        return Number(value === Math.max(...x.slice(start, start + D)));
      }),
    };
  }),
  tensorCase(
    {
      op: 'grads',
      name: 'of sum relu(a b) in a and in b, a slice and a broadcast row',
      tolerance: roundings(2 * N),
      reads: 2,
    },
    () => {
      const [a, b] = [uniform(9, N * D), uniform(10, D + 2)];
      const inner = b.slice(1, 1 + D);
      const passes = each(a, (value, index) => Number(value * (inner[index % D] as number) > 0));
      const flow = each(passes, (passed, index) => passed * (a[index] as number));
      return {
        ask: (tf) =>
          tf.grads((left: Tensor, right: Tensor) => left.mul(right.slice(1, D)).relu().sum())([
            tf.tensor2d(a, [N, D]),
            tf.tensor1d(b),
          ]),
        expected: [
          each(passes, (passed, index) => passed * (inner[index % D] as number)),
          [0, ...columnSums(flow, N, D), 0],
        ],
      };
    },
  ),
];
