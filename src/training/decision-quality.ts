import { snakeFields } from '../internal/arguments.ts';
import { formatShare } from '../internal/format.ts';
import { sumOf } from '../internal/values.ts';
import { metricOf } from '../metrics/compute-metric.ts';
import {
  CELLS_PER_GROUP,
  cellIndex,
  type ClassificationStats,
  makeTables,
  UNDECIDED_PER_GROUP,
  sum,
  sumCells,
} from '../metrics/statistics/group-stats.ts';
import { type Interval, wilsonInterval } from '../stats/proportion-interval.ts';
import type { CategoricalColumn } from '../table/index.ts';

/** The quality of decisions on some rows. */
export interface DecisionQuality {
  /** The number of rows. */
  readonly n: number;
  /** The share of correct decisions. */
  readonly accuracy: number;
  /** The 95% confidence interval of the accuracy (Wilson). */
  readonly accuracyCi: Interval;
  /** The demographic parity difference; NaN if undefined. */
  readonly dpDiff: number;
  /** The simultaneous 95% confidence interval of the difference; null if undefined. */
  readonly dpDiffCi: Interval | null;
  /** The equalized odds difference; NaN if undefined. */
  readonly eoDiff: number;
  /** The simultaneous 95% confidence interval of the difference; null if undefined. */
  readonly eoDiffCi: Interval | null;
  readonly groups: readonly GroupDecisions[];
}

/** The quality of decisions in one group. A rate is NaN if the group has no rows to which the rate applies. */
export interface GroupDecisions {
  readonly group: string;
  readonly n: number;
  readonly selectionRate: number;
  readonly truePositiveRate: number;
  readonly falsePositiveRate: number;
}

/** The largest share of the rarer decision of a model that decides nearly the same for everybody. */
const NEARLY_NONE = 0.01;

/** Returns a warning if a constraint is met by nearly the same decision for everybody, unlike without it. */
export function constantModelWarnings({
  baseline,
  final,
}: Readonly<Record<'baseline' | 'final', DecisionQuality>>): string[] {
  const [before, after] = [selectedShare(baseline), selectedShare(final)];
  const isConstant = (share: number): boolean => share <= NEARLY_NONE || share >= 1 - NEARLY_NONE;
  if (!isConstant(after) || isConstant(before)) return [];
  return [
    `the constrained model decides ${after < 0.5 ? '0' : '1'} for nearly all held-out rows (${formatShare(after)} are 1, and ${formatShare(before)} without the constraint), so that its gap means nothing. Allow a larger gap, or train in another way`,
  ];
}

/** Returns the share of rows with the decision 1. */
function selectedShare({ groups }: DecisionQuality): number {
  const rows = sumOf(groups.map(({ n }) => n));
  return sumOf(groups.map(({ n, selectionRate }) => n * selectionRate)) / rows;
}

/** Options of {@link judgeDecisions}. */
export interface QualityOptions {
  /** The minimum number of rows of a group. Smaller groups are excluded from the differences between groups. */
  readonly minGroupSize: number;
  readonly seed: number;
}

const LEVEL = 0.95;

/**
 * Expected counts are rounded to multiples of 1 / GRID. The counts of a group then sum exactly to the group's number of
 * rows, so that 30 rows are not counted as 29.99.
 */
const GRID = 2 ** 24;

/**
 * Measures the quality of decisions. For randomised decisions, the result is the exact expectation. A row whose
 * decision is 1 with probability p counts as p rows with decision 1 and 1 - p rows with decision 0. Intervals are
 * computed as if the decisions were deterministic. For randomised decisions, they may therefore be too wide, but never
 * too narrow.
 * @param probabilities of the decision 1, [n]; 0 or 1 for deterministic decisions
 * @param y [n], 0 or 1
 * @param groups [n], without missing values
 */
export function judgeDecisions(
  probabilities: ArrayLike<number>,
  y: Uint8Array,
  groups: CategoricalColumn,
  options: QualityOptions,
): DecisionQuality {
  const sums = emptySums(groups.labels.length);
  addToSums(sums, probabilities, y, groups.codes);
  return judgeSums(sums, groups.labels, options);
}

/** Decisions, summed by group and label: 2 x group + label. */
export interface DecisionSums {
  /** The number of rows. */
  readonly rows: Float64Array;
  /** The sum of the probabilities of the decision 1. */
  readonly selected: Float64Array;
}

/** Returns sums without rows. */
export function emptySums(groups: number): DecisionSums {
  return { rows: new Float64Array(2 * groups), selected: new Float64Array(2 * groups) };
}

/**
 * Adds rows to sums.
 * @param sums the sums
 * @param probabilities of the decision 1, [n]
 * @param y [n], 0 or 1
 * @param codes the codes of the groups, [n]
 */
export function addToSums(
  sums: DecisionSums,
  probabilities: ArrayLike<number>,
  y: ArrayLike<number>,
  codes: ArrayLike<number>,
): void {
  const { rows, selected } = sums;
  for (let row = 0; row < y.length; row++) {
    const cell = 2 * (codes[row] as number) + (y[row] as number);
    rows[cell] = (rows[cell] as number) + 1;
    selected[cell] = (selected[cell] as number) + (probabilities[row] as number);
  }
}

/** Measures the quality of decisions, as {@link judgeDecisions} does, from their sums. */
export function judgeSums(sums: DecisionSums, labels: readonly string[], options: QualityOptions): DecisionQuality {
  return judgeCounts(expectedCounts(sums), labels, options);
}

/**
 * Measures the quality of decisions from their counts.
 * @param counts the number of rows by group and `cellIndex`
 */
export function judgeCounts(counts: Float64Array, labels: readonly string[], options: QualityOptions): DecisionQuality {
  const stats = statsOf(counts, labels);
  const n = sum(stats.counts);
  const right = sum(sumCells(stats.counts, [cellIndex(0, 0), cellIndex(1, 1)]));
  const { minGroupSize, seed } = options;
  const metricOptions = { minGroupSize, seed, ciLevel: LEVEL, withEffectSize: false };
  const dp = metricOf('demographic_parity_difference', stats, metricOptions);
  const eo = metricOf('equalized_odds_difference', stats, metricOptions);
  return Object.freeze({
    n,
    accuracy: right / n,
    accuracyCi: wilsonInterval(right, n, LEVEL),
    dpDiff: dp.value,
    dpDiffCi: dp.ci,
    eoDiff: eo.value,
    eoDiffCi: eo.ci,
    groups: Object.freeze(groupsOf(stats)),
  });
}

function expectedCounts({ rows, selected }: DecisionSums): Float64Array {
  const counts = new Float64Array((rows.length / 2) * CELLS_PER_GROUP);
  for (const [cell, count] of rows.entries()) {
    const [group, label] = [cell >> 1, (cell % 2) as 0 | 1];
    const positive = Math.round((selected[cell] as number) * GRID) / GRID;
    counts[group * CELLS_PER_GROUP + cellIndex(label, 0)] = count - positive;
    counts[group * CELLS_PER_GROUP + cellIndex(label, 1)] = positive;
  }
  return counts;
}

function statsOf(counts: Float64Array, labels: readonly string[]): ClassificationStats {
  return {
    kind: 'classification',
    labels,
    ...makeTables(() => counts),
    ungrouped: makeTables(() => new Float64Array(CELLS_PER_GROUP)),
    undecided: makeTables(() => new Float64Array(labels.length * UNDECIDED_PER_GROUP)),
    lacksWeights: false,
    hasTruth: true,
    nDropped: 0,
  };
}

function groupsOf({ counts, labels }: ClassificationStats): GroupDecisions[] {
  return labels.flatMap((group, code) => {
    const at = (truth: 0 | 1, decision: 0 | 1): number =>
      counts[code * CELLS_PER_GROUP + cellIndex(truth, decision)] as number;
    const [negatives, positives] = [at(0, 0) + at(0, 1), at(1, 0) + at(1, 1)];
    const n = negatives + positives;
    if (n === 0) return [];
    return [
      Object.freeze({
        group,
        n,
        selectionRate: (at(0, 1) + at(1, 1)) / n,
        truePositiveRate: at(1, 1) / positives,
        falsePositiveRate: at(0, 1) / negatives,
      }),
    ];
  });
}

/** Converts a {@link DecisionQuality} to JSON in snake_case. Undefined numbers become null. */
export function qualityToJson({ groups, ...quality }: DecisionQuality): Record<string, unknown> {
  return { ...numbersToJson(quality), groups: groups.map(numbersToJson) };
}

/** Converts an object to JSON. Names are converted to snake_case, and NaN becomes null. */
export function numbersToJson(fields: object): Record<string, unknown> {
  const entries = Object.entries(fields) as [string, unknown][];
  return snakeFields(Object.fromEntries(entries.map(([name, value]) => [name, Number.isNaN(value) ? null : value])));
}
