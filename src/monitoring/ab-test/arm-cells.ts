import type { ReadClusters } from '../../metrics/reduce/row-arguments.ts';
import { clusterErrors, sumClusters } from '../../metrics/statistics/cluster-stats.ts';
import type { ClusterErrors } from '../../stats/cluster-gap.ts';
import { tOfNormal } from '../../stats/gap-family.ts';
import { criticalValue } from '../../stats/normal.ts';
import type { ArmRows } from './read-arms.ts';
import { type ABMeasure, needsTruth } from './fairness-measures.ts';
import { type Cell, meanCell, type RateCell, rateCell } from '../../stats/ab/index.ts';
import type { PerArm, RowProblem } from './ab-test-fields.ts';

/** The values of every row for one measure. */
export interface MeasuredRows {
  readonly measure: ABMeasure;
  /**
   * The values of the rows, [rows]. The value is NaN if the row is excluded, or is not in the denominator of the
   * measure.
   */
  readonly values: Float64Array;
  /**
   * For each row, 0 if it is included; otherwise 1 + the index of the {@link RowProblem} for which it is excluded,
   * [rows].
   */
  readonly faults: Uint8Array;
}

/** All reasons to exclude a row. A row with several reasons is counted under the first reason in this list. */
export const ROW_PROBLEMS: readonly RowProblem[] = ['outcome', 'label', 'weight'];

const [OUTCOME, LABEL, WEIGHT] = [1, 2, 3] as const;

/** Returns the values of one measure for every row. */
export function measureRows(rows: ArmRows, measure: ABMeasure, outcome: Float64Array): MeasuredRows {
  const { nRows, truth, weights } = rows;
  const usesTruth = truth !== undefined && needsTruth(measure);
  const values = new Float64Array(nRows).fill(NaN);
  const problems = new Uint8Array(nRows);
  for (let row = 0; row < nRows; row++) {
    const given = outcome[row] as number;
    const label = usesTruth ? (truth[row] as number) : 0;
    if (Number.isNaN(given)) problems[row] = OUTCOME;
    else if (Number.isNaN(label)) problems[row] = LABEL;
    else if (weights !== undefined && Number.isNaN(weights[row])) problems[row] = WEIGHT;
    else if (countsIn(measure, label)) values[row] = valueOf(measure, given, label);
  }
  return { measure, values, faults: problems };
}

function countsIn({ rows }: ABMeasure, label: number): boolean {
  return rows === 'all' || label === Number(rows === 'positives');
}

function valueOf({ of }: ABMeasure, given: number, label: number): number {
  if (of === 'correct') return Number(given === label);
  return of === 'absolute_error' ? Math.abs(given - label) : given;
}

/** The counts of one group in one arm. */
export interface ArmCell {
  /** The number of rows included in the calculation. */
  readonly n: number;
  /**
   * The effective number of rows, (sum w)^2 / sum w^2 with the weights w. Without weights, the effective number equals
   * `n`.
   */
  readonly effective: number;
  readonly cell: Cell;
  /** The rate with its counts; undefined for means. */
  readonly rate: RateCell | undefined;
  /** The variance of the values. */
  readonly spread: number;
  /** How the value depends on those of other cells; undefined if all rows are independent. */
  readonly dependence?: { readonly index: number; readonly cells: CellDependence } | undefined;
}

/** The dependence of the values of cells, because clusters have rows of several cells. */
interface CellDependence {
  /** Returns the correlation of the values of two cells; 0 if no cluster has rows of both. */
  correlation(first: number, second: number): number;
  /** Returns the number of different clusters with rows of the given cells. */
  clustersOf(cells: readonly number[]): number;
}

/** Returns the correlation of the values of two cells. */
export function correlationOf(first: ArmCell, second: ArmCell): number {
  const [a, b] = [first.dependence, second.dependence];
  return a === undefined || b === undefined ? 0 : a.cells.correlation(a.index, b.index);
}

/**
 * Returns what dependence adds to the variance of sum c_i x_i: 2 sum c_i c_j cov_ij over pairs of cells. The covariance is the
 * correlation times both standard errors, so that it fits rates whose variances were adjusted.
 * @param errorOf the standard error of the value of a cell
 */
export function covarianceOf(
  terms: readonly (readonly [cell: ArmCell, factor: number])[],
  errorOf: (cell: ArmCell) => number = ({ cell }) => Math.sqrt(cell.variance),
): number {
  let sum = 0;
  for (const [index, [cell, factor]] of terms.entries()) {
    for (const [other, own] of terms.slice(0, index)) {
      const correlation = correlationOf(cell, other);
      if (correlation !== 0) sum += 2 * factor * own * correlation * errorOf(cell) * errorOf(other);
    }
  }
  return sum;
}

/** Returns the largest number of degrees of freedom of a comparison of cells: different clusters minus 1. */
export function maxDegreesOf(cells: readonly ArmCell[]): number {
  const [first] = cells;
  if (first?.dependence === undefined) return Infinity;
  const count = first.dependence.cells.clustersOf(cells.flatMap(({ dependence }) => dependence?.index ?? []));
  return Math.max(1, count - 1);
}

/** The counts of one group in both arms. */
export type GroupCells = PerArm<ArmCell>;

/**
 * Computes the counts of every group in both arms.
 * @param measured the values of rows; rows with NaN are excluded
 * @param rows both arms; their weights, clusters and the number of rows of the control arm are used
 * @param codes [rows], the group of each row; rows with a negative code are excluded
 * @param groups the number of groups
 */
export function countCells(
  measured: MeasuredRows,
  rows: Pick<ArmRows, 'weights' | 'clusters' | 'nControl'>,
  codes: ArrayLike<number>,
  groups: number,
): GroupCells[] {
  const { weights, clusters, nControl } = rows;
  const { kind } = measured.measure;
  const sums = sumCells(measured.values, weights, codes, groups, nControl);
  const found = clusters && clusterErrorsOf(sums, measured.values, rows, codes, clusters);
  const cellOf = (index: number): ArmCell => {
    const cell = armCell(sums, index, kind);
    if (found === undefined) return cell;
    return { ...clusteredCell(cell, found.errors, index), dependence: { index, cells: found.cells } };
  };
  return Array.from({ length: groups }, (_, group) => ({
    control: cellOf(2 * group),
    treatment: cellOf(2 * group + 1),
  }));
}

/**
 * Computes the errors of the value of each cell from the clusters of its rows. Clusters with rows of several cells make
 * their values correlated.
 */
function clusterErrorsOf(
  { weight, total }: CellSums,
  values: Float64Array,
  { weights, nControl }: Pick<ArmRows, 'weights' | 'nControl'>,
  codes: ArrayLike<number>,
  clusters: ReadClusters,
): { readonly errors: ClusterErrors; readonly cells: CellDependence } {
  const groups = Int32Array.from(values, (value, row) => {
    const code = codes[row] as number;
    return code < 0 || Number.isNaN(value) ? -1 : 2 * code + Number(row >= nControl);
  });
  const stats = sumClusters({ ...clusters, groups, groupCount: weight.length }, 2, (totals, start, row) => {
    const cell = groups[row] as number;
    const own = weights?.[row] ?? 1;
    totals[start] = (totals[start] as number) + own;
    const deviation = (values[row] as number) - (total[cell] as number) / (weight[cell] as number);
    totals[start + 1] = (totals[start + 1] as number) + own * deviation;
  });
  const cells = [...weight.keys()];
  const errors = clusterErrors(stats, {
    influence: Float64Array.from(cells.flatMap((cell) => [0, 1 / (weight[cell] as number)])),
    needed: [Float64Array.from(cells.flatMap(() => [1, 0]))],
  });
  return { errors, cells: dependenceOf(errors, groups, clusters.clusters) };
}

function dependenceOf({ variances, pairs }: ClusterErrors, groups: Int32Array, clusters: Int32Array): CellDependence {
  const keyOf = (a: number, b: number): number => Math.min(a, b) * variances.length + Math.max(a, b);
  const covariances = new Map(pairs.map(({ first, second, covariance }) => [keyOf(first, second), covariance]));
  return {
    correlation(first, second) {
      const covariance = covariances.get(keyOf(first, second)) ?? 0;
      const product = (variances[first] as number) * (variances[second] as number);
      return product > 0 ? Math.max(-1, Math.min(1, covariance / Math.sqrt(product))) : 0;
    },
    clustersOf(cells) {
      const found = new Set<number>();
      groups.forEach((cell, row) => {
        if (cells.includes(cell)) found.add(clusters[row] as number);
      });
      return found.size;
    },
  };
}

/**
 * Returns a cell with the error of its clusters. A rate becomes that of the independent rows that would determine it as
 * well, R (1 - R) / variance, reduced for the uncertainty of the variance (Korn and Graubard 1998). If all clusters have
 * the same rate, each counts as one row.
 */
function clusteredCell(cell: ArmCell, { variances, clusters, degrees }: ClusterErrors, index: number): ArmCell {
  const variance = variances[index] as number;
  const value = cell.cell.value;
  const own = { value, variance, degrees: degrees[index] as number };
  if (cell.rate === undefined) {
    return { ...cell, effective: variance > 0 ? cell.spread / variance : (clusters[index] as number), cell: own };
  }
  const isKnown = Number.isFinite(variance) && cell.effective > 0;
  const trials = variance > 0 ? (value * (1 - value)) / variance : (clusters[index] as number);
  const reduced = isKnown ? trials * (NORMAL / tOfNormal(NORMAL, own.degrees)) ** 2 : 0;
  const rate = rateCell(Math.min(reduced, value * reduced), reduced);
  return { ...cell, effective: reduced, cell: rate, rate };
}

/** The normal quantile at which Student's t and the normal distribution are compared. */
const NORMAL = criticalValue(0.95);

/**
 * Sums for each cell. Each array has the shape [2 x groups]: control and treatment of the first group, then of the
 * second group, and so on.
 */
interface CellSums {
  readonly n: Float64Array;
  readonly weight: Float64Array;
  readonly squared: Float64Array;
  readonly total: Float64Array;
  /** The weighted sum of squared deviations, sum w (x - mean)^2. */
  readonly m2: Float64Array;
}

function sumCells(
  values: Float64Array,
  weights: Float64Array | undefined,
  codes: ArrayLike<number>,
  groups: number,
  nControl: number,
): CellSums {
  const array = (): Float64Array => new Float64Array(2 * groups);
  const [n, weight, squared, total, m2] = [array(), array(), array(), array(), array()] as const;
  const eachRow = (visit: (cell: number, value: number, w: number) => void): void => {
    for (let row = 0; row < values.length; row++) {
      const value = values[row] as number;
      const code = codes[row] as number;
      if (code < 0 || Number.isNaN(value)) continue;
      visit(2 * code + Number(row >= nControl), value, weights === undefined ? 1 : (weights[row] as number));
    }
  };
  eachRow((cell, value, w) => {
    (n[cell] as number) += 1;
    (weight[cell] as number) += w;
    (squared[cell] as number) += w * w;
    (total[cell] as number) += w * value;
  });
  // The deviations are computed in a second pass, because sums of squares would lose precision for large values.
  eachRow((cell, value, w) => {
    (m2[cell] as number) += w * (value - (total[cell] as number) / (weight[cell] as number)) ** 2;
  });
  return { n, weight, squared, total, m2 };
}

function armCell(sums: CellSums, index: number, kind: 'rate' | 'mean'): ArmCell {
  const [n, weight, squared, total, m2] = [sums.n, sums.weight, sums.squared, sums.total, sums.m2].map(
    (array) => array[index] as number,
  ) as [number, number, number, number, number];
  const effective = squared > 0 ? (weight * weight) / squared : 0;
  const value = total / weight;
  if (kind === 'rate') {
    // Without weights, the effective counts equal the counts. Rounding must not increase a weighted rate above 1.
    const rate =
      effective === 0 ? rateCell(0, 0) : rateCell(Math.min(effective, (total * weight) / squared), effective);
    return { n, effective, cell: rate, rate, spread: value * (1 - value) };
  }
  const spread = effective > 1 ? ((m2 / weight) * effective) / (effective - 1) : NaN;
  const cell = effective > 1 ? meanCell(value, spread, effective) : { value, variance: NaN, degrees: 0 };
  return { n, effective, cell, rate: undefined, spread };
}
