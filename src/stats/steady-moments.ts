import { sumOf } from '../internal/values.ts';

/**
 * If a group has this number of rows, its estimated skewness is the average of its own skewness and the mean skewness
 * of all groups.
 */
const ROWS_TO_TRUST_SKEWNESS = 200;

/**
 * Adjusts the skewness of each group for prediction. The skewness of a sample
 * - underestimates the skewness of the distribution: in samples of 40 and 200 half-normal, exponential and log-normal
 *   values, the median must be multiplied by about 1 + (6 + 4 g^2) / n, which is limited to 2;
 * - is mostly noise if there are few rows, so it is shrunk towards the mean over groups (weighted by rows) with weight
 *   200 / (n + 200);
 * - cannot exceed sqrt(n) for n rows, which also limits the result.
 */
export function steadySkewness(skewness: ArrayLike<number>, sizes: ArrayLike<number>): Float64Array {
  const lifted = Float64Array.from(sizes, (n, group) => {
    const g = skewness[group] as number;
    // Equal values have an undefined skewness, which counts as 0.
    return Number.isFinite(g) ? g * (1 + Math.min(1, (6 + 4 * g * g) / n)) : 0;
  });
  const mean = weightedMean(lifted, sizes);
  return lifted.map((own, group) => {
    const n = sizes[group] as number;
    const share = n / (n + ROWS_TO_TRUST_SKEWNESS);
    const bound = Math.sqrt(n);
    return Math.max(-bound, Math.min(bound, share * own + (1 - share) * mean));
  });
}

/**
 * Shrinks the variances of groups towards each other, as far as their differences can be explained by chance. The
 * logarithm of a sample variance of a gamma distribution has variance about e = (2 + 1.5 skewness^2) / (n - 1).
 * Variation of the logarithms beyond this noise (DerSimonian and Laird 1986) is treated as a true difference between
 * groups. Each logarithm is moved towards the weighted mean by the share of noise in its variance. Variances of 0 do
 * not change.
 */
export function steadyVariances(
  variances: ArrayLike<number>,
  skewness: ArrayLike<number>,
  sizes: ArrayLike<number>,
): Float64Array {
  const steady = Float64Array.from(variances);
  const groups = Array.from(steady.keys()).filter((group) => (steady[group] as number) > 0);
  if (groups.length < 2) return steady;
  const logs = groups.map((group) => Math.log(steady[group] as number));
  const noise = groups.map((group) => (2 + 1.5 * (skewness[group] as number) ** 2) / ((sizes[group] as number) - 1));
  const between = varianceBetween(logs, noise);
  const centre = weightedMean(
    logs,
    noise.map((e) => 1 / (e + between)),
  );
  groups.forEach((group, index) => {
    const share = between / (between + (noise[index] as number));
    steady[group] = Math.exp(centre + ((logs[index] as number) - centre) * share);
  });
  return steady;
}

/** Estimates the part of the variance of values that exceeds their noise, by the method of moments. */
function varianceBetween(values: readonly number[], noise: readonly number[]): number {
  const weights = noise.map((e) => 1 / e);
  const mean = weightedMean(values, weights);
  let total = 0;
  let squares = 0;
  let excess = 1 - values.length;
  weights.forEach((weight, index) => {
    total += weight;
    squares += weight * weight;
    excess += weight * ((values[index] as number) - mean) ** 2;
  });
  return Math.max(0, excess / (total - squares / total));
}

function weightedMean(values: ArrayLike<number>, weights: ArrayLike<number>): number {
  let sum = 0;
  for (let index = 0; index < values.length; index++) sum += (values[index] as number) * (weights[index] as number);
  return sum / sumOf(weights);
}
