import { lowerTail } from './binomial-test.ts';
import type { Cell, StudyMetric } from './design.ts';
import type { Tally } from './simulate.ts';

/** A cell with what was counted in it. */
export interface CellResult {
  readonly cell: Cell;
  readonly first: Tally;
  /** Repetitions with a new seed, where the first ones covered too little; these count. */
  readonly again: Tally | null;
}

/** A bar, what was measured, and whether it is met. */
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

/** A cell under this is run again: 0.01 above what is asked of its table. */
export const RUN_AGAIN_BELOW = { equal: 0.945, unequal: 0.93 } as const;
const MIN_COVERAGE = 0.935;
const MIN_AT_EQUALITY = 0.945;
const MIN_UNEQUAL = 0.92;
/** Of all cells of a metric together. */
const SIGNIFICANCE = 0.05;

export function coverageOf({ held, repetitions, undefinedDraws }: Tally): number {
  return held / (repetitions - undefinedDraws);
}

/** The coverage that counts. */
export function finalCoverage({ first, again }: CellResult): number {
  return coverageOf(again ?? first);
}

/** Mean width over Bonferroni's. */
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
    text: `${METRIC_NAMES[metric]}, equal groups: ${below.length} of ${results.length} cells covered less than ${MIN_COVERAGE} by a one-sided binomial test at ${SIGNIFICANCE} / ${results.length}; lowest ${finalCoverage(worst).toFixed(4)} (${worst.cell.id}, ${(worst.again ?? worst.first).repetitions} repetitions)`,
    isMet: below.length === 0,
  };
}

function averageAtEquality(metric: StudyMetric, results: readonly CellResult[]): Verdict {
  // The first repetitions of every cell: those run again were chosen for being low.
  const average = mean(results.filter(({ cell }) => cell.gap === 0).map(({ first }) => coverageOf(first)));
  return {
    text: `${METRIC_NAMES[metric]}, equal groups: average coverage at equality ${average.toFixed(4)}, at least ${MIN_AT_EQUALITY} asked`,
    isMet: average >= MIN_AT_EQUALITY,
  };
}

function narrowerThanBonferroni(metric: StudyMetric, results: readonly CellResult[]): Verdict {
  const ratio = mean(results.map(relativeWidth));
  const rival = metric === 'mae' ? 'Bonferroni-Welch' : 'Bonferroni-Agresti-Caffo';
  return {
    text: `${METRIC_NAMES[metric]}, equal groups: mean width ${ratio.toFixed(4)} of ${rival}'s on average over cells, under 1 asked`,
    isMet: ratio < 1,
  };
}

function everyUnequalCell(metric: StudyMetric, results: readonly CellResult[]): Verdict {
  const worst = lowest(results);
  return {
    text: `${METRIC_NAMES[metric]}, one group of 40 beside others of 2,000: lowest coverage of ${results.length} cells ${finalCoverage(worst).toFixed(4)} (${worst.cell.id}), at least ${MIN_UNEQUAL} asked`,
    isMet: finalCoverage(worst) >= MIN_UNEQUAL,
  };
}

function lowest(results: readonly CellResult[]): CellResult {
  return results.reduce((worst, one) => (finalCoverage(one) < finalCoverage(worst) ? one : worst));
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
