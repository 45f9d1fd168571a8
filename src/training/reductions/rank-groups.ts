import type { CategoricalColumn } from '../../table/index.ts';

/**
 * The codes of the groups that have weight, the heaviest first, then those of the smaller sum
 * of truths, then by label. Solvers break ties by position, and a lattice leaves the last group
 * out: ordered by what groups hold, the order of rows decides nothing, and names only between
 * groups that are alike in both.
 */
export function rankGroups(groups: CategoricalColumn, truths: Float64Array, weights: Float64Array): number[] {
  const totals = new Float64Array(groups.labels.length);
  const sums = new Float64Array(groups.labels.length);
  for (let row = 0; row < weights.length; row++) {
    const group = groups.codes[row] as number;
    (totals[group] as number) += weights[row] as number;
    (sums[group] as number) += (weights[row] as number) * (truths[row] as number);
  }
  return groups.labels
    .map((_, code) => code)
    .filter((code) => (totals[code] as number) > 0)
    .sort(
      (a, b) => (totals[b] as number) - (totals[a] as number) || (sums[a] as number) - (sums[b] as number) || a - b,
    );
}
