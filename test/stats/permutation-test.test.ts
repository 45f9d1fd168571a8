import { expect } from 'chai';

import { ValueError } from '../../src/exceptions/index.ts';
import { createRandom } from '../../src/internal/random.ts';
import { drawBinomial } from '../../src/stats/draw-binomial.ts';
import { permutationPValue, type PermutationStratum } from '../../src/stats/permutation-test.ts';

function choose(n: number, k: number): number {
  let ways = 1;
  for (let i = 1; i <= k; i++) ways = (ways * (n - k + i)) / i;
  return k < 0 || k > n ? 0 : Math.round(ways);
}

/** Returns all assignments of a stratum's successes to two groups, with their probabilities. */
function tables(trialsA: number, trialsB: number, successes: number): { a: number; probability: number }[] {
  const all = choose(trialsA + trialsB, successes);
  return Array.from({ length: successes + 1 }, (_, a) => ({
    a,
    probability: (choose(trialsA, a) * choose(trialsB, successes - a)) / all,
  })).filter(({ probability }) => probability > 0);
}

/** Returns the largest rate minus the smallest, summed over strata. */
function gapOf(strata: readonly PermutationStratum[]) {
  return (successes: readonly Float64Array[]) =>
    successes.reduce((sum, counts, s) => {
      const rates = Array.from(counts, (k, group) => k / (strata[s]?.trials[group] as number));
      return sum + Math.max(...rates) - Math.min(...rates);
    }, 0);
}

describe('permutation p-value', () => {
  const samples = 20_000;
  const near = (exact: number) => 4 * Math.sqrt((exact * (1 - exact)) / samples) + 1 / samples;

  it('of the lady tasting tea with one error in four is 17/70 (Fisher 1935)', () => {
    const strata = [{ successes: [3, 1], trials: [4, 4] }];
    const p = permutationPValue(strata, ([counts]) => counts?.[0] as number, { samples, random: createRandom(3) });
    expect(p).to.be.closeTo(17 / 70, near(17 / 70));
  });

  for (const [a, nA, b, nB] of [
    [7, 12, 2, 11],
    [1, 30, 6, 25],
    [10, 20, 10, 20],
    [0, 5, 8, 40],
  ] as const) {
    it(`of ${a}/${nA} against ${b}/${nB} is the sum over all tables with at least this gap`, () => {
      const strata = [{ successes: [a, b], trials: [nA, nB] }];
      const observed = Math.abs(a / nA - b / nB);
      const exact = tables(nA, nB, a + b)
        .filter((table) => Math.abs(table.a / nA - (a + b - table.a) / nB) >= observed - 1e-12)
        .reduce((sum, { probability }) => sum + probability, 0);
      const p = permutationPValue(strata, gapOf(strata), { samples, random: createRandom(5) });
      expect(p).to.be.closeTo(exact, near(exact));
    });
  }

  it('permutes within every stratum independently: the sum over both strata’s tables', () => {
    const strata = [
      { successes: [5, 1], trials: [8, 7] },
      { successes: [6, 3], trials: [9, 12] },
    ];
    let exact = 0;
    for (const first of tables(8, 7, 6)) {
      for (const second of tables(9, 12, 9)) {
        if (first.a + second.a >= 11) exact += first.probability * second.probability;
      }
    }
    const statistic = (successes: readonly Float64Array[]) =>
      (successes[0]?.[0] as number) + (successes[1]?.[0] as number);
    const p = permutationPValue(strata, statistic, { samples, random: createRandom(9) });
    expect(p).to.be.closeTo(exact, near(exact));
  });

  it('keeps every stratum’s total of successes, and no group gets more than its trials', () => {
    const strata = [
      { successes: Int32Array.of(3, 0, 9), trials: Int32Array.of(4, 5, 9) },
      { successes: [2, 2, 0], trials: [2, 50, 0] },
    ];
    permutationPValue(
      strata,
      (successes) => {
        successes.forEach((counts, s) => {
          expect(counts.reduce((sum, count) => sum + count, 0)).to.equal([12, 4][s]);
          counts.forEach((count, group) => {
            expect(count).to.be.within(0, strata[s]?.trials[group] as number);
          });
        });
        return 0;
      },
      { samples: 300, random: createRandom(2) },
    );
  });

  it('is about uniform if no group differs', () => {
    const random = createRandom(31);
    const trials = [180, 240, 90];
    const runs = 400;
    const pValues = Float64Array.from({ length: runs }, () => {
      const strata = [{ successes: trials.map((n) => drawBinomial(n, 0.4, random)), trials }];
      return permutationPValue(strata, gapOf(strata), { samples: 199, random });
    }).sort();
    // Kolmogorov's distance; beyond 1.63 / sqrt(runs) at 1%.
    const distance = Math.max(...pValues.map((p, index) => Math.abs(p - (index + 0.5) / runs)));
    expect(distance).to.be.below(1.63 / Math.sqrt(runs));
  });

  it('is 1 / (samples + 1) if no replicate reaches the statistic, and 1 if all are equal', () => {
    const separate = [{ successes: [500, 0], trials: [500, 500] }];
    expect(permutationPValue(separate, gapOf(separate), { samples: 99, random: createRandom(1) })).to.equal(0.01);
    for (const k of [0, 10]) {
      const equal = [{ successes: [k, k], trials: [10, 10] }];
      expect(permutationPValue(equal, gapOf(equal), { samples: 99, random: createRandom(1) })).to.equal(1);
    }
  });

  it('is undefined if the observed statistic is undefined, and counts an undefined replicate as a hit', () => {
    const strata = [{ successes: [3, 1], trials: [4, 4] }];
    expect(permutationPValue(strata, () => NaN, { samples: 9, random: createRandom(1) })).to.be.NaN;
    let calls = 0;
    const firstOnly = () => (calls++ === 0 ? 1 : NaN);
    expect(permutationPValue(strata, firstOnly, { samples: 9, random: createRandom(1) })).to.equal(1);
  });

  it('is the same for the same seed', () => {
    const strata = [{ successes: [30, 18, 25], trials: [60, 50, 70] }];
    const run = () => permutationPValue(strata, gapOf(strata), { samples: 200, random: createRandom(8) });
    expect(run()).to.equal(run());
  });

  for (const [title, strata, count] of [
    ['more successes than trials', [{ successes: [5, 1], trials: [4, 4] }], 10],
    ['fractions', [{ successes: [1.5, 1], trials: [4, 4] }], 10],
    ['missing counts', [{ successes: [NaN, 1], trials: [4, 4] }], 10],
    ['fewer successes than 0', [{ successes: [-1, 3], trials: [4, 4] }], 10],
    ['other numbers of groups', [{ successes: [1, 1], trials: [4, 4, 4] }], 10],
    ['successes of a group without trials', [{ successes: [1, 1, 2], trials: [4, 4] }], 10],
    ['no samples', [{ successes: [1, 1], trials: [4, 4] }], 0],
  ] as const) {
    it(`rejects ${title}`, () => {
      expect(() => permutationPValue(strata, () => 0, { samples: count, random: createRandom(1) })).to.throw(
        ValueError,
        /^The (strata|samples) parameter must be .* Got .* instead\.$/,
      );
    });
  }
});
