import { formatCount, formatShare, pValueWords } from '../../internal/format.ts';
import { createRandom } from '../../internal/random.ts';
import { sumOf } from '../../internal/values.ts';
import { crossCountsOf } from '../../stats/association/cross-counts.ts';
import { type Share, sharesDiffer } from '../../stats/share-difference.ts';
import { fisherExactTest } from '../../stats/distances/fisher-exact-test.ts';
import { permutationPValue } from '../../stats/permutation-test.ts';
import { chiSquareIndependence, MIN_EXPECTED_COUNT } from '../../stats/tests/chi-square-test.ts';
import type { MissingRows } from '../metric-result.ts';
import {
  cellIndex,
  type ClassificationStats,
  decisionTotals,
  type GroupStats,
  sumCells,
  type TruthState,
} from '../statistics/group-stats.ts';

/** The significance level of the test of whether all groups have the same share of missing rows. */
const MISSINGNESS_LEVEL = 0.05;

/** The number of the random stream that this test uses. Intervals and permutations use other streams. */
const MISSING_STREAM = 2;

/** The maximum and the minimum number of replicates, and the maximum number of draws (replicates times groups). */
const MAX_SAMPLES = 999;
const MIN_SAMPLES = 199;
const MAX_DRAWS = 2_000_000;

/** The number of excluded rows and the number of included rows, by group, [groups]. */
export interface DroppedAndKept {
  readonly dropped: Float64Array;
  readonly kept: Float64Array;
}

/**
 * Tests whether all groups have the same share of missing rows. For two groups, the test is Fisher's exact test. For
 * more groups, it is Pearson's chi-square test. If the expected count of a cell is below 5, it is a permutation test of
 * the same statistic.
 * @returns the p-value, or null if no row is missing or there are fewer than two groups
 */
export function testMissingness(
  { dropped, kept }: DroppedAndKept,
  seed: number,
): { readonly pValue: number | null; readonly isRandom: boolean } {
  const groups = Array.from(dropped.keys()).filter((group) => (dropped[group] as number) + (kept[group] as number) > 0);
  const table = groups.map((group) => [dropped[group] as number, kept[group] as number] as const);
  if (table.length < 2 || table.every(([missing]) => missing === 0)) return { pValue: null, isRandom: false };
  const [first, second, third] = table;
  if (first !== undefined && second !== undefined && third === undefined) {
    return { pValue: fisherExactTest([first, second]).pValue, isRandom: false };
  }
  const { pValue, minExpected } = chiSquareIndependence(crossCountsOf(table.flat(), table.length, 2));
  // If all rows are missing, the shares are equal.
  if (Number.isNaN(pValue)) return { pValue: 1, isRandom: false };
  if (minExpected >= MIN_EXPECTED_COUNT) return { pValue, isRandom: false };
  const trials = table.map(([missing, present]) => missing + present);
  const samples = Math.max(MIN_SAMPLES, Math.min(MAX_SAMPLES, Math.floor(MAX_DRAWS / table.length)));
  const successes = table.map(([missing]) => missing);
  const rate = sumOf(successes) / sumOf(trials);
  // Pearson's statistic; the margins, which every permutation keeps, are computed outside the loop.
  const statistic = ([missing]: readonly Float64Array[]): number => {
    let sum = 0;
    for (const [group, all] of trials.entries()) {
      const difference = ((missing as Float64Array)[group] as number) - all * rate;
      sum += (difference * difference) / (all * rate * (1 - rate));
    }
    return sum;
  };
  const random = createRandom(seed, MISSING_STREAM);
  return { pValue: permutationPValue([{ successes, trials }], statistic, { samples, random }), isRandom: true };
}

/**
 * Returns the numbers of excluded rows and a p-value, and whether the p-value depends on random numbers. The function
 * does not compute bounds on the effect of excluded rows.
 */
export function missingRows(
  counted: DroppedAndKept,
  labels: readonly string[],
  seed: number,
): { readonly rows: MissingRows; readonly isRandom: boolean } {
  const { pValue, isRandom } = testMissingness(counted, seed);
  const byGroup = Object.fromEntries(labels.map((label, group) => [label, counted.dropped[group] as number]));
  return { rows: { n: sumOf(counted.dropped), byGroup, pValue, worstCase: null }, isRandom };
}

/** Returns whether the share of missing rows differs significantly between groups. */
export function isUnevenlyMissing(missing: MissingRows | null | undefined): boolean {
  const pValue = missing?.pValue ?? null;
  return pValue !== null && pValue < MISSINGNESS_LEVEL;
}

/**
 * Returns a warning if the share of missing rows differs between groups.
 * @param metric the name of the metric whose value the missing rows could change
 * @returns undefined if the share does not differ significantly
 */
export function describeMissing(
  missing: MissingRows,
  counted: DroppedAndKept,
  labels: readonly string[],
  metric = 'the value',
): string | undefined {
  if (!isUnevenlyMissing(missing)) return undefined;
  const bounds =
    missing.worstCase === null
      ? `No bounds are known for ${metric} with the missing rows`
      : `With the missing rows, ${metric} could be anywhere from ${missing.worstCase.map((end) => end.toFixed(4)).join(' to ')}`;
  return `rows with missing values are not equally common in all groups ${sharesInWords(missing, counted, labels)}. ${bounds}`;
}

/** Returns the p-value, and the largest and the smallest share of missing rows of a group. */
export function sharesInWords(
  { pValue }: MissingRows,
  { dropped, kept }: DroppedAndKept,
  labels: readonly string[],
): string {
  const shares = labels.flatMap((label, group) => {
    const all = (dropped[group] as number) + (kept[group] as number);
    return all === 0 ? [] : [{ label, share: (dropped[group] as number) / all }];
  });
  shares.sort((a, b) => b.share - a.share);
  const [most, min] = [shares[0], shares.at(-1)] as [(typeof shares)[0], (typeof shares)[0]];
  return `(${pValueWords(pValue as number)}): ${formatShare(most.share)} of ${most.label}, ${formatShare(min.share)} of ${min.label}`;
}

/**
 * The shares of rows with a true label, of those with one decision, from which labels depend on the decision: at most the
 * first for one decision, and at least the second for the other.
 */
const [FEW_LABELS, MANY_LABELS] = [0.05, 0.5];

/** The smallest number of labelled rows with a decision from which equal true labels are rarely a coincidence. */
const MIN_FILLED = 100;

/** The smallest share of the rarer true label of the other decision. With fewer, nearly all decisions may be right. */
const MIXED_SHARE = 0.05;

/**
 * Returns a note if all rows with one decision have the same true label, and those with the other decision have both: the
 * label may have been filled in where it cannot be known. Decisions that are all right have another note.
 */
function filledLabels(totalOf: (truth: TruthState, decision: 0 | 1) => number): string[] {
  return ([0, 1] as const).flatMap((decision) => {
    const other = decision === 0 ? 1 : 0;
    const own = [totalOf(0, decision), totalOf(1, decision)] as const;
    const rows = Math.max(...own);
    const others = [totalOf(0, other), totalOf(1, other)] as const;
    const isMixed = Math.min(...others) >= MIXED_SHARE * (others[0] + others[1]);
    if (Math.min(...own) > 0 || rows < MIN_FILLED || Math.min(...others) === 0 || !isMixed) return [];
    const signs = ['negative', 'positive'] as const;
    const label = own[0] > 0 ? 'negative' : 'positive';
    return [
      `all ${formatCount(rows)} rows with a ${signs[decision]} decision and a true label have a ${label} one, and those with a ${signs[other]} decision have both. If the label of these rows is not known and was filled in, leave it empty: rates of true labels, and gaps between them, would mean nothing`,
    ];
  });
}

/**
 * Returns a note if true labels are known only for one decision, as for loans: who is refused cannot repay. Then the
 * other decision hardly occurs among the rows with a label, and rates of each true label are near 0 or 1 in every group. If
 * the labels of one decision are all equal, they may have been filled in, which is noted too.
 * @param totalOf returns the number of rows of all groups with a true label (2 if it is missing) and a decision
 */
export function selectedLabels(totalOf: (truth: TruthState, decision: 0 | 1) => number): string[] {
  const labelledShare = (decision: 0 | 1): number => {
    const labelled = totalOf(0, decision) + totalOf(1, decision);
    return labelled / (labelled + totalOf(2, decision));
  };
  const [ofNegative, ofPositive] = [labelledShare(0), labelledShare(1)];
  // Without rows of a decision, its share is NaN.
  const isSelected = Math.min(ofNegative, ofPositive) <= FEW_LABELS && Math.max(ofNegative, ofPositive) >= MANY_LABELS;
  if (!isSelected) return filledLabels(totalOf);
  const others =
    ofPositive > ofNegative ? '; predictive_parity_difference compares the rows with a positive decision' : '';
  return [
    `a true label is known for ${formatShare(ofPositive)} of the rows with a positive decision, but for ${formatShare(ofNegative)} of those with a negative one. True and false positive rates then describe the rows that were selected, and a gap of 0 between them means nothing. Compare selection rates${others}`,
  ];
}

/**
 * Returns a note if rows without a group have other decisions than those with a group, by more than chance.
 * @param where what the rows lack: `a group`
 */
export function ungroupedRows(stats: ClassificationStats, where: string): string[] {
  const [own, others] = [shareOf(stats.ungrouped), shareOf(stats)];
  if (own.n === 0 || others.n === 0 || !sharesDiffer(own, others)) return [];
  return [
    `${formatCount(own.n)} rows without ${where} (${formatShare(own.n / (own.n + others.n))}) are not compared, and ${formatShare(own.share)} of them have a positive decision, against ${formatShare(others.share)} of the rows with a group. With their groups, the gap can be another one. --nan-policy include (nanPolicy) compares them as a group`,
  ];
}

/** Returns the number of rows, and their share of positive decisions. */
function shareOf(stats: Pick<ClassificationStats, 'counts'>): Share {
  const [positive, negative] = decisionTotals(stats);
  return { n: positive + negative, share: positive / (positive + negative) };
}

/** Returns the notes of {@link selectedLabels} on statistics with all true labels. */
export function selectedLabelsOf(stats: ClassificationStats): string[] {
  if (!stats.hasTruth || stats.minCell !== undefined) return [];
  return selectedLabels((truth, decision) => sumOf(sumCells(stats.counts, [cellIndex(truth, decision)])));
}

/** Returns the warnings for a single metric that a validation has once for all of its metrics. */
export function selectionWarnings(stats: GroupStats, needsTruth: boolean): string[] {
  if (stats.kind !== 'classification') return [];
  return [...ungroupedRows(stats, 'a group'), ...(needsTruth ? selectedLabelsOf(stats) : [])];
}
