import tQuantile from '@stdlib/stats-base-dists-t-quantile';
import { expect } from 'chai';

import { ValueError } from '../../../src/exceptions/index.ts';
import { createRandom } from '../../../src/internal/random.ts';
import {
  detectableDifference,
  differenceInDifferences,
  differencePower,
  type FourCells,
  logitInteraction,
  meanCell,
  newcombeInterval,
  type RateCell,
  rateCell,
} from '../../../src/stats/ab/index.ts';
import { twoSidedCritical } from '../../../src/stats/ab/student-t.ts';
import { describeWithReference, readVectors } from '../../helpers/reference.ts';

type Counts = readonly [successes: number, trials: number];

interface AbCase {
  readonly counts: Readonly<Record<'A' | 'B', { readonly g1: Counts; readonly g2: Counts }>>;
  readonly disparity_A: number;
  readonly disparity_B: number;
  readonly did: number;
  readonly se: number;
  readonly z: number;
  readonly p_two_sided: number;
  readonly ci95: readonly [number, number];
  readonly newcombe_A: readonly [number, number];
  readonly newcombe_B: readonly [number, number];
  readonly logit_interaction: number;
  readonly logit_se: number;
  readonly logit_p: number;
  readonly abs_gap_change: number;
}

function fourRates(counts: AbCase['counts']): FourCells<RateCell> {
  return {
    control: { group: rateCell(...counts.A.g1), reference: rateCell(...counts.A.g2) },
    treatment: { group: rateCell(...counts.B.g1), reference: rateCell(...counts.B.g2) },
  };
}

function expectClose(actual: readonly number[], expected: readonly number[], tolerance: number) {
  expect(actual).to.have.length(expected.length);
  expected.forEach((value, index) => expect(actual[index], `place ${index}`).to.be.closeTo(value, tolerance));
}

describeWithReference('difference in differences against SciPy', () => {
  const { cases } = readVectors('fairness_ab.json') as { readonly cases: readonly AbCase[] };

  it('has the three cases', () => {
    expect(cases).to.have.length(3);
  });

  for (const [index, expected] of cases.entries()) {
    it(`case ${index + 1}: every field`, () => {
      const cells = fourRates(expected.counts);
      const change = differenceInDifferences(cells);
      const logit = logitInteraction(cells);
      const { A, B } = expected.counts;
      const scalars: [number, number][] = [
        [change.controlDisparity, expected.disparity_A],
        [change.treatmentDisparity, expected.disparity_B],
        [change.change, expected.did],
        [change.standardError, expected.se],
        [change.statistic, expected.z],
        [change.pValue, expected.p_two_sided],
        [change.sizeChange, expected.abs_gap_change],
        [logit.estimate, expected.logit_interaction],
        [logit.standardError, expected.logit_se],
        [logit.pValue, expected.logit_p],
      ];
      expectClose(
        scalars.map(([actual]) => actual),
        scalars.map(([, value]) => value),
        1e-9,
      );
      expectClose(change.interval, expected.ci95, 1e-9);
      expectClose(newcombeInterval(...A.g1, ...A.g2), expected.newcombe_A, 1e-9);
      expectClose(newcombeInterval(...B.g1, ...B.g2), expected.newcombe_B, 1e-9);
    });
  }
});

describe('difference in differences of dependent estimates', () => {
  it('adds covariances to the variance, and uses the larger error for the size', () => {
    const cell = (value: number): { value: number; variance: number; degrees: number } => ({
      value,
      variance: 0.01,
      degrees: 30,
    });
    const cells = {
      control: { group: cell(0.2), reference: cell(0.5) },
      treatment: { group: cell(0.4), reference: cell(0.3) },
    };
    // The variance of C - C' is 0.04 + covariances by hand; degrees of freedom are at most 20.
    const result = differenceInDifferences(cells, { covariances: { change: -0.03, sum: 0.05, maxDegrees: 20 } });
    expect(result.standardError).to.be.closeTo(0.1, 1e-12);
    expect(result.degrees).to.equal(20);
    const half = twoSidedCritical(0.95, 20);
    expectClose(result.interval, [0.4 - 0.1 * half, 0.4 + 0.1 * half], 1e-12);
    expectClose(result.sizeInterval, [-0.2 - 0.3 * half, -0.2 + 0.3 * half], 1e-12);
  });

  it('uses the normal distribution for rates, whose variance has no degrees of freedom', () => {
    const half = { group: rateCell(20, 40), reference: rateCell(20, 40) };
    const covariances = { change: 0.01, sum: 0, maxDegrees: 20 };
    const { degrees, interval } = differenceInDifferences({ control: half, treatment: half }, { covariances });
    expect(degrees).to.equal(Infinity);
    expect(interval[1]).to.be.closeTo(1.959963984540054 * Math.sqrt((4 * 0.25) / 40 + 0.01), 1e-12);
  });
});

describe("Newcombe's interval", () => {
  // From Wilson's intervals of statsmodels 0.15 (proportion_confint), by Newcombe's formula for paired data.
  for (const [a, nA, b, nB, correlation, low, high] of [
    [56, 70, 48, 80, 0.3, 0.07646170715085848, 0.31341960724227413],
    [21, 44, 14, 44, 0.6, 0.030508564795972776, 0.2782137486739431],
    [21, 44, 14, 44, -0.4, -0.08115919540917615, 0.3783631352258313],
    [0, 30, 5, 30, 0.2, -0.33564350506416035, -0.034931948024295056],
  ] as const) {
    it(`of ${a}/${nA} - ${b}/${nB} with the correlation ${correlation} is ${low.toFixed(4)} to ${high.toFixed(4)}`, () => {
      expectClose(newcombeInterval(a, nA, b, nB, 0.95, correlation), [low, high], 1e-9);
    });
  }

  it('of 5/10 - 5/10 has the distance x - y = 0 at the correlation 1, and x + y at -1', () => {
    // Wilson's interval of 5/10 is 0.2366 to 0.7634 in closed form, 0.5 ± z / (2 sqrt(n + z^2)).
    const half = 1.959963984540054 / (2 * Math.sqrt(10 + 1.959963984540054 ** 2));
    expectClose(newcombeInterval(5, 10, 5, 10, 0.95, 1), [0, 0], 1e-8);
    expectClose(newcombeInterval(5, 10, 5, 10, 0.95, -1), [-2 * half, 2 * half], 1e-12);
  });

  it('rejects a correlation outside -1 to 1', () => {
    expect(() => newcombeInterval(1, 2, 1, 2, 0.95, 1.1)).to.throw(/correlation parameter must be from -1 to 1/);
  });

  // Newcombe (1998), table II, method 10.
  const published: [number, number, number, number, number, number][] = [
    [56, 70, 48, 80, 0.0524, 0.3339],
    [9, 10, 3, 10, 0.1705, 0.809],
    [5, 56, 0, 29, -0.0381, 0.1926],
    [0, 10, 0, 10, -0.2775, 0.2775],
    [10, 10, 0, 10, 0.6075, 1],
  ];
  for (const [a, nA, b, nB, low, high] of published) {
    it(`of ${a}/${nA} - ${b}/${nB} is ${low} to ${high}, as published`, () => {
      expectClose(newcombeInterval(a, nA, b, nB), [low, high], 6e-5);
    });
  }

  it('changes its sign with the order of the groups, and is NaN without trials', () => {
    const [low, high] = newcombeInterval(9, 10, 3, 10);
    expectClose(newcombeInterval(3, 10, 9, 10), [-high, -low], 1e-15);
    expect(newcombeInterval(0, 0, 3, 10)).to.deep.equal([NaN, NaN]);
  });

  it('rejects counts and levels out of range', () => {
    expect(() => newcombeInterval(5, 4, 1, 2)).to.throw(ValueError, 'successesA');
    expect(() => newcombeInterval(1, 4, 1, -2)).to.throw(ValueError, 'trialsB');
    expect(() => newcombeInterval(1, 4, 1, 2, 1)).to.throw(ValueError, 'level');
  });
});

describe('means', () => {
  it('of two cells without reference are compared as by Welch (R: t.test(extra ~ group, sleep))', () => {
    // Means 0.75 and 2.33, variances 3.200556 and 4.009, ten rows each: t = -1.8608, df = 17.776, p = 0.07939.
    const known = { value: 0, variance: 0, degrees: Infinity };
    const result = differenceInDifferences({
      control: { group: meanCell(2.33, 4.009, 10), reference: known },
      treatment: { group: meanCell(0.75, 3.200556, 10), reference: known },
    });
    expect(result.statistic).to.be.closeTo(-1.8608, 5e-5);
    expect(result.degrees).to.be.closeTo(17.776, 5e-4);
    expect(result.pValue).to.be.closeTo(0.07939, 5e-6);
    expectClose(result.interval, [-3.3654832, 0.2054832], 1e-6);
  });

  it("uses Student's quantiles", () => {
    for (const degrees of [1, 2.5, 17.776, 300, 1e6]) {
      for (const level of [0.5, 0.95, 0.999]) {
        const expected = tQuantile((1 + level) / 2, degrees);
        expect(twoSidedCritical(level, degrees) / expected, `${level} ${degrees}`).to.be.closeTo(1, 1e-9);
      }
    }
    expect(twoSidedCritical(0.95, Infinity)).to.be.closeTo(1.959963984540054, 1e-12);
    expect([twoSidedCritical(0.95, 0), twoSidedCritical(0.95, NaN)]).to.deep.equal([NaN, NaN]);
  });
});

describe('degenerate cells', () => {
  it('a rate of 0 or 1 has the variance with half a success and half a failure added, never 0', () => {
    expect(rateCell(0, 9).variance).to.be.closeTo((0.05 * 0.95) / 9, 1e-15);
    expect(rateCell(9, 9).variance).to.be.closeTo((0.05 * 0.95) / 9, 1e-15);
    expect([rateCell(0, 0).value, rateCell(0, 0).variance]).to.deep.equal([NaN, NaN]);
  });

  it('a mean of one row or none has no variance', () => {
    for (const n of [0, 1]) {
      expect(meanCell(3, 5, n)).to.deep.equal({ value: 3, variance: NaN, degrees: 0 });
    }
    expect(meanCell(3, 5, 2)).to.deep.equal({ value: 3, variance: 2.5, degrees: 1 });
  });

  it('constant means and cells of one row have no test', () => {
    const cells = (cell: ReturnType<typeof meanCell>) => ({
      control: { group: cell, reference: cell },
      treatment: { group: cell, reference: cell },
    });
    for (const cell of [meanCell(3, 0, 40), meanCell(3, 0, 1), meanCell(NaN, NaN, 0)]) {
      const { pValue, interval, sizePValue } = differenceInDifferences(cells(cell));
      expect([pValue, sizePValue, ...interval]).to.deep.equal([NaN, NaN, NaN, NaN]);
    }
  });

  it('the logit interaction is undefined if a cell has no success or no failure', () => {
    for (const successes of [0, 40]) {
      const cells = { group: rateCell(successes, 40), reference: rateCell(20, 40) };
      expect(logitInteraction({ control: cells, treatment: cells })).to.deep.equal({
        estimate: NaN,
        standardError: NaN,
        pValue: NaN,
      });
    }
  });

  it('rejects parameters out of range', () => {
    const cell = rateCell(20, 40);
    const cells = { control: { group: cell, reference: cell }, treatment: { group: cell, reference: cell } };
    expect(() => differenceInDifferences(cells, { alpha: 0 })).to.throw(ValueError, 'alpha');
    // Without a standard error, the sequential test does not run, and its parameters are still checked.
    const constant = { group: meanCell(3, 0, 40), reference: meanCell(3, 0, 40) };
    for (const tau of [0, -1, Infinity]) {
      expect(() => differenceInDifferences(cells, { tau })).to.throw(ValueError, 'The tau parameter');
      expect(() => differenceInDifferences({ control: constant, treatment: constant }, { tau })).to.throw(ValueError);
      for (const standardError of [1, NaN]) {
        expect(() => differencePower(1, { standardError, tau })).to.throw(ValueError, 'The tau parameter');
      }
    }
    expect(() => rateCell(3, 2)).to.throw(ValueError, 'successes');
    expect(() => meanCell(3, -1, 2)).to.throw(ValueError, 'spread');
    expect(() => detectableDifference({ standardError: 1 }, 0.4)).to.throw(ValueError, 'power');
    expect(() => detectableDifference({ standardError: 1 }, 1)).to.throw(ValueError, 'power');
    expect(() => detectableDifference({ standardError: 1, alpha: 1 })).to.throw(ValueError, 'The alpha parameter');
    expect(() => differencePower(1, { standardError: -1 })).to.throw(ValueError, 'standardError');
  });
});

describe('the change of a size', () => {
  const random = createRandom(7);

  /**
   * Shares of 4,000 normal draws of two disparities in which the interval contains the true change, and in which the
   * test rejects.
   */
  function simulate(control: number, treatment: number, ratio: number) {
    const [sdC, sdT] = [ratio, 1];
    const known = { value: 0, variance: 0, degrees: Infinity };
    const truth = Math.abs(treatment) - Math.abs(control);
    let [held, rejected] = [0, 0];
    for (let run = 0; run < 4000; run++) {
      const cell = (value: number, sd: number) => ({ value, variance: sd * sd, degrees: Infinity });
      const { sizeInterval, sizePValue } = differenceInDifferences({
        control: { group: cell(control + sdC * random.normal(), sdC), reference: known },
        treatment: { group: cell(treatment + sdT * random.normal(), sdT), reference: known },
      });
      held += Number(sizeInterval[0] <= truth && truth <= sizeInterval[1]);
      rejected += Number(sizePValue <= 0.05);
    }
    return { held: held / 4000, rejected: rejected / 4000 };
  }

  // Three standard errors of a share of 4,000 are 0.0103.
  for (const [control, treatment, ratio] of [
    [0, 0, 1],
    [0.5, -0.5, 0.3],
    [3, -3, 1],
    [3, 3, 2],
    [0, 0, 0.05],
  ] as const) {
    it(`is found significant in at most 5% of draws if ${control} and ${treatment} are equally large`, () => {
      expect(simulate(control, treatment, ratio).rejected).to.be.at.most(0.05 + 0.0103);
    });
  }

  for (const [control, treatment, ratio] of [
    [1.1, 3.7, 0.3],
    [0.2, 3.6, 0.05],
    [2, -0.5, 1],
    [6, 9, 1],
  ] as const) {
    it(`lies in its interval in at least 95% of draws for ${control} and ${treatment}`, () => {
      expect(simulate(control, treatment, ratio).held).to.be.at.least(0.95 - 0.0103);
    });
  }

  it('from -0.1 to 0.1 is 0, although the disparity changes', () => {
    const turned = differenceInDifferences({
      control: { group: rateCell(400, 1000), reference: rateCell(500, 1000) },
      treatment: { group: rateCell(500, 1000), reference: rateCell(400, 1000) },
    });
    expect(turned.change).to.be.closeTo(0.2, 1e-12);
    expect(turned.pValue).to.be.below(1e-9);
    expect(turned.sizeChange).to.be.closeTo(0, 1e-12);
    expect(turned.sizePValue).to.be.closeTo(1, 1e-9);
  });
});

describe('power', () => {
  it('is 0.8 at (1.959964 + 0.841621) standard errors, and half at the critical value', () => {
    expect(differencePower(2.801585, { standardError: 1 })).to.be.closeTo(0.8, 1e-6);
    expect(differencePower(-1.959964, { standardError: 1 })).to.be.closeTo(0.5, 1e-6);
    expect(detectableDifference({ standardError: 0.04930374605443282 })).to.be.closeTo(0.04930374605 * 2.801585, 1e-6);
  });

  it('of a standard error of 0 or NaN is undefined, and a power of 0.5 needs the critical value', () => {
    for (const standardError of [0, NaN]) {
      expect(differencePower(1, { standardError })).to.be.NaN;
      expect(detectableDifference({ standardError })).to.be.NaN;
    }
    expect(detectableDifference({ standardError: 2 }, 0.5)).to.be.closeTo(2 * 1.959963984540054, 1e-12);
  });

  it('is the inverse of the detectable difference, also for the sequential test', () => {
    for (const tau of [undefined, 0.05]) {
      const options = { standardError: 0.03, alpha: 0.01, tau };
      expect(differencePower(detectableDifference(options, 0.9), options)).to.be.closeTo(0.9, 1e-9);
    }
  });

  it('agrees with simulated experiments', () => {
    const random = createRandom(11);
    const rates = { control: [0.5, 0.5], treatment: [0.62, 0.5] } as const;
    const n = 300;
    const draw = (rate: number) => {
      let successes = 0;
      for (let row = 0; row < n; row++) successes += Number(random.next() < rate);
      return rateCell(successes, n);
    };
    let shown = 0;
    for (let run = 0; run < 1500; run++) {
      const pair = ([group, reference]: readonly [number, number]) => ({
        group: draw(group),
        reference: draw(reference),
      });
      const result = differenceInDifferences({ control: pair(rates.control), treatment: pair(rates.treatment) });
      shown += Number(result.pValue <= 0.05);
    }
    const standardError = Math.sqrt((3 * 0.25 + 0.62 * 0.38) / n);
    // Three standard errors of a share of 1,500 near 0.55 are 0.0385.
    expect(shown / 1500).to.be.closeTo(differencePower(0.12, { standardError }), 0.0385);
  });
});

describe('the sequential rule', () => {
  const cells = {
    control: { group: rateCell(180, 400), reference: rateCell(240, 400) },
    treatment: { group: rateCell(220, 400), reference: rateCell(245, 400) },
  };

  it('is the likelihood ratio under N(0, tau^2), by quadrature', () => {
    const tau = 0.05;
    const { change, standardError, pValue } = differenceInDifferences(cells, { tau });
    // Simpson's rule over twelve prior deviations.
    const density = (x: number, sd: number) => Math.exp(-(x * x) / (2 * sd * sd)) / (sd * Math.sqrt(2 * Math.PI));
    const steps = 20_000;
    const width = (24 * tau) / steps;
    let mixture = 0;
    for (let step = 0; step <= steps; step++) {
      const theta = -12 * tau + step * width;
      const weight = step === 0 || step === steps ? 1 : step % 2 === 1 ? 4 : 2;
      mixture += (weight * width * density(change - theta, standardError) * density(theta, tau)) / 3;
    }
    const ratio = mixture / density(change, standardError);
    expect(pValue).to.be.closeTo(Math.min(1, 1 / ratio), 1e-9);
  });

  it('excludes 0 from its interval exactly if its p-value is at most alpha', () => {
    const tau = 0.05;
    for (const alpha of [0.2, 0.05, 0.01]) {
      const { standardError } = differenceInDifferences(cells, { tau });
      const half = differenceInDifferences(cells, { tau, alpha }).margin;
      const at = (value: number) => {
        const known = { value: 0, variance: 0, degrees: Infinity };
        const group = { value, variance: standardError ** 2, degrees: Infinity };
        return differenceInDifferences(
          { control: { group: known, reference: known }, treatment: { group, reference: known } },
          { tau, alpha },
        );
      };
      expect(at(half * 1.0001).pValue).to.be.below(alpha);
      expect(at(half * 0.9999).pValue).to.be.above(alpha);
      expect(at(half * 1.0001).interval[0]).to.be.above(0);
    }
  });

  it('is wider than for a single check, by 1.85 at 400 rows per cell', () => {
    const ratio = differenceInDifferences(cells, { tau: 0.05 }).margin / differenceInDifferences(cells).margin;
    expect(ratio).to.be.closeTo(1.854, 0.005);
  });
});
