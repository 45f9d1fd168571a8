import type { Random } from '../internal/random.ts';
import { stirlingError } from './stirling-error.ts';

/**
 * The search stops if the next two probabilities sum to at most this value, because a random number is not precise
 * enough to distinguish such small probabilities.
 */
const NEGLIGIBLE = 1e-20;

/** A distribution on integers with probabilities that decrease on both sides of a mode. */
export interface UnimodalLaw {
  /** The smallest value with a positive probability. */
  readonly first: number;
  /** The largest value with a positive probability. */
  readonly last: number;
  readonly mode: number;
  /** The probability of the mode. */
  readonly peak: number;
  /** Returns the ratio p(k + 1) / p(k), for k below `last`. */
  ratioUp(k: number): number;
  /** Returns the ratio p(k - 1) / p(k), for k above `first`. */
  ratioDown(k: number): number;
}

/**
 * Draws once by inversion: probabilities are subtracted from a uniform random number until it is negative. The
 * subtraction starts at the mode and continues outward, alternately above and below the mode. A draw uses one random
 * number. The average number of steps is about 1.6 standard deviations. The draw is exact up to rounding: a probability
 * of less than 1e-12 may be wrongly assigned to the mode.
 */
export function drawOutward(law: UnimodalLaw, random: Random): number {
  const { first, last, mode } = law;
  let above = mode;
  let below = mode;
  let atAbove = law.peak;
  let atBelow = law.peak;
  let left = random.next() - law.peak;
  if (left < 0) return mode;
  while (atAbove + atBelow > NEGLIGIBLE) {
    atAbove *= above < last ? law.ratioUp(above) : 0;
    left -= atAbove;
    above++;
    if (left < 0) return above;
    atBelow *= below > first ? law.ratioDown(below) : 0;
    left -= atBelow;
    below--;
    if (left < 0) return below;
  }
  return mode;
}

/**
 * Computes the probability of k successes in n trials, C(n, k) p^k (1 - p)^(n - k). The relative error is about 1e-14
 * for k near the mean, for any n.
 *
 * Differences of log-factorials would lose precision by cancellation: for a million trials, the relative error would be
 * about 1e-9. Loader (2000, "Fast and accurate computation of binomial probabilities") writes the probability as sqrt(n
 * / (2 pi k (n - k))) exp(s(n) - s(k) - s(n - k) - D). Here, s is the error of Stirling's formula, and D = k log(k /
 * np) + (n - k) log((n - k) / nq), with q = 1 - p, is the deviance, which is small near the mean.
 * @param successes k, an integer from 0 to n
 * @param trials n, an integer of 1 or more
 * @param rate p, strictly between 0 and 1
 */
export function binomialProbability(successes: number, trials: number, rate: number): number {
  const failures = trials - successes;
  if (successes === 0) return Math.exp(trials * Math.log1p(-rate));
  if (failures === 0) return Math.exp(trials * Math.log(rate));
  // With d = np - k, np = k + d and nq = (n - k) - d. The two linear terms cancel.
  const distance = trials * rate - successes;
  const deviance = -successes * Math.log1p(distance / successes) - failures * Math.log1p(-distance / failures);
  const correction = stirlingError(trials) - stirlingError(successes) - stirlingError(failures);
  return Math.sqrt(trials / (2 * Math.PI * successes * failures)) * Math.exp(correction - deviance);
}
