import { expect } from 'chai';
import fc from 'fast-check';

import { DataValidationError, ValueError } from '../../../src/exceptions/index.ts';
import {
  discountedCumulativeGain,
  infeasibleIndex,
  normalizedDiscountedCumulativeGain,
} from '../../../src/metrics/inequality/index.ts';

describe('discountedCumulativeGain', () => {
  it('equals its closed form', () => {
    expect(discountedCumulativeGain([3, 2, 1])).to.be.closeTo(3 + 2 / Math.log2(3) + 1 / 2, 1e-15);
  });

  it('counts only the first positions if requested, and at most all of them', () => {
    expect(discountedCumulativeGain([3, 2, 1], { top: 1 })).to.equal(3);
    expect(discountedCumulativeGain([3, 2, 1], { top: 9 })).to.equal(discountedCumulativeGain([3, 2, 1]));
  });

  it('moves up the rows after a row without a score', () => {
    expect(discountedCumulativeGain([null, 3, NaN, 2, 1])).to.equal(discountedCumulativeGain([3, 2, 1]));
  });

  it('rejects rankings that are not numeric', () => {
    expect(() => discountedCumulativeGain(['a', 'b'])).to.throw(DataValidationError, 'scores must hold numbers');
    expect(() => discountedCumulativeGain([1, Infinity])).to.throw(DataValidationError, 'scores must be finite');
    expect(() => discountedCumulativeGain([])).to.throw(DataValidationError, 'scores holds no rows');
    expect(() => discountedCumulativeGain([null])).to.throw(DataValidationError, 'scores');
    for (const top of [0, -1, 1.5, NaN]) {
      expect(() => discountedCumulativeGain([1], { top })).to.throw(ValueError, `Got ${String(top)} instead.`);
    }
  });
});

describe('normalizedDiscountedCumulativeGain', () => {
  it('is 1 for descending scores, and less for every other order', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 12 }), (scores) => {
        const ideal = [...scores].sort((a, b) => b - a);
        const value = normalizedDiscountedCumulativeGain(scores);
        if (scores.every((score) => score === 0)) {
          expect(value).to.be.NaN;
          return;
        }
        expect(normalizedDiscountedCumulativeGain(ideal)).to.equal(1);
        if (ideal.some((score, position) => score !== scores[position])) expect(value).to.be.within(0, 1 - 1e-6);
      }),
    );
  });

  it('is relative to the best of all candidates, ranked or not', () => {
    const expected = (3 + 1 / Math.log2(3)) / (4 + 3 / Math.log2(3));
    expect(normalizedDiscountedCumulativeGain([3, 1], { candidates: [1, 4, 3, 2] })).to.be.closeTo(expected, 1e-15);
    expect(normalizedDiscountedCumulativeGain([3, 1], { candidates: [1, 4, 3], top: 1 })).to.be.closeTo(3 / 4, 1e-15);
  });

  it('counts empty positions relative to the best candidates for them', () => {
    const value = normalizedDiscountedCumulativeGain([3], { candidates: [3, 3, 3], top: 2 });
    expect(value).to.be.closeTo(1 / (1 + 1 / Math.log2(3)), 1e-15);
  });

  it('rejects a number of positions that is not a whole number of at least 1', () => {
    for (const top of [0, -1, 1.5, NaN]) {
      expect(() => normalizedDiscountedCumulativeGain([1], { top })).to.throw(
        ValueError,
        `Got ${String(top)} instead.`,
      );
    }
  });

  it('rejects negative scores, for which the best gain is not defined', () => {
    expect(() => normalizedDiscountedCumulativeGain([null, -1]))
      .to.throw(DataValidationError, 'scores must be 0 or more, but holds -1 at index 1.')
      .with.property('suggestion')
      .that.includes('[0, 1]');
    expect(() => normalizedDiscountedCumulativeGain([1], { candidates: [-1] })).to.throw(
      DataValidationError,
      'candidates must be 0 or more',
    );
  });
});

describe('infeasibleIndex', () => {
  const halves = { a: 0.5, b: 0.5 };

  it('is 0 for a ranking that alternates', () => {
    expect(infeasibleIndex(['a', 'b', 'a', 'b'], halves)).to.deep.equal({
      infeasibleIndex: 0,
      infeasibleCount: 0,
      positions: [],
    });
  });

  it('counts every prefix with too few rows of a group, including the complete ranking', () => {
    // Two a's need a b at 2 rows, and four rows need two.
    expect(infeasibleIndex(['a', 'a', 'a', 'b'], halves)).to.deep.equal({
      infeasibleIndex: 3,
      infeasibleCount: 3,
      positions: [1, 2, 3],
    });
  });

  it('counts a prefix once, and each of its shortages in infeasibleCount', () => {
    const thirds = { a: 1 / 3, b: 1 / 3, c: 1 / 3 };
    expect(infeasibleIndex(['a', 'a', 'a', 'b', 'c'], thirds)).to.deep.equal({
      infeasibleIndex: 2,
      infeasibleCount: 3,
      positions: [2, 3],
    });
  });

  it('uses only the first positions if requested', () => {
    expect(infeasibleIndex(['a', 'a', 'a', 'b'], halves, { top: 2 }).positions).to.deep.equal([1]);
    expect(infeasibleIndex(['a', 'a', 'a', 'b'], halves, { top: 99 }).positions).to.deep.equal([1, 2, 3]);
  });

  it('counts shortages of a group that is not in the ranking', () => {
    expect(infeasibleIndex(['a', 'a'], halves).positions).to.deep.equal([1]);
  });

  it('does not lose a position to rounding: 0.29 of 100 rows are 29', () => {
    const groups = Array.from({ length: 100 }, (_, row) => (row < 28 ? 'a' : 'b'));
    expect(infeasibleIndex(groups, { a: 0.29, b: 0 }).positions).to.deep.equal([99]);
  });

  it('accepts targets that sum to less than 1, and targets of 0', () => {
    expect(infeasibleIndex(['b', 'b', 'a', 'b'], { a: 0.25, b: 0 }).infeasibleIndex).to.equal(0);
  });

  it('accepts a target of 1, which only a ranking of one group meets', () => {
    expect(infeasibleIndex(['a', 'a'], { a: 1 }).infeasibleIndex).to.equal(0);
    expect(infeasibleIndex(['a', 'b', 'a'], { a: 1, b: 0 }).positions).to.deep.equal([1, 2]);
    expect(() => infeasibleIndex(['a'], { a: 1.5 })).to.throw(ValueError, "Got 1.5 for 'a' instead.");
  });

  it('moves up the rows after a row without a group', () => {
    expect(infeasibleIndex(['a', null, 'a', 'b'], halves).positions).to.deep.equal([1]);
  });

  it('returns frozen plain data', () => {
    const result = infeasibleIndex(['a', 'b'], halves);
    expect(Object.isFrozen(result) && Object.isFrozen(result.positions)).to.be.true;
  });

  it('rejects invalid targets', () => {
    expect(() => infeasibleIndex(['a', 'x'], halves))
      .to.throw(DataValidationError, "targetProportions has no proportion for the group 'x'")
      .with.property('suggestion')
      .that.includes("Did you mean 'a' or 'b'?");
    expect(() => infeasibleIndex(['a', 'constructor'], halves)).to.throw(DataValidationError, "'constructor'");
    expect(() => infeasibleIndex(['a', 'b'], { a: 0.7, b: 0.5 })).to.throw(ValueError, 'at most 1');
    expect(() => infeasibleIndex(['a', 'b'], { a: -0.1, b: 0.5 })).to.throw(ValueError, "Got -0.1 for 'a' instead.");
    expect(() => infeasibleIndex(['a', 'b'], { a: NaN, b: 0.5 })).to.throw(ValueError, "Got NaN for 'a' instead.");
    expect(() => infeasibleIndex(['a', 'b'], halves, { top: 0 })).to.throw(ValueError, 'top');
    expect(() => infeasibleIndex([], halves)).to.throw(DataValidationError, 'sensitive');
    expect(() => infeasibleIndex([null], halves)).to.throw(DataValidationError, 'sensitive');
  });
});
