import type { Random } from '../../src/internal/random.ts';
import { createBinomialSampler } from '../../src/stats/binomial-sampler.ts';
import type { MeanFamily } from '../../src/stats/mean-family.ts';
import { createNormalSampler } from '../../src/stats/normal.ts';
import type { RateFamily } from '../../src/stats/rate-family.ts';
import type { Cell, ErrorLaw } from './design.ts';

/** The share of rows with a positive label, from which the denominators of EOD are drawn. */
const BASE_RATE = 0.5;

/** A family of means in the form of the MAE parity metric, with all parts known. */
export type DrawnMeans = MeanFamily & { readonly sizes: readonly number[] };

/** Rates that are compared by difference. */
type DrawnRates = RateFamily & { readonly kind: 'rates' };

export type DrawnFamily = DrawnRates | DrawnMeans;

/** Returns a function that draws a cell's data and returns its families, or null if the metric is undefined. */
export function createDataSource(cell: Cell, random: Random): () => DrawnFamily[] | null {
  if (cell.metric === 'dpd') return selectionRates(cell, random);
  return cell.metric === 'eod' ? errorRates(cell, random) : meanErrors(cell, random);
}

function selectionRates({ sizes, levels }: Cell, random: Random): () => DrawnRates[] {
  const samplers = sizes.map((n, group) => createBinomialSampler(n, levels[group] as number, random));
  return () => [{ kind: 'rates', successes: samplers.map((draw) => draw()), trials: sizes }];
}

/**
 * Draws error rates. Labels are drawn first, so that the denominators vary; a group without a label lacks that rate.
 */
function errorRates({ sizes, levels, secondLevels }: Cell, random: Random): () => DrawnRates[] | null {
  const positives = sizes.map((n) => createBinomialSampler(n, BASE_RATE, random));
  const samplers = new Map<number, Map<number, () => number>>();
  const drawCount = (trials: number, rate: number): number => {
    const ofRate = samplers.get(rate) ?? new Map<number, () => number>();
    samplers.set(rate, ofRate);
    const draw = ofRate.get(trials) ?? createBinomialSampler(trials, rate, random);
    ofRate.set(trials, draw);
    return draw();
  };
  const family = (denominators: readonly number[], rates: readonly number[]): DrawnRates => {
    const groups = denominators.flatMap((trials, group) => (trials > 0 ? [group] : []));
    const trials = groups.map((group) => denominators[group] as number);
    return {
      kind: 'rates',
      trials,
      successes: groups.map((group, index) => drawCount(trials[index] as number, rates[group] as number)),
    };
  };
  return () => {
    const truths = positives.map((draw) => draw());
    const families = [
      family(truths, levels),
      family(
        truths.map((count, group) => (sizes[group] as number) - count),
        secondLevels,
      ),
    ];
    return families.every(({ trials }) => trials.length >= 2) ? families : null;
  };
}

/** Distributions with mean 1. */
const ERROR_LAWS: Record<ErrorLaw, (random: Random) => () => number> = {
  'half-normal': (random) => {
    const normal = createNormalSampler(random);
    return () => Math.abs(normal()) * Math.sqrt(Math.PI / 2);
  },
  exponential: (random) => () => -Math.log(1 - random.next()),
  'log-normal': (random) => {
    const normal = createNormalSampler(random);
    return () => Math.exp(normal() - 0.5);
  },
};

function meanErrors({ sizes, levels, law }: Cell, random: Random): () => DrawnMeans[] {
  const drawError = ERROR_LAWS[law as ErrorLaw](random);
  const rows = new Float64Array(Math.max(...sizes));
  return () => {
    const groups = sizes.map((n, group) => {
      for (let row = 0; row < n; row++) rows[row] = drawError() * (levels[group] as number);
      return moments(rows, n);
    });
    return [
      {
        kind: 'means',
        means: groups.map(({ mean }) => mean),
        standardErrors: groups.map(({ standardError }) => standardError),
        sizes,
        skewness: groups.map(({ skewness }) => skewness),
      },
    ];
  };
}

function moments(rows: Float64Array, n: number): { mean: number; standardError: number; skewness: number } {
  let sum = 0;
  for (let row = 0; row < n; row++) sum += rows[row] as number;
  const mean = sum / n;
  let squares = 0;
  let cubes = 0;
  for (let row = 0; row < n; row++) {
    const deviation = (rows[row] as number) - mean;
    squares += deviation * deviation;
    cubes += deviation * deviation * deviation;
  }
  return { mean, standardError: Math.sqrt(squares / (n - 1) / n), skewness: cubes / n / (squares / n) ** 1.5 };
}
