import type { Moments } from '../../stats/moments.ts';
import type { ColumnReading } from '../../table/index.ts';

/**
 * What true labels and decisions become: weighted counts per group, true label
 * and decision. Every rate, gap and interval is a function of these numbers;
 * the rows are not needed again.
 *
 * The three arrays have shape [groups, 6]. A cell's index in its group is
 * 2 x truth + decision, where truth is 0, 1, or 2 for a row without a label.
 */
export interface ClassificationStats extends CellTables, ReadColumns {
  readonly kind: 'classification';
  readonly labels: readonly string[];
  /** Rows that have a decision but no group, [6]: part of no group, and of fairlearn's overall. */
  readonly ungrouped: CellTables;
  /**
   * Rows of each group without a decision or a weight, [groups, 3] by true label: 0, 1, or 2 where that is missing too.
   * A missing weight adds 0 to the sums of weights.
   */
  readonly undecided: CellTables;
  /** Whether a row of a group lacks its weight, so that nothing bounds what it could have added. */
  readonly lacksWeights: boolean;
  /** Whether true labels were given at all. */
  readonly hasTruth: boolean;
  /** Rows without a decision, a group or a weight. */
  readonly nDropped: number;
}

/** What the columns' labels and texts were read as. */
interface ReadColumns {
  /** Columns whose labels or texts say more than 0, 1 and a group; left out where the rows were not read for it. */
  readonly readings?: readonly ColumnReading[] | undefined;
}

/** Counts, weights and squared weights of cells. */
export interface CellTables {
  /** Rows. */
  readonly counts: Float64Array;
  /** Sums of weights; the counts themselves where rows have no weights. */
  readonly weights: Float64Array;
  /** Sums of squared weights, which give effective counts. */
  readonly squaredWeights: Float64Array;
}

/** Tables made by name, for what is done to each of them alike. */
export function makeTables(make: (name: keyof CellTables) => Float64Array): CellTables {
  return { counts: make('counts'), weights: make('weights'), squaredWeights: make('squaredWeights') };
}

/**
 * What predictions of numbers become: weighted moments per group. The tables of
 * counts have shape [groups]. Error = prediction minus truth.
 */
export interface RegressionStats extends CellTables, ReadColumns {
  readonly kind: 'regression';
  readonly labels: readonly string[];
  readonly moments: Readonly<Record<RegressionQuantity, Moments>>;
  /** Whether true values were given; without them only predictions have moments. */
  readonly hasTruth: boolean;
  /** Rows of each group that lack a prediction, a true value or a weight, [groups]. */
  readonly dropped: Float64Array;
  /** Rows without a prediction, a true value, a group or a weight. */
  readonly nDropped: number;
}

/** What has moments in {@link RegressionStats}. */
export const REGRESSION_QUANTITIES = ['prediction', 'truth', 'error', 'absoluteError', 'squaredError'] as const;

/** One of {@link REGRESSION_QUANTITIES}. */
export type RegressionQuantity = (typeof REGRESSION_QUANTITIES)[number];

/** Moments made by quantity, for what is done to each alike. */
export function makeMoments(
  make: (quantity: RegressionQuantity, column: number) => Moments,
): Readonly<Record<RegressionQuantity, Moments>> {
  const moments = REGRESSION_QUANTITIES.map((quantity, column) => [quantity, make(quantity, column)] as const);
  return Object.fromEntries(moments) as Record<RegressionQuantity, Moments>;
}

/**
 * What scores become: per group the distinct scores, ascending, with the
 * weighted counts of both true labels at each. Exact while there are few
 * distinct scores; beyond {@link MAX_DISTINCT_SCORES} they are rounded to
 * multiples of `step`, and what that can change is reported with each metric.
 * Log loss does not survive that, since a small score would become 0, so its
 * sums are kept beside the rounded scores.
 *
 * `groups` and `scores` have shape [k], the tables [k, 2] by true label.
 */
export interface ScoreStats extends CellTables, ReadColumns {
  readonly kind: 'scores';
  readonly labels: readonly string[];
  readonly groups: Int32Array;
  readonly scores: Float64Array;
  /** The grid that scores are rounded to, a power of two; 0 where they are exact. */
  readonly step: number;
  /**
   * Sums of the exact log losses; null where `step` is 0, and in statistics of
   * rounded scores whose rows were not seen.
   */
  readonly losses: LossSums | null;
  readonly hasTruth: true;
  /** Rows of each group that lack a score, a true label or a weight, [groups]. */
  readonly dropped: Float64Array;
  /** Rows without a score, a true label, a group or a weight. */
  readonly nDropped: number;
}

/** Weighted sums of the log losses of rows, and of their squares, [groups]. */
export interface LossSums {
  readonly sums: Float64Array;
  readonly squares: Float64Array;
}

/** Above so many distinct pairs of group and score, scores are rounded to a grid. */
export const MAX_DISTINCT_SCORES = 65_536;

/** Per-group statistics: all that a fairness metric needs to know of the data. */
export type GroupStats = ClassificationStats | RegressionStats | ScoreStats;

/** Cells of one group in {@link ClassificationStats}. */
export const CELLS_PER_GROUP = 6;

/** States of the true label of a row without a decision: 0, 1 and missing. */
export const UNDECIDED_PER_GROUP = 3;

/** The index of a cell within its group. */
export function cellIndex(truth: 0 | 1 | 2, decision: 0 | 1): number {
  return 2 * truth + decision;
}

/** The sums over some cells of each group: [groups, perGroup] to [groups]. */
export function sumCells(table: Float64Array, cells: readonly number[], perGroup = CELLS_PER_GROUP): Float64Array {
  const groups = table.length / perGroup;
  const sums = new Float64Array(groups);
  for (let g = 0; g < groups; g++) {
    for (const cell of cells) sums[g] = (sums[g] as number) + (table[g * perGroup + cell] as number);
  }
  return sums;
}

/** The sum of all entries. */
export function sum(values: ArrayLike<number>): number {
  let total = 0;
  for (let index = 0; index < values.length; index++) total += values[index] as number;
  return total;
}

/** The statistics of one class of a multiclass outcome, counted as that class against the rest. */
export interface ClassStats {
  readonly stats: GroupStats;
  /** The class; undefined for an outcome that is binary or a number. */
  readonly className: string | undefined;
}
