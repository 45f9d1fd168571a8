import { type VarianceParts, varianceParts } from './variance-parts.ts';

/**
 * Eta squared: the share of the spread of values that lies between groups,
 *
 *     eta2 = sum_g n_g (mean_g - mean)^2 / sum (x - mean)^2,
 *
 * from 0 (equal means) to 1 (no spread within groups). It is not corrected for
 * chance: of noise alone it is (k - 1) / (n - 1) on average, k the groups.
 * @param values [n]; NaN is left out
 * @param codes [n], the group of each value; a negative code leaves the value out
 * @param groups the number of groups
 * @returns from 0 to 1; NaN with fewer than two groups, without any spread, and where a value is infinite
 * @see R. Fisher, Statistical Methods for Research Workers (1925), section 45
 */
export function etaSquared(values: ArrayLike<number>, codes: ArrayLike<number>, groups: number): number {
  return etaSquaredOf(varianceParts(values, codes, groups));
}

/** {@link etaSquared} of a spread that is split already. */
export function etaSquaredOf({ groups, between, within }: VarianceParts): number {
  return groups < 2 || between + within === 0 ? NaN : between / (between + within);
}
