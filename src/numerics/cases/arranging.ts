import type { Tensor1D } from '@tensorflow/tfjs';

import { each, ofModels, partOf, turned } from '../float64.ts';
import { codes, spread, uniform } from '../inputs.ts';
import { type NumericsCase, tensorCase } from '../numerics-case.ts';
import { EXACT } from '../tolerances.ts';

/**
 * Generates numbers that any rounding would probably change. A test can thus show that an op moves numbers without
 * changing them.
 */
const numbers = (size: number): Float32Array => spread(size, size, -30, 30);

const at = (values: ArrayLike<number>, index: number): number => values[index] as number;

function gatherRowsCase(rows: number, columns: number): NumericsCase {
  const name = `4,097 rows of [${String(rows)}, ${String(columns)}], some repeated`;
  return tensorCase({ op: 'gather', name, tolerance: EXACT }, () => {
    const values = numbers(rows * columns);
    const indices = codes(1, 4097, rows);
    return {
      ask: (tf) => tf.gather(tf.tensor2d(values, [rows, columns]), tf.tensor1d(indices)),
      expected: Array.from(indices, (row) => partOf(values, row, rows)),
    };
  });
}

function transposeCase(rows: number, columns: number): NumericsCase {
  return tensorCase({ op: 'transpose', name: `of [${String(rows)}, ${String(columns)}]`, tolerance: EXACT }, () => {
    const values = numbers(rows * columns);
    return { ask: (tf) => tf.tensor2d(values, [rows, columns]).transpose(), expected: turned(values, rows, columns) };
  });
}

/** Cases for ops that move numbers without arithmetic. */
export const ARRANGING_CASES: readonly NumericsCase[] = [
  gatherRowsCase(257, 1),
  gatherRowsCase(255, 33),
  tensorCase({ op: 'gather', name: '4,097 columns of [3, 33]', tolerance: EXACT }, () => {
    const values = numbers(99);
    const indices = codes(2, 4097, 33);
    return {
      ask: (tf) => tf.gather(tf.tensor2d(values, [3, 33]), tf.tensor1d(indices), 1),
      expected: [0, 33, 66].map((start) => each(indices, (column) => at(values, start + column))),
    };
  }),
  // WebGPU computes int32 as float32, so integers beyond 2^24 must not be used.
  tensorCase({ op: 'gather', name: 'integers below 2^24 stay exact', tolerance: EXACT }, () => {
    const values = codes(3, 33, 2 ** 24);
    const indices = codes(4, 257, 33);
    return {
      ask: (tf) => tf.gather(tf.tensor1d(values), tf.tensor1d(indices)),
      expected: each(indices, (position) => at(values, position)),
    };
  }),
  tensorCase({ op: 'slice', name: 'of a vector, of rows and of columns', tolerance: EXACT, reads: 3 }, () => {
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
        each({ length: 257 * 2 }, (_, position) => at(values, Math.floor(position / 2) * 3 + 1 + (position % 2))),
      ],
    };
  }),
  tensorCase({ op: 'where', name: 'by a mask of its size, and by one number', tolerance: EXACT, reads: 2 }, () => {
    const [a, b] = [numbers(257), uniform(5, 257)];
    const mask = codes(6, 257, 2);
    return {
      ask: (tf) => [
        tf.where(tf.tensor1d(mask, 'bool'), tf.tensor1d(a), tf.tensor1d(b)),
        tf.where(tf.scalar(false, 'bool'), tf.tensor1d(a), tf.tensor1d(b)),
      ],
      expected: [each(mask, (isFirst, position) => at(isFirst === 1 ? a : b, position)), b],
    };
  }),
  tensorCase({ op: 'concat', name: 'of vectors of 1, 0 and 257, and of columns', tolerance: EXACT, reads: 2 }, () => {
    const [a, b] = [numbers(3), numbers(257)];
    return {
      ask: (tf) => [
        tf.concat([tf.tensor1d([7]), tf.tensor1d([]), tf.tensor1d(b)] as Tensor1D[]),
        tf.concat([tf.tensor2d(a, [3, 1]), tf.tensor2d(numbers(6), [3, 2])], 1),
      ],
      expected: [[7, ...b], ofModels(3, (row) => [at(a, row), ...partOf(numbers(6), row, 3)])],
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
  tensorCase({ op: 'stack', name: 'of vectors, and of numbers', tolerance: EXACT, reads: 2 }, () => {
    const values = numbers(99);
    return {
      ask: (tf) => [
        tf.stack([0, 33, 66].map((start) => tf.tensor1d(values.slice(start, start + 33)))),
        tf.stack([...values.slice(0, 5)].map((value) => tf.scalar(value))),
      ],
      expected: [values, values.slice(0, 5)],
    };
  }),
  tensorCase({ op: 'tile', name: 'of a row, and of a matrix along both axes', tolerance: EXACT, reads: 2 }, () => {
    const values = numbers(33);
    const twice = ofModels(3, (row) => [...partOf(values, row, 3), ...partOf(values, row, 3)]);
    return {
      ask: (tf) => [tf.tensor2d(values, [1, 33]).tile([5, 1]), tf.tensor2d(values, [3, 11]).tile([2, 2])],
      expected: [Array.from({ length: 5 }, () => [...values]).flat(), [...twice, ...twice]],
    };
  }),
  transposeCase(1, 257),
  transposeCase(255, 33),
  transposeCase(4097, 3),
  tensorCase({ op: 'transpose', name: 'of the last two axes of [5, 7, 33]', tolerance: EXACT }, () => {
    const values = numbers(5 * 7 * 33);
    return {
      ask: (tf) => tf.tensor3d(values, [5, 7, 33]).transpose([0, 2, 1]),
      expected: ofModels(5, (part) => turned(partOf(values, part, 5), 7, 33)),
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
      ask: (tf) => tf.oneHot(tf.tensor1d(given), 33).cast('float32'),
      expected: Array.from(given, (code) => each({ length: 33 }, (_, column) => Number(column === code))),
    };
  }),
  tensorCase({ op: 'cast', name: 'to int32 truncates towards 0, and back', tolerance: EXACT, reads: 2 }, () => {
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
