import type { Random } from '../internal/random.ts';

/** Below this the rest of a distribution is less than a random number can tell apart. */
const NEGLIGIBLE = 1e-20;

/** A distribution on whole numbers whose probabilities fall to both sides of a mode. */
export interface UnimodalLaw {
  /** The least value that has a probability. */
  readonly first: number;
  /** The largest one. */
  readonly last: number;
  readonly mode: number;
  /** The probability of the mode. */
  readonly peak: number;
  /** p(k + 1) / p(k), for k below `last`. */
  ratioUp(k: number): number;
  /** p(k - 1) / p(k), for k above `first`. */
  ratioDown(k: number): number;
}

/**
 * One draw by inversion: probabilities are taken from a uniform number, that of
 * the mode first and then outward, one above and one below in turn, until it is
 * used up. Takes one random number and expects about 1.6 standard deviations
 * steps; exact to rounding, and the less than 1e-12 that rounding may leave
 * goes to the mode.
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
