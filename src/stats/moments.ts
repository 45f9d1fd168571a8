/**
 * Weighted moments of values per group, each array of shape [groups]: the mean, and the centred sums m2 = sum w (x -
 * mean)^2 and m3 = sum w (x - mean)^3. Centred sums avoid the cancellation errors of raw sums of squares. If a group
 * has a total weight of 0, all its moments are 0.
 */
export interface Moments {
  readonly mean: Float64Array;
  readonly m2: Float64Array;
  readonly m3: Float64Array;
}

/** Returns the moments of an empty set of values. */
export function emptyMoments(groups: number): Moments {
  return { mean: new Float64Array(groups), m2: new Float64Array(groups), m3: new Float64Array(groups) };
}

/**
 * Computes the moments of each group in two passes: first the means, then the centred sums.
 * @param values [n]
 * @param codes [n], the group of each value; values with a negative code are excluded
 * @param weights [n], or undefined for weights of one
 * @param groups the number of groups
 */
export function groupMoments(
  values: ArrayLike<number>,
  codes: ArrayLike<number>,
  weights: ArrayLike<number> | undefined,
  groups: number,
): Moments {
  const total = new Float64Array(groups);
  const { mean, m2, m3 } = emptyMoments(groups);
  for (let row = 0; row < values.length; row++) {
    const group = codes[row] as number;
    if (group < 0) continue;
    const weight = weights === undefined ? 1 : (weights[row] as number);
    total[group] = (total[group] as number) + weight;
    mean[group] = (mean[group] as number) + weight * (values[row] as number);
  }
  for (let group = 0; group < groups; group++) {
    mean[group] = total[group] === 0 ? 0 : (mean[group] as number) / (total[group] as number);
  }
  for (let row = 0; row < values.length; row++) {
    const group = codes[row] as number;
    if (group < 0) continue;
    const weight = weights === undefined ? 1 : (weights[row] as number);
    const deviation = (values[row] as number) - (mean[group] as number);
    const square = weight * deviation * deviation;
    m2[group] = (m2[group] as number) + square;
    m3[group] = (m3[group] as number) + square * deviation;
  }
  return { mean, m2, m3 };
}

/** The moments of one group, as numbers. */
export interface GroupMoments {
  readonly weight: number;
  readonly mean: number;
  readonly m2: number;
  readonly m3: number;
}

/** Merges the moments of two sets of values (Chan, Golub and LeVeque 1979; for the third moment Pébay 2008). */
export function mergeMoments(a: GroupMoments, b: GroupMoments): GroupMoments {
  const weight = a.weight + b.weight;
  if (b.weight === 0) return a;
  if (a.weight === 0) return b;
  const delta = b.mean - a.mean;
  const share = (a.weight * b.weight) / weight;
  return {
    weight,
    mean: a.mean + (delta * b.weight) / weight,
    m2: a.m2 + b.m2 + delta * delta * share,
    m3:
      a.m3 +
      b.m3 +
      (delta ** 3 * share * (a.weight - b.weight)) / weight +
      (3 * delta * (a.weight * b.m2 - b.weight * a.m2)) / weight,
  };
}

/** If a subtraction leaves less than this share of a sum of squares, the rest is treated as a rounding error. */
const NOTHING_LEFT = 1e-13;

/** Returns the moments of `complete` without `part`. This function is the inverse of {@link mergeMoments}. */
export function removeMoments(complete: GroupMoments, part: GroupMoments): GroupMoments {
  const weight = complete.weight - part.weight;
  if (part.weight === 0) return complete;
  if (weight <= 0) return { weight: 0, mean: 0, m2: 0, m3: 0 };
  const mean = (complete.mean * complete.weight - part.mean * part.weight) / weight;
  const delta = part.mean - mean;
  const share = (weight * part.weight) / complete.weight;
  const left = complete.m2 - part.m2 - delta * delta * share;
  const m2 = left > NOTHING_LEFT * complete.m2 ? left : 0;
  return {
    weight,
    mean,
    m2,
    m3:
      complete.m3 -
      part.m3 -
      (delta ** 3 * share * (weight - part.weight)) / complete.weight -
      (3 * delta * (weight * part.m2 - part.weight * m2)) / complete.weight,
  };
}
