import { expect } from 'chai';
import fc from 'fast-check';

import {
  demographicParityDifference,
  metricOf,
  equalizedOddsDifference,
  maeParityDifference,
  mergeStats,
  reduceClassification,
} from '../../src/metrics/index.ts';

const row = fc.record({
  yTrue: fc.constantFrom(0, 1),
  yPred: fc.constantFrom(0, 1),
  group: fc.constantFrom('a', 'b', 'c'),
  weight: fc.integer({ min: 1, max: 5 }),
});
const rows = fc.array(row, { minLength: 1, maxLength: 60 });
const options = { minGroupSize: 1, withCi: false };

interface Row {
  readonly yTrue: number;
  readonly yPred: number;
  readonly group: string;
  readonly weight: number;
}
const pick = <Name extends keyof Row>(data: readonly Row[], name: Name): Row[Name][] => data.map((one) => one[name]);
const dp = (data: readonly Row[], sampleWeight?: readonly number[]) =>
  demographicParityDifference(pick(data, 'yPred'), pick(data, 'group'), { ...options, sampleWeight });
const eo = (data: readonly Row[], sampleWeight?: readonly number[]) =>
  equalizedOddsDifference(pick(data, 'yTrue'), pick(data, 'yPred'), pick(data, 'group'), { ...options, sampleWeight });

describe('laws of the metrics', () => {
  it('the order of rows changes nothing', () => {
    fc.assert(
      fc.property(rows, (data) => {
        expect(dp([...data].reverse()).toJSON()).to.deep.equal(dp(data).toJSON());
        expect(eo([...data].reverse()).toJSON()).to.deep.equal(eo(data).toJSON());
      }),
    );
  });

  it('the names of groups change nothing', () => {
    const renamed: Record<string, string> = { a: 'z', b: 'm', c: 'a' };
    fc.assert(
      fc.property(rows, (data) => {
        const other = data.map((one) => ({ ...one, group: renamed[one.group] ?? '' }));
        expect(dp(other).value).to.deep.equal(dp(data).value);
        expect(eo(other).value).to.deep.equal(eo(data).value);
      }),
    );
  });

  it('a difference lies in [0, 1], or is undefined with a reason', () => {
    fc.assert(
      fc.property(rows, (data) => {
        for (const result of [dp(data), eo(data)]) {
          if (Number.isNaN(result.value)) expect(result.undefinedReason).to.be.a('string');
          else expect(result.value).to.be.within(0, 1);
        }
      }),
    );
  });

  it('weights of one equal no weights', () => {
    fc.assert(
      fc.property(rows, (data) => {
        const ones = data.map(() => 1);
        expect(dp(data, ones).toJSON()).to.deep.equal(dp(data).toJSON());
        expect(eo(data, ones).toJSON()).to.deep.equal(eo(data).toJSON());
      }),
    );
  });

  it('a whole weight equals so many copies of the row', () => {
    fc.assert(
      fc.property(rows, (data) => {
        const copies = data.flatMap((one) => Array<Row>(one.weight).fill(one));
        const weighted = eo(data, pick(data, 'weight')).value;
        const copied = eo(copies).value;
        if (Number.isNaN(copied)) expect(weighted).to.be.NaN;
        else expect(weighted).to.be.closeTo(copied, 1e-12);
      }),
    );
  });

  it('the statistics of two halves, merged, are the statistics of the whole', () => {
    fc.assert(
      fc.property(rows, rows, (first, second) => {
        const reduce = (data: readonly Row[]) =>
          reduceClassification({
            yTrue: pick(data, 'yTrue'),
            yPred: pick(data, 'yPred'),
            sensitive: pick(data, 'group'),
            sampleWeight: pick(data, 'weight'),
          });
        const merged = mergeStats(reduce(first), reduce(second));
        const whole = reduce([...first, ...second]);
        expect(merged).to.deep.equal(whole);
        expect(metricOf('demographic_parity_difference', merged, options).toJSON()).to.deep.equal(
          metricOf('demographic_parity_difference', whole, options).toJSON(),
        );
      }),
    );
  });

  it('crossing an attribute with a constant changes nothing but labels', () => {
    fc.assert(
      fc.property(rows, (data) => {
        const crossed = demographicParityDifference(
          pick(data, 'yPred'),
          { group: pick(data, 'group'), planet: data.map(() => 'earth') },
          options,
        );
        expect(crossed.value).to.deep.equal(dp(data).value);
      }),
    );
  });

  it('an interval holds its point and lies in [0, 1]', () => {
    fc.assert(
      fc.property(rows, (data) => {
        const result = equalizedOddsDifference(pick(data, 'yTrue'), pick(data, 'yPred'), pick(data, 'group'), {
          minGroupSize: 1,
          ciSamples: 50,
        });
        if (result.ci === null) expect(result.undefinedReason).to.be.a('string');
        else {
          const [low, high] = result.ci;
          expect(low).to.be.within(0, result.value);
          expect(high).to.be.within(result.value, 1);
        }
      }),
      { numRuns: 30 },
    );
  });

  it('the same seed gives the same interval, another seed another one', () => {
    const yPred = Array.from({ length: 200 }, (_, index) => Number(index % 5 < 2));
    const groups = yPred.map((_, index) => ['a', 'b', 'c'][(index * 7) % 3]);
    const interval = (seed: number) => demographicParityDifference(yPred, groups, { seed }).ci;
    expect(interval(1)).to.deep.equal(interval(1));
    expect(interval(1)).to.not.deep.equal(interval(2));
  });

  it('scaling errors scales MAE parity', () => {
    const yTrue = [1, 2, 3, 4, 5, 6];
    const yPred = [1.5, 2, 2, 4, 8, 6.5];
    const groups = ['a', 'a', 'b', 'b', 'c', 'c'];
    const scaled = (factor: number) =>
      maeParityDifference(
        yTrue.map((value) => factor * value),
        yPred.map((value) => factor * value),
        groups,
        options,
      ).value;
    // Group means of |error|: 0.25, 0.5, 1.75.
    expect(scaled(1)).to.be.closeTo(1.5, 1e-12);
    expect(scaled(4)).to.be.closeTo(6, 1e-12);
  });
});
