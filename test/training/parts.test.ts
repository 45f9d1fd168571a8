import { expect } from 'chai';
import fc from 'fast-check';

import { DataValidationError } from '../../src/exceptions/index.ts';
import { Table } from '../../src/table/index.ts';
import { encodedWidth, encodeFeatures, fitFeatures } from '../../src/training/data/feature-encoder.ts';
import { hypervolume, markDominated, type ParetoPoint } from '../../src/training/pareto/pareto-points.ts';
import { stratifiedSplit } from '../../src/training/data/stratified-split.ts';
import { readTrainingData } from '../../src/training/data/training-data.ts';

describe('stratified split', () => {
  it('deals every row to one part', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1 }), fc.integer(), (strata, seed) => {
        const parts = stratifiedSplit(strata, [0.5, 0.3, 0.2], seed);
        const rows = parts.flatMap((part) => [...part]).sort((a, b) => a - b);
        expect(rows).to.deep.equal([...strata.keys()]);
      }),
    );
  });

  it('gives each part its share of every stratum, to a row', () => {
    const strata = Array.from({ length: 1000 }, (_, row) => (row % 10 === 0 ? 1 : 0));
    const [train, test] = stratifiedSplit(strata, [0.8, 0.2], 1);
    const ofOne = (rows: Int32Array | undefined): number => [...(rows ?? [])].filter((row) => strata[row] === 1).length;
    expect([train?.length, test?.length, ofOne(train), ofOne(test)]).to.deep.equal([800, 200, 80, 20]);
  });

  it('keeps the parts of their total size also where strata have single rows', () => {
    const strata = Array.from({ length: 100 }, (_, row) => row);
    const [train, test] = stratifiedSplit(strata, [0.8, 0.2], 3);
    expect([train?.length, test?.length]).to.deep.equal([80, 20]);
  });

  it('is the same for the same seed, and another for another', () => {
    const strata = new Int32Array(50);
    expect(stratifiedSplit(strata, [0.5, 0.5], 1)).to.deep.equal(stratifiedSplit(strata, [0.5, 0.5], 1));
    expect(stratifiedSplit(strata, [0.5, 0.5], 1)).to.not.deep.equal(stratifiedSplit(strata, [0.5, 0.5], 2));
  });
});

describe('feature encoding', () => {
  const train = Table.from({ x: [1, 3, null, 5], c: ['a', 'b', null, 'a'], k: [7, 7, 7, 7] });

  it('standardises numbers, marks missing ones, makes one column per text', () => {
    const { specs, warnings } = fitFeatures(train, ['x', 'c', 'k']);
    expect(specs).to.deep.equal([
      // Mean 3, population standard deviation sqrt(8/3).
      { kind: 'numeric', name: 'x', mean: 3, scale: Math.sqrt(8 / 3), marksMissing: true },
      { kind: 'categorical', name: 'c', levels: ['a', 'b', '(missing)'] },
    ]);
    expect(warnings).to.deep.equal(["feature 'k' is left out: it has one value only"]);
    const z = 2 / Math.sqrt(8 / 3);
    const expected = [
      [-z, 0, 1, 0, 0],
      [0, 0, 0, 1, 0],
      [0, 1, 0, 0, 1],
      [z, 0, 1, 0, 0],
    ];
    expect([...encodeFeatures(train, specs)].map((value) => Number(value.toFixed(6)))).to.deep.equal(
      expected.flat().map((value) => Number(value.toFixed(6))),
    );
    expect(encodedWidth(specs)).to.equal(5);
  });

  it('gives a text unknown from training no column', () => {
    const { specs } = fitFeatures(train, ['c']);
    expect([...encodeFeatures(Table.from({ c: ['z', 'b'] }), specs)]).to.deep.equal([0, 0, 0, 0, 1, 0]);
  });

  it('leaves identifiers out and says so', () => {
    const ids = Table.from({
      id: Array.from({ length: 40 }, (_, row) => `person ${String(row)}`),
      x: [...Array(40).keys()],
    });
    const { specs, warnings } = fitFeatures(ids, ['id', 'x']);
    expect(specs.map(({ name }) => name)).to.deep.equal(['x']);
    expect(warnings[0]).to.match(/'id' is left out: its 40 distinct texts look like identifiers/);
  });

  it('keeps the 64 most frequent of many texts', () => {
    const values = Array.from({ length: 1000 }, (_, row) => `t${String(row % 100)}`);
    const { specs, warnings } = fitFeatures(Table.from({ c: values }), ['c']);
    expect(encodedWidth(specs)).to.equal(64);
    expect(warnings[0]).to.match(/64 most frequent of 100/);
  });

  it('refuses when nothing is left', () => {
    expect(() => fitFeatures(train, ['k'])).to.throw(DataValidationError, 'no feature to train on');
  });
});

describe('training data', () => {
  it('takes the rarer of two texts as positive', () => {
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
      /has 3 values \('a', 'b', 'c'\); training needs two/,
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
      /is sensitive and cannot be a feature/,
    ],
    ['an unknown feature', { table: { y: [1, 0], s: [1, 2] }, features: ['z'] }, /no column 'z'/],
  ];
  for (const [title, source, message] of refusals) {
    it(`refuses ${title}`, () => {
      expect(() => readTrainingData(source)).to.throw(DataValidationError, message);
    });
  }
});

describe('Pareto points', () => {
  const point = (accuracy: number, dpDiff: number): ParetoPoint => ({
    eta: 0,
    accuracy,
    dpDiff,
    eoDiff: 0,
    loss: 0,
    dominated: false,
    accuracyCi: [0, 1],
    dpDiffCi: null,
  });

  it('a point is dominated by one as good in both and better in one', () => {
    const marked = markDominated([point(0.9, 0.2), point(0.8, 0.1), point(0.8, 0.15), point(0.9, 0.2)]);
    expect(marked.map(({ dominated }) => dominated)).to.deep.equal([false, false, true, false]);
  });

  it('the hypervolume is the area of the staircase above the reference', () => {
    // Accuracy over 0.5: 0.4 wide up to evenness 0.8, then 0.3 wide up to 0.9.
    const points = [point(0.9, 0.2), point(0.8, 0.1)];
    expect(hypervolume(points, 0.5)).to.be.closeTo(0.4 * 0.8 + 0.3 * 0.1, 1e-12);
  });

  it('points under the reference or without a gap add nothing', () => {
    expect(hypervolume([point(0.4, 0), point(0.9, NaN)], 0.5)).to.equal(0);
  });

  it('another undominated point never takes area away', () => {
    const any = fc.record({
      a: fc.double({ min: 0, max: 1, noNaN: true }),
      d: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    fc.assert(
      fc.property(fc.array(any), any, (list, extra) => {
        const area = (all: { a: number; d: number }[]): number =>
          hypervolume(markDominated(all.map(({ a, d }) => point(a, d))), 0.5);
        expect(area([...list, extra])).to.be.at.least(area(list) - 1e-12);
      }),
    );
  });
});
