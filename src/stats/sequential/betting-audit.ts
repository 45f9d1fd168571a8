import { DataValidationError } from '../../exceptions/index.ts';
import { assertKnownOptions, invalidParameter, type OptionNames } from '../../internal/arguments.ts';
import { requireLevel } from '../parameters.ts';
import { type BettingOptions, BettingProcess } from './betting-process.ts';

/** Options of {@link bettingAudit}. */
export interface BettingAuditOptions {
  /**
   * The probability of ever rejecting a true hypothesis, in (0, 1).
   * @defaultValue 0.05
   */
  readonly alpha?: number;
  /**
   * The tolerated difference of means, in [0, 1). If epsilon is above 0, the audit runs two one-sided processes, each
   * with alpha / 2.
   * @defaultValue 0
   */
  readonly epsilon?: number;
  /**
   * Whether to skip the first pair, as the authors' published code does. If the first pair is skipped, indices count
   * from the second pair.
   * @defaultValue false
   */
  readonly skipFirstPair?: boolean;
}

const BETTING_AUDIT_OPTION_NAMES: OptionNames<BettingAuditOptions> = {
  alpha: true,
  epsilon: true,
  skipFirstPair: true,
};

/** The wealth and the bets of one betting process over all pairs. */
export interface BettingPath {
  /** The wealth after each pair. */
  readonly wealth: readonly number[];
  /** The bet on each pair, set before the pair was seen. */
  readonly bets: readonly number[];
  /**
   * The index of the first pair after which the wealth is above the threshold, counted from 0; null if the wealth never
   * exceeds the threshold.
   */
  readonly rejectIndex: number | null;
}

/** An audit of the hypothesis that both means are equal. */
export interface BettingAudit extends BettingPath {
  readonly kind: 'equal';
  /** The number of pairs. */
  readonly n: number;
  readonly alpha: number;
  readonly epsilon: number;
  /** The threshold of the wealth: 1 / alpha. */
  readonly threshold: number;
}

/** An audit of the hypothesis that the means differ by at most epsilon. */
export interface TolerantBettingAudit {
  readonly kind: 'within-epsilon';
  /** The number of pairs. */
  readonly n: number;
  readonly alpha: number;
  readonly epsilon: number;
  /** The threshold of the wealth: 2 / alpha, because there are two processes. */
  readonly threshold: number;
  /** The process against the hypothesis that the mean of a exceeds the mean of b by at most epsilon. */
  readonly aMinusB: BettingPath;
  /** The process against the hypothesis that the mean of b exceeds the mean of a by at most epsilon. */
  readonly bMinusA: BettingPath;
  /**
   * The index of the first pair after which the wealth of either process is above the threshold; null if there is no
   * such pair.
   */
  readonly rejectIndex: number | null;
}

/**
 * Performs the betting audit of two groups whose outcomes come in pairs. A process bets against equal means. If the
 * means are equal, the probability that its wealth ever exceeds 1 / alpha is at most alpha, for any number of checks
 * and any stopping rule.
 *
 * If the tolerance epsilon is 0, the outcome of a pair is g = a - b, and the bets lie in [-1/2, 1/2]. If epsilon is
 * above 0, the outcomes are a - b - epsilon and b - a - epsilon, and the bets lie in [-1/2, 0]. If the means differ by
 * at most epsilon, the wealth of each process is a supermartingale. The threshold of each process is 2 / alpha.
 * @param a decisions or scores in [0, 1] of the first group, in order of arrival
 * @param b decisions or scores of the second group, with the same length; if there are no pairs, wealth is [] and
 *   nothing is rejected
 * @throws {DataValidationError} if the lengths differ, or a value is outside [0, 1]
 * @throws {ValueError} if alpha or epsilon is out of range
 * @see B. Chugg et al., Auditing fairness by betting (2023), arXiv 2305.17570
 * @example
 * ```ts
 * import { bettingAudit } from 'evenhand/stats';
 *
 * const audit = bettingAudit([1, 1, 1, 1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 0, 0, 0, 0]);
 * console.log(audit.rejectIndex, audit.wealth.at(-1)?.toFixed(3));
 * // 8 25.629
 * ```
 */
export function bettingAudit(
  a: ArrayLike<number>,
  b: ArrayLike<number>,
  options?: BettingAuditOptions & { readonly epsilon?: 0 },
): BettingAudit;
export function bettingAudit(
  a: ArrayLike<number>,
  b: ArrayLike<number>,
  options: BettingAuditOptions,
): BettingAudit | TolerantBettingAudit;
export function bettingAudit(
  a: ArrayLike<number>,
  b: ArrayLike<number>,
  options: BettingAuditOptions = {},
): BettingAudit | TolerantBettingAudit {
  assertKnownOptions('bettingAudit', options, BETTING_AUDIT_OPTION_NAMES);
  const { alpha = 0.05, epsilon = 0, skipFirstPair = false } = options;
  requireLevel('alpha', alpha);
  if (!(epsilon >= 0 && epsilon < 1)) throw invalidParameter('epsilon', 'be a number from 0 to below 1', epsilon);
  const differences = differencesOf(a, b).slice(skipFirstPair ? 1 : 0);
  const result = { n: differences.length, alpha, epsilon };
  if (epsilon === 0) {
    const threshold = 1 / alpha;
    return Object.freeze({ kind: 'equal', ...result, threshold, ...follow(differences, threshold) });
  }
  const threshold = 2 / alpha;
  const excessOf = (sign: 1 | -1): Float64Array => differences.map((difference) => sign * difference - epsilon);
  const aMinusB = follow(excessOf(1), threshold, { largestBet: 0 });
  const bMinusA = follow(excessOf(-1), threshold, { largestBet: 0 });
  const rejectIndex = earlier(aMinusB.rejectIndex, bMinusA.rejectIndex);
  return Object.freeze({ kind: 'within-epsilon', ...result, threshold, aMinusB, bMinusA, rejectIndex });
}

function follow(outcomes: Float64Array, threshold: number, options?: BettingOptions): BettingPath {
  const process = new BettingProcess(options);
  const wealth: number[] = [];
  const bets: number[] = [];
  for (const outcome of outcomes) {
    bets.push(process.bet);
    wealth.push(process.update(outcome));
  }
  const first = wealth.findIndex((value) => value > threshold);
  return Object.freeze({
    wealth: Object.freeze(wealth),
    bets: Object.freeze(bets),
    rejectIndex: first === -1 ? null : first,
  });
}

function earlier(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}

function differencesOf(a: ArrayLike<number>, b: ArrayLike<number>): Float64Array {
  if (a.length !== b.length) {
    throw new DataValidationError(
      `a and b must hold pairs, but a has ${String(a.length)} values and b has ${String(b.length)}.`,
      {
        code: 'length-mismatch',
        context: { a: a.length, b: b.length },
        suggestion: 'Pass arrays of equal length. Add a pair when both groups have a value.',
      },
    );
  }
  requireUnitRange('a', a);
  requireUnitRange('b', b);
  return Float64Array.from(a, (value, index) => value - (b[index] as number));
}

function requireUnitRange(argument: string, values: ArrayLike<number>): void {
  const index = Array.prototype.findIndex.call(values, (value: unknown) => !(Number(value) >= 0 && Number(value) <= 1));
  if (index === -1) return;
  throw new DataValidationError(
    `${argument} must hold numbers from 0 to 1. Got ${String(values[index])} at index ${String(index)}.`,
    {
      code: 'invalid-value',
      context: { argument, index, value: values[index] },
      suggestion: 'Scale the values to [0, 1] by bounds known in advance, and remove missing values.',
    },
  );
}
