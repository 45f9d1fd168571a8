import { missingColumn } from '../metric-rows.ts';
import { cellIndex, type ClassificationStats, sumCells } from '../statistics/group-stats.ts';

/** The values that a benefit takes: 1 + decision - label is 0 for a false negative, 2 for a false positive, else 1. */
export const BENEFITS: readonly number[] = [0, 1, 2];

/** The cells of each of {@link BENEFITS}. Rows without a label are in none. */
const CELLS_OF_BENEFIT: readonly (readonly number[])[] = [
  [cellIndex(1, 0)],
  [cellIndex(0, 0), cellIndex(1, 1)],
  [cellIndex(0, 1)],
];

/** The weight of rows at each of {@link BENEFITS}, each of shape [groups]. */
export function benefitMasses(stats: ClassificationStats, metric: string): readonly Float64Array[] {
  assertTruth(stats, metric);
  return CELLS_OF_BENEFIT.map((cells) => sumCells(stats.weights, cells));
}

/** @throws {MetricComputationError} where no true labels were counted */
export function assertTruth(stats: ClassificationStats, metric: string): void {
  if (!stats.hasTruth) throw missingColumn(metric, 'true labels', 'yTrue');
}
