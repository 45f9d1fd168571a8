import * as tf from '@tensorflow/tfjs';
import { expect } from 'chai';

import { DataValidationError } from '../../../src/exceptions/index.ts';
import { Table } from '../../../src/table/index.ts';
import { type MatrixSource, readMatrix } from '../../../src/training/data/read-matrix.ts';

describe('matrices', () => {
  it('are read from rows, tables, columns, records, tensors and matrices', async () => {
    const tensor = tf.tensor2d([1, 2, 3, 4, 5, 6], [3, 2]);
    const sources: MatrixSource[] = [
      [
        [1, 2],
        [3, 4],
        [5, 6],
      ],
      [Float32Array.of(1, 2), Float32Array.of(3, 4), Float32Array.of(5, 6)],
      { a: [1, 3, 5], b: [2, 4, 6] },
      Table.from({ a: [1, 3, 5], b: [2, 4, 6] }),
      [
        { a: 1, b: 2 },
        { a: 3, b: 4 },
        { a: 5, b: 6 },
      ],
      tensor,
      { rows: 3, columns: 2, values: Float64Array.of(1, 2, 3, 4, 5, 6) },
    ];
    for (const source of sources) {
      const { rows, columns, values } = await readMatrix(source);
      expect([rows, columns, ...values]).to.deep.equal([3, 2, 1, 2, 3, 4, 5, 6]);
    }
    tensor.dispose();
  });

  it('read a table with columns named rows, columns and values as a table', async () => {
    const { rows, columns } = await readMatrix({ rows: [1, 2], columns: [3, 4], values: [5, 6] });
    expect([rows, columns]).to.deep.equal([2, 3]);
  });

  for (const [what, source, message] of [
    ['null in a row', [[1], [null]], 'row 2, column 1 holds null'],
    ['an empty text in a row', [['']], "row 1, column 1 holds ''"],
    ['a number as text in a row', [[1, '1']], "column 2 holds '1'"],
    ['a boolean in a row', [[true]], 'holds true'],
    ['a missing row', [[1], null], 'row 2 is null'],
    ['rows of different length', [[1, 2], [3]], 'row 2 1'],
    ['NaN', [[NaN]], 'holds NaN'],
    ['infinity', { a: [1, Infinity] }, 'holds Infinity'],
    ['a missing value in a table', { a: [1, null] }, 'holds NaN'],
    ['text in a table', { a: [1, 'x'] }, "'x'"],
    [
      'fewer values than rows x columns',
      { rows: 4, columns: 1, values: Float64Array.of(1, 2) },
      '4 rows, 1 columns and 2 values',
    ],
    ['values that are not floats', { rows: 1, columns: 1, values: Int32Array.of(1) }, 'Float64Array'],
    ['a size that is not an integer', { rows: 0.5, columns: 2, values: Float64Array.of(1) }, '0.5 rows'],
  ] as const) {
    it(`reject ${what}`, async () => {
      const error = await readMatrix(source as unknown as MatrixSource).then(
        () => undefined,
        (caught: unknown) => caught,
      );
      expect(error).to.be.instanceOf(DataValidationError);
      expect((error as Error).message).to.contain(message);
    });
  }
});
