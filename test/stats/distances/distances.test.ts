import { crossCountsOf } from '../../../src/stats/association/cross-counts.ts';
import { chiSquareIndependence } from '../../../src/stats/tests/chi-square-test.ts';
import { expect } from 'chai';

import { DataValidationError, ValueError } from '../../../src/exceptions/index.ts';
import { createRandom } from '../../../src/internal/random.ts';
import {
  binnedPopulationStabilityIndex,
  fisherExactTest,
  jensenShannonDistance,
  largestShareDifference,
  normedWassersteinDistance,
  populationStabilityIndex,
  standardDeviationThreshold,
  totalVariationDistance,
  twoSampleKolmogorovSmirnov,
  type TwoByTwoTable,
  wassersteinDistance,
} from '../../../src/stats/distances/index.ts';
import { kolmogorovTail } from '../../../src/stats/distances/kolmogorov-tail.ts';
import { describeWithReference, readVectors } from '../../helpers/reference.ts';

interface DriftVectors {
  ref: number[];
  cur: number[];
  ks: { statistic: number; p_exact: number; p_asymp: number };
  wasserstein: number;
  wasserstein_norm_evidently: number;
  categorical: { ref: number[]; cur: number[]; psi: number; js_distance_base2: number; tvd: number; linf: number };
  sturges: { edges: number[]; psi: number };
  chi2: { table: [number[], number[]]; stat: number; p: number };
  fisher: { table: TwoByTwoTable; p: number };
  nannyml_std_threshold: { data: number[]; lower: number; upper: number };
}

/** C(80, 40), of which a double holds the first 16 digits. */
const COMBINATIONS_OF_40_IN_80 = Number(107507208733336176461620n);

/** The tolerance for all numbers of the reference file. */
const TOLERANCE = 1e-9;

describeWithReference('distances agree with SciPy, evidently and NannyML', () => {
  let drift: DriftVectors;
  before(() => {
    drift = readVectors('drift_distances.json') as DriftVectors;
  });

  it('Kolmogorov-Smirnov: statistic, exact and asymptotic p-value', () => {
    const exact = twoSampleKolmogorovSmirnov(drift.ref, drift.cur);
    expect(exact.statistic).to.equal(drift.ks.statistic);
    expect(exact.method).to.equal('exact');
    expect(exact.pValue).to.be.closeTo(drift.ks.p_exact, TOLERANCE);
    const asymptotic = twoSampleKolmogorovSmirnov(drift.ref, drift.cur, { method: 'asymptotic' });
    expect(asymptotic.pValue).to.be.closeTo(drift.ks.p_asymp, TOLERANCE);
  });

  it('Wasserstein, plain and normalised', () => {
    expect(wassersteinDistance(drift.ref, drift.cur)).to.be.closeTo(drift.wasserstein, TOLERANCE);
    const normed = normedWassersteinDistance(drift.ref, drift.cur);
    expect(normed).to.be.closeTo(drift.wasserstein_norm_evidently, TOLERANCE);
  });

  it('distances of shares, one of them 0', () => {
    const { ref, cur, psi, js_distance_base2, tvd, linf } = drift.categorical;
    expect(populationStabilityIndex(ref, cur)).to.be.closeTo(psi, TOLERANCE);
    expect(jensenShannonDistance(ref, cur)).to.be.closeTo(js_distance_base2, TOLERANCE);
    expect(totalVariationDistance(ref, cur)).to.be.closeTo(tvd, TOLERANCE);
    expect(largestShareDifference(ref, cur)).to.be.closeTo(linf, TOLERANCE);
  });

  it('the chi-square test of a table of counts', () => {
    const { table, stat, p } = drift.chi2;
    const counts = crossCountsOf(table.flat(), 2, 3);
    const { statistic, pValue } = chiSquareIndependence(counts);
    expect(statistic).to.be.closeTo(stat, TOLERANCE);
    expect(pValue).to.be.closeTo(p, TOLERANCE);
  });

  it("the stability index of samples in Sturges' bins", () => {
    const { value, edges, sizes } = binnedPopulationStabilityIndex(drift.ref, drift.cur);
    expect(value).to.be.closeTo(drift.sturges.psi, TOLERANCE);
    expect(edges).to.have.length(drift.sturges.edges.length);
    edges.forEach((edge, index) => expect(edge).to.be.closeTo(drift.sturges.edges[index] as number, 1e-15));
    expect(sizes).to.deep.equal([drift.ref.length, drift.cur.length]);
  });

  it("Fisher's exact test", () => {
    expect(fisherExactTest(drift.fisher.table).pValue).to.be.closeTo(drift.fisher.p, TOLERANCE);
  });

  it('limits at three standard deviations', () => {
    const { lower, upper } = standardDeviationThreshold(drift.nannyml_std_threshold.data);
    expect(lower).to.be.closeTo(drift.nannyml_std_threshold.lower, TOLERANCE);
    expect(upper).to.be.closeTo(drift.nannyml_std_threshold.upper, TOLERANCE);
  });
});

/**
 * Returns the share of all assignments of n + m positions to two samples whose statistic is at least d: the definition.
 */
function countedPValue(n: number, m: number, distance: number): number {
  let [all, atLeast] = [0, 0];
  const visit = (i: number, j: number, largest: number): void => {
    const far = Math.max(largest, Math.abs(i * m - j * n));
    if (i === n && j === m) {
      all++;
      if (far >= distance) atLeast++;
      return;
    }
    if (i < n) visit(i + 1, j, far);
    if (j < m) visit(i, j + 1, far);
  };
  visit(0, 0, 0);
  return atLeast / all;
}

describe('two-sample Kolmogorov-Smirnov', () => {
  it('has the exact p-value from counting all orderings', () => {
    const random = createRandom(3);
    for (const [n, m] of [
      [1, 1],
      [1, 7],
      [3, 5],
      [6, 6],
      [7, 9],
    ] as const) {
      const first = Array.from({ length: n }, () => random.next());
      const second = Array.from({ length: m }, () => random.next() ** 2);
      const { statistic, pValue } = twoSampleKolmogorovSmirnov(first, second, { method: 'exact' });
      expect(pValue).to.be.closeTo(countedPValue(n, m, Math.round(statistic * n * m)), 1e-12);
    }
  });

  it('of two separate samples of n has p = 2 / C(2 n, n), even if that is tiny', () => {
    const low = Array.from({ length: 40 }, (_, index) => index);
    const high = low.map((value) => value + 100);
    const { statistic, pValue } = twoSampleKolmogorovSmirnov(low, high);
    expect(statistic).to.equal(1);
    expect(pValue / (2 / COMBINATIONS_OF_40_IN_80)).to.be.closeTo(1, 1e-12);
  });

  it('treats ties as one step, and does not depend on the order of samples or values', () => {
    const [first, second] = [
      [1, 1, 2, 2, 3],
      [1, 2, 2, 2, 4, 4],
    ];
    // Worked by hand: F - G is 2/5 - 1/6, 4/5 - 4/6, 1 - 4/6 at 1, 2 and 3.
    expect(twoSampleKolmogorovSmirnov(first, second).statistic).to.be.closeTo(1 / 3, 1e-15);
    expect(twoSampleKolmogorovSmirnov(second, first)).to.include({ statistic: 10 / 30 });
    expect(twoSampleKolmogorovSmirnov(first.toReversed(), second)).to.deep.equal(
      twoSampleKolmogorovSmirnov(first, second),
    );
  });

  it('of a sample with itself is 0 with p = 1, by both methods', () => {
    for (const method of ['exact', 'asymptotic'] as const) {
      expect(twoSampleKolmogorovSmirnov([1, 2, 3], [1, 2, 3], { method })).to.include({ statistic: 0, pValue: 1 });
    }
  });

  it('is exact by default for up to 10,000 values per sample', () => {
    const values = Array.from({ length: 10_001 }, (_, index) => index);
    expect(twoSampleKolmogorovSmirnov(values, [5]).method).to.equal('asymptotic');
    expect(twoSampleKolmogorovSmirnov(values.slice(1), [5]).method).to.equal('exact');
  });

  it('rejects an unknown method', () => {
    const method = 'exakt' as 'exact';
    expect(() => twoSampleKolmogorovSmirnov([1], [2], { method })).to.throw(ValueError, 'auto, exact, asymptotic');
  });
});

describe('tail of the Kolmogorov distribution', () => {
  // mpmath 1.4.1 with 80 digits, from the matrix of Marsaglia, Tsang and Wang (2003).
  const cases: [n: number, d: number, tail: number, tolerance: number][] = [
    [1, 0.7, 0.6, 1e-12],
    [10, 0.274, 0.371520384543496, 1e-12],
    [100, 0.05, 0.953215971063573, 1e-12],
    [140, 0.1, 0.113536572900905, 1e-12],
    [140, 0.168, 0.000636162301907182, 1e-12],
    [140, 0.169, 0.000577868280613248, 1e-12],
    [141, 0.1, 0.111284496663527, 5e-6],
    [141, 0.1248, 0.0225752371025628, 5e-6],
    [300, 0.06, 0.221275793393767, 5e-6],
    [1000, 0.0125, 0.997152802059791, 1e-12],
    [1000, 0.03, 0.3226902464133, 5e-7],
  ];
  for (const [n, d, tail, tolerance] of cases) {
    it(`of ${n} values at ${d} is ${tail}`, () => {
      expect(kolmogorovTail(n, d)).to.be.closeTo(tail, tolerance);
    });
  }

  it('converges to the limit 2 sum (-1)^(k - 1) exp(-2 k^2 z^2) with many values', () => {
    for (const z of [0.6, 1, 1.4, 1.6, 2, 3]) {
      const limit = [1, 2, 3, 4, 5].reduce((sum, k) => sum - 2 * (-1) ** k * Math.exp(-2 * k * k * z * z), 0);
      const found = kolmogorovTail(1e10, z / 1e5);
      expect(found / limit, `z = ${z}`).to.be.closeTo(1, 1e-4);
    }
  });

  it('decreases in d, even where the method of computation changes', () => {
    for (const n of [5, 140, 141, 5000, 99_999, 100_001]) {
      let previous = 1;
      for (let d = 0.1 / Math.sqrt(n); d < Math.min(1, 4 / Math.sqrt(n)); d *= n < 10_000 ? 1.05 : 1.4) {
        const tail = kolmogorovTail(n, d);
        expect(tail, `n = ${n}, d = ${d}`).to.be.within(0, previous + 5e-6);
        previous = tail;
      }
    }
  });
});

describe('distances between samples', () => {
  it('Wasserstein of equally large samples is the mean difference of their sorted values', () => {
    expect(wassersteinDistance([3, 1, 2], [10, 30, 20])).to.be.closeTo(18, 1e-12);
  });

  it('Wasserstein of a shift is the shift, and of one value the mean distance from it', () => {
    expect(wassersteinDistance([0, 1, 5], [2.5, 3.5, 7.5])).to.be.closeTo(2.5, 1e-12);
    expect(wassersteinDistance([4], [1, 2, 9])).to.be.closeTo(10 / 3, 1e-12);
    expect(wassersteinDistance([1, 1, 2], [2, 1, 1])).to.equal(0);
  });

  it('normalised Wasserstein of a constant reference divides by 0.001', () => {
    expect(normedWassersteinDistance([2, 2], [3, 3])).to.be.closeTo(1000, 1e-9);
  });

  it('the binned stability index of equal values is 0, in one bin', () => {
    const { value, edges } = binnedPopulationStabilityIndex([7, 7], [7]);
    expect(value).to.equal(0);
    expect(edges).to.deep.equal([6.5, 7.5]);
  });

  it('the largest value lies in the last bin', () => {
    const { referenceShares, currentShares } = binnedPopulationStabilityIndex([0, 1], [1, 1]);
    expect(referenceShares.at(-1)).to.equal(0.5);
    expect(currentShares.at(-1)).to.equal(1);
  });
});

describe('distances between shares', () => {
  const all = { populationStabilityIndex, jensenShannonDistance, totalVariationDistance, largestShareDifference };
  for (const [name, distance] of Object.entries(all)) {
    it(`${name}: is 0 for equal distributions, reads counts as shares, and is symmetric`, () => {
      expect(distance([1, 2, 5], [0.125, 0.25, 0.625])).to.equal(0);
      expect(distance([1, 0, 3], [2, 1, 1])).to.equal(distance([0.25, 0, 0.75], [0.5, 0.25, 0.25]));
      expect(distance([1, 0, 3], [2, 1, 1])).to.be.closeTo(distance([2, 1, 1], [1, 0, 3]), 1e-15);
    });

    it(`${name}: rejects invalid shares with the reason`, () => {
      expect(() => distance([1, 2], [1])).to.throw(DataValidationError, 'reference has 2 and current has 1');
      expect(() => distance([1, -1], [1, 1])).to.throw(DataValidationError, 'Got -1 at index 1');
      expect(() => distance([1, 1], [1, NaN])).to.throw(DataValidationError, 'current must hold');
      expect(() => distance([0, 0], [1, 1])).to.throw(DataValidationError, 'no share above 0');
      expect(() => distance([], [])).to.throw(DataValidationError, 'no share above 0');
      for (const [p, q, code, context] of [
        [[1, 2], [1], 'invalid-value', { reference: 2, current: 1 }],
        [[1, 1], [1, Infinity], 'invalid-value', { argument: 'current', index: 1, value: Infinity }],
        [[0, 0], [1, 1], 'empty-data', { argument: 'reference' }],
      ] as const) {
        expect(() => distance(p, q))
          .to.throw(DataValidationError)
          .with.deep.include({ code, context });
      }
    });
  }

  it('of distributions without a common category are at their maximum', () => {
    expect(jensenShannonDistance([1, 0], [0, 1])).to.equal(1);
    expect(totalVariationDistance([1, 0], [0, 1])).to.equal(1);
    expect(largestShareDifference([1, 0], [0, 1])).to.equal(1);
    // (1 - 0.0001) ln(1 / 0.0001), twice.
    expect(populationStabilityIndex([1, 0], [0, 1])).to.be.closeTo(2 * 0.9999 * Math.log(1e4), 1e-12);
  });

  it('the stability index counts an empty category as a millionth of the smallest share if that is 0.0001 or less', () => {
    const small = 1e-5;
    const [p, q] = [
      [1 - small, small, 0],
      [0.5, 0.25, 0.25],
    ];
    const term = (share: number, other: number) => (other - share) * Math.log(other / share);
    const expected = term(1 - small, 0.5) + term(small, 0.25) + term(small * 1e-6, 0.25);
    expect(populationStabilityIndex(p, q)).to.be.closeTo(expected, 1e-12);
  });
});

describe("Fisher's exact test", () => {
  const cases: [TwoByTwoTable, number][] = [
    // Fisher's tea: C(4,3) C(4,1) = 16 of 70 tables; with both ends: (16 + 1 + 16 + 1) / 70.
    [
      [
        [3, 1],
        [1, 3],
      ],
      34 / 70,
    ],
    [
      [
        [4, 0],
        [0, 4],
      ],
      2 / 70,
    ],
    // Rows 1 and 3, columns 1 and 3: probabilities 3/4 and 1/4.
    [
      [
        [1, 0],
        [0, 3],
      ],
      1 / 4,
    ],
    [
      [
        [0, 1],
        [1, 2],
      ],
      1,
    ],
    [
      [
        [0, 0],
        [3, 4],
      ],
      1,
    ],
    [
      [
        [0, 0],
        [0, 0],
      ],
      1,
    ],
  ];
  for (const [table, expected] of cases) {
    it(`of ${JSON.stringify(table)} has p = ${expected}`, () => {
      expect(fisherExactTest(table).pValue).to.be.closeTo(expected, 1e-12);
    });
  }

  it('counts a table in the other tail that is equally likely, even if its probability is rounded differently', () => {
    // C(6, 5) C(11, 2) = 330 = C(6, 0) C(11, 7), and C(6, 6) C(11, 1) = 11: 671 of the C(17, 7) = 19448 ways.
    const table: TwoByTwoTable = [
      [5, 1],
      [2, 9],
    ];
    expect(fisherExactTest(table).pValue).to.be.closeTo(671 / 19448, 1e-14);
  });

  it('does not change if rows, columns, or both axes are exchanged', () => {
    const p = fisherExactTest([
      [8, 22],
      [20, 30],
    ]).pValue;
    for (const table of [
      [
        [20, 30],
        [8, 22],
      ],
      [
        [22, 8],
        [30, 20],
      ],
      [
        [8, 20],
        [22, 30],
      ],
    ] as TwoByTwoTable[]) {
      expect(fisherExactTest(table).pValue).to.be.closeTo(p, 1e-12);
    }
  });

  it('of two separate halves of n has p = 2 / C(2 n, n), and stays above 0 if that underflows float64', () => {
    expect(
      fisherExactTest([
        [40, 0],
        [0, 40],
      ]).pValue /
        (2 / COMBINATIONS_OF_40_IN_80),
    ).to.be.closeTo(1, 1e-12);
    expect(
      fisherExactTest([
        [5000, 0],
        [0, 5000],
      ]).pValue,
    )
      .to.be.above(0)
      .and.below(1e-300);
  });

  it('has the odds ratio of the sample', () => {
    expect(
      fisherExactTest([
        [8, 22],
        [20, 30],
      ]).oddsRatio,
    ).to.be.closeTo(240 / 440, 1e-15);
    expect(
      fisherExactTest([
        [8, 0],
        [20, 30],
      ]).oddsRatio,
    ).to.equal(Infinity);
    expect(
      fisherExactTest([
        [0, 0],
        [20, 30],
      ]).oddsRatio,
    ).to.be.NaN;
  });

  it('rejects counts that are not integers', () => {
    expect(() =>
      fisherExactTest([
        [1, 2],
        [0.5, 3],
      ]),
    ).to.throw(ValueError, "table's c");
    expect(() =>
      fisherExactTest([
        [1, NaN],
        [0, 3],
      ]),
    ).to.throw(ValueError, "table's b");
  });
});

describe('samples that cannot be compared', () => {
  const all = {
    twoSampleKolmogorovSmirnov,
    wassersteinDistance,
    normedWassersteinDistance,
    binnedPopulationStabilityIndex,
  };
  for (const [name, compare] of Object.entries(all)) {
    it(`${name}: rejects empty, NaN, infinite and text values as data errors with the index`, () => {
      expect(() => compare([], [1])).to.throw(DataValidationError, 'reference holds no values');
      expect(() => compare([1], [])).to.throw(DataValidationError, 'current holds no values');
      expect(() => compare([1, NaN], [1])).to.throw(DataValidationError, 'Got NaN at index 1');
      expect(() => compare([1], [1, 2, Infinity])).to.throw(DataValidationError, 'Got Infinity at index 2');
      expect(() => compare(['x'] as unknown as number[], [1])).to.throw(DataValidationError, 'at index 0');
      expect(() => compare([1], []))
        .to.throw(DataValidationError)
        .with.deep.include({ code: 'empty-data', context: { argument: 'current' } });
      expect(() => compare([1, Infinity], [1]))
        .to.throw(DataValidationError)
        .with.deep.include({ code: 'invalid-value', context: { argument: 'reference', index: 1, value: Infinity } });
    });

    it(`${name}: does not change the samples`, () => {
      const [reference, current] = [
        [3, 1, 2],
        [9, 7],
      ];
      compare(reference, current);
      expect([reference, current]).to.deep.equal([
        [3, 1, 2],
        [9, 7],
      ]);
    });
  }
});

describe('limits by standard deviations', () => {
  it('have zero width for one value or equal values', () => {
    expect(standardDeviationThreshold([4])).to.include({ lower: 4, upper: 4, n: 1 });
    expect(standardDeviationThreshold([4, 4, 4])).to.include({ lower: 4, upper: 4, standardDeviation: 0 });
  });

  it('accept another multiple, which must be at least 0', () => {
    expect(standardDeviationThreshold([1, 3], { multiple: 2 })).to.include({ lower: 0, upper: 4 });
    expect(() => standardDeviationThreshold([1], { multiple: -1 })).to.throw(ValueError, 'multiple');
    expect(() => standardDeviationThreshold([])).to.throw(DataValidationError, 'no values');
  });
});
