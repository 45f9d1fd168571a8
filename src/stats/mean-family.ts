import type { Random } from '../internal/random.ts';
import { type GapFamily, spread } from './gap-family.ts';
import { createNormalSampler } from './normal.ts';
import { steadySkewness, steadyVariances } from './steady-moments.ts';

/**
 * If the skewness of values is below this value, they are treated as normal instead of gamma distributed. For 40
 * values, this replacement changes the means by 2e-5 standard errors.
 */
const SYMMETRIC = 1e-4;

/** The mean and the variance of a drawn sample. */
interface SampleMoments {
  /** (mean - true mean) / (true standard deviation / sqrt(n)). */
  deviation: number;
  /** The sample variance divided by the true variance. */
  varianceRatio: number;
}

/**
 * Draws the mean and the variance of n values of a skewed distribution jointly, without drawing the values. The values
 * have a gamma distribution of shape k = 4 / skewness^2, shifted and scaled to any mean and variance. The sum S of the
 * values has a gamma distribution of shape N = n k and is independent of the coefficient of variation (Lukacs 1955), so
 * that
 *
 *     deviation = (S - N) / sqrt(N),   varianceRatio = S^2 / (N (N + 1)) * Q,
 *
 * where Q has mean 1 and is independent of S. Q is a scaled symmetric Dirichlet sum of squares. Instead of Q, a gamma
 * variable with the exact first two moments of Q is drawn. The shape of this gamma distribution is (n - 1) / 2 * (1 + 2
 * h / n) (1 + 3 h / n) / (1 + h), h = skewness^2 / 4. At skewness 0, this gives the normal mean and the chi-square
 * variance.
 *
 * Every draw overwrites and returns the same object.
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

/**
 * Returns a sampler of the gamma distribution with scale 1 that uses rejection from a cubed normal (Marsaglia and Tsang
 * 2000). For a shape below 1, a draw at shape + 1 is multiplied by U^(1 / shape), where U is uniform. The sampler is
 * exact and uses about one normal and one uniform number per draw.
 * @param shape above 0
 */
export function createGammaSampler(shape: number, random: Random): () => number {
  if (shape < 1) {
    const draw = createGammaSampler(shape + 1, random);
    return () => draw() * (1 - random.next()) ** (1 / shape);
  }
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  const drawNormal = createNormalSampler(random);
  return () => {
    for (;;) {
      const normal = drawNormal();
      const root = 1 + c * normal;
      if (root <= 0) continue;
      const cube = root * root * root;
      const square = normal * normal;
      const uniform = 1 - random.next();
      // This squeeze test avoids the logarithms for most draws.
      if (uniform < 1 - 0.0331 * square * square) return d * cube;
      if (Math.log(uniform) < 0.5 * square + d - d * cube + d * Math.log(cube)) return d * cube;
    }
  };
}

/** Means of several groups with their standard errors. */
export interface MeanFamily {
  readonly kind: 'means';
  readonly means: ArrayLike<number>;
  readonly standardErrors: ArrayLike<number>;
  /** The effective number of rows of each group. If undefined, the standard errors are treated as known. */
  readonly sizes?: ArrayLike<number> | undefined;
  /** The skewness m3 / m2^1.5 of the values of each group; 0 by default. */
  readonly skewness?: ArrayLike<number> | undefined;
  /**
   * The largest possible gap (1 for AUC).
   * @defaultValue Infinity
   */
  readonly ceiling?: number | undefined;
}

/** Returns the gap family of differences of means, in [0, ceiling]. */
export function estimateMeans(family: MeanFamily, random: Random): GapFamily {
  const { means, standardErrors, sizes, ceiling = Infinity } = family;
  const unit = unitOf(means, standardErrors);
  const centres = Float64Array.from(means, (mean) => (mean - (means[0] as number)) / unit);
  const variances = Float64Array.from(standardErrors, (error) => (error / unit) ** 2);
  return {
    centres,
    variances,
    degrees: sizes === undefined ? undefined : Float64Array.from(sizes, (n) => n - 1),
    point: spread(means),
    ceiling,
    unit,
    draw:
      sizes === undefined
        ? drawKnownErrors(centres, variances, random)
        : drawSamples(centres, variances, sizes, family.skewness, random),
  };
}

/** Returns the largest of the gap and the standard errors, or 1 if that value is 0 or not finite. */
function unitOf(means: ArrayLike<number>, standardErrors: ArrayLike<number>): number {
  const largest = Math.max(spread(means), spread([0, ...Array.from(standardErrors)]));
  return largest > 0 && Number.isFinite(largest) ? largest : 1;
}

function drawKnownErrors(centres: Float64Array, variances: Float64Array, random: Random): GapFamily['draw'] {
  const errors = variances.map(Math.sqrt);
  const drawNormal = createNormalSampler(random);
  return (intoCentres, intoVariances) => {
    for (let group = 0; group < centres.length; group++) {
      intoCentres[group] = (centres[group] as number) + (errors[group] as number) * drawNormal();
    }
    intoVariances.set(variances);
  };
}

/**
 * Returns a function that draws each group's mean and variance from a gamma sample with the group's moments. The
 * skewness and the ratio of variances are shrunk first. Both quantities are only nuisance parameters of the
 * distribution of |t|, and noise in them would widen this distribution.
 */
function drawSamples(
  centres: Float64Array,
  variances: Float64Array,
  sizes: ArrayLike<number>,
  skewness: ArrayLike<number> | undefined,
  random: Random,
): GapFamily['draw'] {
  const shapes = steadySkewness(skewness ?? new Float64Array(centres.length), sizes);
  const ofValues = variances.map((variance, group) => variance * (sizes[group] as number));
  const drawn = steadyVariances(ofValues, shapes, sizes).map((variance, group) => variance / (sizes[group] as number));
  const errors = drawn.map(Math.sqrt);
  const samplers = Array.from(shapes, (shape, group) => createMomentSampler(sizes[group] as number, shape, random));
  return (intoCentres, intoVariances) => {
    for (let group = 0; group < samplers.length; group++) {
      const { deviation, varianceRatio } = (samplers[group] as (typeof samplers)[number])();
      intoCentres[group] = (centres[group] as number) + (errors[group] as number) * deviation;
      intoVariances[group] = (drawn[group] as number) * varianceRatio;
    }
  };
}
