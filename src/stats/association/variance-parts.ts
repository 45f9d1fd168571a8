/** The variation of values, split into the parts between and within groups. */
export interface VarianceParts {
  /** The number of values included in the calculation. */
  readonly n: number;
  /** The number of groups with at least one value. */
  readonly groups: number;
  /** The sum over groups of n_g (mean_g - mean)^2, divided by the squared range of the values. */
  readonly between: number;
  /** The sum over values of (x - mean_g)^2, divided by the squared range of the values. */
  readonly within: number;
}

/** The result if the parts are undefined. */
const NOTHING = { between: NaN, within: NaN } as const;

/**
 * Splits the variation of values into the part between groups and the part within groups.
 *
 * Differences are computed relative to a nearby value: relative to the smallest value for the means of groups, and
 * relative to the group's first value within a group. A large offset therefore costs no precision, and equal values
 * have a variation of exactly 0. Both parts are divided by the squared range to avoid overflow. This division does not
 * change the ratio of the parts.
 * @param values [n]; NaN is excluded
 * @param codes [n], the group of each value; values with a negative code are excluded
 * @param groups the number of groups
 * @returns `between` and `within` are NaN if there are no values or a value is infinite
 */
export function varianceParts(values: ArrayLike<number>, codes: ArrayLike<number>, groups: number): VarianceParts {
  const sizes = new Float64Array(groups);
  const origins = new Float64Array(groups);
  let [n, low, high] = [0, Infinity, -Infinity];
  for (let row = 0; row < values.length; row++) {
    const value = values[row] as number;
    const group = codes[row] as number;
    if (group < 0 || Number.isNaN(value)) continue;
    if (sizes[group] === 0) origins[group] = value;
    (sizes[group] as number) += 1;
    n += 1;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  const occupied = sizes.reduce((count, size) => count + Number(size > 0), 0);
  if (n === 0 || !Number.isFinite(low) || !Number.isFinite(high)) return { n, groups: occupied, ...NOTHING };
  if (low === high) return { n, groups: occupied, between: 0, within: 0 };
  const shifts = meanShifts(values, codes, { sizes, origins, low, high });
  return { n, groups: occupied, ...partsOf(values, codes, { sizes, origins, low, high }, shifts) };
}

interface Frame {
  readonly sizes: Float64Array;
  readonly origins: Float64Array;
  readonly low: number;
  readonly high: number;
}

/**
 * Returns the signed distance between two values, divided by the range. The operands are halved first, because the
 * range may exceed the largest double.
 */
function distance(value: number, from: number, { low, high }: Frame): number {
  return (value / 2 - from / 2) / (high / 2 - low / 2);
}

/** Computes the mean of each group minus the group's first value. */
function meanShifts(values: ArrayLike<number>, codes: ArrayLike<number>, frame: Frame): Float64Array {
  const shifts = new Float64Array(frame.sizes.length);
  for (let row = 0; row < values.length; row++) {
    const value = values[row] as number;
    const group = codes[row] as number;
    if (group < 0 || Number.isNaN(value)) continue;
    (shifts[group] as number) += distance(value, frame.origins[group] as number, frame);
  }
  return shifts.map((sum, group) => (frame.sizes[group] === 0 ? 0 : sum / (frame.sizes[group] as number)));
}

function partsOf(
  values: ArrayLike<number>,
  codes: ArrayLike<number>,
  frame: Frame,
  shifts: Float64Array,
): { between: number; within: number } {
  let within = 0;
  for (let row = 0; row < values.length; row++) {
    const value = values[row] as number;
    const group = codes[row] as number;
    if (group < 0 || Number.isNaN(value)) continue;
    within += (distance(value, frame.origins[group] as number, frame) - (shifts[group] as number)) ** 2;
  }
  const means = shifts.map((shift, group) => distance(frame.origins[group] as number, frame.low, frame) + shift);
  const { sizes } = frame;
  const n = sizes.reduce((sum, size) => sum + size, 0);
  const mean = means.reduce((sum, own, group) => sum + (sizes[group] as number) * own, 0) / n;
  const between = means.reduce((sum, own, group) => sum + (sizes[group] as number) * (own - mean) ** 2, 0);
  return { between, within };
}

/** The values of each group, summarised. */
export interface GroupMoments {
  /** [groups], the number of values. */
  readonly n: ArrayLike<number>;
  /** [groups] */
  readonly means: ArrayLike<number>;
  /** [groups], the sum of squared deviations from the mean of the group. */
  readonly squares: ArrayLike<number>;
}

/** Below this share of the squared range, a sum of squares is a rounding error of equal values. */
const ROUNDING = 1e-24;

/**
 * Returns the parts of {@link varianceParts} from the moments of each group.
 * @param range the largest value minus the smallest value, above 0. It may be the range of more values than those that
 *   have a group
 */
export function variancePartsOfMoments({ n, means, squares }: GroupMoments, range: number): VarianceParts {
  const sizes = Array.from(n);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const groups = sizes.filter((size) => size > 0).length;
  if (total === 0) return { n: total, groups, ...NOTHING };
  const origin = means[sizes.findIndex((size) => size > 0)] as number;
  const shifts = sizes.map((size, group) => (size === 0 ? 0 : ((means[group] as number) - origin) / range));
  const mean = shifts.reduce((sum, shift, group) => sum + (sizes[group] as number) * shift, 0) / total;
  const between = shifts.reduce((sum, shift, group) => sum + (sizes[group] as number) * (shift - mean) ** 2, 0);
  const within = sizes.reduce(
    (sum, size, group) => sum + (size === 0 ? 0 : (squares[group] as number) / range / range),
    0,
  );
  const exact = (part: number): number => (part < ROUNDING * total ? 0 : part);
  return { n: total, groups, between: exact(between), within: exact(within) };
}

/**
 * Computes eta squared: the share of the variation of values that lies between groups,
 *
 *     eta2 = sum_g n_g (mean_g - mean)^2 / sum (x - mean)^2,
 *
 * from 0 (equal means) to 1 (no variation within groups). Eta squared is not corrected for chance: for pure noise and k
 * groups, its mean is (k - 1) / (n - 1).
 * @returns from 0 to 1; NaN if there are fewer than two groups, if all values are equal, or if a value is infinite
 * @see R. Fisher, Statistical Methods for Research Workers (1925), section 45
 */
export function etaSquaredOf({ groups, between, within }: VarianceParts): number {
  return groups < 2 || between + within === 0 ? NaN : between / (between + within);
}
