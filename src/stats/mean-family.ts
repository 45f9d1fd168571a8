import type { Random } from '../internal/random.ts';
import { createNormalSampler } from './draw-normal.ts';
import { type GapFamily, spread } from './gap-family.ts';
import { createMomentSampler } from './skewed-moments.ts';
import { steadySkewness, steadyVariances } from './steady-moments.ts';

/** Means of several groups with their standard errors. */
export interface MeanFamily {
  readonly kind: 'means';
  readonly means: ArrayLike<number>;
  readonly standardErrors: ArrayLike<number>;
  /** Effective rows of each group; without them the standard errors are taken as known. */
  readonly sizes?: ArrayLike<number> | undefined;
  /** Skewness m3 / m2^1.5 of the values of each group; 0 unless given. */
  readonly skewness?: ArrayLike<number> | undefined;
  /**
   * Largest possible gap (1 for AUC).
   * @defaultValue Infinity
   */
  readonly ceiling?: number | undefined;
}

/** Differences of means, in [0, ceiling]. */
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

/** The largest of the gap and the standard errors. */
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
 * Draws each group's mean and variance as of a gamma sample with the group's
 * moments. Skewness and the ratio of variances are steadied first: they are only
 * the nuisance parameters of the law of |t|, and their noise would widen it.
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
