import { assertKnownOptions, invalidParameter, type OptionNames } from '../internal/arguments.ts';
import { criticalValue, normalQuantile } from './normal.ts';
import { requireCount, requireLevel, requireRate } from './parameters.ts';

/** The number of bisection steps. With this number of steps, a gap of at most 1 is exact to the last bit. */
const HALVINGS = 60;

/** Options of the test for which a detectable gap is computed. */
export interface DetectionOptions {
  /** Confidence level of the two-sided test, in (0, 1). */
  readonly level: number;
  /**
   * The required probability of detection, from 0.5 to below 1.
   * @defaultValue 0.8
   */
  readonly power?: number;
  /**
   * The number of comparisons that share the error rate 1 - level (Bonferroni), 1 or more.
   * @defaultValue 1
   */
  readonly comparisons?: number;
}

const DETECTION_OPTION_NAMES: OptionNames<DetectionOptions> = { level: true, power: true, comparisons: true };

/** Options of {@link minimumDetectableGap}: a comparison of two rates. */
export interface DetectableGapOptions extends DetectionOptions {
  /** The pooled rate of both groups. */
  readonly rate: number;
  /** The trials of the group with the higher rate. Fractions are allowed (effective counts). */
  readonly trialsA: number;
  /** The trials of the group with the lower rate. */
  readonly trialsB: number;
}

const DETECTABLE_GAP_OPTION_NAMES: OptionNames<DetectableGapOptions> = {
  ...DETECTION_OPTION_NAMES,
  rate: true,
  trialsA: true,
  trialsB: true,
};

/** Options of {@link minimumDetectableMeanGap}: a comparison of two means. */
export interface DetectableMeanGapOptions extends DetectionOptions {
  readonly standardErrorA: number;
  readonly standardErrorB: number;
}

const DETECTABLE_MEAN_GAP_OPTION_NAMES: OptionNames<DetectableMeanGapOptions> = {
  ...DETECTION_OPTION_NAMES,
  standardErrorA: true,
  standardErrorB: true,
};

/** The rates of two groups, higher rate first. */
type Rates = readonly [rateA: number, rateB: number];

/**
 * Computes the smallest gap between two rates that a two-sided z test with the given group sizes detects with a given
 * power.
 *
 * Solves g = z_crit sqrt(p q (1/nA + 1/nB)) + z_power sqrt(pA qA / nA + pB qB / nB) for the gap g = pA - pB. The given
 * `rate` is the pooled rate p = (nA pA + nB pB) / (nA + nB), so pA = p + g nB / (nA + nB) and pB = p - g nA / (nA +
 * nB). If one of the two rates would leave [0, 1], this rate is set to the bound. The other rate is then set so that
 * the gap is g, and the pooled rate changes accordingly. As in R's power.prop.test, rejections in the wrong direction
 * do not count as power.
 *
 * If the sizes differ, the result depends on which group has the higher rate. To cover both cases, compute the gap for
 * both orders and use the larger gap.
 * @returns a gap in (0, 1]; null if even rates of 1 and 0 cannot be distinguished, if a group is empty, or if the rate
 *   is NaN
 * @throws {ValueError} if the rate, the trials, the level, the power or the number of comparisons is out of range
 * @see J. Fleiss, B. Levin, M. Paik, Statistical Methods for Rates and Proportions (2003), chapter 4
 * @example
 * ```ts
 * import { minimumDetectableGap } from 'evenhand/stats';
 *
 * const gap = minimumDetectableGap({ rate: 0.5, trialsA: 400, trialsB: 400, level: 0.95 });
 * console.log(gap?.toFixed(4));
 * // 0.0989
 * ```
 */
export function minimumDetectableGap(options: DetectableGapOptions): number | null {
  assertKnownOptions('minimumDetectableGap', options, DETECTABLE_GAP_OPTION_NAMES);
  const { rate } = options;
  if (!Number.isNaN(rate)) requireRate('rate', rate);
  const trialsA = requireCount('trialsA', options.trialsA);
  const trialsB = requireCount('trialsB', options.trialsB);
  const critical = criticalValues(options);
  if (Number.isNaN(rate) || trialsA === 0 || trialsB === 0) return null;
  const shareA = trialsA / (trialsA + trialsB);

  const isDetected = (gap: number): boolean =>
    gap > detectable(ratesWith(gap, rate, shareA), trialsA, trialsB, critical);
  if (!isDetected(1)) return null;
  // The gap minus the detectable gap consists of two convex functions: one up to the gap at which a rate reaches its
  // bound, one from there on. Both are at most 0 for a gap of 0, so that they remain positive once they are positive.
  return bisect(isDetected, 0, 1);
}

/**
 * Computes the smallest gap between two means that a two-sided z test detects with a given power: (z_crit + z_power)
 * sqrt(seA^2 + seB^2).
 * @returns a gap of 0 or more, in the units of the means; NaN if a standard error is NaN
 * @throws {ValueError} if a standard error is negative, or the level, the power or the number of comparisons is out of
 *   range
 * @see J. Cohen, Statistical Power Analysis for the Behavioral Sciences (1988), chapter 2
 * @example
 * ```ts
 * import { minimumDetectableMeanGap } from 'evenhand/stats';
 *
 * const gap = minimumDetectableMeanGap({ standardErrorA: 0.3, standardErrorB: 0.4, level: 0.95 });
 * console.log(gap.toFixed(3));
 * // 1.401
 * ```
 */
export function minimumDetectableMeanGap(options: DetectableMeanGapOptions): number {
  assertKnownOptions('minimumDetectableMeanGap', options, DETECTABLE_MEAN_GAP_OPTION_NAMES);
  const { standardErrorA, standardErrorB } = options;
  for (const [parameter, given] of Object.entries({ standardErrorA, standardErrorB })) {
    if (given < 0) throw invalidParameter(parameter, 'be a number of at least 0', given);
  }
  const { ofTest, ofPower } = criticalValues(options);
  return (ofTest + ofPower) * Math.hypot(standardErrorA, standardErrorB);
}

interface CriticalValues {
  readonly ofTest: number;
  readonly ofPower: number;
}

function criticalValues({ level, power = 0.8, comparisons = 1 }: DetectionOptions): CriticalValues {
  requireLevel('level', level);
  // If the power is below 0.5, z_power is negative, and the equation may have no solution or two solutions.
  if (!(power >= 0.5 && power < 1)) throw invalidParameter('power', 'be a number from 0.5 to below 1', power);
  if (!(comparisons >= 1)) throw invalidParameter('comparisons', 'be a number of at least 1', comparisons);
  return {
    ofTest: criticalValue(1 - (1 - level) / comparisons),
    ofPower: normalQuantile(power),
  };
}

/**
 * Returns two rates with a gap around a pooled rate. If one rate reaches a bound, the other rate is set so that the gap
 * remains the same.
 */
function ratesWith(gap: number, rate: number, shareA: number): Rates {
  const higher = rate + gap * (1 - shareA);
  if (higher > 1) return [1, 1 - gap];
  const lower = rate - gap * shareA;
  return lower < 0 ? [gap, 0] : [higher, lower];
}

/** Returns the gap that a test detects if the variances of the rates are computed at the given rates. */
function detectable([rateA, rateB]: Rates, trialsA: number, trialsB: number, critical: CriticalValues): number {
  const pooled = (rateA * trialsA + rateB * trialsB) / (trialsA + trialsB);
  const underNull = pooled * (1 - pooled) * (1 / trialsA + 1 / trialsB);
  const underGap = (rateA * (1 - rateA)) / trialsA + (rateB * (1 - rateB)) / trialsB;
  return critical.ofTest * Math.sqrt(underNull) + critical.ofPower * Math.sqrt(underGap);
}

/** Returns the point at which a condition becomes true. The condition is false at `low` and true at `high`. */
function bisect(holds: (value: number) => boolean, low: number, high: number): number {
  let [without, withIt] = [low, high];
  for (let halving = 0; halving < HALVINGS; halving++) {
    const middle = (without + withIt) / 2;
    if (holds(middle)) withIt = middle;
    else without = middle;
  }
  return withIt;
}
