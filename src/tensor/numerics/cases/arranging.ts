import type { Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import { each, turned } from '../float64.ts';
import type { NumericsCase } from '../numerics-case.ts';
import { codes, EXACT, spread, tensorCase, uniform } from '../pose.ts';

/** Generates numbers that any arithmetic is likely to change. */
const numbers = (size: number): Float32Array => spread(size, size, -30, 30);

const row = (values: ArrayLike<number>, columns: number, index: number): number[] =>
  Array.from({ length: columns }, (_, column) => values[index * columns + column] as number);

const PICKED: readonly NumericsCase[] = [
  ...(
    [
      [257, 1],
      [255, 33],
    ] as const
  ).map(([rows, columns]) =>
    tensorCase(
      { op: 'gather', name: `4,097 rows of [${String(rows)}, ${String(columns)}], some repeated`, tolerance: EXACT },
      () => {
        const values = numbers(rows * columns);
        const indices = codes(1, 4097, rows);
        return {
          ask: (tf) => tf.gather(tf.tensor2d(values, [rows, columns]), tf.tensor1d(indices, 'int32')),
          expected: Array.from(indices, (position) => row(values, columns, position)),
        };
      },
    ),
  ),
  tensorCase({ op: 'gather', name: '4,097 columns of [3, 33]', tolerance: EXACT }, () => {
    const values = numbers(99);
    const indices = codes(2, 4097, 33);
    return {
      ask: (tf) => tf.gather(tf.tensor2d(values, [3, 33]), tf.tensor1d(indices, 'int32'), 1),
      expected: [0, 1, 2].map((index) => each(indices, (position) => values[index * 33 + position] as number)),
    };
  }),
  // WebGPU computes int32 as float32, so integers beyond 2^24 must not be used.
  tensorCase({ op: 'gather', name: 'integers below 2^24 stay exact', tolerance: EXACT }, () => {
    const values = codes(3, 33, 2 ** 24);
    const indices = codes(4, 257, 33);
    return {
      ask: (tf) => tf.gather(tf.tensor1d(values, 'int32'), tf.tensor1d(indices, 'int32')),
      expected: each(indices, (position) => values[position] as number),
    };
  }),
  tensorCase({ op: 'slice', name: 'of a vector, of rows and of columns', tolerance: EXACT, answers: 3 }, () => {
    const values = numbers(257 * 3);
    return {
      ask: (tf) => [
        tf.tensor1d(values).slice(255, 257),
        tf.tensor2d(values, [257, 3]).slice([254, 0], [3, 3]),
        tf.tensor2d(values, [257, 3]).slice([0, 1], [257, 2]),
      ],
      expected: [
        values.slice(255, 512),
        values.slice(254 * 3),
        Array.from(
          { length: 257 * 2 },
          (_, position) => values[Math.floor(position / 2) * 3 + 1 + (position % 2)] as number,
        ),
      ],
    };
  }),
  tensorCase({ op: 'where', name: 'by a mask of its size, and by one number', tolerance: EXACT, answers: 2 }, () => {
    const [a, b] = [numbers(257), uniform(5, 257)];
    const mask = codes(6, 257, 2);
    return {
      ask: (tf) => [
        tf.where(tf.tensor1d(mask, 'bool'), tf.tensor1d(a), tf.tensor1d(b)),
        tf.where(tf.scalar(false, 'bool'), tf.tensor1d(a), tf.tensor1d(b)),
      ],
      expected: [each(mask, (isFirst, position) => (isFirst === 1 ? a : b)[position] as number), b],
    };
  }),
];

const PUT_TOGETHER: readonly NumericsCase[] = [
  tensorCase({ op: 'concat', name: 'of vectors of 1, 0 and 257, and of columns', tolerance: EXACT, answers: 2 }, () => {
    const [a, b] = [numbers(3), numbers(257)];
    const columns: Tensor2D[] = [];
    return {
      ask: (tf) => [
        tf.concat([tf.tensor1d([7]), tf.tensor1d([]), tf.tensor1d(b)] as Tensor1D[]),
        tf.concat([...columns, tf.tensor2d(a, [3, 1]), tf.tensor2d(numbers(6), [3, 2])], 1),
      ],
      expected: [[7, ...b], [0, 1, 2].flatMap((index) => [...row(a, 1, index), ...row(numbers(6), 2, index)])],
    };
  }),
  tensorCase({ op: 'concat', name: 'of 33 vectors of 5', tolerance: EXACT }, () => {
    const values = numbers(165);
    return {
      ask: (tf) =>
        tf.concat(Array.from({ length: 33 }, (_, part) => tf.tensor1d(values.slice(5 * part, 5 * part + 5)))),
      expected: values,
    };
  }),
  tensorCase({ op: 'stack', name: 'of vectors, and of numbers', tolerance: EXACT, answers: 2 }, () => {
    const values = numbers(99);
    return {
      ask: (tf) => [
        tf.stack([0, 33, 66].map((start) => tf.tensor1d(values.slice(start, start + 33)))),
        tf.stack([...values.slice(0, 5)].map((value) => tf.scalar(value))),
      ],
      expected: [values, values.slice(0, 5)],
    };
  }),
  tensorCase({ op: 'tile', name: 'of a row, and of a matrix along both axes', tolerance: EXACT, answers: 2 }, () => {
    const values = numbers(33);
    const twice = [0, 1, 2].flatMap((index) => [...row(values, 11, index), ...row(values, 11, index)]);
    return {
      ask: (tf) => [tf.tensor2d(values, [1, 33]).tile([5, 1]), tf.tensor2d(values, [3, 11]).tile([2, 2])],
      expected: [Array.from({ length: 5 }, () => [...values]).flat(), [...twice, ...twice]],
    };
  }),
];

const TURNED: readonly NumericsCase[] = [
  ...(
    [
      [1, 257],
      [255, 33],
      [4097, 3],
    ] as const
  ).map(([rows, columns]) =>
    tensorCase({ op: 'transpose', name: `of [${String(rows)}, ${String(columns)}]`, tolerance: EXACT }, () => {
      const values = numbers(rows * columns);
      return {
        ask: (tf) => tf.tensor2d(values, [rows, columns]).transpose(),
        expected: turned(values, rows, columns),
      };
    }),
  ),
  tensorCase({ op: 'transpose', name: 'of the last two axes of [5, 7, 33]', tolerance: EXACT }, () => {
    const values = numbers(5 * 7 * 33);
    return {
      ask: (tf) => tf.tensor3d(values, [5, 7, 33]).transpose([0, 2, 1]),
      expected: [0, 1, 2, 3, 4].map((part) => turned(values.slice(part * 231, (part + 1) * 231), 7, 33)),
    };
  }),
  tensorCase({ op: 'reshape', name: 'of a product: to a vector and further', tolerance: EXACT }, () => {
    const values = numbers(255 * 3);
    return {
      ask: (tf) => tf.tensor2d(values, [255, 3]).mul(2).reshape([-1]).reshape([5, 51, 3]).mul(0.5).expandDims(0),
      expected: values,
    };
  }),
  tensorCase({ op: 'oneHot', name: '257 codes of 33, one of them -1', tolerance: EXACT }, () => {
    const given = codes(7, 257, 33);
    given[5] = -1;
    return {
      // The result is cast because on wasm, oneHot with dtype float32 writes the bits of integers.
      ask: (tf) => tf.oneHot(tf.tensor1d(given, 'int32'), 33).cast('float32'),
      expected: Array.from(given).map((code) => Array.from({ length: 33 }, (_, column) => Number(column === code))),
    };
  }),
  tensorCase({ op: 'cast', name: 'to int32 truncates towards 0, and back', tolerance: EXACT, answers: 2 }, () => {
    const values = Float32Array.of(-2.9, -1, -0.5, 0, 0.999, 1, 2.5, 16777216);
    const complete = each(values, Math.trunc).map((value) => value + 0);
    return {
      ask: (tf) => [tf.tensor1d(values).cast('int32'), tf.tensor1d(values).cast('int32').cast('float32')],
      expected: [complete, complete],
    };
  }),
  tensorCase({ op: 'cast', name: 'of booleans to 1 and 0', tolerance: EXACT }, () => {
    const values = uniform(8, 257);
    return {
      ask: (tf) => tf.tensor1d(values).greater(0).cast('float32').mul(3),
      expected: each(values, (value) => (value > 0 ? 3 : 0)),
    };
  }),
];

/** Cases for ops that move numbers without arithmetic. */
export const ARRANGING_CASES: readonly NumericsCase[] = [...PICKED, ...PUT_TOGETHER, ...TURNED];
