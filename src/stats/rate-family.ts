import type { Random } from '../internal/random.ts';
import { BinomialTable } from './binomial-sampler.ts';
import { type GapFamily, type GroupTable, spread } from './gap-family.ts';
import { createNormalSampler } from './normal.ts';

/**
 * The rates of several groups, as counts of successes and trials. The counts may be effective (fractional) counts.
 *
 * `rates` are compared by difference. `log-rates` are compared by ratio: the gap is max ln rate - min ln rate. Rates of
 * 0 are allowed. If a rate is 0, the upper end of the interval is Infinity.
 */
export interface RateFamily {
  readonly kind: 'rates' | 'log-rates';
  readonly successes: ArrayLike<number>;
  readonly trials: ArrayLike<number>;
}

/**
 * If the variance of a count is above this value, the count is drawn from a normal distribution. Above this variance,
 * the skewness is below 0.01, and a table would be large.
 */
const NORMAL_COUNT_VARIANCE = 10_000;

/**
 * The smallest number of trials for which counts are drawn. With fewer trials, counts have too few possible values. For
 * example, one trial with an estimated rate of 2/3 would be drawn as 1/3 or 2/3, and every |t*| would be small. The
 * rate of such a group is drawn from a normal distribution with its own standard error, as in Agresti and Caffo.
 */
const FEWEST_TRIALS_TO_DRAW = 10;

/** Functions that convert counts to the centre and the variance of one group. */
interface RateScale {
  rateOf(successes: number, trials: number): number;
  centreOf(rate: number): number;
  varianceOf(rate: number, trials: number): number;
}

/** Adds one success and one failure to every group (Agresti and Caffo 2000). */
const DIFFERENCE_SCALE: RateScale = {
  rateOf: (successes, trials) => (successes + 1) / (trials + 2),
  centreOf: (rate) => rate,
  varianceOf: (rate, trials) => (rate * (1 - rate)) / (trials + 2),
};

/**
 * Adds half a success and half a failure, which keeps the logarithm finite. The variance is 1 / (k + 1/2) - 1 / (n +
 * 1).
 */
const LOG_SCALE: RateScale = {
  rateOf: (successes, trials) => (successes + 0.5) / (trials + 1),
  centreOf: (rate) => Math.log(rate),
  varianceOf: (rate, trials) => (1 - rate) / (rate * (trials + 1)),
};

/** Returns the gap family of differences of rates, in [0, 1], or of log rates, in [0, Infinity]. */
export function estimateRates({ kind, successes, trials }: RateFamily, random: Random): GapFamily {
  const rates = Float64Array.from(trials, (n, group) => (successes[group] as number) / n);
  if (kind === 'rates') {
    return { point: spread(rates), ceiling: 1, ...estimate(successes, trials, DIFFERENCE_SCALE, random) };
  }
  return {
    point: spread(rates.map(Math.log)),
    ceiling: Infinity,
    // If the observed rate is 0, the true rate may be arbitrarily small.
    minHigh: rates.some((rate) => rate === 0) ? Infinity : 0,
    ...estimate(successes, trials, LOG_SCALE, random),
  };
}

function estimate(
  successes: ArrayLike<number>,
  trials: ArrayLike<number>,
  scale: RateScale,
  random: Random,
): Pick<GapFamily, 'centres' | 'variances' | 'draw' | 'tables'> {
  const rates = Float64Array.from(trials, (n, group) => scale.rateOf(successes[group] as number, n));
  const completeTrials = Float64Array.from(trials, (n) => Math.max(1, Math.round(n)));
  const centres = rates.map((rate) => scale.centreOf(rate));
  const variances = rates.map((rate, group) => scale.varianceOf(rate, trials[group] as number));
  const drawNormal = createNormalSampler(random);
  let counts: (TabledRate | (() => number))[] | undefined;
  // The samplers are created at the first draw, because nothing is drawn if there are too many groups.
  const samplers = (): (TabledRate | (() => number))[] =>
    (counts ??= Array.from(completeTrials, (n, group) => countsOf(n, rates[group] as number, scale, random)));
  return {
    centres,
    variances,
    tables() {
      if (completeTrials.some((n) => n < FEWEST_TRIALS_TO_DRAW)) return undefined;
      const tables = samplers().filter((one) => one instanceof TabledRate);
      return tables.length === completeTrials.length ? tables : undefined;
    },
    draw(intoCentres, intoVariances) {
      counts ??= samplers();
      for (let group = 0; group < counts.length; group++) {
        const n = completeTrials[group] as number;
        if (n < FEWEST_TRIALS_TO_DRAW) {
          const variance = variances[group] as number;
          intoCentres[group] = (centres[group] as number) + Math.sqrt(variance) * drawNormal();
          intoVariances[group] = variance;
          continue;
        }
        const own = counts[group] as TabledRate | (() => number);
        if (own instanceof TabledRate) {
          // This code is not a separate function, because the call would take longer than the draw.
          const index = own.counts.indexOf(random.next());
          intoCentres[group] = own.centres[index] as number;
          intoVariances[group] = own.variances[index] as number;
          continue;
        }
        const rate = scale.rateOf(own(), n);
        intoCentres[group] = scale.centreOf(rate);
        intoVariances[group] = scale.varianceOf(rate, n);
      }
    },
  };
}

/**
 * Returns the sampler of a binomial count. The memory and the time of the sampler do not grow with the number of
 * trials.
 */
function countsOf(trials: number, rate: number, scale: RateScale, random: Random): TabledRate | (() => number) {
  const variance = trials * rate * (1 - rate);
  // A rate that rounds to 1 in float64 has no failures to draw.
  if (variance === 0) return () => trials * rate;
  if (variance <= NORMAL_COUNT_VARIANCE) return new TabledRate(trials, rate, scale);
  const deviation = Math.sqrt(variance);
  const drawNormal = createNormalSampler(random);
  return () => trials * rate + deviation * drawNormal();
}

/** A table of counts to draw from, with the centre and the variance of each count. */
class TabledRate implements GroupTable {
  readonly counts: BinomialTable;
  readonly centres: Float64Array;
  readonly variances: Float64Array;

  constructor(trials: number, rate: number, scale: RateScale) {
    this.counts = new BinomialTable(trials, rate);
    const { first, size } = this.counts;
    this.centres = new Float64Array(size);
    this.variances = new Float64Array(size);
    for (let index = 0; index < size; index++) {
      const drawn = scale.rateOf(first + index, trials);
      this.centres[index] = scale.centreOf(drawn);
      this.variances[index] = scale.varianceOf(drawn, trials);
    }
  }
}
