import { expect } from 'chai';

import { ValueError } from '../../../src/exceptions/index.ts';
import { logScaledLowerGamma, logScaledUpperGamma } from '../../../src/stats/scaled-incomplete-gamma.ts';
import {
  bernoulliConfidenceInterval,
  betaBinomialLogMixture,
  betaBinomialMixtureBound,
  doubleStitchingBound,
  empiricalProcessLilBound,
  gammaExponentialLogMixture,
  gammaExponentialMixtureBound,
  gammaPoissonLogMixture,
  gammaPoissonMixtureBound,
  normalLogMixture,
  normalMixtureBound,
  polyStitchingBound,
  twoSidedNormalBestRho,
} from '../../../src/stats/sequential/index.ts';
import { rootBetween } from '../../../src/stats/sequential/mixture-bound.ts';
import { riemannZeta } from '../../../src/stats/sequential/poly-stitching-bound.ts';
import { describeWithReference, readVectors } from '../../helpers/reference.ts';

/** The arguments of a case, with the names of the reference. Each function uses some of them. */
type Arguments = Record<
  | 'v_opt'
  | 'alpha_opt'
  | 'alpha'
  | 's'
  | 'v'
  | 'c'
  | 'g'
  | 'h'
  | 'eta'
  | 'v_min'
  | 't_min'
  | 't_opt'
  | 'A'
  | 'p'
  | 't'
  | 'successes'
  | 'trials',
  number
> & { one_sided: boolean };

interface BoundaryCase {
  fn: string;
  args: Arguments;
  expect: number | [number, number];
}

interface BoundaryVectors {
  unit_tests: BoundaryCase[];
  extended: BoundaryCase[];
}

const optionsOf = {
  normal: ({ v_opt, alpha_opt, one_sided }: Arguments) => ({ vOpt: v_opt, alphaOpt: alpha_opt, oneSided: one_sided }),
  gamma: ({ v_opt, alpha_opt, c }: Arguments) => ({ vOpt: v_opt, alphaOpt: alpha_opt, c }),
  beta: (given: Arguments) => ({ ...optionsOf.normal(given), g: given.g, h: given.h }),
};

/** Each function of the reference as a call of this package. */
const OURS: Record<string, (given: Arguments) => number | readonly number[]> = {
  two_sided_normal_best_rho: ({ v_opt, alpha_opt }) => twoSidedNormalBestRho(v_opt, alpha_opt),
  normal_log_mixture: (given) => normalLogMixture(given.s, given.v, optionsOf.normal(given)),
  normal_mixture_bound: (given) => normalMixtureBound(given.v, given.alpha, optionsOf.normal(given)),
  gamma_exponential_log_mixture: (given) => gammaExponentialLogMixture(given.s, given.v, optionsOf.gamma(given)),
  gamma_exponential_mixture_bound: (given) =>
    gammaExponentialMixtureBound(given.v, given.alpha, optionsOf.gamma(given)),
  gamma_poisson_log_mixture: (given) => gammaPoissonLogMixture(given.s, given.v, optionsOf.gamma(given)),
  gamma_poisson_mixture_bound: (given) => gammaPoissonMixtureBound(given.v, given.alpha, optionsOf.gamma(given)),
  beta_binomial_log_mixture: (given) => betaBinomialLogMixture(given.s, given.v, optionsOf.beta(given)),
  beta_binomial_mixture_bound: (given) => betaBinomialMixtureBound(given.v, given.alpha, optionsOf.beta(given)),
  poly_stitching_bound: ({ v, alpha, v_min, c, s, eta }) => polyStitchingBound(v, alpha, { vMin: v_min, c, s, eta }),
  empirical_process_lil_bound: ({ t, alpha, t_min, A }) => empiricalProcessLilBound(t, alpha, { tMin: t_min, a: A }),
  double_stitching_bound: ({ p, t, alpha, t_opt }) => doubleStitchingBound(p, t, alpha, { tOpt: t_opt }),
  bernoulli_confidence_interval: ({ successes, trials, alpha, t_opt, alpha_opt }) =>
    bernoulliConfidenceInterval(successes, trials, alpha, { tOpt: t_opt, alphaOpt: alpha_opt }),
};

function expectMet(cases: BoundaryCase[], tolerance: number): void {
  for (const { fn, args, expect: expected } of cases) {
    const found = [OURS[fn]?.(args)].flat();
    [expected].flat().forEach((value, index) => {
      const allowed = tolerance * Math.max(1, Math.abs(value));
      expect(found[index], `${fn} ${JSON.stringify(args)}`).to.be.closeTo(value, allowed);
    });
  }
}

describeWithReference('boundaries agree with confseq', () => {
  let vectors: BoundaryVectors;
  before(() => {
    vectors = readVectors('confseq_boundaries.json') as BoundaryVectors;
  });

  it('in its unit tests, to their 1e-5', () => {
    expect(vectors.unit_tests).to.have.length(27);
    expect(new Set(vectors.unit_tests.map(({ fn }) => fn))).to.have.all.keys(...Object.keys(OURS));
    expectMet(vectors.unit_tests, 1e-5);
  });

  it('in values of its compiled source, to 1e-9', () => {
    expect(vectors.extended).to.have.length(73);
    expectMet(vectors.extended, 1e-9);
  });
});

/** Simpson's rule. */
function integral(integrand: (x: number) => number, from: number, to: number, pieces = 20_000): number {
  const step = (to - from) / pieces;
  let sum = integrand(from) + integrand(to);
  for (let piece = 1; piece < pieces; piece++) sum += (piece % 2 === 1 ? 4 : 2) * integrand(from + piece * step);
  return (sum * step) / 3;
}

describe('log-mixtures are the integrals that define them', () => {
  const [vOpt, alphaOpt] = [20, 0.05];
  // v / (2 ln(1/a) + ln(1 + 2 ln(1/a))), at a for two sides and 2 a for one.
  const tuning = (alpha: number) => vOpt / (2 * Math.log(1 / alpha) + Math.log(1 + 2 * Math.log(1 / alpha)));
  const [one, two] = [tuning(2 * alphaOpt), tuning(alphaOpt)];
  const points = [
    [0, 0],
    [3, 0],
    [0, 10],
    [10, 10],
    [-6, 10],
    [25, 60],
    [-20, 60],
  ] as const;

  it('normal, two sides and one', () => {
    for (const [s, v] of points) {
      const integrand = (rho: number) => (x: number) =>
        Math.sqrt(rho / (2 * Math.PI)) * Math.exp(x * s - (x * x * (v + rho)) / 2);
      const complete = Math.log(integral(integrand(two), -20, 20));
      expect(normalLogMixture(s, v, { vOpt, oneSided: false })).to.be.closeTo(complete, 1e-10);
      const half = Math.log(2 * integral(integrand(one), 0, 20, 200_000));
      expect(normalLogMixture(s, v, { vOpt })).to.be.closeTo(half, 1e-10);
    }
  });

  it('gamma-exponential, at any scale', () => {
    for (const c of [0.2, 1, 3]) {
      const shape = one / c ** 2;
      const law = (x: number) => x ** (shape - 1) * Math.exp(shape * (1 - x));
      for (const [s, v] of points) {
        // With x = y^16 the integrand is smooth at 0 too.
        const mixture = (x: number) => law(x) * Math.exp(((1 - x) * s) / c + (v / c ** 2) * (Math.log(x) + 1 - x));
        const over = (f: (x: number) => number) =>
          integral((y) => (y === 0 ? 0 : 16 * y ** 15 * f(y ** 16)), 0, 1, 60_000);
        const expected = Math.log(over(mixture) / over(law));
        expect(gammaExponentialLogMixture(s, v, { vOpt, c }), `c = ${c}, s = ${s}`).to.be.closeTo(expected, 1e-7);
      }
    }
  });

  it('gamma-Poisson, at any scale', () => {
    for (const c of [0.2, 1, 3]) {
      const shape = one / c ** 2;
      const far = 1 + 60 * Math.max(c, c ** 2);
      const law = (x: number) => x ** (shape - 1) * Math.exp(-shape * (x - 1));
      for (const [s, v] of points) {
        const mixture = (x: number) => law(x) * x ** (s / c) * Math.exp((-v / c ** 2) * (x - 1 - Math.log(x)));
        const expected = Math.log(integral(mixture, 1, far, 160_000) / integral(law, 1, far, 160_000));
        expect(gammaPoissonLogMixture(s, v, { vOpt, c }), `c = ${c}, s = ${s}`).to.be.closeTo(expected, 1e-7);
      }
    }
  });

  it('beta-binomial, two sides and one', () => {
    const [g, h] = [0.3, 0.6];
    const chance = g / (g + h);
    for (const [oneSided, rho] of [
      [false, two],
      [true, one],
    ] as const) {
      const [above, below] = [(rho - g * h) / (h * (g + h)), (rho - g * h) / (g * (g + h))];
      const law = (p: number) => p ** (above - 1) * (1 - p) ** (below - 1);
      const from = oneSided ? chance : 0;
      for (const [s, v] of [
        [0, 0],
        [0, 9],
        [5, 9],
        [-4, 9],
        [30, 9],
      ] as const) {
        const ups = (v + h * s) / (h * (g + h));
        const downs = (v - g * s) / (g * (g + h));
        const ratio = (p: number) => (p / chance) ** ups * ((1 - p) / (1 - chance)) ** downs;
        const expected = Math.log(integral((p) => law(p) * ratio(p), from, 1) / integral(law, from, 1));
        expect(betaBinomialLogMixture(s, v, { vOpt, g, h, oneSided })).to.be.closeTo(expected, 1e-9);
      }
    }
  });
});

describe('boundaries', () => {
  it('are at the points at which their log-mixtures reach ln(1 / alpha)', () => {
    for (const v of [0, 0.3, 10, 1e3, 1e6]) {
      for (const alpha of [0.5, 0.05, 1e-10]) {
        const threshold = Math.log(1 / alpha);
        const normal = { vOpt: 50, alphaOpt: 0.01 };
        const scaled = { ...normal, c: 2 };
        const about = (found: number) => expect(found, `v = ${v}, alpha = ${alpha}`).to.be.closeTo(threshold, 1e-8);
        for (const oneSided of [true, false]) {
          about(normalLogMixture(normalMixtureBound(v, alpha, { ...normal, oneSided }), v, { ...normal, oneSided }));
        }
        about(gammaExponentialLogMixture(gammaExponentialMixtureBound(v, alpha, scaled), v, scaled));
        about(gammaPoissonLogMixture(gammaPoissonMixtureBound(v, alpha, scaled), v, scaled));
      }
    }
  });

  it('of a beta-binomial mixture stop at v / g, which no sum can exceed', () => {
    const options = { vOpt: 50, g: 0.5, h: 0.5 };
    expect(betaBinomialMixtureBound(0, 0.05, options)).to.equal(0);
    expect(betaBinomialMixtureBound(1, 0.05, options)).to.equal(2);
    expect(betaBinomialMixtureBound(400, 0.05, options)).to.be.below(100);
  });

  it('rise with time and as alpha decreases', () => {
    const bounds = [
      (v: number, alpha: number) => normalMixtureBound(v, alpha, { vOpt: 9 }),
      (v: number, alpha: number) => normalMixtureBound(v, alpha, { vOpt: 9, oneSided: false }),
      (v: number, alpha: number) => gammaExponentialMixtureBound(v, alpha, { vOpt: 9, c: 1 }),
      (v: number, alpha: number) => gammaPoissonMixtureBound(v, alpha, { vOpt: 9, c: 1 }),
      (v: number, alpha: number) => betaBinomialMixtureBound(v, alpha, { vOpt: 9, g: 0.1, h: 0.9 }),
      (v: number, alpha: number) => polyStitchingBound(v, alpha, { vMin: 1, c: 1 }),
      (v: number, alpha: number) => doubleStitchingBound(0.3, v, alpha, { tOpt: 1 }),
    ];
    for (const bound of bounds) {
      for (const v of [5, 50, 5e4]) {
        expect(bound(2 * v, 0.05)).to.be.above(bound(v, 0.05));
        expect(bound(v, 0.01)).to.be.above(bound(v, 0.05));
      }
    }
  });

  it('of a small scale converge to the normal boundary', () => {
    const normal = normalMixtureBound(100, 0.05, { vOpt: 100 });
    expect(gammaExponentialMixtureBound(100, 0.05, { vOpt: 100, c: 1e-3 })).to.be.closeTo(normal, 0.01);
    expect(gammaPoissonMixtureBound(100, 0.05, { vOpt: 100, c: 1e-3 })).to.be.closeTo(normal, 0.01);
  });

  it('on an empirical distribution do not hold before their first time, and have C = 8.123 at 0.05 for 0.85', () => {
    expect(empiricalProcessLilBound(99, 0.05, { tMin: 100 })).to.equal(Infinity);
    // Howard and Ramdas (2022) print 0.85 sqrt((ln ln(e t / m) + 8.12) / t) for 5%, rounded.
    const constant = (empiricalProcessLilBound(100, 0.05, { tMin: 100 }) / 0.85) ** 2 * 100;
    expect(constant).to.be.closeTo(8.12, 0.01);
    for (const a of [0.708, 0.75, 2]) {
      for (const alpha of [0.9, 0.05, 1e-9]) {
        expect(empiricalProcessLilBound(100, alpha, { tMin: 100, a })).to.be.within(0, Infinity);
      }
    }
  });

  it('name a number that is out of range', () => {
    const normal = { vOpt: 10 };
    expect(() => normalMixtureBound(-1, 0.05, normal)).to.throw(ValueError, 'The v parameter');
    expect(() => normalMixtureBound(1, 1, normal)).to.throw(ValueError, 'alpha');
    expect(() => normalMixtureBound(1, 0.05, { vOpt: 0 })).to.throw(ValueError, 'vOpt');
    expect(() => normalMixtureBound(1, 0.05, { vOpt: 1, alphaOpt: 0.5 })).to.throw(ValueError, 'alphaOpt');
    expect(() => normalLogMixture(NaN, 1, normal)).to.throw(ValueError, 'The s parameter');
    expect(() => gammaExponentialMixtureBound(1, 0.05, { vOpt: 1, c: 0 })).to.throw(ValueError, 'The c parameter');
    expect(() => gammaPoissonLogMixture(1, Infinity, { vOpt: 1, c: 1 })).to.throw(ValueError, 'The v parameter');
    expect(() => betaBinomialMixtureBound(1, 0.05, { vOpt: 1, g: 0, h: 1 })).to.throw(ValueError, 'The g parameter');
    expect(() => betaBinomialLogMixture(9, 1, { vOpt: 1, g: 0.5, h: 0.5 })).to.throw(ValueError, 'v / g = 2');
    expect(() => polyStitchingBound(1, 0.05, { vMin: 1, s: 1 })).to.throw(ValueError, 'The s parameter');
    expect(() => polyStitchingBound(1, 0.05, { vMin: 1, eta: 1 })).to.throw(ValueError, 'eta');
    expect(() => polyStitchingBound(1, 0.05, { vMin: 0 })).to.throw(ValueError, 'vMin');
    expect(() => polyStitchingBound(1, 0.05, { vMin: 1, c: NaN })).to.throw(ValueError, 'The c parameter');
    expect(() => doubleStitchingBound(0, 1, 0.05, { tOpt: 1 })).to.throw(ValueError, 'The p parameter');
    expect(() => doubleStitchingBound(0.5, 1, 0.05, { tOpt: 0 })).to.throw(ValueError, 'tOpt');
    expect(() => empiricalProcessLilBound(1, 0.05, { tMin: 0 })).to.throw(ValueError, 'tMin');
    expect(() => empiricalProcessLilBound(1, 0.05, { tMin: 1, a: 0.7 })).to.throw(ValueError, 'The a parameter');
    expect(() => twoSidedNormalBestRho(0, 0.05)).to.throw(ValueError, 'The v parameter');
  });
});

describe('Bernoulli confidence interval', () => {
  it('is [0, 1] without trials, and is mirrored for failures', () => {
    expect(bernoulliConfidenceInterval(0, 0, 0.05, { tOpt: 10 })).to.deep.equal([0, 1]);
    const [low, high] = bernoulliConfidenceInterval(20, 90, 0.05, { tOpt: 50 });
    const [lowOther, highOther] = bernoulliConfidenceInterval(70, 90, 0.05, { tOpt: 50 });
    expect(low).to.be.closeTo(1 - highOther, 1e-12);
    expect(high).to.be.closeTo(1 - lowOther, 1e-12);
  });

  it('of one success begins at 0: near 0 the mixture stays below 1 there', () => {
    expect(bernoulliConfidenceInterval(1, 1000, 0.05, { tOpt: 100 })[0]).to.equal(0);
    expect(bernoulliConfidenceInterval(2, 1000, 0.05, { tOpt: 100 })[0]).to.be.above(0);
  });

  it('rejects invalid counts', () => {
    expect(() => bernoulliConfidenceInterval(3, 2, 0.05, { tOpt: 10 })).to.throw(ValueError, 'successes');
    expect(() => bernoulliConfidenceInterval(1, 2.5, 0.05, { tOpt: 10 })).to.throw(ValueError, 'trials');
    expect(() => bernoulliConfidenceInterval(1, 2, 0, { tOpt: 10 })).to.throw(ValueError, 'alpha');
  });
});

describe('scaled incomplete gamma functions', () => {
  // mpmath 1.4.1 with 50 digits: ln(1F1(1, a + 1, b) / a), and ln(Gamma(a, b) e^b b^-a).
  const lower: [a: number, b: number, expected: number][] = [
    [2.5, -7.5, -2.2200559448516772],
    [2.5, 5, 1.1828721954147092],
    [40, 40, -1.5753677471663754],
    [1000, 1100, 2.153904537985931],
    [0.3, 30, 30.075438780319427],
    [1000, -3000, -8.293862099072483],
  ];
  const upper: [a: number, b: number, expected: number][] = [
    [2.5, 0.25, 3.992510881385219],
    [40, 36, -1.0287844379976097],
    [-30, 33, -4.151407670980273],
    [0.3, 0.01, 2.1598986001172302],
    [-0.5, 0.45, -0.32626222612587147],
    [0, 1, -0.5169319590020456],
  ];
  for (const [a, b, expected] of lower) {
    it(`lower at (${a}, ${b})`, () => expect(logScaledLowerGamma(a, b)).to.be.closeTo(expected, 1e-12));
  }
  for (const [a, b, expected] of upper) {
    it(`upper at (${a}, ${b})`, () => expect(logScaledUpperGamma(a, b)).to.be.closeTo(expected, 1e-11));
  }

  it('sum to e^b b^-a Gamma(a), and are about equal for large a = b', () => {
    for (const a of [1e4, 1e6, 1e8]) {
      // ln(sqrt(2 pi / a)) + 1 / (12 a), and P(a, a) = 1/2 + 1 / (3 sqrt(2 pi a)) + O(a^-3/2).
      const half = Math.log((2 * Math.PI) / a) / 2 + 1 / (12 * a);
      const tilt = 1 / (3 * Math.sqrt(2 * Math.PI * a));
      expect(logScaledLowerGamma(a, a)).to.be.closeTo(half + Math.log(0.5 + tilt), 1e-8);
      expect(logScaledUpperGamma(a, a)).to.be.closeTo(half + Math.log(0.5 - tilt), 1e-8);
    }
  });

  it('extend the one-sided normal mixture to sums whose normal tail underflows float64', () => {
    // mpmath 1.4.1: ln(4 rho / (v + rho)) / 2 + s^2 / (2 (v + rho)) + ln(ncdf(s / sqrt(v + rho))) at v = 100.
    for (const [s, expected] of [
      [-2000, -6.4466976986488325],
      [-60, -2.9700278162753198],
      [-5, -1.3308355495648514],
    ] as const) {
      expect(normalLogMixture(s, 100, { vOpt: 100 })).to.be.closeTo(expected, 1e-12);
    }
  });
});

describe("Riemann's zeta function", () => {
  // mpmath 1.4.1; zeta(2) = pi^2 / 6.
  for (const [s, expected] of [
    [1.1, 10.58444846495081],
    [1.4, 3.1055472779775806],
    [2, Math.PI ** 2 / 6],
    [3, 1.2020569031595942],
  ] as const) {
    it(`at ${s} is ${expected}`, () => expect(riemannZeta(s)).to.be.closeTo(expected, 1e-13));
  }
});

describe('roots', () => {
  it('are exact to the last digits, for flat and steep functions and at the ends', () => {
    expect(rootBetween((x) => x * x - 2, 0, 2)).to.be.closeTo(Math.SQRT2, 1e-15);
    expect(rootBetween((x) => (x - 1) ** 3, 0, 3)).to.be.closeTo(1, 1e-5);
    expect(rootBetween((x) => Math.expm1(50 * (x - 0.9)), 0, 5)).to.be.closeTo(0.9, 1e-15);
    expect(rootBetween((x) => 1 / (x - 0.3) ** 9, 1, 0.2)).to.be.closeTo(0.3, 1e-15);
    expect(rootBetween((x) => x, 0, 1)).to.be.closeTo(0, 1e-15);
    expect(rootBetween((x) => 1 - x, 0, 1)).to.be.closeTo(1, 1e-15);
  });
});
