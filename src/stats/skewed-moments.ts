import type { Random } from '../internal/random.ts';
import { createGammaSampler } from './draw-gamma.ts';
import { createNormalSampler } from './draw-normal.ts';

/** Skewness under which a gamma law is drawn as a normal one; the means of 40 values differ by 2e-5 standard errors. */
const SYMMETRIC = 1e-4;

/** The mean and the variance of a drawn sample. */
export interface SampleMoments {
  /** (mean - true mean) / (true standard deviation / sqrt(n)). */
  deviation: number;
  /** Sample variance over the true variance. */
  varianceRatio: number;
}

/**
 * Draws the mean and the variance of n values of a skewed law together, without
 * drawing the values. The law is a gamma shifted and scaled to any mean and
 * variance, of shape k = 4 / skewness^2. Its sum S is gamma with shape N = n k
 * and independent of the coefficient of variation (Lukacs 1955), so that
 *
 *     deviation = (S - N) / sqrt(N),   varianceRatio = S^2 / (N (N + 1)) * Q,
 *
 * with Q of mean 1 independent of S: a scaled symmetric Dirichlet sum of
 * squares, drawn as a gamma with its exact first two moments, that is with shape
 * (n - 1) / 2 * (1 + 2 h / n) (1 + 3 h / n) / (1 + h), h = skewness^2 / 4. At
 * skewness 0 this is the normal mean and the chi-square variance.
 *
 * The same object is returned at every draw.
 * @param size n, above 1; fractions are allowed (effective rows)
 */
export function createMomentSampler(size: number, skewness: number, random: Random): () => Readonly<SampleMoments> {
  const moments: SampleMoments = { deviation: 0, varianceRatio: 1 };
  const h = (skewness * skewness) / 4;
  const shape = (((size - 1) / 2) * (1 + (2 * h) / size) * (1 + (3 * h) / size)) / (1 + h);
  const drawSpread = createGammaSampler(shape, random);
  if (Math.abs(skewness) < SYMMETRIC) {
    const drawNormal = createNormalSampler(random);
    return () => {
      moments.deviation = drawNormal();
      moments.varianceRatio = drawSpread() / shape;
      return moments;
    };
  }
  const total = size / h;
  const drawTotal = createGammaSampler(total, random);
  const scale = Math.sign(skewness) / Math.sqrt(total);
  return () => {
    const sum = drawTotal();
    moments.deviation = (sum - total) * scale;
    moments.varianceRatio = (((sum / total) * sum) / (total + 1)) * (drawSpread() / shape);
    return moments;
  };
}
