import { lowerTail } from './binomial-test.ts';
import type { Cell, StudyMetric } from './design.ts';
import type { Tally } from './simulate.ts';

/** A cell and its counts. */
export interface CellResult {
  readonly cell: Cell;
  readonly first: Tally;
  /** Repetitions with a new seed, if the first ones covered too little. Only these count then. */
  readonly again: Tally | null;
}

/** A target, the measured value, and whether the target is met. */
export interface Verdict {
  readonly text: string;
  readonly isMet: boolean;
}

export const METRIC_NAMES: Record<StudyMetric, string> = {
  dpd: 'demographic parity difference',
  eod: 'equalized odds difference',
  mae: 'MAE parity difference',
};
export const METRICS = ['dpd', 'eod', 'mae'] as const;

/** A cell below this coverage is run again: 0.01 above the target of its table. */
export const RUN_AGAIN_BELOW = { equal: 0.945, unequal: 0.93 } as const;
const MIN_COVERAGE = 0.935;
const MIN_AT_EQUALITY = 0.945;
const MIN_UNEQUAL = 0.92;
/** The significance level for all cells of a metric together. */
const SIGNIFICANCE = 0.05;

export function coverageOf({ held, repetitions, undefinedDraws }: Tally): number {
  return held / (repetitions - undefinedDraws);
}

/** Returns the coverage that counts. */
export function finalCoverage({ first, again }: CellResult): number {
  return coverageOf(again ?? first);
}

/** Returns the mean width relative to that of Bonferroni. */
export function relativeWidth({ first }: CellResult): number {
  return first.width / first.bonferroniWidth;
}

export function verdicts(results: readonly CellResult[]): Verdict[] {
  return METRICS.flatMap((metric) => {
    const equal = results.filter(({ cell }) => cell.metric === metric && cell.table === 'equal');
    const unequal = results.filter(({ cell }) => cell.metric === metric && cell.table === 'unequal');
    return [
      everyCell(metric, equal),
      averageAtEquality(metric, equal),
      narrowerThanBonferroni(metric, equal),
      everyUnequalCell(metric, unequal),
    ];
  });
}

function everyCell(metric: StudyMetric, results: readonly CellResult[]): Verdict {
  const below = results.filter(({ first, again }) => {
    const { held, repetitions, undefinedDraws } = again ?? first;
    return lowerTail(held, repetitions - undefinedDraws, MIN_COVERAGE) < SIGNIFICANCE / results.length;
  });
  const worst = lowest(results);
  return {
    text: `${METRIC_NAMES[metric]}, equal groups. In ${below.length} of ${results.length} cells the coverage is significantly below ${MIN_COVERAGE} (one-sided binomial test at ${SIGNIFICANCE} / ${results.length}). The lowest coverage is ${finalCoverage(worst).toFixed(4)} (cell ${worst.cell.id}, ${(worst.again ?? worst.first).repetitions} repetitions)`,
    isMet: below.length === 0,
  };
}

function averageAtEquality(metric: StudyMetric, results: readonly CellResult[]): Verdict {
  // Uses the first repetitions of every cell, because cells were selected for a repetition by their low coverage.
  const average = mean(results.filter(({ cell }) => cell.gap === 0).map(({ first }) => coverageOf(first)));
  return {
    text: `${METRIC_NAMES[metric]}, equal groups: the average coverage at equality is ${average.toFixed(4)} (required: at least ${MIN_AT_EQUALITY})`,
    isMet: average >= MIN_AT_EQUALITY,
  };
}

function narrowerThanBonferroni(metric: StudyMetric, results: readonly CellResult[]): Verdict {
  const ratio = mean(results.map(relativeWidth));
  const rival = metric === 'mae' ? 'Bonferroni-Welch' : 'Bonferroni-Agresti-Caffo';
  return {
    text: `${METRIC_NAMES[metric]}, equal groups: the mean width relative to ${rival} is ${ratio.toFixed(4)} on average over cells (required: below 1)`,
    isMet: ratio < 1,
  };
}

function everyUnequalCell(metric: StudyMetric, results: readonly CellResult[]): Verdict {
  const worst = lowest(results);
  return {
    text: `${METRIC_NAMES[metric]}, one group of 40, others of 2,000: the minimum coverage of ${results.length} cells is ${finalCoverage(worst).toFixed(4)} (cell ${worst.cell.id}; required: at least ${MIN_UNEQUAL})`,
    isMet: finalCoverage(worst) >= MIN_UNEQUAL,
  };
}

function lowest(results: readonly CellResult[]): CellResult {
  return results.reduce((worst, one) => (finalCoverage(one) < finalCoverage(worst) ? one : worst));
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
