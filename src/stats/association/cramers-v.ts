import type { CrossCounts } from './cross-counts.ts';
import { pearsonStatistic } from './pearson-statistic.ts';

/**
 * Computes the bias-corrected Cramér's V of a table of counts (Bergsma 2013): the strength of the association of two
 * categorical variables, from 0 (no association) to 1 (one variable determines the other).
 *
 * With phi2 = chi2 / n, and r rows and c columns that are not empty,
 *
 *     phi2~ = max(0, phi2 - (r - 1)(c - 1) / (n - 1)),
 *     r~ = r - (r - 1)^2 / (n - 1),   c~ = c - (c - 1)^2 / (n - 1),
 *     V~ = sqrt(phi2~ / (min(r~, c~) - 1)).
 *
 * Without the correction, V grows with the number of levels: a column of unique identifiers is perfectly associated
 * with every other column. With the correction, V of such a column is 0.
 * @returns from 0 to 1; NaN if fewer than two rows or columns are not empty
 * @see W. Bergsma, A bias-correction for Cramér's V and Tschuprow's T, Journal of the Korean Statistical Society 42
 *   (2013)
 */
export function cramersVOf(table: CrossCounts): number {
  const { statistic, rows, columns } = pearsonStatistic(table);
  if (rows < 2 || columns < 2) return NaN;
  const { n } = table;
  const phi2 = Math.max(0, statistic / n - ((rows - 1) * (columns - 1)) / (n - 1));
  // r~ - 1 = (r - 1)(n - r) / (n - 1), which is exactly 0 if every data row has a different level.
  const room = Math.min((rows - 1) * (n - rows), (columns - 1) * (n - columns)) / (n - 1);
  return room <= 0 ? 0 : Math.min(1, Math.sqrt(phi2 / room));
}
