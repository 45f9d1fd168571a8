import type { CrossCounts } from '../../stats/association/cross-counts.ts';
import { formatShare, formatStatistic } from '../../internal/format.ts';

/**
 * The minimum number of rows of a group. Smaller groups are ignored when the groups that differ most are determined.
 */
const MIN_ROWS = 30;

/** One of the two groups that a contrast compares. */
export interface ContrastEnd {
  readonly group: string;
  /** The compared value: a share of the group's rows, or a mean. */
  readonly value: number;
  readonly n: number;
}

/** The two groups of at least 30 rows that differ most. */
export interface Contrast {
  /** The value of the column whose share of rows is compared; null if means are compared. */
  readonly level: string | null;
  readonly lowest: ContrastEnd;
  readonly highest: ContrastEnd;
}

/**
 * Finds the value of the column whose shares in two groups differ most. The search considers only combinations of a
 * group and a value that occur in the data.
 */
export function shareContrast(
  table: CrossCounts,
  groups: readonly string[],
  levels: readonly string[],
  only?: number,
): Contrast | null {
  const large = Array.from(table.rowTotals.keys()).filter((group) => (table.rowTotals[group] as number) >= MIN_ROWS);
  if (large.length < 2) return null;
  const level = only ?? widestLevel(table, levels, large.length);
  const inLevel = new Float64Array(groups.length);
  table.cells.forEach((cell, index) => {
    if (cell % levels.length === level) inLevel[Math.floor(cell / levels.length)] = table.counts[index] as number;
  });
  const ends = large.map((group) => ({
    group: groups[group] as string,
    value: (inLevel[group] as number) / (table.rowTotals[group] as number),
    n: table.rowTotals[group] as number,
  }));
  return { level: levels[level] as string, ...extremes(ends) };
}

/** Returns the level whose shares differ most. Of levels with the same difference, it is the first in the alphabet. */
function widestLevel(
  { cells, counts, rowTotals, columnTotals }: CrossCounts,
  levels: readonly string[],
  large: number,
): number {
  const lowest = new Float64Array(columnTotals.length).fill(Infinity);
  const highest = new Float64Array(columnTotals.length);
  const met = new Float64Array(columnTotals.length);
  cells.forEach((cell, index) => {
    const total = rowTotals[Math.floor(cell / columnTotals.length)] as number;
    if (total < MIN_ROWS) return;
    const level = cell % columnTotals.length;
    const share = (counts[index] as number) / total;
    lowest[level] = Math.min(lowest[level] as number, share);
    highest[level] = Math.max(highest[level] as number, share);
    (met[level] as number) += 1;
  });
  // If a group has no rows with the level, its share is 0.
  const gaps = highest.map((high, level) => high - ((met[level] as number) < large ? 0 : (lowest[level] as number)));
  return gaps.reduce((widest, gap, level) => {
    const lead = gap - (gaps[widest] as number);
    const isFirst = (levels[level] as string) < (levels[widest] as string);
    return lead > ROUNDING || (lead >= -ROUNDING && isFirst) ? level : widest;
  }, 0);
}

/**
 * Finds the groups with the smallest and the largest mean.
 * @param groups the labels of the groups
 * @param moments the number of values of each group, and their mean
 */
export function meanContrast(
  groups: readonly string[],
  { n, means }: { readonly n: ArrayLike<number>; readonly means: ArrayLike<number> },
): Contrast | null {
  const ends = groups
    .map((group, code) => ({ group, value: means[code] as number, n: n[code] as number }))
    .filter((end) => end.n >= MIN_ROWS);
  return ends.length < 2 ? null : { level: null, ...extremes(ends) };
}

/**
 * Finds the groups with the lowest and the highest value. Ties are resolved by the size of the group, then by its
 * label, and never by row order. Values that differ only in the last digits are ties, because sums of the same numbers
 * differ there if they are added in another order.
 */
function extremes(ends: readonly ContrastEnd[]): { readonly lowest: ContrastEnd; readonly highest: ContrastEnd } {
  const bySize = [...ends].sort((a, b) => b.n - a.n || (a.group < b.group ? -1 : 1));
  const first = (isTied: (end: ContrastEnd) => boolean): ContrastEnd =>
    bySize.find(isTied) ?? (bySize[0] as ContrastEnd);
  const values = ends.map(({ value }) => value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const rounding = ROUNDING * Math.max(Math.abs(low), Math.abs(high));
  return {
    lowest: first(({ value }) => value - low <= rounding),
    highest: first(({ value }) => high - value <= rounding),
  };
}

/** The share of a value by which rounding may change it. */
const ROUNDING = 1e-12;

/** Describes a contrast: "'Wife' from 0.0% (Male) to 14.6% (Female)", "mean from 36.4 (Female) to 42.4 (Male)". */
export function contrastPhrase({ level, lowest, highest }: Contrast): string {
  const format = level === null ? formatStatistic : formatShare;
  const what = level === null ? 'mean' : `'${level}'`;
  return `${what} from ${format(lowest.value)} (${lowest.group}) to ${format(highest.value)} (${highest.group})`;
}
