import type { Tensor, Tensor1D } from '@tensorflow/tfjs';

import type { Tf } from '../../tensor/index.ts';
import { each, sigmoid, softplus } from '../float64.ts';
import { between, spread, uniform } from '../inputs.ts';
import { type NumericsCase, tensorCase } from '../numerics-case.ts';
import {
  EXACT,
  exponential,
  LOGARITHM,
  LOGARITHM_OF_ONE_MORE,
  QUOTIENT,
  roundings,
  SIGMOID,
  SOFTPLUS,
  SQUARE_ROOT,
} from '../tolerances.ts';

/** The definition of cases for a function of one number: the op for tensors, and the same function in float64. */
interface Unary {
  readonly op: string;
  readonly name: string;
  readonly tolerance: number;
  readonly values: () => ArrayLike<number>;
  readonly apply: (x: Tensor1D, tf: Tf) => Tensor;
  readonly expected: (x: number) => number;
}

function unaryCase({ values, apply, expected, ...heading }: Unary): NumericsCase {
  return tensorCase(heading, () => {
    const given = Float32Array.from(values());
    return { ask: (tf) => apply(tf.tensor1d(given), tf), expected: each(given, (x) => expected(x)) };
  });
}

/** Generates numbers halfway between two integers, and numbers next to them. */
const halves = (): number[] => [-2.5, -1.5, -0.5, 0.49999997, 0.5, 1.5, 2.5, 3.4999998, 8388607, 1e30];

/** Generates 0 and numbers of both signs, up to the largest float32 number. */
const signed = (): number[] => [...spread(1, 250, -6, 6), 0, 1, -1, 3.4e38, -3.4e38];

/** Generates numbers of both signs, 0, and the largest and smallest normal numbers of float32. */
const anySize = (): number[] => [...signed(), 1.2e-38, -1.2e-38];

/** Generates 0 and numbers from 1e-6 to 1e6. */
const fromZero = (seed: number): number[] => [0, ...spread(seed, 256, -6, 6).map(Math.abs)];

/** Generates numbers from -12 to 12, and numbers whose exponentials overflow. */
const logits = (seed: number): number[] => [-1e4, -100, 0, 100, 1e4, ...between(seed, 252, -12, 24)];

/** Numbers x for which exp(x) is negligible compared with 1, and the number 0. */
const FAR_BELOW = [-1e4, -1000, -200, -104, -88, -60, -20, 0];
const FAR_BELOW_NAME = 'from -1e4 to -20, where it is 0, and at 0, where it is 1';

/**
 * The tolerance for a softplus that is truncated beyond log(2^-23) + 2. The truncation adds an error of up to
 * exp(-13.9).
 */
const TRUNCATED_SOFTPLUS = SOFTPLUS + exponential(12) + Math.exp(-13.9);

/** Rounds x to the nearest integer. Ties are rounded to the even integer. */
function roundedToEven(x: number): number {
  const lower = Math.floor(x);
  if (x - lower !== 0.5) return Math.round(x);
  return lower % 2 === 0 ? lower : lower + 1;
}

/** The methods of tensors that have no parameters. */
type UnaryOp =
  | 'abs'
  | 'exp'
  | 'floor'
  | 'log'
  | 'log1p'
  | 'relu'
  | 'round'
  | 'sigmoid'
  | 'sign'
  | 'softplus'
  | 'sqrt'
  | 'square'
  | 'step';

const UNARY: readonly (readonly [
  op: UnaryOp,
  name: string,
  tolerance: number,
  values: Unary['values'],
  expected: Unary['expected'],
])[] = [
  ['exp', 'from -5 to 5', exponential(5), () => between(2, 257, -5, 10), Math.exp],
  ['exp', FAR_BELOW_NAME, exponential(0) + 20 * Math.exp(-20), () => FAR_BELOW, Math.exp],
  ['log', 'of numbers from 1e-6 to 1e6', LOGARITHM, () => spread(3, 257, -6, 6).map(Math.abs), Math.log],
  ['log1p', 'of numbers from 1e-6 to 1e6, and 0', LOGARITHM_OF_ONE_MORE, () => fromZero(4), Math.log1p],
  ['sqrt', 'of numbers from 1e-6 to 1e6, and 0', SQUARE_ROOT, () => fromZero(5), Math.sqrt],
  ['square', 'of numbers of 12 orders of magnitude', roundings(1), () => spread(6, 257, -6, 6), (x) => x * x],
  ['sigmoid', 'from -12 to 12, of +-100 and +-1e4', SIGMOID, () => logits(7), sigmoid],
  ['softplus', 'from -12 to 12, of +-100 and +-1e4', TRUNCATED_SOFTPLUS, () => logits(8), softplus],
  ['relu', 'of numbers of any size', EXACT, anySize, (x) => Math.max(x, 0)],
  ['step', 'of numbers of any size: 0 at 0', EXACT, anySize, (x) => (x > 0 ? 1 : 0)],
  // On wasm the result is 0 for numbers smaller than 2^-23.
  ['sign', 'of numbers larger than 2^-23, and of 0', EXACT, signed, Math.sign],
  ['abs', 'of numbers of any size', EXACT, anySize, Math.abs],
  ['round', 'halves go to the even number', EXACT, () => [...halves(), ...spread(9, 250, -3, 6)], roundedToEven],
  [
    'floor',
    'of numbers next to integers',
    EXACT,
    () => [...halves(), 1, -1, 0.99999994, -1e-30, ...spread(10, 250, -3, 6)],
    Math.floor,
  ],
];

const OF_ONE: readonly Unary[] = [
  ...UNARY.map(([op, name, tolerance, values, expected]): Unary => ({
    op,
    name,
    tolerance,
    values,
    apply: (x) => x[op](),
    expected,
  })),
  {
    op: 'clipByValue',
    name: 'between -1 and 2.5, bounds included',
    tolerance: EXACT,
    values: () => [-1, 2.5, -1e30, 1e30, ...between(11, 253, -4, 8)],
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

/** The functions of two numbers, with the same functions in float64. */
const BINARY = [
  ['add', roundings(1), (a, b) => a + b],
  ['sub', roundings(1), (a, b) => a - b],
  ['mul', roundings(1), (a, b) => a * b],
  ['div', QUOTIENT, (a, b) => a / b],
  ['maximum', EXACT, Math.max],
  ['minimum', EXACT, Math.min],
  ['greater', EXACT, (a, b) => Number(a > b)],
  ['greaterEqual', EXACT, (a, b) => Number(a >= b)],
  ['less', EXACT, (a, b) => Number(a < b)],
  ['equal', EXACT, (a, b) => Number(a === b)],
  ['notEqual', EXACT, (a, b) => Number(a !== b)],
] as const satisfies readonly [op: keyof Tensor, tolerance: number, expected: (a: number, b: number) => number][];

/** The shapes of the two operands; the shape of the result is [33, 7]. */
const BROADCAST = [
  [33, 7, 33, 7],
  [33, 7, 1, 7],
  [33, 1, 33, 7],
  [33, 1, 1, 7],
] as const;

const OF_TWO: readonly NumericsCase[] = BINARY.flatMap(([op, tolerance, expected]) =>
  BROADCAST.map(([rowsA, columnsA, rowsB, columnsB]) => {
    const name = `of [${String(rowsA)}, ${String(columnsA)}] and [${String(rowsB)}, ${String(columnsB)}]`;
    return tensorCase({ op, name, tolerance }, () => {
      const left = uniform(13, rowsA * columnsA);
      // Some values are equal to the left operand; no value is 0.
      const right = uniform(14, rowsB * columnsB).map((value, index) => (index % 3 === 0 ? (left[index] ?? 1) : value));
      const at = (values: Float32Array, rows: number, columns: number, position: number): number => {
        const [row, column] = [Math.floor(position / 7), position % 7];
        return values[(rows === 1 ? 0 : row) * columns + (columns === 1 ? 0 : column)] as number;
      };
      return {
        ask: (tf) => tf.tensor2d(left, [rowsA, columnsA])[op](tf.tensor2d(right, [rowsB, columnsB])),
        expected: Array.from({ length: 33 * 7 }, (_, position) =>
          expected(at(left, rowsA, columnsA, position), at(right, rowsB, columnsB, position)),
        ),
      };
    });
  }),
);

/** Cases for elementwise functions. */
export const ELEMENTWISE_CASES: readonly NumericsCase[] = [...OF_ONE.map(unaryCase), ...OF_TWO];

/**
 * Missing values are represented by NaN, but WGSL allows implementations to assume that no value is NaN. These cases
 * test the NaN behaviour that our code relies on. Each case has more than four values, because some kernels process
 * four values at once.
 */
const VALUES = [NaN, 0, 1, -1, NaN, Infinity, -Infinity, 0.5, NaN, 3.4e38, 1e-30];

const COMPARED = 'a missing value is not equal to, above or below 0; as numbers';

const missing = Number.isNaN;

const ON_MISSING: readonly (readonly [op: string, name: string, apply: Unary['apply'], expected: Unary['expected']])[] =
  [
    ['isNaN', 'of missing and infinite values', (x) => x.isNaN(), (x) => Number(missing(x))],
    [
      'isNaN',
      'as a number that can be summed',
      (x) => x.isNaN().cast('float32').mul(2).add(1),
      (x) => (missing(x) ? 3 : 1),
    ],
    [
      'where',
      'replaces a missing value by a number',
      (x, tf) => tf.where(x.isNaN(), tf.zerosLike(x), x),
      (x) => (missing(x) ? 0 : x),
    ],
    [
      'where',
      'keeps missing decisions missing',
      (x, tf) => tf.where(x.isNaN(), tf.fill(x.shape, NaN), x.greaterEqual(0.5).cast('float32')),
      (x) => (missing(x) ? NaN : Number(x >= 0.5)),
    ],
    [
      'where',
      'is not affected by the value that it does not select',
      (x, tf) => tf.where(x.isNaN(), tf.onesLike(x), x.mul(0).equal(0).cast('float32')),
      (x) => (missing(x) || Math.abs(x) < Infinity ? 1 : 0),
    ],
    ['equal', COMPARED, (x) => x.equal(0).cast('float32'), (x) => Number(x === 0)],
    ['greater', COMPARED, (x) => x.greater(0).cast('float32'), (x) => Number(x > 0)],
    ['greaterEqual', COMPARED, (x) => x.greaterEqual(0).cast('float32'), (x) => Number(x >= 0)],
    ['less', COMPARED, (x) => x.less(0).cast('float32'), (x) => Number(x < 0)],
    [
      'notEqual',
      'a missing value is not equal to itself',
      (x) => x.notEqual(x).cast('float32'),
      (x) => Number(missing(x)),
    ],
    ['add', 'to a missing value leaves it missing', (x) => x.add(1), (x) => Math.fround(x + 1)],
    ['mul', 'of a missing value with 0.5 leaves it missing', (x) => x.mul(0.5), (x) => Math.fround(x * 0.5)],
    [
      'clipByValue',
      'infinities go to the bounds',
      (x, tf) => tf.where(x.isNaN(), tf.zerosLike(x), x.clipByValue(-2, 3)),
      (x) => (missing(x) ? 0 : Math.min(3, Math.max(-2, x))),
    ],
    [
      'logicalOr',
      'of masks: missing, or below 0',
      (x, tf) => tf.logicalOr(x.isNaN(), x.less(0)).cast('float32'),
      (x) => Number(missing(x) || x < 0),
    ],
    [
      'logicalAnd',
      'of masks: known, and at least 0',
      (x, tf) => tf.logicalAnd(tf.logicalNot(x.isNaN()), x.greaterEqual(0)).cast('float32'),
      (x) => Number(x >= 0),
    ],
  ];

/** Cases for missing and infinite values. */
export const MISSING_CASES: readonly NumericsCase[] = [
  ...ON_MISSING.map(([op, name, apply, expected]) =>
    unaryCase({ op, name, tolerance: EXACT, values: () => VALUES, apply, expected }),
  ),
  tensorCase({ op: 'max', name: 'and min with infinities among the values', tolerance: EXACT, reads: 2 }, () => {
    const known = VALUES.filter((value) => !missing(value));
    return {
      ask: (tf) => [tf.tensor1d(known).max(), tf.tensor1d(known).min()],
      expected: [[Infinity], [-Infinity]],
    };
  }),
  tensorCase({ op: 'max', name: 'and min of -Infinity or Infinity alone', tolerance: EXACT, reads: 2 }, () => ({
    ask: (tf) => [tf.fill([257], -Infinity).max(), tf.fill([257], Infinity).min()],
    expected: [[-Infinity], [Infinity]],
  })),
  tensorCase({ op: 'sum', name: 'with a missing value is missing', tolerance: EXACT }, () => ({
    ask: (tf) => tf.tensor1d(VALUES).sum(),
    expected: [NaN],
  })),
  tensorCase(
    { op: 'gather', name: 'and slice and concat keep missing values where they were', tolerance: EXACT },
    () => ({
      ask: (tf) => {
        const x = tf.tensor1d(VALUES);
        return tf.concat([tf.gather(x, tf.tensor1d([4, 2, 0], 'int32')), x.slice(7, 2)]);
      },
      expected: [NaN, 1, NaN, 0.5, NaN],
    }),
  ),
];
