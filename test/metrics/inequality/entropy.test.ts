import { expect } from 'chai';
import fc from 'fast-check';

import { DataValidationError, MetricComputationError, ValueError } from '../../../src/exceptions/index.ts';
import {
  betweenGroupCoefficientOfVariation,
  betweenGroupGeneralizedEntropyIndex,
  betweenGroupGeneralizedEntropyIndexOf,
  betweenGroupTheilIndex,
  coefficientOfVariation,
  coefficientOfVariationOf,
  generalizedEntropyIndex,
  generalizedEntropyIndexOf,
  theilIndex,
  theilIndexOf,
} from '../../../src/metrics/inequality/index.ts';
import { reduceClassification } from '../../../src/metrics/reduce/reduce-classification.ts';

interface Row {
  readonly yTrue: number;
  readonly yPred: number;
  readonly group: string;
  readonly weight: number;
}

const row = fc.record({
  yTrue: fc.constantFrom(0, 1),
  yPred: fc.constantFrom(0, 1),
  group: fc.constantFrom('a', 'b', 'c'),
  weight: fc.integer({ min: 1, max: 5 }),
});
const rows = fc.array(row, { minLength: 1, maxLength: 40 });
const alphas = fc.constantFrom(-1, 0, 0.3, 0.5, 1, 1.5, 2, 3);

const pick = <Name extends keyof Row>(data: readonly Row[], name: Name): Row[Name][] => data.map((one) => one[name]);
const indexOf = (data: readonly Row[], alpha: number, sampleWeight?: readonly number[]): number =>
  generalizedEntropyIndex(pick(data, 'yTrue'), pick(data, 'yPred'), { alpha, sampleWeight });
const betweenOf = (data: readonly Row[], alpha: number, sampleWeight?: readonly number[]): number =>
  betweenGroupGeneralizedEntropyIndex(pick(data, 'yTrue'), pick(data, 'yPred'), pick(data, 'group'), {
    alpha,
    sampleWeight,
  });
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const benefitsOf = (data: readonly Row[]): number[] => data.map(({ yTrue, yPred }) => 1 + yPred - yTrue);

/** Asserts that two numbers are equal; infinities and NaN equal themselves. */
function expectClose(actual: number, expected: number): void {
  if (Number.isFinite(expected)) expect(actual).to.be.closeTo(expected, 1e-12 * Math.max(1, Math.abs(expected)));
  else expect(actual).to.deep.equal(expected);
}

/** The textbook sum over rows, for an alpha other than 0 and 1. */
function textbookIndex(benefits: readonly number[], alpha: number): number {
  const average = mean(benefits);
  return mean(benefits.map((benefit) => (benefit / average) ** alpha - 1)) / (alpha * (alpha - 1));
}

describe('generalizedEntropyIndex', () => {
  it('is 0 if every decision is correct', () => {
    for (const alpha of [-1, 0, 0.5, 1, 2, 7]) {
      expect(generalizedEntropyIndex([1, 0, 1], [1, 0, 1], { alpha })).to.equal(0);
    }
  });

  it('equals the closed forms for one correct decision and one false positive', () => {
    // Benefits 1 and 2, mean 3/2.
    const of = (alpha: number): number => generalizedEntropyIndex([1, 0], [1, 1], { alpha });
    expect(of(0)).to.be.closeTo(-Math.log((2 / 3) * (4 / 3)) / 2, 1e-15);
    expect(of(1)).to.be.closeTo(((2 / 3) * Math.log(2 / 3) + (4 / 3) * Math.log(4 / 3)) / 2, 1e-15);
    expect(of(2)).to.be.closeTo(1 / 18, 1e-15);
    expect(of(3)).to.be.closeTo(((2 / 3) ** 3 + (4 / 3) ** 3 - 2) / 12, 1e-15);
    expect(of(-1)).to.be.closeTo((3 / 2 + 3 / 4 - 2) / 4, 1e-15);
  });

  it('equals the textbook sum over rows for every other alpha', () => {
    const others = fc.constantFrom(-2, -1, 0.25, 0.5, 0.75, 1.5, 2, 3, 4.5);
    fc.assert(
      fc.property(rows, others, (data, alpha) => {
        const benefits = benefitsOf(data);
        fc.pre(mean(benefits) > 0);
        expectClose(indexOf(data, alpha), textbookIndex(benefits, alpha));
      }),
    );
  });

  it('is continuous at alpha 0 and 1 and loses no digits there', () => {
    const [yTrue, yPred] = [
      [1, 0, 0, 1, 1],
      [1, 1, 0, 1, 1],
    ];
    for (const alpha of [0, 1]) {
      const at = generalizedEntropyIndex(yTrue, yPred, { alpha });
      for (const step of [-1e-9, 1e-9]) {
        expect(generalizedEntropyIndex(yTrue, yPred, { alpha: alpha + step })).to.be.closeTo(at, 1e-9);
      }
      for (const step of [-1e-14, 1e-14]) {
        expect(generalizedEntropyIndex(yTrue, yPred, { alpha: alpha + step })).to.be.closeTo(at, 1e-13);
      }
    }
  });

  it('is infinite for an alpha of 0 or less if a row has no benefit, and finite above', () => {
    for (const alpha of [0, -1]) expect(generalizedEntropyIndex([1, 0], [0, 0], { alpha })).to.equal(Infinity);
    expect(generalizedEntropyIndex([1, 0], [0, 0], { alpha: 1 })).to.be.closeTo(Math.LN2, 1e-15);
  });

  it('is NaN if no row has a benefit, or if no row has both values', () => {
    expect(generalizedEntropyIndex([1, 1], [0, 0])).to.be.NaN;
    expect(generalizedEntropyIndex([null, 1], [0, null])).to.be.NaN;
  });

  it('is never negative and does not depend on the order of rows', () => {
    fc.assert(
      fc.property(rows, alphas, (data, alpha) => {
        const value = indexOf(data, alpha);
        if (!Number.isNaN(value)) expect(value).to.be.at.least(0);
        expect(indexOf([...data].reverse(), alpha)).to.deep.equal(value);
      }),
    );
  });

  it('treats an integer weight like copies of the row, and weights of one like no weights', () => {
    fc.assert(
      fc.property(rows, alphas, (data, alpha) => {
        const copies = data.flatMap((one) => Array<Row>(one.weight).fill(one));
        expectClose(indexOf(data, alpha, pick(data, 'weight')), indexOf(copies, alpha));
        expectClose(
          indexOf(
            data,
            alpha,
            data.map(() => 1),
          ),
          indexOf(data, alpha),
        );
      }),
    );
  });

  it('excludes rows without a label, a decision or a weight', () => {
    expect(generalizedEntropyIndex([1, 0, null, 1, 1], [1, 1, 1, undefined, 0], { sampleWeight: [1, 1, 1, 1, NaN] })) //
      .to.be.closeTo(1 / 18, 1e-15);
  });

  it('reads labels with a positive label', () => {
    const options = { positiveLabel: 'good' };
    expect(generalizedEntropyIndex(['good', 'bad'], ['good', 'good'], options)).to.be.closeTo(1 / 18, 1e-15);
    expect(() => generalizedEntropyIndex(['good', 'bad'], ['good', 'good'], { positiveLabel: 'goood' })).to.throw(
      DataValidationError,
      "No row of yTrue holds the positive label 'goood'.",
    );
  });

  it('rejects an alpha that is not a finite number', () => {
    for (const alpha of [NaN, Infinity]) {
      expect(() => generalizedEntropyIndex([1], [1], { alpha }))
        .to.throw(ValueError, `must be a finite number. Got ${String(alpha)} instead.`)
        .with.property('suggestion')
        .that.includes('0');
    }
  });

  it('rejects columns of different lengths', () => {
    expect(() => generalizedEntropyIndex([1, 0], [1])).to.throw(DataValidationError, 'differ in length');
  });

  it('needs true labels among the statistics', () => {
    const stats = reduceClassification({ yPred: [1, 0], sensitive: ['a', 'b'] });
    for (const compute of [generalizedEntropyIndexOf, theilIndexOf, betweenGroupGeneralizedEntropyIndexOf]) {
      expect(() => compute(stats)).to.throw(MetricComputationError, 'needs true labels');
    }
  });
});

describe('theilIndex and coefficientOfVariation', () => {
  it('equal the index at alpha 1, and the standard deviation of benefits divided by their mean', () => {
    fc.assert(
      fc.property(rows, (data) => {
        const benefits = benefitsOf(data);
        const [yTrue, yPred] = [pick(data, 'yTrue'), pick(data, 'yPred')];
        const average = mean(benefits);
        fc.pre(average > 0);
        const ratios = benefits.map((benefit) => benefit / average);
        expectClose(theilIndex(yTrue, yPred), mean(ratios.map((ratio) => (ratio === 0 ? 0 : ratio * Math.log(ratio)))));
        expectClose(coefficientOfVariation(yTrue, yPred), Math.sqrt(mean(ratios.map((ratio) => (ratio - 1) ** 2))));
      }),
    );
  });

  it('do not depend on groups, so statistics by group give the same values', () => {
    fc.assert(
      fc.property(rows, (data) => {
        const [yTrue, yPred] = [pick(data, 'yTrue'), pick(data, 'yPred')];
        const stats = reduceClassification({ yTrue, yPred, sensitive: pick(data, 'group') });
        expectClose(theilIndexOf(stats), theilIndex(yTrue, yPred));
        expectClose(coefficientOfVariationOf(stats), coefficientOfVariation(yTrue, yPred));
      }),
    );
  });
});

describe('betweenGroupGeneralizedEntropyIndex', () => {
  it('is the index of rows that have the mean benefit of their group', () => {
    // Mean benefits 1 (two rows) and 2 (one row), together 4/3.
    const expected = (2 * (3 / 4) ** 2 + (3 / 2) ** 2 - 3) / 6;
    expect(betweenGroupGeneralizedEntropyIndex([1, 0, 0], [1, 0, 1], ['a', 'a', 'b'])).to.be.closeTo(expected, 1e-15);
  });

  it('sums with the inequality within groups to the complete index', () => {
    fc.assert(
      fc.property(rows, alphas, (data, alpha) => {
        const groups = ['a', 'b', 'c'].map((label) => data.filter(({ group }) => group === label));
        const present = groups.filter((group) => group.length > 0);
        const average = mean(benefitsOf(data));
        // A group without benefit has no index.
        fc.pre(present.length > 1 && present.every((group) => mean(benefitsOf(group)) > 0));
        const within = present.map(
          (group) =>
            (group.length / data.length) * (mean(benefitsOf(group)) / average) ** alpha * indexOf(group, alpha),
        );
        const full = within.reduce((sum, value) => sum + value, betweenOf(data, alpha));
        expectClose(full, indexOf(data, alpha));
      }),
    );
  });

  it('does not depend on the names of groups or the order of rows', () => {
    const renamed: Record<string, string> = { a: 'z', b: 'm', c: 'a' };
    fc.assert(
      fc.property(rows, alphas, (data, alpha) => {
        const other = data.map((one) => ({ ...one, group: renamed[one.group] ?? '' })).reverse();
        expectClose(betweenOf(other, alpha), betweenOf(data, alpha));
      }),
    );
  });

  it('treats an integer weight like copies of the row', () => {
    fc.assert(
      fc.property(rows, alphas, (data, alpha) => {
        const copies = data.flatMap((one) => Array<Row>(one.weight).fill(one));
        expectClose(betweenOf(data, alpha, pick(data, 'weight')), betweenOf(copies, alpha));
      }),
    );
  });

  it('is NaN with fewer than two groups, and infinite if alpha is 0 and a group has no benefit', () => {
    expect(betweenGroupGeneralizedEntropyIndex([1, 0], [1, 1], ['a', 'a'])).to.be.NaN;
    expect(betweenGroupGeneralizedEntropyIndex([1, 0], [1, 1], ['a', null])).to.be.NaN;
    expect(betweenGroupGeneralizedEntropyIndex([1, 1], [0, 1], ['a', 'b'], { alpha: 0 })).to.equal(Infinity);
    // The group 'b' has no row with a true label.
    expect(betweenGroupGeneralizedEntropyIndex([1, null], [1, 1], ['a', 'b'])).to.be.NaN;
  });

  it('leaves out a group of which all rows have weight 0, as if it had no rows', () => {
    const [yTrue, yPred] = [[1, 0, 1], [1, 1, 0]]; // prettier-ignore
    // Benefits 1 and 2, mean 3/2: ((2/3)^2 + (4/3)^2 - 2) / 4 = 1/18.
    const sampleWeight = [1, 1, 0];
    const value = betweenGroupGeneralizedEntropyIndex(yTrue, yPred, ['a', 'b', 'c'], { sampleWeight });
    expect(value).to.be.closeTo(1 / 18, 1e-15);
  });

  it('puts rows without a group in a separate group if requested', () => {
    const options = { nanPolicy: 'include' } as const;
    expect(betweenGroupGeneralizedEntropyIndex([1, 0], [1, 1], ['a', null], options)).to.be.closeTo(1 / 18, 1e-15);
  });

  it('has a Theil index and a coefficient of variation too', () => {
    const [yTrue, yPred, groups] = [
      [1, 0],
      [1, 1],
      ['a', 'b'],
    ];
    expect(betweenGroupTheilIndex(yTrue, yPred, groups)).to.be.closeTo(theilIndex(yTrue, yPred), 1e-15);
    expect(betweenGroupCoefficientOfVariation(yTrue, yPred, groups)).to.be.closeTo(1 / 3, 1e-15);
  });

  it('is 0 up to rounding, and never negative, if groups have equal benefits', () => {
    // Mean benefits 3/2 in both; these weights sum to means that differ by rounding, so that the plain sum is negative.
    const yPred = [0, 1, 0, 0, 0, 1, 1, 1];
    const yTrue = yPred.map(() => 0);
    const groups = ['a', 'a', ...Array<string>(6).fill('b')];
    const sampleWeight = yPred.map(() => 0.1);
    expect(betweenGroupCoefficientOfVariation(yTrue, yPred, groups, { sampleWeight })).to.be.within(0, 1e-7);
  });
});
