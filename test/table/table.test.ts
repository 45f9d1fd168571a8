import * as tf from '@tensorflow/tfjs';
import { expect } from 'chai';
import fc from 'fast-check';

import { DataValidationError } from '../../src/exceptions/index.ts';
import { encodeGroups, Table } from '../../src/table/index.ts';

describe('Table', () => {
  it('reads columns, typed arrays, tensors and records alike', () => {
    const expected = { x: [1, 2, null], s: ['a', null, 'b'] };
    const sources = [
      { x: [1, 2, null], s: ['a', null, 'b'] },
      { x: Float64Array.of(1, 2, NaN), s: ['a', undefined, 'b'] },
      { x: tf.tensor1d([1, 2, NaN]), s: ['a', null, 'b'] },
      [{ x: 1, s: 'a' }, { x: 2 }, { s: 'b' }],
    ];
    for (const source of sources) expect(Table.from(source).toColumns()).to.deep.equal(expected);
  });

  it('converts to danfojs and back without changes, including missing numbers', async () => {
    const columns = { x: [1.5, null, 3], s: ['a', 'b', 'c'] };
    const frame = await Table.from(columns).toDanfo();
    expect(frame.columns).to.deep.equal(['x', 's']);
    expect(Table.from(frame).toColumns()).to.deep.equal(columns);
  });

  it('converts to records and back without changes', () => {
    const cell = fc.record({ x: fc.option(fc.integer()), s: fc.option(fc.constantFrom('a', 'b', '')) });
    fc.assert(
      fc.property(fc.array(cell, { minLength: 1 }), (records) => {
        expect(Table.from(records).toRecords()).to.deep.equal(records);
      }),
    );
  });

  it('suggests similar names for an unknown column', () => {
    const table = Table.from({ income: [1], age: [2] });
    expect(() => table.column('incme'))
      .to.throw(DataValidationError, "The table has no column 'incme'.")
      .with.property('suggestion', "Did you mean 'income'?");
  });

  it('names the row and the text in a column of numbers', () => {
    const table = Table.from({ age: ['31', '40', 'forty'] });
    expect(() => table.numeric('age')).to.throw(DataValidationError, "row 3 holds 'forty'");
    expect(() => Table.from({ betrag: ['88', '2925,67'] }).numeric('betrag')).to.throw(DataValidationError, "row 2 holds '2925,67'").with.property('suggestion').that.matches(/^If the comma is a decimal comma, write a point, or read the file with --decimal ,/); // prettier-ignore
  });

  it('reads a text column of numbers as numbers if requested', () => {
    expect([...Table.from({ age: ['31', null, '4e1'] }).numeric('age').values]).to.deep.equal([31, NaN, 40]);
  });

  it('rejects columns of different lengths', () => {
    expect(() => Table.from({ a: [1, 2], b: [1] })).to.throw(DataValidationError, "'a' has 2 rows and 'b' has 1");
  });

  it('rejects values that are not a column', () => {
    expect(() => Table.from({ a: 3 as never })).to.throw(DataValidationError, 'a must be one column');
    expect(() => Table.from({ a: [{ b: 1 }] })).to.throw(
      DataValidationError,
      'a holds a value of type object at index 0',
    );
    expect(() => Table.from({ a: tf.ones([2, 2]) })).to.throw(DataValidationError, 'a tensor of shape [2, 2]');
  });

  it('reads 64-bit integers', () => {
    const source = { x: BigInt64Array.of(1n, -2n), y: BigUint64Array.of(3n, 4n) };
    expect(Table.from(source).toColumns()).to.deep.equal({ x: [1, -2], y: [3, 4] });
  });

  it('keeps the order of columns of a danfojs DataFrame, including numeric names', () => {
    const values = { b: [1], '1': [2] };
    const frame = {
      columns: ['b', '1'],
      shape: [1, 2],
      column: (name: string) => ({ values: values[name as keyof typeof values], shape: [1] }),
    };
    expect(Table.from(frame).columnNames).to.deep.equal(['b', '1']);
  });

  it('takes rows in the given order', () => {
    const table = Table.from({ x: [1, 2, 3], s: ['a', 'b', null] }).take([2, 0]);
    expect(table.toColumns()).to.deep.equal({ x: [3, 1], s: [null, 'a'] });
  });

  it('treats names with a special meaning in JavaScript as data', () => {
    const table = Table.from([JSON.parse('{"__proto__": 1, "constructor": "a"}') as Record<string, unknown>]);
    expect(table.columnNames).to.have.members(['__proto__', 'constructor']);
  });
});

describe('group encoding', () => {
  it('returns labels in sorted order for any order of rows', () => {
    const groups = fc.array(fc.constantFrom('b', 'a', 'c', null), { minLength: 1 });
    fc.assert(
      fc.property(groups, (values) => {
        const { codes, labels } = encodeGroups(values);
        expect(labels).to.deep.equal([...new Set(values)].filter((value) => value !== null).sort());
        expect(Array.from(codes, (code) => labels[code] ?? null)).to.deep.equal(values);
      }),
    );
  });

  it('crosses only the levels that occur', () => {
    const { labels, codes } = encodeGroups({ sex: ['f', 'm', 'f'], race: ['x', 'y', null] });
    expect(labels).to.deep.equal(['f||x', 'm||y']);
    expect([...codes]).to.deep.equal([0, 1, -1]);
  });

  it('keeps groups separate whose labels would be equal', () => {
    const crossed = encodeGroups({ s: ['a||b', 'a', 'x'], t: ['c', 'b||c', 'y'] });
    expect(new Set(crossed.labels).size).to.equal(3);
    expect(crossed.labels).to.include('x||y');
    const missing = encodeGroups(['(missing)', null, 'a'], 'include');
    expect(missing.labels).to.deep.equal(['(missing)', 'a', '((missing))']);
  });

  it('crosses attributes with thousands of levels in time proportional to the rows', () => {
    const many = Array.from({ length: 5000 }, (_, index) => `level ${String(index)}`);
    expect(encodeGroups({ a: many, b: [...many].reverse() }).labels).to.have.length(5000);
  });

  it('reads a Column, with numbers as labels', () => {
    const groups = Table.from({ s: [2, 1, null] }).column('s');
    expect(encodeGroups(groups).labels).to.deep.equal(['1', '2']);
  });

  it('reads rows of several values as several attributes', () => {
    const rows = [
      ['f', 1],
      ['m', 2],
    ];
    expect(encodeGroups(rows).labels).to.deep.equal(['f||1', 'm||2']);
  });

  it('sorts labels that are equal as numbers by their texts, for any order of rows', () => {
    for (const values of [
      ['+1', '1', '01'],
      ['01', '1', '+1'],
    ]) {
      expect(encodeGroups(values).labels).to.deep.equal(['+1', '01', '1']);
    }
  });

  it('merges texts that spell the same number into one group', () => {
    const { codes, labels } = encodeGroups(['1.0', 'b', '1', null, '2', '1e0']);
    expect(labels).to.deep.equal(['1', '2', 'b']);
    expect([...codes]).to.deep.equal([0, 2, 0, -1, 1, 0]);
  });

  it('distinguishes integers above 2^53', () => {
    const ids = BigInt64Array.of(9007199254740993n, 9007199254740992n);
    expect(encodeGroups(ids).labels).to.deep.equal(['9007199254740992', '9007199254740993']);
  });

  it('rejects rows of several values that differ in length, and names the first one', () => {
    const ragged = [['f', 'x'], ['m', 'y'], ['f']];
    expect(() => encodeGroups(ragged)).to.throw(
      DataValidationError,
      'sensitive must have 2 values in every row, like the first row; the row at index 2 has 1 values.',
    );
    expect(() => encodeGroups([['f', 'x'], null])).to.throw(DataValidationError, 'at index 1 has null.');
  });

  it('crosses the columns of a table, a danfojs DataFrame, records and a 2-D tensor', async () => {
    const columns = { sex: [1, 2, 1], race: [7, 7, 8] };
    const table = Table.from(columns);
    const records = table.toRecords();
    const tensor = tf.tensor2d([1, 7, 2, 7, 1, 8], [3, 2], 'int32');
    for (const source of [table, await table.toDanfo(), records, tensor]) {
      const { codes, labels } = encodeGroups(source);
      expect(Array.from(codes, (code) => labels[code])).to.deep.equal(['1||7', '2||7', '1||8']);
    }
    tensor.dispose();
  });

  it('reads one column of a table or of records as one attribute, and an absent value of a record as missing', () => {
    expect(encodeGroups(Table.from({ sex: ['f', 'm'] })).labels).to.deep.equal(['f', 'm']);
    const { codes } = encodeGroups([{ sex: 'f', race: 'x' }, { sex: 'm' }]);
    expect([...codes]).to.deep.equal([0, -1]);
  });

  it('rejects a table without columns', () => {
    for (const source of [Table.from({}), {}, [{}], [[]]]) {
      expect(() => encodeGroups(source)).to.throw(DataValidationError, 'sensitive has no attributes.');
    }
  });

  it('accepts missing values in every attribute of an intersection', () => {
    const { labels } = encodeGroups({ sex: ['f', null], race: [null, 'x'] }, 'include');
    expect(labels).to.deep.equal(['(missing)||x', 'f||(missing)']);
  });
});
