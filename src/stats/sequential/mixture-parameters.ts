import { invalidParameter, type OptionNames } from '../../internal/arguments.ts';
import { requireCount, requireLevel } from '../parameters.ts';

/** Options that determine where a mixture boundary is tightest. */
export interface MixtureOptions {
  /** The intrinsic time (variance process) at which the boundary is tightest. This time must be above 0. */
  readonly vOpt: number;
  /**
   * The error rate for which the boundary is tuned: below 0.5 for a one-sided boundary, and below 1 for a two-sided
   * boundary.
   * @defaultValue 0.05
   */
  readonly alphaOpt?: number;
}

/** Lists the options of {@link MixtureOptions}. */
export const MIXTURE_OPTION_NAMES: OptionNames<MixtureOptions> = { vOpt: true, alphaOpt: true };

/**
 * Computes the tuning parameter rho for which a two-sided normal mixture is nearly tightest at a given time: v / (2
 * ln(1 / alpha) + ln(1 + 2 ln(1 / alpha))).
 * @param v the intrinsic time, above 0
 * @param alpha in (0, 1)
 * @throws {ValueError} if a number is out of range
 * @see S. R. Howard, A. Ramdas, J. McAuliffe, J. Sekhon, Time-uniform, nonparametric, nonasymptotic confidence
 *   sequences (2021), section 3.5
 * @example
 * ```ts
 * import { twoSidedNormalBestRho } from 'evenhand/stats';
 *
 * console.log(twoSidedNormalBestRho(100, 0.05).toFixed(4));
 * // 12.6006
 * ```
 */
export function twoSidedNormalBestRho(v: number, alpha: number): number {
  requirePositive('v', v);
  requireLevel('alpha', alpha);
  return bestRho(v, alpha);
}

/**
 * Returns rho from the options of a mixture. A one-sided boundary at alpha is tuned like a two-sided boundary at 2
 * alpha.
 */
export function rhoFrom({ vOpt, alphaOpt = 0.05 }: MixtureOptions, sides: 1 | 2): number {
  requirePositive('vOpt', vOpt);
  if (sides === 2) {
    requireLevel('alphaOpt', alphaOpt);
    return bestRho(vOpt, alphaOpt);
  }
  if (!(alphaOpt > 0 && alphaOpt < 0.5)) {
    throw invalidParameter('alphaOpt', 'be a number between 0 and 0.5, both excluded, for one side', alphaOpt);
  }
  return bestRho(vOpt, 2 * alphaOpt);
}

/** Checks that a number is finite and above 0. */
export function requirePositive(parameter: string, given: number): void {
  if (!(given > 0 && given < Infinity)) throw invalidParameter(parameter, 'be a finite number above 0', given);
}

/** Checks the arguments that all log-mixtures have: a sum s and its intrinsic time v. */
export function requireSumAndTime(s: number, v: number): void {
  if (!Number.isFinite(s)) throw invalidParameter('s', 'be a finite number', s);
  requireCount('v', v);
}

/** Checks the arguments that all boundaries have. */
export function requireTimeAndLevel(v: number, alpha: number): void {
  requireCount('v', v);
  requireLevel('alpha', alpha);
}

function bestRho(v: number, alpha: number): number {
  const twice = 2 * Math.log(1 / alpha);
  return v / (twice + Math.log1p(twice));
}
