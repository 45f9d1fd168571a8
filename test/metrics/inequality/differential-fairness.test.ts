import { expect } from 'chai';
import fc from 'fast-check';

import { DataValidationError, MetricComputationError, ValueError } from '../../../src/exceptions/index.ts';
import {
  differentialFairnessBiasAmplification,
  differentialFairnessBiasAmplificationOf,
  empiricalDifferentialFairness,
  empiricalDifferentialFairnessOf,
} from '../../../src/metrics/inequality/index.ts';
import { reduceClassification } from '../../../src/metrics/reduce/reduce-classification.ts';

const row = fc.record({
  y: fc.constantFrom(0, 1),
  group: fc.constantFrom('a', 'b', 'c'),
  weight: fc.integer({ min: 1, max: 5 }),
});
const rows = fc.array(row, { minLength: 1, maxLength: 40 });

describe('empiricalDifferentialFairness', () => {
  it('equals its closed form: one of three against two of three', () => {
    // Smoothed rates 1.5/4 and 2.5/4; both outcomes have the ratio 5/3.
    const value = empiricalDifferentialFairness([1, 0, 0, 1, 1, 0], ['a', 'a', 'a', 'b', 'b', 'b']);
    expect(value).to.be.closeTo(Math.log(5 / 3), 1e-15);
  });

  it('uses the outcome with the larger ratio, even the negative one', () => {
    // Positive rates 3.5/4 and 2.5/4: 7/5; negative ones 0.5/4 and 1.5/4: 3.
    const value = empiricalDifferentialFairness([1, 1, 1, 1, 1, 0], ['a', 'a', 'a', 'b', 'b', 'b']);
    expect(value).to.be.closeTo(Math.log(3), 1e-15);
  });

  it('is the largest over all pairs of groups', () => {
    const groups = ['a', 'a', 'a', 'b', 'b', 'b', 'c', 'c', 'c'];
    expect(empiricalDifferentialFairness([1, 0, 0, 1, 1, 0, 1, 1, 1], groups)).to.be.closeTo(Math.log(5), 1e-15);
  });

  it('decreases to 0 with more concentration', () => {
    const of = (concentration: number): number =>
      empiricalDifferentialFairness([1, 0, 0, 1, 1, 0], ['a', 'a', 'a', 'b', 'b', 'b'], { concentration });
    expect(of(0)).to.be.closeTo(Math.log(2), 1e-15);
    expect(of(0)).to.be.greaterThan(of(1));
    expect(of(1)).to.be.greaterThan(of(10));
    expect(of(1e12)).to.be.closeTo(0, 1e-9);
  });

  it('without smoothing, is infinite if only one group never has an outcome, and ignores outcomes that no group has', () => {
    const options = { concentration: 0 };
    expect(empiricalDifferentialFairness([1, 0, 0, 0], ['a', 'a', 'b', 'b'], options)).to.equal(Infinity);
    expect(empiricalDifferentialFairness([0, 0, 0, 0], ['a', 'a', 'b', 'b'], options)).to.equal(0);
  });

  it('is NaN with fewer than two groups', () => {
    expect(empiricalDifferentialFairness([1, 0], ['a', 'a'])).to.be.NaN;
    expect(empiricalDifferentialFairness([1, 0], ['a', null])).to.be.NaN;
    // A group without weight does not count as a group.
    expect(empiricalDifferentialFairness([1, 0], ['a', 'b'], { sampleWeight: [1, 0] })).to.be.NaN;
  });

  it('is 0 or more, does not depend on names or the order of rows, and treats weights like copies', () => {
    const renamed: Record<string, string> = { a: 'z', b: 'm', c: 'a' };
    fc.assert(
      fc.property(rows, (data) => {
        const y = data.map((one) => one.y);
        const groups = data.map((one) => one.group);
        const value = empiricalDifferentialFairness(y, groups);
        const weights = data.map((one) => one.weight);
        const copies = data.flatMap((one) => Array(one.weight).fill(one) as typeof data);
        const weighted = empiricalDifferentialFairness(y, groups, { sampleWeight: weights });
        if (Number.isNaN(value)) {
          expect(new Set(groups).size).to.equal(1);
          expect(weighted).to.be.NaN;
          return;
        }
        expect(value).to.be.at.least(0);
        const changed = [...data].reverse();
        expect(
          empiricalDifferentialFairness(
            changed.map((one) => 1 - one.y),
            changed.map((one) => renamed[one.group]),
          ),
        ).to.be.closeTo(value, 1e-12);
        expect(weighted).to.be.closeTo(
          empiricalDifferentialFairness(
            copies.map((one) => one.y),
            copies.map((one) => one.group),
          ),
          1e-12,
        );
      }),
    );
  });

  it('rejects a negative or infinite concentration', () => {
    for (const concentration of [-1, NaN, Infinity]) {
      expect(() => empiricalDifferentialFairness([1, 0], ['a', 'b'], { concentration })).to.throw(
        ValueError,
        `must be a finite number of at least 0. Got ${String(concentration)} instead.`,
      );
    }
  });

  it('rejects a decision that is neither 0 nor 1', () => {
    expect(() => empiricalDifferentialFairness([1, 2], ['a', 'b'])).to.throw(DataValidationError, 'must be 0 or 1');
  });

  it('crosses several attributes', () => {
    const value = empiricalDifferentialFairness([1, 1, 0, 0], { sex: ['f', 'f', 'm', 'm'], old: [0, 0, 1, 1] });
    expect(value).to.be.closeTo(Math.log(5), 1e-15);
  });
});

describe('differentialFairnessBiasAmplification', () => {
  const groups = ['a', 'a', 'a', 'b', 'b', 'b'];

  it('is 0 if decisions equal the labels', () => {
    expect(differentialFairnessBiasAmplification([1, 0, 0, 1, 1, 0], [1, 0, 0, 1, 1, 0], groups)).to.equal(0);
  });

  it('is the increase from labels to decisions: from 5/3 to 3', () => {
    const value = differentialFairnessBiasAmplification([1, 0, 0, 1, 1, 0], [1, 0, 0, 1, 1, 1], groups);
    // Decisions: positive 1.5/4 and 3.5/4, 7/3; negative 2.5/4 and 0.5/4, 5.
    expect(value).to.be.closeTo(Math.log(5) - Math.log(5 / 3), 1e-15);
  });

  it('is negative if decisions are closer to parity than the labels', () => {
    expect(differentialFairnessBiasAmplification([1, 0, 0, 1, 1, 0], [1, 0, 0, 1, 0, 0], groups)).to.be.closeTo(
      -Math.log(5 / 3),
      1e-15,
    );
  });

  it('compares both on the rows that have a label and a decision', () => {
    const value = differentialFairnessBiasAmplification(
      [1, 0, 0, 1, 1, 0, null, 1],
      [1, 0, 0, 1, 1, 1, 1, null],
      [...groups, 'a', 'b'],
    );
    expect(value).to.be.closeTo(Math.log(3), 1e-15);
  });

  it('is NaN with fewer than two groups, or if both are infinite', () => {
    expect(differentialFairnessBiasAmplification([1, 0], [1, 1], ['a', 'a'])).to.be.NaN;
    const options = { concentration: 0 };
    expect(differentialFairnessBiasAmplification([1, 0], [1, 0], ['a', 'b'], options)).to.be.NaN;
  });

  it('can be computed from statistics, which need true labels', () => {
    const yPred = [1, 0, 0, 1, 1, 1];
    const stats = reduceClassification({ yTrue: [1, 0, 0, 1, 1, 0], yPred, sensitive: groups });
    expect(differentialFairnessBiasAmplificationOf(stats)).to.be.closeTo(Math.log(3), 1e-15);
    expect(empiricalDifferentialFairnessOf(stats)).to.be.closeTo(Math.log(5), 1e-15);
    const unlabelled = reduceClassification({ yPred, sensitive: groups });
    expect(empiricalDifferentialFairnessOf(unlabelled)).to.be.closeTo(Math.log(5), 1e-15);
    expect(() => differentialFairnessBiasAmplificationOf(unlabelled)).to.throw(
      MetricComputationError,
      'needs true labels',
    );
  });
});
