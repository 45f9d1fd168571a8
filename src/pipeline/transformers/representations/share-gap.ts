/** A gap and its slopes. */
export interface ShareGap {
  readonly value: number;
  /** [groups, prototypes]. */
  readonly slopes: Float64Array;
}

/**
 * How far groups' mean memberships are apart: over prototypes and groups, the
 * mean of twice the distance from the groups' mean; for two groups the mean of
 * |difference|. A distance d counts as sqrt(d^2 + s^2) - s.
 * @param means [groups, prototypes]
 * @param count the number of prototypes
 * @param smoothing s, 0 or more
 */
export function shareGap(means: Float64Array, count: number, smoothing: number): ShareGap {
  const groupCount = means.length / count;
  const slopes = new Float64Array(means.length);
  let value = 0;
  for (let k = 0; k < count; k++) {
    let centre = 0;
    for (let g = 0; g < groupCount; g++) centre += (means[g * count + k] as number) / groupCount;
    let slopeOfCentre = 0;
    for (let g = 0; g < groupCount; g++) {
      const gap = 2 * ((means[g * count + k] as number) - centre);
      const length = Math.sqrt(gap * gap + smoothing * smoothing);
      value += (length - smoothing) / means.length;
      const slope = length > 0 ? (2 * gap) / (length * means.length) : 0;
      slopes[g * count + k] = slope;
      slopeOfCentre += slope / groupCount;
    }
    for (let g = 0; g < groupCount; g++) slopes[g * count + k] = (slopes[g * count + k] as number) - slopeOfCentre;
  }
  return { value, slopes };
}
