import type { CategoricalColumn } from '../../table/index.ts';

/**
 * The codes of the groups that have weight, the heaviest first, then those of the smaller sum
 * of truths, then by label. Solvers break ties by position: ordered by what groups hold, their
 * names and the order of rows decide nothing.
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
