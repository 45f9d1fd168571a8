import { sortLabels } from '../table/index.ts';

/**
 * What true labels and decisions become: weighted counts per group, true label
 * and decision. Every rate, gap and interval is a function of these numbers;
 * the rows are not needed again.
 *
 * The three arrays have shape [groups, 6]. A cell's index in its group is
 * 2 x truth + decision, where truth is 0, 1, or 2 for a row without a label.
 */
export interface ClassificationStats {
  readonly kind: 'classification';
  readonly labels: readonly string[];
  /** Rows. */
  readonly counts: Float64Array;
  /** Sums of weights; the counts themselves where rows have no weights. */
  readonly weights: Float64Array;
  /** Sums of squared weights, which give effective counts. */
  readonly squaredWeights: Float64Array;
  /** Whether true labels were given at all. */
  readonly hasTruth: boolean;
  /** Rows without a decision, a group or a weight. */
  readonly nDropped: number;
}

/** What errors of regression become: per-group sums, each of shape [groups]. Error = prediction minus truth. */
export interface RegressionStats {
  readonly kind: 'regression';
  readonly labels: readonly string[];
  readonly counts: Float64Array;
  readonly weights: Float64Array;
  readonly squaredWeights: Float64Array;
  readonly absoluteErrors: Float64Array;
  readonly squaredErrors: Float64Array;
  /** Rows without a prediction, a true value, a group or a weight. */
  readonly nDropped: number;
}

/** Per-group statistics: all that a fairness metric needs to know of the data. */
export type GroupStats = ClassificationStats | RegressionStats;

/** Cells of one group in {@link ClassificationStats}. */
export const CELLS_PER_GROUP = 6;

/** The index of a cell within its group. */
export function cellIndex(truth: 0 | 1 | 2, decision: 0 | 1): number {
  return 2 * truth + decision;
}

/** The sums over some cells of each group: [groups, 6] to [groups]. */
export function sumCells(table: Float64Array, cells: readonly number[]): Float64Array {
  const groups = table.length / CELLS_PER_GROUP;
  const sums = new Float64Array(groups);
  for (let g = 0; g < groups; g++) {
    for (const cell of cells) sums[g] = (sums[g] as number) + (table[g * CELLS_PER_GROUP + cell] as number);
  }
  return sums;
}

/**
 * The statistics of two sets of rows together; groups are matched by label.
 * Counting in parts and merging gives what counting the whole gives.
 */
export function mergeClassificationStats(a: ClassificationStats, b: ClassificationStats): ClassificationStats {
  const distinct = [...new Set([...a.labels, ...b.labels])];
  const { labels } = sortLabels(Int32Array.from(distinct.keys()), distinct);
  const place = new Map(labels.map((label, index) => [label, index]));
  const add = (pick: (stats: ClassificationStats) => Float64Array): Float64Array => {
    const sums = new Float64Array(labels.length * CELLS_PER_GROUP);
    for (const stats of [a, b]) {
      pick(stats).forEach((value, index) => {
        const group = place.get(stats.labels[Math.floor(index / CELLS_PER_GROUP)] as string) as number;
        const cell = group * CELLS_PER_GROUP + (index % CELLS_PER_GROUP);
        sums[cell] = (sums[cell] as number) + value;
      });
    }
    return sums;
  };
  return {
    kind: 'classification',
    labels,
    counts: add((stats) => stats.counts),
    weights: add((stats) => stats.weights),
    squaredWeights: add((stats) => stats.squaredWeights),
    hasTruth: a.hasTruth || b.hasTruth,
    nDropped: a.nDropped + b.nDropped,
  };
}
