import { expect } from 'chai';

import { ValueError } from '../../src/exceptions/index.ts';
import { cohensD, riskRatio } from '../../src/stats/index.ts';

// Extra hours of sleep under two drugs (Student 1908; R's data set sleep).
const FIRST_DRUG = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0, 2];
const SECOND_DRUG = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];

type Counts = [a: number, nA: number, b: number, nB: number];

describe('risk ratio', () => {
  it('of 189 in 11034 against 104 in 11037 is 1.818 (Agresti 2002, aspirin and heart attacks: 1.82)', () => {
    expect(riskRatio(189, 11_034, 104, 11_037)).to.be.closeTo(1.8178, 5e-5);
  });

  it('of rates with a simple ratio is exactly that ratio', () => {
    expect(riskRatio(30, 100, 20, 100)).to.equal(1.5);
    expect(riskRatio(7, 49, 3, 21)).to.equal(1);
  });

  it('is 0 if the first group has no success', () => {
    expect(riskRatio(0, 10, 5, 10)).to.equal(0);
  });

  const undefinedCases: [title: string, counts: Counts][] = [
    ['no trials in the first group', [0, 0, 5, 10]],
    ['no trials in the second group', [5, 10, 0, 0]],
    ['no success in the second group', [5, 10, 0, 10]],
    ['no success in either', [0, 10, 0, 10]],
  ];
  for (const [title, counts] of undefinedCases) {
    it(`is undefined with ${title}`, () => {
      expect(riskRatio(...counts)).to.be.NaN;
    });
  }

  const refusedCases: [parameter: string, counts: Counts][] = [
    ['a', [-1, 10, 5, 10]],
    ['a', [11, 10, 5, 10]],
    ['a', [NaN, 10, 5, 10]],
    ['nA', [1, -10, 5, 10]],
    ['b', [1, 10, 11, 10]],
    ['nB', [1, 10, 5, Infinity]],
  ];
  for (const [parameter, counts] of refusedCases) {
    it(`rejects ${counts.join(', ')} for its ${parameter}`, () => {
      expect(() => riskRatio(...counts)).to.throw(
        ValueError,
        new RegExp(`^The ${parameter} parameter must be .* instead\\.$`),
      );
    });
  }
});

describe("Cohen's d", () => {
  it("is t sqrt(1/n + 1/m) of Student's t, which scipy 1.17.1 ttest_ind gives as -1.8608134674868524 for the sleep data", () => {
    expect(cohensD(FIRST_DRUG, SECOND_DRUG)).to.be.closeTo(
      -1.860_813_467_486_852_4 * Math.sqrt(1 / 10 + 1 / 10),
      1e-12,
    );
  });

  it('of 1 to 5 and 2 to 6 is -1 / sqrt(2.5)', () => {
    expect(cohensD([1, 2, 3, 4, 5], Int32Array.of(2, 3, 4, 5, 6))).to.be.closeTo(-1 / Math.sqrt(2.5), 1e-15);
  });

  it('changes its sign with the order, and does not depend on shift or scale', () => {
    const d = cohensD(FIRST_DRUG, SECOND_DRUG);
    expect(cohensD(SECOND_DRUG, FIRST_DRUG)).to.equal(-d);
    const far = (values: number[]) => values.map((value) => 1e6 + 1000 * value);
    expect(cohensD(far(FIRST_DRUG), far(SECOND_DRUG))).to.be.closeTo(d, 1e-9);
  });

  for (const [title, x, y] of [
    ['an empty sample', [], [1, 2]],
    ['one value in the first', [1], [1, 2, 3]],
    ['one value in the second', [1, 2, 3], [1]],
    ['no spread', Array<number>(10).fill(0.1), Array<number>(7).fill(0.3)],
    ['a missing value', [1, NaN, 2], [1, 2, 3]],
  ] as const) {
    it(`is undefined with ${title}`, () => {
      expect(cohensD(x, y)).to.be.NaN;
    });
  }
});
