import { DataValidationError } from '../../exceptions/index.ts';
import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import { absentLabelError, type ColumnSource, readLabels, toBinary, toColumn } from '../../table/index.ts';
import { assertSameLength, toFiniteNumbers } from '../reduce/row-arguments.ts';
import { outOfRange, wholeNumber } from './entropy.ts';
import { type FeatureColumn, type FeatureSource, readFeatures } from './feature-columns.ts';
import { distinctPoints, type DistinctPoints, type PointNode, type PointTree, pointTree } from './point-tree.ts';

/**
 * The tolerance for rounding errors. Rounding errors differ because a bound is summed in a different order than a
 * distance.
 */
const ROUNDING = 1 - 1e-12;

/**
 * Finds the rows nearest to a point by Euclidean distance, including rows at the point itself. Rows at equal distance
 * are ordered by index.
 */
class NearestRows {
  readonly #points: DistinctPoints;
  readonly #tree: PointTree;
  /** The rows that were found, nearest first, and the squared distances of these rows. */
  readonly #rows: Int32Array;
  readonly #distances: Float64Array;
  /** For each axis, the distance between the point and the part of the tree that is being searched. */
  readonly #gaps: Float64Array;
  /** The index at which the coordinates of the point start. */
  #start = 0;

  /** @param nNeighbors the number of rows to find; it must not exceed the total number of rows */
  constructor(points: DistinctPoints, nNeighbors: number) {
    this.#points = points;
    this.#tree = pointTree(points);
    this.#rows = new Int32Array(nNeighbors);
    this.#distances = new Float64Array(nNeighbors);
    this.#gaps = new Float64Array(points.width);
  }

  /** Returns the rows nearest to a point. The next call overwrites the returned array. */
  of(point: number): Int32Array {
    this.#start = point * this.#points.width;
    this.#distances.fill(Infinity);
    // Any row, even a row at an infinite distance, replaces an empty slot.
    this.#rows.fill(this.#points.rows.length);
    this.#gaps.fill(0);
    this.#visit(this.#tree.root, 0);
    return this.#rows;
  }

  /** @param bound a number that is at most the squared distance of any point of the node */
  #visit(node: PointNode, bound: number): void {
    if (!('axis' in node)) {
      this.#visitPoints(node.from, node.to);
      return;
    }
    const { axis, split, below, above } = node;
    const toSplit = (this.#points.coordinates[this.#start + axis] as number) - split;
    this.#visit(toSplit <= 0 ? below : above, bound);
    const gap = this.#gaps[axis] as number;
    const farBound = bound - gap * gap + toSplit * toSplit;
    // At an equal distance, the node may contain a row with a smaller index.
    if (farBound * ROUNDING > (this.#distances[this.#distances.length - 1] as number)) return;
    this.#gaps[axis] = toSplit;
    this.#visit(toSplit <= 0 ? above : below, farBound);
    this.#gaps[axis] = gap;
  }

  #visitPoints(from: number, to: number): void {
    const { rows, starts } = this.#points;
    for (let position = from; position < to; position++) {
      const point = this.#tree.order[position] as number;
      const farthest = this.#distances[this.#distances.length - 1] as number;
      const distance = this.#distanceTo(point, farthest);
      if (distance > farthest) continue;
      const end = starts[point + 1] as number;
      for (let index = starts[point] as number; index < end; index++) {
        if (!this.#offer(rows[index] as number, distance)) break;
      }
    }
  }

  /** Returns the squared distance of a point. Stops early with a partial sum if that sum exceeds the limit. */
  #distanceTo(point: number, limit: number): number {
    const { coordinates, width } = this.#points;
    const start = this.#start;
    const other = point * width;
    let distance = 0;
    let axis = 0;
    // Checking the limit after each axis would cost more than it saves.
    while (axis < width && distance <= limit) {
      for (const end = Math.min(axis + 8, width); axis < end; axis++) {
        const difference = (coordinates[other + axis] as number) - (coordinates[start + axis] as number);
        distance += difference * difference;
      }
    }
    return distance;
  }

  /** Inserts a row into the sorted list of nearest rows. Returns whether the row was near enough. */
  #offer(row: number, distance: number): boolean {
    let position = this.#rows.length;
    while (position > 0 && this.#isNearer(row, distance, position - 1)) {
      position--;
      if (position + 1 === this.#rows.length) continue;
      this.#rows[position + 1] = this.#rows[position] as number;
      this.#distances[position + 1] = this.#distances[position] as number;
    }
    if (position === this.#rows.length) return false;
    this.#rows[position] = row;
    this.#distances[position] = distance;
    return true;
  }

  #isNearer(row: number, distance: number, position: number): boolean {
    const other = this.#distances[position] as number;
    return distance < other || (distance === other && row < (this.#rows[position] as number));
  }
}

/** Options of {@link consistencyScore}. */
export interface ConsistencyOptions {
  /**
   * The number of neighbours with which a row is compared, including the row itself.
   * @defaultValue 5
   */
  readonly nNeighbors?: number | undefined;
  /** The outcome that counts as 1; all other outcomes count as 0. */
  readonly positiveLabel?: string | undefined;
}

const CONSISTENCY_OPTION_NAMES: OptionNames<ConsistencyOptions> = { nNeighbors: true, positiveLabel: true };

/**
 * Computes the consistency score, which measures whether similar rows have similar outcomes. With N(i) the k rows
 * nearest to row i by Euclidean distance of the features,
 *
 *     C = 1 - mean_i | y_i - mean of y_j over j in N(i) |, in [0, 1] for outcomes in [0, 1].
 *
 * 1 means that no row differs from its neighbours. A row is its own nearest neighbour, unless more than k rows are
 * equal to it. Rows at equal distance are ordered by index, so with ties the order of rows can matter. The features
 * define what "similar" means: scale them to comparable units first, and note that a feature may be a proxy for the
 * group.
 *
 * Rows without an outcome or without one of the features are excluded. Weights are not supported, since weighted
 * neighbours are not defined.
 *
 * The time grows with n log n for few features (a million rows with one feature, or 100,000 rows with five, take some
 * seconds). For more features it approaches n^2 (10,000 rows with fifty features take about ten seconds). Rows with
 * equal features are searched only once, so together they cost as much as one row.
 * @param features numbers, [n, d]: a table, columns by name, rows, a tensor, or one feature, [n]
 * @param y outcomes, [n]: labels or decisions, 0 or 1, or scores
 * @throws {DataValidationError} if lengths differ, a feature or outcome is not a finite number, or no row is complete
 * @throws {ValueError} if the number of neighbours is not an integer, is below 1, or exceeds the number of rows
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
    const suggestion = 'Use fewer neighbours, or give more rows.';
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

/** Computes the mean distance of an outcome from the mean outcome of its neighbours. */
function meanGap(columns: readonly Float64Array[], outcomes: Float64Array, nNeighbors: number): number {
  const points = distinctPoints(columns, outcomes.length);
  const nearest = new NearestRows(points, nNeighbors);
  let total = 0;
  for (let point = 0; point < points.count; point++) {
    let sum = 0;
    for (const row of nearest.of(point)) sum += outcomes[row] as number;
    const mean = sum / nNeighbors;
    const end = points.starts[point + 1] as number;
    for (let index = points.starts[point] as number; index < end; index++) {
      total += Math.abs((outcomes[points.rows[index] as number] as number) - mean);
    }
  }
  return total / outcomes.length;
}

/** Returns outcomes as numbers: numbers unchanged, other labels as 0 or 1, and missing values as NaN. */
function readOutcomes(y: ColumnSource, positiveLabel: string | undefined): Float64Array {
  const column = toColumn(y, 'y');
  if (column.kind === 'numeric' && positiveLabel === undefined) return toFiniteNumbers(column, 'y');
  const binary = toBinary(column, 'y', positiveLabel);
  if (positiveLabel !== undefined && binary.includes(0) && !binary.includes(1)) {
    const { labels } = readLabels(column, 'y', undefined, undefined).column;
    const absent = { column: 'yPred', label: positiveLabel, isShared: false } as const;
    throw absentLabelError(absent, { data: 'y', argument: 'y' }, labels);
  }
  return Float64Array.from(binary, (value) => (value < 0 ? NaN : value));
}

/**
 * Returns the indexes of the complete rows.
 * @throws {DataValidationError} if lengths differ, or no row is complete
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
      code: 'empty-data',
      context: { rows: outcomes.length },
      suggestion: 'Check that the selected columns contain values.',
    },
  );
}
