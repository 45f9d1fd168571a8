import type { Tensor } from '@tensorflow/tfjs';

import type { Tf } from '../../runtime.ts';
import { each, sigmoid, softplus } from '../float64.ts';
import type { NumericsCase } from '../numerics-case.ts';
import {
  between,
  EXACT,
  exponential,
  LOGARITHM,
  LOGARITHM_OF_ONE_MORE,
  QUOTIENT,
  roundings,
  SIGMOID,
  SOFTPLUS,
  spread,
  SQUARE_ROOT,
  tensorCase,
  uniform,
} from '../pose.ts';

/** A function of one number, and the numbers used to test it. */
interface Unary {
  readonly op: string;
  readonly name: string;
  readonly tolerance: number;
  readonly values: () => Float32Array;
  readonly apply: (x: Tensor, tf: Tf) => Tensor;
  readonly expected: (x: number) => number;
}

/** Generates halves of even and odd numbers, and their neighbours. */
const halves = (): Float32Array =>
  Float32Array.of(-2.5, -1.5, -0.5, 0.49999997, 0.5, 1.5, 2.5, 3.4999998, 8388607, 1e30);

/** Generates numbers of both signs, 0, and the largest and smallest normal numbers of float32. */
const anySize = (): Float32Array =>
  Float32Array.of(...spread(1, 250, -6, 6), 0, 1, -1, 3.4e38, -3.4e38, 1.2e-38, -1.2e-38);

/** Rounds x to the nearest integer. Ties are rounded to the even integer. */
function roundedToEven(x: number): number {
  const lower = Math.floor(x);
  if (x - lower !== 0.5) return Math.round(x);
  return lower % 2 === 0 ? lower : lower + 1;
}

const UNARY: readonly Unary[] = [
  {
    op: 'exp',
    name: 'from -5 to 5',
    tolerance: exponential(5),
    values: () => between(2, 257, -5, 10),
    apply: (x) => x.exp(),
    expected: Math.exp,
  },
  {
    op: 'exp',
    name: 'from -1e4 to -20, where it is 0, and at 0, where it is 1',
    tolerance: exponential(0) + 20 * Math.exp(-20),
    values: () => Float32Array.of(-1e4, -1000, -200, -104, -88, -60, -20, 0),
    apply: (x) => x.exp(),
    expected: Math.exp,
  },
  {
    op: 'log',
    name: 'of numbers from 1e-6 to 1e6',
    tolerance: LOGARITHM,
    values: () => spread(3, 257, -6, 6).map(Math.abs),
    apply: (x) => x.log(),
    expected: Math.log,
  },
  {
    op: 'log1p',
    name: 'of numbers from 1e-6 to 1e6, and 0',
    tolerance: LOGARITHM_OF_ONE_MORE,
    values: () => Float32Array.of(0, ...spread(4, 256, -6, 6).map(Math.abs)),
    apply: (x) => x.log1p(),
    expected: Math.log1p,
  },
  {
    op: 'sqrt',
    name: 'of numbers from 1e-6 to 1e6, and 0',
    tolerance: SQUARE_ROOT,
    values: () => Float32Array.of(0, ...spread(5, 256, -6, 6).map(Math.abs)),
    apply: (x) => x.sqrt(),
    expected: Math.sqrt,
  },
  {
    op: 'square',
    name: 'of numbers of 12 orders of magnitude',
    tolerance: roundings(1),
    values: () => spread(6, 257, -6, 6),
    apply: (x) => x.square(),
    expected: (x) => x * x,
  },
  {
    op: 'sigmoid',
    name: 'from -12 to 12, of +-100 and +-1e4',
    tolerance: SIGMOID,
    values: () => Float32Array.of(-1e4, -100, 0, 100, 1e4, ...between(7, 252, -12, 24)),
    apply: (x) => x.sigmoid(),
    expected: sigmoid,
  },
  {
    op: 'softplus',
    name: 'from -12 to 12, of +-100 and +-1e4',
    // The function is truncated beyond log(2^-23) + 2, where exp(-13.9) is lost.
    tolerance: SOFTPLUS + exponential(12) + Math.exp(-13.9),
    values: () => Float32Array.of(-1e4, -100, 0, 100, 1e4, ...between(8, 252, -12, 24)),
    apply: (x) => x.softplus(),
    expected: softplus,
  },
  {
    op: 'relu',
    name: 'of numbers of any size',
    tolerance: EXACT,
    values: anySize,
    apply: (x) => x.relu(),
    expected: (x) => Math.max(x, 0),
  },
  {
    op: 'step',
    name: 'of numbers of any size: 0 at 0',
    tolerance: EXACT,
    values: anySize,
    apply: (x) => x.step(),
    expected: (x) => (x > 0 ? 1 : 0),
  },
  {
    op: 'sign',
    // On wasm the result is 0 for numbers smaller than 2^-23.
    name: 'of numbers larger than 2^-23, and of 0',
    tolerance: EXACT,
    values: () => Float32Array.of(...spread(1, 250, -6, 6), 0, 1, -1, 3.4e38, -3.4e38),
    apply: (x) => x.sign(),
    expected: Math.sign,
  },
  {
    op: 'abs',
    name: 'of numbers of any size',
    tolerance: EXACT,
    values: anySize,
    apply: (x) => x.abs(),
    expected: Math.abs,
  },
  {
    op: 'round',
    name: 'halves go to the even number',
    tolerance: EXACT,
    values: () => Float32Array.of(...halves(), ...spread(9, 250, -3, 6)),
    apply: (x) => x.round(),
    expected: roundedToEven,
  },
  {
    op: 'floor',
    name: 'of numbers next to integers',
    tolerance: EXACT,
    values: () => Float32Array.of(...halves(), 1, -1, 0.99999994, -1e-30, ...spread(10, 250, -3, 6)),
    apply: (x) => x.floor(),
    expected: Math.floor,
  },
  {
    op: 'clipByValue',
    name: 'between -1 and 2.5, bounds included',
    tolerance: EXACT,
    values: () => Float32Array.of(-1, 2.5, -1e30, 1e30, ...between(11, 253, -4, 8)),
    apply: (x) => x.clipByValue(-1, 2.5),
    expected: (x) => Math.min(2.5, Math.max(-1, x)),
  },
  {
    op: 'div',
    name: 'by a power of two is exact',
    tolerance: EXACT,
    values: () => spread(12, 257, -6, 6),
    apply: (x) => x.div(2 ** -7),
    expected: (x) => x * 2 ** 7,
  },
];

const OF_ONE: readonly NumericsCase[] = UNARY.map(({ op, name, tolerance, values, apply, expected }) =>
  tensorCase({ op, name, tolerance }, () => {
    const given = values();
    return { ask: (tf) => apply(tf.tensor1d(given), tf), expected: each(given, (x) => expected(x)) };
  }),
);

/** A function of two numbers. */
interface Binary {
  readonly op: string;
  readonly tolerance: number;
  readonly apply: (a: Tensor, b: Tensor) => Tensor;
  readonly expected: (a: number, b: number) => number;
}

const BINARY: readonly Binary[] = [
  { op: 'add', tolerance: roundings(1), apply: (a, b) => a.add(b), expected: (a, b) => a + b },
  { op: 'sub', tolerance: roundings(1), apply: (a, b) => a.sub(b), expected: (a, b) => a - b },
  { op: 'mul', tolerance: roundings(1), apply: (a, b) => a.mul(b), expected: (a, b) => a * b },
  { op: 'div', tolerance: QUOTIENT, apply: (a, b) => a.div(b), expected: (a, b) => a / b },
  { op: 'maximum', tolerance: EXACT, apply: (a, b) => a.maximum(b), expected: Math.max },
  { op: 'minimum', tolerance: EXACT, apply: (a, b) => a.minimum(b), expected: Math.min },
  { op: 'greater', tolerance: EXACT, apply: (a, b) => a.greater(b), expected: (a, b) => Number(a > b) },
  { op: 'greaterEqual', tolerance: EXACT, apply: (a, b) => a.greaterEqual(b), expected: (a, b) => Number(a >= b) },
  { op: 'less', tolerance: EXACT, apply: (a, b) => a.less(b), expected: (a, b) => Number(a < b) },
  { op: 'equal', tolerance: EXACT, apply: (a, b) => a.equal(b), expected: (a, b) => Number(a === b) },
  { op: 'notEqual', tolerance: EXACT, apply: (a, b) => a.notEqual(b), expected: (a, b) => Number(a !== b) },
];

/** The shapes of the two operands; the shape of the result is [33, 7]. */
const BROADCAST: readonly (readonly [a: [number, number], b: [number, number]])[] = [
  [
    [33, 7],
    [33, 7],
  ],
  [
    [33, 7],
    [1, 7],
  ],
  [
    [33, 1],
    [33, 7],
  ],
  [
    [33, 1],
    [1, 7],
  ],
];

const OF_TWO: readonly NumericsCase[] = BINARY.flatMap(({ op, tolerance, apply, expected }) =>
  BROADCAST.map(([a, b]) =>
    tensorCase({ op, name: `of [${a.join(', ')}] and [${b.join(', ')}]`, tolerance }, () => {
      const left = uniform(13, a[0] * a[1]);
      // Some values are equal to the left operand; no value is 0.
      const right = uniform(14, b[0] * b[1]).map((value, index) => (index % 3 === 0 ? (left[index] ?? 1) : value));
      const at = (values: Float32Array, [rows, columns]: [number, number], position: number): number => {
        const [row, column] = [Math.floor(position / 7), position % 7];
        return values[(rows === 1 ? 0 : row) * columns + (columns === 1 ? 0 : column)] as number;
      };
      return {
        ask: (tf) => apply(tf.tensor2d(left, a), tf.tensor2d(right, b)),
        expected: Array.from({ length: 33 * 7 }, (_, position) =>
          expected(at(left, a, position), at(right, b, position)),
        ),
      };
    }),
  ),
);

/** Cases for elementwise functions. */
export const ELEMENTWISE_CASES: readonly NumericsCase[] = [...OF_ONE, ...OF_TWO];
