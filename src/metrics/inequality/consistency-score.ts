import { DataValidationError } from '../../exceptions/index.ts';
import { assertKnownOptions, type OptionNames } from '../../internal/known-options.ts';
import { type ColumnSource, toBinary, toColumn } from '../../table/index.ts';
import { assertSameLength, toFiniteNumbers } from '../reduce/row-arguments.ts';
import { distinctPoints } from './distinct-points.ts';
import { type FeatureColumn, type FeatureSource, readFeatures } from './feature-columns.ts';
import { NearestRows } from './nearest-rows.ts';
import { outOfRange, wholeNumber } from './number-options.ts';

/** The options of {@link consistencyScore}. */
export interface ConsistencyOptions {
  /**
   * How many neighbours a row is compared with, itself among them.
   * @defaultValue 5
   */
  readonly nNeighbors?: number | undefined;
  /** The outcome that counts as 1; every other one is 0. */
  readonly positiveLabel?: string | undefined;
}

const CONSISTENCY_OPTION_NAMES: OptionNames<ConsistencyOptions> = { nNeighbors: true, positiveLabel: true };

/**
 * Consistency score: how alike the outcomes of similar rows are. With N(i) the
 * k rows nearest to row i by Euclidean distance of features,
 *
 *     C = 1 - mean_i | y_i - mean of y_j over j in N(i) |, in [0, 1] for outcomes in [0, 1].
 *
 * 1 means that no row differs from its neighbours. A row is its own nearest
 * neighbour, unless more than k rows equal it: among rows as near as each other
 * the earlier come first, so that with ties the order of rows can matter. The
 * features decide what "similar" means: scale them to comparable units before,
 * and know that one of them may stand for the group.
 *
 * Rows without an outcome or one of the features are left out. There are no
 * weights, since it is not defined what a weighted neighbour is.
 *
 * The time grows with n log n for few features (a million rows of one or 100,000
 * of five take some seconds), and towards n^2 for more (10,000 rows of fifty take
 * some ten seconds). Rows with equal features cost no more than one.
 * @param features numbers, [n, d]: a table, columns by name, rows, a tensor, or one feature, [n]
 * @param y outcomes, [n]: labels or decisions, 0 or 1, or scores
 * @throws {DataValidationError} where lengths differ, a feature or outcome is no finite number, or no row is left
 * @throws {ValueError} for a number of neighbours that is not whole, under 1, or above the number of rows
 * @see Zemel et al. (2013), "Learning fair representations"
 * @example
 * ```ts
 * import { consistencyScore } from 'evenhand/metrics';
 *
 * const features = { income: [1, 1.1, 1.2, 8, 8.1, 8.2], debt: [0, 0, 0, 1, 1, 1] };
 * console.log(consistencyScore(features, [0, 0, 0, 1, 1, 1], { nNeighbors: 3 }));
 * console.log(consistencyScore(features, [0, 1, 0, 1, 0, 1], { nNeighbors: 3 }).toFixed(4));
 * // 1
 * // 0.5556
 * ```
 */
export function consistencyScore(features: FeatureSource, y: ColumnSource, options: ConsistencyOptions = {}): number {
  assertKnownOptions('consistencyScore', options, CONSISTENCY_OPTION_NAMES);
  const { nNeighbors = 5, positiveLabel } = options;
  wholeNumber('consistencyScore', 'nNeighbors', nNeighbors);
  const columns = readFeatures(features);
  const outcomes = readOutcomes(y, positiveLabel);
  const complete = completeRows(columns, outcomes);
  if (nNeighbors > complete.length) {
    const required = `be at most the number of rows, ${String(complete.length)}`;
    const suggestion = 'Ask for fewer neighbours, or give more rows.';
    throw outOfRange('consistencyScore', 'nNeighbors', required, nNeighbors, suggestion);
  }
  const take = (values: Float64Array): Float64Array => Float64Array.from(complete, (row) => values[row] as number);
  return (
    1 -
    meanGap(
      columns.map(({ values }) => take(values)),
      take(outcomes),
      nNeighbors,
    )
  );
}

/** The mean distance of an outcome from the mean outcome of its neighbours. */
function meanGap(columns: readonly Float64Array[], outcomes: Float64Array, nNeighbors: number): number {
  const points = distinctPoints(columns, outcomes.length);
  const nearest = new NearestRows(points, nNeighbors);
  let total = 0;
  for (let point = 0; point < points.count; point++) {
    let sum = 0;
    for (const row of nearest.of(point)) sum += outcomes[row] as number;
    const mean = sum / nNeighbors;
    const end = points.starts[point + 1] as number;
    for (let place = points.starts[point] as number; place < end; place++) {
      total += Math.abs((outcomes[points.rows[place] as number] as number) - mean);
    }
  }
  return total / outcomes.length;
}

/** Numbers as they are; other labels as 0 and 1, NaN where missing. */
function readOutcomes(y: ColumnSource, positiveLabel: string | undefined): Float64Array {
  const column = toColumn(y, 'y');
  if (column.kind === 'numeric' && positiveLabel === undefined) return toFiniteNumbers(column, 'y');
  const binary = toBinary(column, 'y', positiveLabel);
  if (positiveLabel !== undefined && binary.includes(0) && !binary.includes(1)) {
    throw new DataValidationError(`No row of y holds the positive label '${positiveLabel}'.`, {
      context: { argument: 'y', positiveLabel },
      suggestion: 'Check its spelling against the labels in the data.',
    });
  }
  return Float64Array.from(binary, (value) => (value < 0 ? NaN : value));
}

/**
 * The indexes of the rows that lack nothing.
 * @throws {DataValidationError} where lengths differ, or there is none
 */
function completeRows(columns: readonly FeatureColumn[], outcomes: Float64Array): number[] {
  for (const { name, values } of columns) assertSameLength({ [name]: values.length, y: outcomes.length });
  const complete: number[] = [];
  outcomes.forEach((outcome, row) => {
    if (!Number.isNaN(outcome) && columns.every(({ values }) => !Number.isNaN(values[row]))) complete.push(row);
  });
  if (complete.length > 0) return complete;
  throw new DataValidationError(
    outcomes.length === 0
      ? 'There are no rows to measure.'
      : `All ${String(outcomes.length)} rows lack an outcome or a feature, so nothing can be measured.`,
    {
      context: { rows: outcomes.length },
      suggestion: 'Check that the columns named are the ones that are filled.',
    },
  );
}
