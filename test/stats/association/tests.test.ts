import { expect } from 'chai';

import { crossCountsOf } from '../../../src/stats/association/cross-counts.ts';
import { varianceParts } from '../../../src/stats/association/variance-parts.ts';
import {
  chiSquareGoodnessOfFit,
  chiSquareIndependence,
  chiSquareTail,
} from '../../../src/stats/tests/chi-square-test.ts';
import { fTail, oneWayAnova } from '../../../src/stats/tests/one-way-anova.ts';
import { golden } from './detectors-golden.ts';

/** Asserts nearness relative to the expected value. */
function expectNear(actual: number, expected: number, relative: number, title = ''): void {
  expect(actual, title).to.be.closeTo(expected, relative * Math.abs(expected));
}

describe('tails of the chi-square distribution', () => {
  it("equal SciPy's, even if 1 - cdf is 0", () => {
    for (const [value, degrees, tail] of golden.chi_square_tail) {
      expectNear(chiSquareTail(value, degrees), tail, 1e-9, `${value} on ${degrees}`);
    }
  });

  it('of two degrees are exp(-x / 2)', () => {
    for (const value of [0, 0.5, 3, 40, 1000]) expectNear(chiSquareTail(value, 2), Math.exp(-value / 2), 1e-13);
  });

  it('of an infinite value are 0', () => {
    expect(chiSquareTail(Infinity, 3)).to.equal(0);
  });
});

describe("tails of Fisher's F", () => {
  it("equal SciPy's", () => {
    for (const [value, between, within, tail] of golden.f_tail) {
      expectNear(fTail(value, between, within), tail, 1e-9, `${value} on ${between} and ${within}`);
    }
  });

  it('of one and one degree are 1 - 2 / pi atan(sqrt f)', () => {
    for (const value of [0.2, 1, 7]) expectNear(fTail(value, 1, 1), 1 - (2 / Math.PI) * Math.atan(Math.sqrt(value)), 1e-12); // prettier-ignore
  });

  it('of an infinite value are 0', () => {
    expect(fTail(Infinity, 1, 4)).to.equal(0);
  });
});

describe('the chi-square test of independence', () => {
  for (const { name, table, statistic, degrees, p_value, least_expected: min_expected } of golden.contingency) {
    it(`${name}: as SciPy's`, () => {
      const test = chiSquareIndependence(crossCountsOf(table.flat(), table.length, table[0]?.length ?? 0));
      expect(test.statistic).to.be.closeTo(statistic, 1e-10 * Math.max(1, statistic));
      expect(test.degrees).to.deep.equal([degrees]);
      expectNear(test.pValue, p_value, 1e-9);
      expectNear(test.minExpected, min_expected, 1e-12);
    });
  }

  for (const [title, counts, rows, columns] of [
    ['one row', [1, 2], 1, 2],
    ['one column with counts', [1, 0, 2, 0], 2, 2],
    ['no counts', [0, 0, 0, 0], 2, 2],
  ] as const) {
    it(`is undefined with ${title}`, () => {
      const { statistic, degrees, pValue } = chiSquareIndependence(crossCountsOf(counts, rows, columns));
      expect([statistic, degrees, pValue]).to.deep.equal([NaN, [0], NaN]);
    });
  }
});

describe('the chi-square test of fit', () => {
  for (const { name, observed, shares, statistic, p_value } of golden.goodness_of_fit) {
    it(`${name}: as SciPy's`, () => {
      const test = chiSquareGoodnessOfFit(observed, shares);
      expect(test.statistic).to.be.closeTo(statistic, 1e-12 * Math.max(1, statistic));
      expect(test.degrees).to.deep.equal([observed.length - 1]);
      expectNear(test.pValue, p_value, 1e-9);
    });
  }

  it('560 and 440 against halves: chi2 = 14.4, p = 0.000148', () => {
    const { statistic, pValue } = chiSquareGoodnessOfFit([560, 440], [0.5, 0.5]);
    expect(statistic).to.be.closeTo(14.4, 1e-12);
    expect(pValue).to.be.closeTo(0.000148, 5e-7);
  });

  it('does not depend on the unit of the shares', () => {
    expect(chiSquareGoodnessOfFit([56, 44], [3, 3])).to.deep.equal(chiSquareGoodnessOfFit([56, 44], [0.5, 0.5]));
  });

  it('an observed group with share 0 gives p 0; an absent group with share 0 is excluded', () => {
    const there = chiSquareGoodnessOfFit([50, 49, 1], [0.5, 0.5, 0]);
    expect([there.statistic, there.pValue]).to.deep.equal([Infinity, 0]);
    expect(chiSquareGoodnessOfFit([56, 44, 0], [0.5, 0.5, 0])).to.deep.equal(
      chiSquareGoodnessOfFit([56, 44], [0.5, 0.5]),
    );
  });

  for (const [title, observed, shares] of [
    ['nothing observed', [0, 0], [0.5, 0.5]],
    ['one category', [7], [1]],
    ['no category', [], []],
  ] as const) {
    it(`is undefined with ${title}`, () => {
      const { statistic, pValue } = chiSquareGoodnessOfFit(observed, shares);
      expect([statistic, pValue]).to.deep.equal([NaN, NaN]);
    });
  }
});

describe('the one-way analysis of variance', () => {
  for (const { name, values, codes, statistic, degrees, p_value } of golden.anova) {
    it(`${name}: as SciPy's f_oneway`, () => {
      const numbers = values.map((value) => value ?? NaN);
      const test = oneWayAnova(varianceParts(numbers, codes, 4));
      // SciPy subtracts a mean of 1e9 in float64.
      const relative = name === 'far from zero' ? 1e-6 : 1e-10;
      expectNear(test.statistic, statistic, relative);
      expect(test.degrees).to.deep.equal(degrees);
      expectNear(test.pValue, p_value, 10 * relative);
    });
  }

  it('has F infinite and p 0 if values are equal within the groups', () => {
    const { statistic, pValue } = oneWayAnova(varianceParts([0.1, 0.1, 0.1, 0.7, 0.7], [0, 0, 0, 1, 1], 2));
    expect([statistic, pValue]).to.deep.equal([Infinity, 0]);
  });

  for (const [title, values, codes] of [
    ['one group', [1, 2, 3], [0, 0, 0]],
    ['one value a group', [1, 2, 3], [0, 1, 2]],
    ['no spread', [2, 2, 2, 2], [0, 0, 1, 1]],
    ['no values', [], []],
    ['an infinite value', [1, 2, Infinity, 4], [0, 0, 1, 1]],
  ] as const) {
    it(`is undefined with ${title}`, () => {
      const { statistic, pValue } = oneWayAnova(varianceParts(values, codes, 3));
      expect([statistic, pValue]).to.deep.equal([NaN, NaN]);
    });
  }
});
