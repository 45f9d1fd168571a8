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

/** What decisions come to on some rows. */
export interface DecisionQuality {
  /** Rows. */
  readonly n: number;
  /** Share of right decisions. */
  readonly accuracy: number;
  /** 95% (Wilson). */
  readonly accuracyCi: Interval;
  /** Demographic parity difference; NaN where undefined. */
  readonly dpDiff: number;
  /** 95% (simultaneous); null where undefined. */
  readonly dpDiffCi: Interval | null;
  /** Equalized odds difference; NaN where undefined. */
  readonly eoDiff: number;
  /** 95% (simultaneous); null where undefined. */
  readonly eoDiffCi: Interval | null;
  readonly groups: readonly GroupDecisions[];
}

/** What decisions come to in one group; a rate without rows is NaN. */
export interface GroupDecisions {
  readonly group: string;
  readonly n: number;
  readonly selectionRate: number;
  readonly truePositiveRate: number;
  readonly falsePositiveRate: number;
}

/** How decisions are judged. */
export interface QualityOptions {
  /** Groups with fewer rows take no part in the gaps. */
  readonly minGroupSize: number;
  readonly seed: number;
}

const LEVEL = 0.95;

/**
 * Expected counts are rounded to multiples of this, so that the cells of a group
 * sum to its rows exactly, and a group of 30 rows does not count as 29.99.
 */
const GRID = 2 ** 24;

/**
 * Judges decisions, or in exact expectation randomised ones: a row that is
 * decided 1 with probability p counts as p of a row so decided, and 1 - p of one
 * decided 0. Intervals are those of as many plain rows, which the rows' own
 * chance makes wider, never narrower, than need be.
 * @param probabilities of the decision 1, [n]; 0 or 1 where there is no chance
 * @param y [n], 0 or 1
 * @param groups [n], none missing
 */
export function judgeDecisions(
  probabilities: ArrayLike<number>,
  y: Uint8Array,
  groups: CategoricalColumn,
  options: QualityOptions,
): DecisionQuality {
  const stats = expectedStats(probabilities, y, groups);
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

function expectedStats(
  probabilities: ArrayLike<number>,
  y: Uint8Array,
  { codes, labels }: CategoricalColumn,
): ClassificationStats {
  const rows = new Float64Array(labels.length * CELLS_PER_GROUP);
  const selected = new Float64Array(rows.length);
  for (let row = 0; row < y.length; row++) {
    const cell = (codes[row] as number) * CELLS_PER_GROUP + cellIndex(y[row] as 0 | 1, 0);
    rows[cell] = (rows[cell] as number) + 1;
    selected[cell] = (selected[cell] as number) + (probabilities[row] as number);
  }
  const counts = new Float64Array(rows.length);
  for (let cell = 0; cell < rows.length; cell += 2) {
    const positive = Math.round((selected[cell] as number) * GRID) / GRID;
    counts[cell] = (rows[cell] as number) - positive;
    counts[cell + 1] = positive;
  }
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
