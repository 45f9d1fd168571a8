import { createRandom } from '../../internal/random.ts';
import { crossCountsOf } from '../../stats/association/cross-counts.ts';
import { fisherExactTest } from '../../stats/distances/fisher-exact-test.ts';
import { permutationPValue } from '../../stats/permutation-test.ts';
import { chiSquareIndependence, MIN_EXPECTED_COUNT } from '../../stats/tests/chi-square-test.ts';
import type { MissingRows } from '../metric-result-fields.ts';

/** Below this p-value the shares of missing rows differ between groups by more than chance. */
const MISSINGNESS_LEVEL = 0.05;

/** Stream of random numbers for this test; intervals and permutations of the metric have others. */
const MISSING_STREAM = 2;

/** Replicates at most, and draws at most: replicates times groups. */
const MAX_SAMPLES = 999;
const MIN_SAMPLES = 199;
const MAX_DRAWS = 2_000_000;

/** Rows of each group that a metric left out, and those that it kept, [groups]. */
export interface DroppedAndKept {
  readonly dropped: Float64Array;
  readonly kept: Float64Array;
}

/** The p-value of equal shares of missing rows, and whether random numbers made it. */
export interface MissingnessTest {
  /** null without a missing row, and with fewer than two groups. */
  readonly pValue: number | null;
  readonly isRandom: boolean;
}

/**
 * Tests whether all groups lack the same share of their rows: Fisher's exact test for two groups. For more groups it is
 * Pearson's chi-square test, and a permutation test by the same statistic where a cell expects fewer than 5 rows.
 */
export function testMissingness({ dropped, kept }: DroppedAndKept, seed: number): MissingnessTest {
  const groups = Array.from(dropped.keys()).filter((group) => (dropped[group] as number) + (kept[group] as number) > 0);
  const table = groups.map((group) => [dropped[group] as number, kept[group] as number] as const);
  if (table.length < 2 || table.every(([missing]) => missing === 0)) return { pValue: null, isRandom: false };
  const [first, second, third] = table;
  if (first !== undefined && second !== undefined && third === undefined) {
    return { pValue: fisherExactTest([first, second]).pValue, isRandom: false };
  }
  const { pValue, leastExpected } = chiSquareIndependence(crossCountsOf(table.flat(), table.length, 2));
  // Rows that are all missing are missing evenly.
  if (Number.isNaN(pValue)) return { pValue: 1, isRandom: false };
  if (leastExpected >= MIN_EXPECTED_COUNT) return { pValue, isRandom: false };
  const trials = table.map(([missing, present]) => missing + present);
  const samples = Math.max(MIN_SAMPLES, Math.min(MAX_SAMPLES, Math.floor(MAX_DRAWS / table.length)));
  const total = trials.reduce((sum, all) => sum + all, 0);
  const rate = table.reduce((sum, [missing]) => sum + missing, 0) / total;
  // Pearson's statistic, with the margins that every permutation keeps taken out of the loop.
  const statistic = ([missing]: readonly Float64Array[]): number => {
    let sum = 0;
    for (const [group, all] of trials.entries()) {
      const difference = ((missing as Float64Array)[group] as number) - all * rate;
      sum += (difference * difference) / (all * rate * (1 - rate));
    }
    return sum;
  };
  const successes = table.map(([missing]) => missing);
  const random = createRandom(seed, MISSING_STREAM);
  return { pValue: permutationPValue([{ successes, trials }], statistic, { samples, random }), isRandom: true };
}

/** Describes rows that were left out before anything was measured, so that nothing bounds what they could change. */
export function missingRows(counted: DroppedAndKept, labels: readonly string[], seed: number): MissingRows {
  return {
    n: counted.dropped.reduce((sum, rows) => sum + rows, 0),
    byGroup: Object.fromEntries(labels.map((label, group) => [label, counted.dropped[group] as number])),
    pValue: testMissingness(counted, seed).pValue,
    worstCase: null,
  };
}

/** Returns whether rows are missing more often in some groups than in others, beyond chance. */
export function isUnevenlyMissing(missing: MissingRows | null | undefined): boolean {
  const pValue = missing?.pValue ?? null;
  return pValue !== null && pValue < MISSINGNESS_LEVEL;
}

/**
 * Describes rows that are missing more often in some groups than in others.
 * @returns undefined where they are not, beyond chance
 */
export function describeMissing(
  missing: MissingRows,
  { dropped, kept }: DroppedAndKept,
  labels: readonly string[],
): string | undefined {
  if (!isUnevenlyMissing(missing)) return undefined;
  const shares = labels.flatMap((label, group) => {
    const all = (dropped[group] as number) + (kept[group] as number);
    return all === 0 ? [] : [{ label, share: (dropped[group] as number) / all }];
  });
  shares.sort((a, b) => b.share - a.share);
  const [most, least] = [shares[0], shares.at(-1)] as [(typeof shares)[0], (typeof shares)[0]];
  const percent = (share: number): string => `${(100 * share).toFixed(1)}%`;
  const bounds =
    missing.worstCase === null
      ? 'No bounds are known for the value with the missing rows'
      : `With the missing rows the value could be anywhere from ${missing.worstCase.map((end) => end.toFixed(4)).join(' to ')}`;
  const p = missing.pValue as number;
  return `rows with missing values are not equally common in all groups (p ${p < 0.001 ? '< 0.001' : `= ${p.toFixed(3)}`}): ${percent(most.share)} of ${most.label}, ${percent(least.share)} of ${least.label}. ${bounds}`;
}
