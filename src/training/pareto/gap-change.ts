import type { CategoricalColumn } from '../../table/index.ts';

/** Rows whose decisions are compared. */
export interface ComparedRows {
  /** [n], 0 or 1 */
  readonly y: Uint8Array;
  /** [n] */
  readonly groups: CategoricalColumn;
}

/** Two-sided, 5%; with two tests 2.5% each. */
const [Z_ONE, Z_TWO] = [1.959963984540054, 2.241402727604947];

/**
 * Whether two models' decisions on the same rows have gaps that differ by more
 * than noise: the gap between the two groups that are farthest apart under the
 * first model, compared by a paired test at the 5% level. With the changes
 * d = after - before of a row's decision, the gap's change is the difference of
 * the two groups' mean d, and its variance the sum of var(d) / n. Rows that both
 * models decide alike make no noise, which intervals of the two gaps would count.
 * `labels` says what is compared: selection rates ('all'), or true and false
 * positive rates ('each'). Groups with fewer rows than `minGroupSize` are not.
 */
export function changesGap(
  before: Uint8Array,
  after: Uint8Array,
  { y, groups }: ComparedRows,
  options: { readonly labels: 'all' | 'each'; readonly minGroupSize: number },
): boolean {
  const events = options.labels === 'all' ? [undefined] : [0, 1];
  const limit = events.length === 1 ? Z_ONE : Z_TWO;
  return events.some((label) => {
    const sums = groups.labels.map(() => ({ n: 0, before: 0, change: 0, changed: 0 }));
    for (let row = 0; row < y.length; row++) {
      const sum = sums[groups.codes[row] as number];
      if (sum === undefined || (label !== undefined && y[row] !== label)) continue;
      const change = (after[row] as number) - (before[row] as number);
      sum.n++;
      sum.before += before[row] as number;
      sum.change += change;
      sum.changed += Math.abs(change);
    }
    const compared = sums.filter(({ n }) => n >= options.minGroupSize).sort((a, b) => a.before / a.n - b.before / b.n);
    const [low, high] = [compared[0], compared.at(-1)];
    if (low === undefined || high === undefined || low === high) return false;
    const variance = [low, high].reduce(
      (sum, { n, change, changed }) => sum + (changed / n - (change / n) ** 2) / n,
      0,
    );
    const change = high.change / high.n - low.change / low.n;
    return Math.abs(change) > limit * Math.sqrt(variance);
  });
}
