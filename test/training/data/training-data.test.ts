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

  it('rejects a mistyped field, which would train for the other label', () => {
    const source = { table: { y: ['no', 'yes'], s: [1, 2] }, positivLabel: 'no' };
    expect(() => readTrainingData(source)).to.throw(ValueError, /has no option 'positivLabel'\. .*'positiveLabel'/);
  });
});
