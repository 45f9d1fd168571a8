import { sumOf as sum } from '../../internal/values.ts';
import type { Moments } from '../../stats/moments.ts';
import type { ColumnReading } from '../../table/index.ts';
import type { ClusterStats } from './cluster-stats.ts';

export { sum };

/**
 * The statistics of true labels and decisions: weighted counts per group, true label and decision. Every rate, gap and
 * interval is computed from these numbers, without the rows.
 *
 * The three arrays have shape [groups, 6]. Within a group, the index of a cell is 2 x truth + decision, where truth is
 * 0, 1, or 2 for a row without a label.
 */
export interface ClassificationStats extends CellTables, ReadColumns {
  readonly kind: 'classification';
  readonly labels: readonly string[];
  /** The counts of rows that have a decision but no group, [6]. The overall values of fairlearn include these rows. */
  readonly ungrouped: CellTables;
  /**
   * The counts of rows of each group without a decision or a weight, [groups, 3] by true label: 0, 1, or 2 if the label
   * is missing too. A missing weight adds 0 to the sums of weights.
   */
  readonly undecided: CellTables;
  /** Whether any row with a group has no weight. The effect of such a row on a metric cannot be bounded. */
  readonly lacksWeights: boolean;
  /** Whether true labels were given. */
  readonly hasTruth: boolean;
  /** The number of rows without a decision, a group or a weight. */
  readonly nDropped: number;
  /**
   * The smallest count of a cell that is not left out. A cell with a count of 0 may then have up to `minCell` - 1 rows,
   * and further groups may exist. Undefined if all counts are known.
   */
  readonly minCell?: number | undefined;
}

/** Statistics with a record of how the labels and texts of their columns were interpreted, and of dependent rows. */
interface ReadColumns {
  /**
   * How labels and texts were interpreted, for each column with values other than 0, 1 and plain group labels.
   * Undefined if the interpretation was not recorded.
   */
  readonly readings?: readonly ColumnReading[] | undefined;
  /** The clusters of dependent rows. If they are undefined, rows are taken as independent. */
  readonly clusters?: ClusterStats | undefined;
}

/** Three tables with the counts, weights and squared weights of cells. */
export interface CellTables {
  /** The number of rows. */
  readonly counts: Float64Array;
  /** Sums of weights; equal to the counts if rows have no weights. */
  readonly weights: Float64Array;
  /** Sums of squared weights, from which effective counts are computed. */
  readonly squaredWeights: Float64Array;
}

/** Calls a function for each of the three tables, to create the tables or their entries. */
export function makeTables<Table>(make: (name: keyof CellTables) => Table): Readonly<Record<keyof CellTables, Table>> {
  return { counts: make('counts'), weights: make('weights'), squaredWeights: make('squaredWeights') };
}

/**
 * The statistics of predicted numbers: weighted moments per group. The tables of counts have shape [groups]. An error
 * is the prediction minus the true value.
 */
export interface RegressionStats extends CellTables, ReadColumns {
  readonly kind: 'regression';
  readonly labels: readonly string[];
  readonly moments: Readonly<Record<RegressionQuantity, Moments>>;
  /** Whether true values were given. If not, only predictions have moments. */
  readonly hasTruth: boolean;
  /** The number of rows of each group that lack a prediction, a true value or a weight, [groups]. */
  readonly dropped: Float64Array;
  /** The number of rows without a prediction, a true value, a group or a weight. */
  readonly nDropped: number;
}

/** The quantities with moments in {@link RegressionStats}. */
export const REGRESSION_QUANTITIES = ['prediction', 'truth', 'error', 'absoluteError', 'squaredError'] as const;

/** One of {@link REGRESSION_QUANTITIES}. */
export type RegressionQuantity = (typeof REGRESSION_QUANTITIES)[number];

/** Calls a function for each quantity, to create its moments. */
export function makeMoments(
  make: (quantity: RegressionQuantity, column: number) => Moments,
): Readonly<Record<RegressionQuantity, Moments>> {
  const moments = REGRESSION_QUANTITIES.map((quantity, column) => [quantity, make(quantity, column)] as const);
  return Object.fromEntries(moments) as Record<RegressionQuantity, Moments>;
}

/**
 * The statistics of scores: the distinct scores of each group, ascending, with the weighted counts of both true labels.
 * The scores are exact for up to {@link MAX_DISTINCT_SCORES} distinct scores. If there are more, scores are rounded to
 * multiples of `step`, and each metric reports the possible effect of the rounding. Rounding would turn small scores
 * into 0 and make their log loss wrong, so the sums of the exact log losses are stored too.
 *
 * `groups` and `scores` have shape [k], the tables [k, 2] by true label.
 */
export interface ScoreStats extends CellTables, ReadColumns {
  readonly kind: 'scores';
  readonly labels: readonly string[];
  readonly groups: Int32Array;
  readonly scores: Float64Array;
  /** The grid step to which scores are rounded: a power of two, or 0 if the scores are exact. */
  readonly step: number;
  /** Sums of the exact log losses; null if `step` is 0, or if the losses are unknown. */
  readonly losses: LossSums | null;
  readonly hasTruth: true;
  /** The number of rows of each group that lack a score, a true label or a weight, [groups]. */
  readonly dropped: Float64Array;
  /** The number of rows without a score, a true label, a group or a weight. */
  readonly nDropped: number;
}

/** Weighted sums of the log losses of rows, and of their squares, [groups]. */
export interface LossSums {
  readonly sums: Float64Array;
  readonly squares: Float64Array;
}

/** The maximum number of distinct pairs of group and score. If there are more pairs, scores are rounded to a grid. */
export const MAX_DISTINCT_SCORES = 65_536;

/** Per-group statistics: the only data that a fairness metric needs. */
export type GroupStats = ClassificationStats | RegressionStats | ScoreStats;

/** The number of cells of one group in {@link ClassificationStats}. */
export const CELLS_PER_GROUP = 6;

/** The number of states that the true label of a row without a decision can have: 0, 1 and missing. */
export const UNDECIDED_PER_GROUP = 3;

/** A true label: 0, 1, or 2 if it is missing. */
export type TruthState = 0 | 1 | 2;

/** Returns the index of a cell within its group. */
export function cellIndex(truth: TruthState, decision: 0 | 1): number {
  return 2 * truth + decision;
}

/** Returns the true label of a cell, or 2 if it is missing. */
export function truthOfCell(cell: number): TruthState {
  return (cell >> 1) as TruthState;
}

/** Returns the decision of a cell. */
export function decisionOfCell(cell: number): 0 | 1 {
  return (cell % 2) as 0 | 1;
}

/** Lists the cells of a group for the given true labels and the given decisions. */
export function cellsWith(truths: readonly TruthState[], decisions: readonly (0 | 1)[] = [0, 1]): readonly number[] {
  return truths.flatMap((truth) => decisions.map((decision) => cellIndex(truth, decision)));
}

/** All cells of a group. */
export const ALL_CELLS = cellsWith([0, 1, 2]);

/** The cells of rows with a true label. */
export const LABELLED_CELLS = cellsWith([0, 1]);

/** The cells of rows with each decision, whatever the true label. */
export const CELLS_BY_DECISION = { positive: cellsWith([0, 1, 2], [1]), negative: cellsWith([0, 1, 2], [0]) };

/** Sums selected cells of each group, from shape [groups, perGroup] to shape [groups]. */
export function sumCells(table: Float64Array, cells: readonly number[], perGroup = CELLS_PER_GROUP): Float64Array {
  const groups = table.length / perGroup;
  const sums = new Float64Array(groups);
  for (let g = 0; g < groups; g++) {
    for (const cell of cells) sums[g] = (sums[g] as number) + (table[g * perGroup + cell] as number);
  }
  return sums;
}

/** Returns the number of positive and of negative decisions of all groups together, weighted as in the statistics. */
export function decisionTotals({
  counts,
}: Pick<ClassificationStats, 'counts'>): readonly [positive: number, negative: number] {
  return [sum(sumCells(counts, CELLS_BY_DECISION.positive)), sum(sumCells(counts, CELLS_BY_DECISION.negative))];
}

/** The one-vs-rest statistics of one class of a multiclass outcome. */
export interface ClassStats {
  readonly stats: GroupStats;
  /** The class; undefined for an outcome that is binary or a number. */
  readonly className: string | undefined;
}
