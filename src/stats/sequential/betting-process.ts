import { assertKnownOptions, invalidParameter, type OptionNames } from '../../internal/arguments.ts';

/** The constant of the online Newton step for the loss -ln(1 - lambda g). */
const NEWTON_STEP = 2 / (2 - Math.log(3));

/** The largest bet. With a larger bet, one loss could cost the entire wealth. */
const LARGEST_BET = 0.5;

/** The complete state of a process: the wealth, the bet on the next outcome, and the sum used to update the bet. */
export interface BettingState {
  /**
   * ln of the wealth. The state contains the logarithm because the wealth itself would overflow float64 after about
   * 1,700 clear outcomes.
   */
  readonly logWealth: number;
  /** The bet lambda on the next outcome. */
  readonly bet: number;
  /** The sum of z^2 over all outcomes, where z = g / (1 - lambda g). */
  readonly sumOfSquares: number;
}

/** Options of {@link BettingProcess}. */
export interface BettingOptions {
  /**
   * The smallest bet, from -0.5 to 0.
   * @defaultValue -0.5
   */
  readonly smallestBet?: number;
  /**
   * The largest bet, from 0 to 0.5. With 0, the process bets only on outcomes above 0, and tests the hypothesis that
   * the mean is at most 0.
   * @defaultValue 0.5
   */
  readonly largestBet?: number;
}

const BETTING_OPTION_NAMES: OptionNames<BettingOptions> = { smallestBet: true, largestBet: true };

/**
 * Bets against the hypothesis that outcomes g_1, g_2, ... have the mean 0: the wealth starts at 1 and is multiplied by
 * 1 - lambda_t g_t.
 *
 * The first bet lambda_1 is 0. After each outcome, with z = g / (1 - lambda g), lambda becomes lambda - 2 / (2 - ln 3)
 * z / (1 + sum z^2), clipped to the smallest and the largest bet (an online Newton step). Under the hypothesis, the
 * wealth is a non-negative martingale. By Ville's inequality, the probability that it ever reaches 1 / alpha is at most
 * alpha, for any number of checks. The only assumption is that the mean of each outcome, given all earlier outcomes, is
 * 0. Outcomes need not be independent or identically distributed.
 * @throws {ValueError} if a bet is outside its range
 * @see B. Chugg et al., Auditing fairness by betting (2023), arXiv 2305.17570
 * @example
 * ```ts
 * import { BettingProcess } from 'evenhand/stats';
 *
 * const process = new BettingProcess();
 * for (const difference of [1, 1, 0, 1, 1, 1, 1, 1]) process.update(difference);
 * console.log(process.wealth.toFixed(3));
 * // 11.391
 * ```
 */
export class BettingProcess {
  readonly #smallestBet: number;
  readonly #largestBet: number;
  #logWealth = 0;
  #bet = 0;
  #sumOfSquares = 0;

  constructor(options: BettingOptions = {}) {
    assertKnownOptions('BettingProcess', options, BETTING_OPTION_NAMES);
    const { smallestBet = -LARGEST_BET, largestBet = LARGEST_BET } = options;
    if (!(smallestBet >= -LARGEST_BET && smallestBet <= 0)) {
      throw invalidParameter('smallestBet', 'be a number from -0.5 to 0', smallestBet);
    }
    if (!(largestBet >= 0 && largestBet <= LARGEST_BET)) {
      throw invalidParameter('largestBet', 'be a number from 0 to 0.5', largestBet);
    }
    this.#smallestBet = smallestBet;
    this.#largestBet = largestBet;
  }

  /** Returns the wealth after all outcomes; 1 at the start, Infinity if it overflows float64. */
  get wealth(): number {
    return Math.exp(this.#logWealth);
  }

  /** Returns ln of the wealth, which does not overflow. Compare it with ln(1 / alpha). */
  get logWealth(): number {
    return this.#logWealth;
  }

  /** Returns the bet lambda on the next outcome, which is set before the outcome is seen. */
  get bet(): number {
    return this.#bet;
  }

  /**
   * Adds one outcome and sets the next bet.
   * @param outcome g above -2 and below 2, so that no bet can lose everything
   * @returns the wealth after the outcome
   * @throws {ValueError} if the outcome is out of range; the process is then unchanged
   */
  update(outcome: number): number {
    if (!(Number.isFinite(outcome) && Math.abs(outcome) < 2)) {
      throw invalidParameter('outcome', 'be a number between -2 and 2, both excluded', outcome);
    }
    const factor = 1 - this.#bet * outcome;
    const slope = outcome / factor;
    this.#logWealth += Math.log(factor);
    this.#sumOfSquares += slope * slope;
    const next = this.#bet - (NEWTON_STEP * slope) / (1 + this.#sumOfSquares);
    this.#bet = Math.min(this.#largestBet, Math.max(this.#smallestBet, next));
    return this.wealth;
  }

  /** Returns the state as plain numbers, for {@link BettingProcess.restore}. */
  snapshot(): BettingState {
    return Object.freeze({ logWealth: this.#logWealth, bet: this.#bet, sumOfSquares: this.#sumOfSquares });
  }

  /**
   * Creates a process that continues from a snapshot.
   * @param options the options of the original process
   * @throws {ValueError} if the state is not a possible state of a process
   */
  static restore(state: BettingState, options: BettingOptions = {}): BettingProcess {
    assertKnownOptions('BettingProcess.restore', options, BETTING_OPTION_NAMES);
    const process = new BettingProcess(options);
    const { logWealth, bet, sumOfSquares } = state;
    if (!Number.isFinite(logWealth)) throw invalidParameter('logWealth', 'be a finite number', logWealth);
    if (!(bet >= process.#smallestBet && bet <= process.#largestBet)) {
      throw invalidParameter('bet', 'lie between the smallest and the largest bet', bet);
    }
    if (!(sumOfSquares >= 0 && sumOfSquares < Infinity)) {
      throw invalidParameter('sumOfSquares', 'be a finite number of at least 0', sumOfSquares);
    }
    process.#logWealth = logWealth;
    process.#bet = bet;
    process.#sumOfSquares = sumOfSquares;
    return process;
  }
}
