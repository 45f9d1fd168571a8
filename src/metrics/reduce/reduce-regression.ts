import { sumOf } from '../../internal/values.ts';
import { emptyMoments, groupMoments } from '../../stats/moments.ts';
import type { ColumnSource } from '../../table/index.ts';
import { type ClusterStats, sumClusters, withShifts } from '../statistics/cluster-stats.ts';
import {
  makeMoments,
  makeTables,
  REGRESSION_QUANTITIES,
  type RegressionQuantity,
  type RegressionStats,
} from '../statistics/group-stats.ts';
import {
  countDropped,
  type GroupedRows,
  type PreparedRows,
  prepareRows,
  readClusters,
  type ReadClusters,
  toFiniteNumbers,
} from './row-arguments.ts';

/** Predicted and true numbers, on the host. */
export interface RegressionRows extends GroupedRows {
  readonly yPred: ColumnSource;
  readonly yTrue?: ColumnSource | undefined;
}

/** The numbers and group codes of rows. */
export interface PreparedNumbers extends PreparedRows {
  readonly yPred: Float64Array;
  readonly yTrue: Float64Array | undefined;
}

/**
 * Computes the {@link RegressionStats} of predicted numbers in O(rows) time.
 * @throws {DataValidationError} if lengths differ, a value is text or infinite, or no row can be used
 */
export function reduceRegression(rows: RegressionRows): RegressionStats {
  const prepared = prepareNumbers(rows);
  const { labels, codes, yPred, weights } = prepared;
  const tables = makeTables(() => new Float64Array(labels.length));
  const { counts, weights: sums, squaredWeights: squares } = tables;
  for (let row = 0; row < codes.length; row++) {
    const group = codes[row] as number;
    if (group < 0) continue;
    const weight = weights === undefined ? 1 : (weights[row] as number);
    counts[group] = (counts[group] as number) + 1;
    sums[group] = (sums[group] as number) + weight;
    squares[group] = (squares[group] as number) + weight * weight;
  }
  const moments = momentsOf(prepared);
  const clusters = readClusters(rows, yPred.length);
  return {
    kind: 'regression',
    labels,
    ...tables,
    moments,
    hasTruth: prepared.yTrue !== undefined,
    dropped: prepared.dropped,
    nDropped: countDropped(counts, yPred.length),
    ...(clusters === undefined
      ? {}
      : { clusters: clusterNumbers(prepared, overallMeans({ weights: sums, moments }), clusters) }),
  };
}

/** Sums the weights, and the quantities minus their overall means, in each cluster. */
function clusterNumbers(
  { labels, codes, yPred, yTrue, weights }: PreparedNumbers,
  shifts: readonly number[],
  clusters: ReadClusters,
): ClusterStats {
  const quantities = REGRESSION_QUANTITIES.slice(0, yTrue === undefined ? 1 : undefined);
  const rows = { ...clusters, groups: codes, groupCount: labels.length };
  const stats = sumClusters(rows, 1 + REGRESSION_QUANTITIES.length, (totals, start, row) => {
    const weight = weights?.[row] ?? 1;
    totals[start] = (totals[start] as number) + weight;
    quantities.forEach((quantity, index) => {
      const value = QUANTITY_OF[quantity](yPred[row] as number, yTrue?.[row] as number);
      const cell = start + 1 + index;
      totals[cell] = (totals[cell] as number) + weight * (value - (shifts[index] as number));
    });
  });
  return withShifts(stats, shifts);
}

/** Returns the mean of each quantity over all groups, near which sums of squares lose the fewest digits. */
function overallMeans({ weights, moments }: Pick<RegressionStats, 'weights' | 'moments'>): readonly number[] {
  const total = sumOf(weights);
  return REGRESSION_QUANTITIES.map((quantity) => {
    const sum = moments[quantity].mean.reduce((all, mean, group) => all + mean * (weights[group] as number), 0);
    return total > 0 && Number.isFinite(sum) ? sum / total : 0;
  });
}

/**
 * Reads rows as numbers, and gives incomplete rows the code -1.
 * @throws {DataValidationError} if lengths differ, or a value is text or infinite
 */
export function prepareNumbers(rows: RegressionRows): PreparedNumbers {
  const { naValues } = rows;
  return prepareRows(
    rows,
    () => ({
      yPred: toFiniteNumbers(rows.yPred, 'yPred', naValues),
      yTrue: rows.yTrue === undefined ? undefined : toFiniteNumbers(rows.yTrue, 'yTrue', naValues),
    }),
    ({ yPred, yTrue }, row) => !Number.isNaN(yPred[row]) && !Number.isNaN(yTrue?.[row] ?? 0),
  );
}

/** For each quantity, the function that computes it from the prediction and the true value of a row. */
export const QUANTITY_OF: Readonly<Record<RegressionQuantity, (prediction: number, truth: number) => number>> = {
  prediction: (prediction) => prediction,
  truth: (_, truth) => truth,
  error: (prediction, truth) => prediction - truth,
  absoluteError: (prediction, truth) => Math.abs(prediction - truth),
  squaredError: (prediction, truth) => (prediction - truth) ** 2,
};

function momentsOf({ labels, codes, yPred, yTrue, weights }: PreparedNumbers): RegressionStats['moments'] {
  const values = new Float64Array(yPred.length);
  return makeMoments((quantity) => {
    if (yTrue === undefined && quantity !== 'prediction') return emptyMoments(labels.length);
    const valueOf = QUANTITY_OF[quantity];
    for (let row = 0; row < values.length; row++) values[row] = valueOf(yPred[row] as number, yTrue?.[row] as number);
    return groupMoments(values, codes, weights, labels.length);
  });
}
