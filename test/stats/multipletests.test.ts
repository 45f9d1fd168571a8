import { expect } from 'chai';
import fc from 'fast-check';

import { ValueError } from '../../src/exceptions/index.ts';
import { type AdjustedPValues, benjaminiHochberg, bonferroni, holm } from '../../src/stats/index.ts';

function expectAdjusted(
  [adjusted, order]: AdjustedPValues,
  expected: readonly number[],
  expectedOrder: number[],
): void {
  expect(adjusted).to.have.lengthOf(expected.length);
  expected.forEach((value, index) => {
    expect(adjusted[index], `place ${index}`).to.be.closeTo(value, 1e-12);
  });
  expect(order).to.deep.equal(expectedOrder);
}

// The fifteen p-values of Benjamini and Hochberg (1995), section 3.2, in a different order.
const THROMBOLYSIS = [
  0.426_2, 0.000_1, 0.009_5, 0.324, 1, 0.000_4, 0.034_4, 0.001_9, 0.020_1, 0.027_8, 0.045_9, 0.029_8, 0.652_8, 0.571_9,
  0.759,
];
const THROMBOLYSIS_ORDER = [1, 5, 7, 2, 8, 9, 11, 6, 10, 3, 0, 13, 12, 14, 4];

const METHODS = { benjaminiHochberg, bonferroni, holm };

describe('adjusted p-values', () => {
  it('Benjamini and Hochberg: as scipy 1.17.1 false_discovery_control', () => {
    expectAdjusted(
      benjaminiHochberg(THROMBOLYSIS),
      [
        0.0015, 0.003, 0.0095, 0.035625, 0.0603, 0.06385714285714286, 0.06385714285714286, 0.0645, 0.0765, 0.486,
        0.5811818181818181, 0.7148749999999999, 0.7532307692307693, 0.8132142857142857, 1,
      ],
      THROMBOLYSIS_ORDER,
    );
    expectAdjusted(benjaminiHochberg([0.04, 0.01, 0.8, 0.03, 0.01]), [0.025, 0.025, 0.05, 0.05, 0.8], [1, 4, 3, 0, 2]);
  });

  it('at 5% the paper rejects four of fifteen by the false discovery rate, three by Bonferroni', () => {
    const rejected = ([adjusted]: AdjustedPValues) => adjusted.filter((p) => p <= 0.05).length;
    expect(rejected(benjaminiHochberg(THROMBOLYSIS))).to.equal(4);
    expect(rejected(bonferroni(THROMBOLYSIS))).to.equal(3);
  });

  it('Holm: (m - i + 1) p, made monotone, by hand', () => {
    // 5 * 0.01, 4 * 0.01 raised to it, 3 * 0.03, 2 * 0.04 raised to it, 0.8
    expectAdjusted(holm([0.04, 0.01, 0.8, 0.03, 0.01]), [0.05, 0.05, 0.09, 0.09, 0.8], [1, 4, 3, 0, 2]);
    expectAdjusted(holm([0.6, 0.7]), [1, 1], [0, 1]);
  });

  it('Bonferroni: m p, at most 1', () => {
    expectAdjusted(bonferroni([0.04, 0.01, 0.8, 0.03, 0.01]), [0.05, 0.05, 0.15, 0.2, 1], [1, 4, 3, 0, 2]);
  });

  for (const [name, adjust] of Object.entries(METHODS)) {
    describe(name, () => {
      it('of an empty array is empty, and of one p-value is that p-value', () => {
        expectAdjusted(adjust([]), [], []);
        expectAdjusted(adjust([0.3]), [0.3], [0]);
      });

      it('does not count undefined p-values and puts them last, as R does with NA', () => {
        const [adjusted, order] = adjust([NaN, 0.04, NaN, 0.01]);
        expect(adjusted.slice(0, 2)).to.deep.equal(adjust([0.04, 0.01])[0]);
        expect(adjusted.slice(2)).to.deep.equal([NaN, NaN]);
        expect(order).to.deep.equal([3, 1, 0, 2]);
      });

      it('ascends, is never below its p-value or above 1, and reads typed arrays', () => {
        fc.assert(
          fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true })), (pValues) => {
            const [adjusted, order] = adjust(Float64Array.from(pValues));
            expect([...order].sort((a, b) => a - b)).to.deep.equal(pValues.map((_, index) => index));
            adjusted.forEach((value, position) => {
              expect(value).to.be.within((pValues[order[position] as number] as number) * (1 - 1e-15), 1);
              expect(value).to.be.at.least(adjusted[position - 1] ?? 0);
            });
          }),
        );
      });

      it('is frozen', () => {
        const result = adjust([0.1]);
        expect([result, ...result].every((part) => Object.isFrozen(part))).to.equal(true);
      });

      for (const wrong of [-0.1, 1.1, Infinity]) {
        it(`rejects ${wrong}`, () => {
          expect(() => adjust([0.5, wrong])).to.throw(
            ValueError,
            `The pValues parameter must be an array of numbers from 0 to 1, or NaN for undefined p-values. Got ${wrong} at index 1 instead.`,
          );
        });
      }
    });
  }

  it('Holm never exceeds Bonferroni, and Benjamini and Hochberg never exceed Holm', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true })), (pValues) => {
        const [most] = bonferroni(pValues);
        const [middle] = holm(pValues);
        const [least] = benjaminiHochberg(pValues);
        middle.forEach((value, position) => {
          expect(value).to.be.at.most(most[position] as number);
          expect(least[position]).to.be.at.most(value * (1 + 1e-15));
        });
      }),
    );
  });
});
