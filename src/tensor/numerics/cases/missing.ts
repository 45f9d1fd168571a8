import type { Tensor } from '@tensorflow/tfjs';

import type { Tf } from '../../runtime.ts';
import { each } from '../float64.ts';
import type { NumericsCase } from '../numerics-case.ts';
import { EXACT, tensorCase } from '../pose.ts';

/**
 * Missing values are NaN, but WGSL lets implementations assume that there are no NaN. These cases test the behaviour
 * that our code relies on. There are more than four values because some kernels process four values at once.
 */
const VALUES: readonly number[] = [NaN, 0, 1, -1, NaN, Infinity, -Infinity, 0.5, NaN, 3.4e38, 1e-30];

/** A case whose values include missing values. */
interface Asked {
  readonly op: string;
  readonly name: string;
  readonly apply: (x: Tensor, tf: Tf) => Tensor;
  readonly expected: (x: number) => number;
}

const ASKED: readonly Asked[] = [
  {
    op: 'isNaN',
    name: 'of missing and infinite values',
    apply: (x) => x.isNaN(),
    expected: (x) => Number(Number.isNaN(x)),
  },
  {
    op: 'isNaN',
    name: 'as a number that can be summed',
    apply: (x) => x.isNaN().cast('float32').mul(2).add(1),
    expected: (x) => (Number.isNaN(x) ? 3 : 1),
  },
  {
    op: 'where',
    name: 'replaces a missing value by a number',
    apply: (x, tf) => tf.where(x.isNaN(), tf.zerosLike(x), x),
    expected: (x) => (Number.isNaN(x) ? 0 : x),
  },
  {
    op: 'where',
    name: 'keeps missing decisions missing',
    apply: (x, tf) => tf.where(x.isNaN(), tf.fill(x.shape, NaN), x.greaterEqual(0.5).cast('float32')),
    expected: (x) => (Number.isNaN(x) ? NaN : Number(x >= 0.5)),
  },
  {
    op: 'where',
    name: 'is not affected by the value that it does not select',
    apply: (x, tf) => tf.where(x.isNaN(), tf.onesLike(x), x.mul(0).equal(0).cast('float32')),
    expected: (x) => (Number.isNaN(x) || Math.abs(x) < Infinity ? 1 : 0),
  },
  ...(['equal', 'greater', 'greaterEqual', 'less'] as const).map((op): Asked => ({
    op,
    name: 'a missing value is not equal to, above or below 0; as numbers',
    apply: (x) => x[op](0).cast('float32'),
    expected: (x) => Number({ equal: x === 0, greater: x > 0, greaterEqual: x >= 0, less: x < 0 }[op]),
  })),
  {
    op: 'notEqual',
    name: 'a missing value is not equal to itself',
    apply: (x) => x.notEqual(x).cast('float32'),
    expected: (x) => Number(Number.isNaN(x)),
  },
  {
    op: 'add',
    name: 'to a missing value leaves it missing',
    apply: (x) => x.add(1),
    expected: (x) => Math.fround(x + 1),
  },
  {
    op: 'mul',
    name: 'of a missing value with 0.5 leaves it missing',
    apply: (x) => x.mul(0.5),
    expected: (x) => Math.fround(x * 0.5),
  },
  {
    op: 'clipByValue',
    name: 'infinities go to the bounds',
    apply: (x, tf) => tf.where(x.isNaN(), tf.zerosLike(x), x.clipByValue(-2, 3)),
    expected: (x) => (Number.isNaN(x) ? 0 : Math.min(3, Math.max(-2, x))),
  },
  {
    op: 'logicalOr',
    name: 'of masks: missing, or below 0',
    apply: (x, tf) => tf.logicalOr(x.isNaN(), x.less(0)).cast('float32'),
    expected: (x) => Number(Number.isNaN(x) || x < 0),
  },
  {
    op: 'logicalAnd',
    name: 'of masks: known, and at least 0',
    apply: (x, tf) => tf.logicalAnd(tf.logicalNot(x.isNaN()), x.greaterEqual(0)).cast('float32'),
    expected: (x) => Number(x >= 0),
  },
];

const ONE_BY_ONE: readonly NumericsCase[] = ASKED.map(({ op, name, apply, expected }) =>
  tensorCase({ op, name, tolerance: EXACT }, () => {
    const given = Float32Array.from(VALUES);
    return { ask: (tf) => apply(tf.tensor1d(given), tf), expected: each(given, (x) => expected(x)) };
  }),
);

const TOGETHER: readonly NumericsCase[] = [
  tensorCase({ op: 'max', name: 'and min with infinities among the values', tolerance: EXACT, answers: 2 }, () => {
    const known = VALUES.filter((value) => !Number.isNaN(value));
    return {
      ask: (tf) => [tf.tensor1d(known).max(), tf.tensor1d(known).min()],
      expected: [[Infinity], [-Infinity]],
    };
  }),
  tensorCase({ op: 'max', name: 'and min of -Infinity or Infinity alone', tolerance: EXACT, answers: 2 }, () => ({
    ask: (tf) => [tf.fill([257], -Infinity).max(), tf.fill([257], Infinity).min()],
    expected: [[-Infinity], [Infinity]],
  })),
  tensorCase({ op: 'sum', name: 'with a missing value is missing', tolerance: EXACT }, () => ({
    ask: (tf) => tf.tensor1d([...VALUES]).sum(),
    expected: [NaN],
  })),
  tensorCase(
    { op: 'gather', name: 'and slice and concat keep missing values where they were', tolerance: EXACT },
    () => ({
      ask: (tf) => {
        const x = tf.tensor1d([...VALUES]);
        return tf.concat([tf.gather(x, tf.tensor1d([4, 2, 0], 'int32')), x.slice(7, 2)]);
      },
      expected: [NaN, 1, NaN, 0.5, NaN],
    }),
  ),
];

/** Cases for missing and infinite values. */
export const MISSING_CASES: readonly NumericsCase[] = [...ONE_BY_ONE, ...TOGETHER];
