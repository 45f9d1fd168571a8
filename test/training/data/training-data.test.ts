import { expect } from 'chai';

import { DataValidationError, ValueError } from '../../../src/exceptions/index.ts';
import { readTrainingData } from '../../../src/training/data/training-data.ts';

describe('training data', () => {
  it('uses the less frequent of two texts as positive', () => {
    const data = readTrainingData({
      table: { y: ['no', 'no', 'yes', null], s: ['a', 'b', 'a', 'b'], x: [1, 2, 3, 4] },
    });
    expect(data.positiveLabel).to.equal('yes');
    expect([...data.rows.y]).to.deep.equal([0, 0, 1]);
    expect(data.rows.nDropped).to.equal(1);
    expect(data.features).to.deep.equal(['x']);
  });

  const refusals: [string, Parameters<typeof readTrainingData>[0], RegExp][] = [
    [
      'a target of three values',
      { table: { y: ['a', 'b', 'c'], s: [1, 2, 1] } },
      /has 3 values \('a', 'b', 'c'\), but training needs two/,
    ],
    ['a target of one value', { table: { y: [1, 1], s: [1, 2] } }, /one value only/],
    ['one group', { table: { y: [1, 0], s: ['x', 'x'] } }, /one group only \('x'\)/],
    [
      'a positive label that does not occur',
      { table: { y: ['a', 'b'], s: [1, 2] }, positiveLabel: 'c' },
      /never has the value 'c'/,
    ],
    [
      'a sensitive feature',
      { table: { y: [1, 0], s: [1, 2] }, features: ['s'] },
      /is sensitive, so it cannot be a feature/,
    ],
    ['an unknown feature', { table: { y: [1, 0], s: [1, 2] }, features: ['z'] }, /no column 'z'/],
  ];
  for (const [title, source, message] of refusals) {
    it(`rejects ${title}`, () => {
      expect(() => readTrainingData(source)).to.throw(DataValidationError, message);
    });
  }

  describe('notes features that separate the two values of the target without an exception', () => {
    const range = (count: number): number[] => Array.from({ length: count }, (_, row) => row);
    const y = range(200).map((row) => Number(row % 7 < 2));
    const s = range(200).map((row) => row % 2);
    const notesOf = (columns: Record<string, readonly (string | number | null)[]>): readonly string[] =>
      readTrainingData({ table: { y, s, ...columns } }).warnings;
    const note = (names: string): string =>
      `these features separate the two values of 'y' without an exception: ${names}; check that their values are known when the model decides, and are not computed from 'y'; leave out the others (features)`; // prettier-ignore

    it('numbers with a threshold, above it or below it, and texts', () => {
      expect(notesOf({ x: y.map((own, row) => 100 * own + (row % 50)) })).to.deep.equal([note("'x'")]);
      expect(notesOf({ x: y.map((own, row) => (row % 50) - 100 * own) })).to.deep.equal([note("'x'")]);
      expect(notesOf({ x: y.map((own) => (own === 1 ? 'paid' : 'open')) })).to.deep.equal([note("'x'")]);
      expect(notesOf({ x: y.map((own, row) => (row % 9 === 0 ? null : own)) })).to.deep.equal([note("'x'")]);
      expect(notesOf({ x: y, z: y })).to.deep.equal([note("'x', 'z'")]);
    });

    it('not with a single exception, nor in few rows, nor texts that differ in most rows', () => {
      const exception = y.map((own, row) => (row === 100 ? 1 - own : own));
      expect(notesOf({ x: exception, z: exception.map((own) => (own === 1 ? 'a' : 'b')) })).to.deep.equal([]);
      expect(notesOf({ x: range(200).map((row) => `v${row}`) })).to.deep.equal([]);
      expect(notesOf({ x: range(200).map((row) => `v${row % 70}`) })).to.deep.equal([]);
      expect(notesOf({ x: y.map((own, row) => (row < 25 ? own : null)) })).to.deep.equal([]);
      expect(notesOf({ x: Array<number>(200).fill(3), z: Array<string>(200).fill('k') })).to.deep.equal([]);
    });
  });

  describe('notes test rows that are training rows', () => {
    const table = (from: number, count: number, x: (row: number) => number) => {
      const rows = Array.from({ length: count }, (_, row) => from + row);
      return { x: rows.map(x), z: rows.map((row) => `t${String(row % 3)}`), y: rows.map((row) => Number((row * 7) % 10 < 4)), s: rows.map((row) => 'ab'[row % 2] ?? '') }; // prettier-ignore
    };
    const noted = (train: object, test: object): readonly string[] =>
      readTrainingData({ table: train as never, testTable: test as never }).warnings.filter((note) => note.includes('test rows')); // prettier-ignore
    const distinct = (row: number): number => Math.sin(row + 1);
    const advice =
      'so the values on test rows are better than on new rows: give rows that no model was trained on, or hold out rows (folds)';

    it('the same rows, also if many rows equal each other', () => {
      for (const x of [distinct, (row: number) => row % 2]) {
        expect(noted(table(0, 300, x), table(0, 300, x))).to.deep.equal([`the test rows are the training rows, ${advice}`]); // prettier-ignore
      }
    });

    it('a part of them, among others', () => {
      // Test rows 180 to 299 are training rows, and 300 to 379 are not.
      expect(noted(table(0, 300, distinct), table(180, 200, distinct))).to.deep.equal([
        `120 of 200 test rows (60.0%) equal a training row in all features, the target and the group, against 0.0% by chance, ${advice}`,
      ]);
      expect(noted(table(0, 300, distinct), table(300, 200, distinct))).to.deep.equal([]);
    });

    it('not rows that are equal because their features have few values', () => {
      const few = (row: number): number => Math.floor(Math.abs(Math.sin(row + 1)) * 4);
      expect(noted(table(0, 3000, few), table(3000, 1000, few))).to.deep.equal([]);
      const some = (row: number): number => Math.floor(Math.abs(Math.sin(row + 1)) * 200);
      expect(noted(table(0, 1000, some), table(1000, 500, some))).to.deep.equal([]);
      expect(noted(table(0, 300, distinct), table(0, 20, distinct))).to.deep.equal([]);
    });
  });

  it('rejects a mistyped field, which would train for the other label', () => {
    const source = { table: { y: ['no', 'yes'], s: [1, 2] }, positivLabel: 'no' };
    expect(() => readTrainingData(source)).to.throw(ValueError, /has no option 'positivLabel'\. .*'positiveLabel'/);
  });
});
