import { type GapFamily, normalOfT, tOfNormal, welchDegrees } from './gap-family.ts';

/**
 * Draws the maximum of |t*| for each replicate, over all pairs of groups of all families. |t*| is |d*_ij - d_ij| /
 * se*_ij with newly drawn centres and variances. Takes O(samples x pairs) time.
 */
export function drawMaxT(families: readonly GapFamily[], samples: number): Float64Array {
  const drawn = families.map((family) => ({
    family,
    centres: new Float64Array(family.centres.length),
    variances: new Float64Array(family.centres.length),
  }));
  const maxima = new Float64Array(samples);
  for (let sample = 0; sample < samples; sample++) {
    let largest = 0;
    for (const { family, centres, variances } of drawn) {
      family.draw(centres, variances);
      for (let group = 0; group < centres.length; group++) {
        centres[group] = (centres[group] as number) - (family.centres[group] as number);
      }
      largest = Math.max(largest, largestSquare(centres, variances));
    }
    maxima[sample] = Math.sqrt(largest);
  }
  return maxima;
}

/**
 * Returns max |t| over all pairs, where |t| = |c_i - c_j| / sqrt(v_i + v_j). The result is 0 for equal centres, even if
 * the variances are 0.
 */
export function largestT(centres: Float64Array, variances: Float64Array): number {
  return Math.sqrt(largestSquare(centres, variances));
}

/** Returns the square of {@link largestT}, which needs one square root in total instead of one per pair. */
function largestSquare(centres: Float64Array, variances: Float64Array): number {
  let largest = 0;
  for (let i = 1; i < centres.length; i++) {
    const centre = centres[i] as number;
    const variance = variances[i] as number;
    for (let j = 0; j < i; j++) {
      const difference = centre - (centres[j] as number);
      if (difference === 0) continue;
      const square = (difference * difference) / (variance + (variances[j] as number));
      if (square > largest) largest = square;
    }
  }
  return largest;
}

/**
 * Returns max |t| over all pairs on the scale of the normal distribution. The function uses Welch's t if the family has
 * degrees of freedom.
 */
export function largestNormal({ centres, variances, degrees }: GapFamily): number {
  if (degrees === undefined) return largestT(centres, variances);
  // A pair has at most as many degrees of freedom as its two groups together. With more degrees of freedom, the same t
  // has a smaller tail probability.
  const maxDegrees = 2 * degrees.reduce((most, df) => Math.max(most, df), 0);
  let largest = 0;
  let minToWin = 0;
  for (let i = 1; i < centres.length; i++) {
    for (let j = 0; j < i; j++) {
      const vi = variances[i] as number;
      const vj = variances[j] as number;
      const difference = Math.abs((centres[i] as number) - (centres[j] as number));
      if (difference === 0) continue;
      if (vi + vj === 0) return Infinity;
      const t = difference / Math.sqrt(vi + vj);
      if (t <= minToWin) continue;
      const z = normalOfT(t, welchDegrees(vi, degrees[i] as number, vj, degrees[j] as number));
      if (z <= largest) continue;
      largest = z;
      minToWin = tOfNormal(z, maxDegrees);
    }
  }
  return largest;
}
