import type { CrossCounts } from './cross-counts.ts';

/** Pearson's chi-square statistic of a table, with the numbers required for the test. */
export interface PearsonStatistic {
  /** Sum over cells of (observed - expected)^2 / expected. */
  readonly statistic: number;
  /** The number of nonempty rows of the table. */
  readonly rows: number;
  /** The number of nonempty columns of the table. */
  readonly columns: number;
  /** The smallest expected count of a cell; NaN for an empty table. */
  readonly minExpected: number;
}

/** Computes Pearson's chi-square statistic of independence. Empty rows and columns are excluded. */
export function pearsonStatistic(table: CrossCounts): PearsonStatistic {
  const { n, rowTotals, columnTotals, cells, counts } = table;
  const [rows, columns] = [occupied(rowTotals), occupied(columnTotals)];
  let statistic = 0;
  let expectedThere = 0;
  for (let index = 0; index < cells.length; index++) {
    const cell = cells[index] as number;
    const row = rowTotals[Math.floor(cell / columnTotals.length)] as number;
    const expected = (row / n) * (columnTotals[cell % columnTotals.length] as number);
    const difference = (counts[index] as number) - expected;
    statistic += (difference * difference) / expected;
    expectedThere += expected;
  }
  // Each empty cell adds its expected count to the statistic. All expected counts sum to n.
  const empty = cells.length < rows * columns ? Math.max(0, n - expectedThere) : 0;
  const minExpected = (min(rowTotals) / n) * min(columnTotals);
  return { statistic: statistic + empty, rows, columns, minExpected };
}

/** Returns the number of totals above 0. */
export function occupied(totals: Float64Array): number {
  return totals.reduce((count, total) => count + Number(total > 0), 0);
}

function min(totals: Float64Array): number {
  return totals.reduce((smallest, total) => (total > 0 ? Math.min(smallest, total) : smallest), Infinity);
}
