import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import { createRandom } from '../../internal/random.ts';
import { requireInteger } from '../parameters.ts';

/** Options of {@link signFlipTest}. */
export interface SignFlipOptions {
  /**
   * The number of random sign patterns. The smallest possible p-value is 1 / (samples + 1). If at most `samples` + 1
   * different patterns exist, each pattern is evaluated once instead.
   * @defaultValue 4999
   */
  readonly samples?: number | undefined;
  /** @defaultValue 42 */
  readonly seed?: number | undefined;
}

const SIGN_FLIP_OPTION_NAMES: OptionNames<SignFlipOptions> = { samples: true, seed: true };

/** An upper bound on the rounding error of a sum, relative to the sum of absolute values. */
const ROUNDING = 1e-12;

/** The number of sign bits that one random number provides. */
const BITS = 26;

/**
 * Computes the two-sided p-value of a mean of paired differences by flipping their signs.
 *
 * If both values of every pair come from the same distribution, each difference is as likely as its negative. The
 * p-value is the share of sign patterns whose sum is at least as far from 0 as the observed sum. If at most `samples` +
 * 1 patterns exist, all 2^n patterns are evaluated. Otherwise, random patterns are drawn and the p-value is (1 + hits)
 * / (samples + 1), where hits is the number of drawn patterns whose sum is at least as far from 0 as the observed sum.
 * The test is exact for any distribution of the differences. The result is NaN if there are no differences, and 1 if
 * all differences are 0.
 * @param differences the first value minus the second for each pair; finite
 * @throws {ValueError} if an option is out of range
 * @see R. A. Fisher, The Design of Experiments (1935), section 21; B. Phipson and G. Smyth, Permutation p-values should
 *   never be zero (2010)
 * @example
 * ```ts
 * import { signFlipTest } from 'evenhand/stats';
 *
 * const crossedMinusSelfFertilised = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48];
 * console.log(signFlipTest(crossedMinusSelfFertilised, { samples: 2 ** 15 }).toFixed(4));
 * // 0.0527
 * ```
 */
export function signFlipTest(differences: ArrayLike<number>, options: SignFlipOptions = {}): number {
  assertKnownOptions('signFlipTest', options, SIGN_FLIP_OPTION_NAMES);
  const { samples = 4999, seed = 42 } = options;
  requireInteger('samples', samples, 1);
  requireInteger('seed', seed, Number.MIN_SAFE_INTEGER);
  const values = Float64Array.from(differences);
  if (values.length === 0) return NaN;
  const reach = values.reduce((sum, value) => sum + Math.abs(value), 0);
  const min = Math.abs(values.reduce((sum, value) => sum + value, 0)) - ROUNDING * reach;
  if (2 ** values.length <= samples + 1) return allPatterns(values, min);
  const random = createRandom(seed);
  let hits = 0;
  for (let sample = 0; sample < samples; sample++) {
    let sum = 0;
    let bits = 0;
    for (let index = 0; index < values.length; index++) {
      if (index % BITS === 0) bits = random.integer(2 ** BITS);
      const value = values[index] as number;
      sum += (bits & 1) === 1 ? value : -value;
      bits >>>= 1;
    }
    if (Math.abs(sum) >= min) hits++;
  }
  return (1 + hits) / (samples + 1);
}

function allPatterns(values: Float64Array, min: number): number {
  const patterns = 2 ** values.length;
  let hits = 0;
  for (let pattern = 0; pattern < patterns; pattern++) {
    let sum = 0;
    for (let index = 0; index < values.length; index++) {
      const value = values[index] as number;
      sum += (pattern >>> index) & 1 ? value : -value;
    }
    if (Math.abs(sum) >= min) hits++;
  }
  return hits / patterns;
}
