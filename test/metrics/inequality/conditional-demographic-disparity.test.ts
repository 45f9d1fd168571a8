import { expect } from 'chai';
import fc from 'fast-check';

import {
  conditionalDemographicDisparity,
  conditionalDemographicDisparityOf,
} from '../../../src/metrics/inequality/index.ts';
import { reduceClassification } from '../../../src/metrics/reduce/reduce-classification.ts';

describe('conditionalDemographicDisparity', () => {
  it('equals its closed form', () => {
    // Group a: 3 rows, 1 of 2 positives and 2 of 2 negatives, 1 - 1/2; group b: 1 row, 1 of 2 positives, 0 - 1/2.
    expect(conditionalDemographicDisparity([1, 0, 0, 1], ['a', 'a', 'a', 'b'])).to.equal((3 * 0.5 - 1 * 0.5) / 4);
  });

  it('is positive if the larger group is rejected more, and changes its sign with the outcome', () => {
    const groups = ['a', 'a', 'a', 'b'];
    expect(conditionalDemographicDisparity([1, 0, 0, 1], groups)).to.equal(
      -conditionalDemographicDisparity([0, 1, 1, 0], groups),
    );
  });

  it('is 0 for groups of equal size and any rates, since the disparities of all groups sum to 0', () => {
    expect(conditionalDemographicDisparity([1, 1, 0, 0], ['a', 'a', 'b', 'b'])).to.equal(0);
  });

  it('is NaN with one group, or if all rows have the same outcome', () => {
    expect(conditionalDemographicDisparity([1, 0], ['a', 'a'])).to.be.NaN;
    expect(conditionalDemographicDisparity([1, 1], ['a', 'b'])).to.be.NaN;
    expect(conditionalDemographicDisparity([0, 0], ['a', 'b'])).to.be.NaN;
  });

  it('lies within -1 and 1, treats an integer weight like copies of the row, and excludes incomplete rows', () => {
    const row = fc.record({
      y: fc.constantFrom(0, 1),
      group: fc.constantFrom('a', 'b', 'c'),
      weight: fc.integer({ min: 1, max: 5 }),
    });
    fc.assert(
      fc.property(fc.array(row, { minLength: 1 }), (data) => {
        const copies = data.flatMap((one) => Array(one.weight).fill(one) as typeof data);
        const copied = conditionalDemographicDisparity(
          copies.map(({ y }) => y),
          copies.map(({ group }) => group),
        );
        const weighted = conditionalDemographicDisparity(
          [...data.map(({ y }) => y), null, 1],
          [...data.map(({ group }) => group), 'a', null],
          { sampleWeight: [...data.map(({ weight }) => weight), 1, 1] },
        );
        if (Number.isNaN(copied)) {
          expect(weighted).to.be.NaN;
          return;
        }
        expect(copied).to.be.within(-1, 1);
        expect(weighted).to.be.closeTo(copied, 1e-12);
      }),
    );
  });

  it('can be computed from statistics', () => {
    const stats = reduceClassification({ yPred: [1, 0, 0, 1], sensitive: ['a', 'a', 'a', 'b'] });
    expect(conditionalDemographicDisparityOf(stats)).to.equal(0.25);
  });
});
