import { assertKnownOptions, invalidParameter, type OptionNames } from '../../internal/arguments.ts';

/** The constant of the online Newton step for losses -ln(1 - lambda g). */
const NEWTON_STEP = 2 / (2 - Math.log(3));

/** Above this share of the wealth one loss could cost all of it. */
const LARGEST_BET = 0.5;

/** The wealth, the bet on the next outcome, and what the next bet needs: all there is to a process. */
export interface BettingState {
  /** ln of the wealth: the wealth itself passes float64 after some 1,700 clear outcomes. */
  readonly logWealth: number;
  /** lambda for the next outcome. */
  readonly bet: number;
  /** The sum of z^2 so far. */
  readonly sumOfSquares: number;
}

/** What a betting process may be told. */
export interface BettingOptions {
  /**
   * The smallest bet, from -0.5 to 0.
   * @defaultValue -0.5
   */
  readonly smallestBet?: number;
  /**
   * The largest bet, from 0 to 0.5. With 0 the process bets on outcomes above 0
   * only, and tests that the mean is at most 0.
   * @defaultValue 0.5
   */
  readonly largestBet?: number;
}

const BETTING_OPTION_NAMES: OptionNames<BettingOptions> = { smallestBet: true, largestBet: true };

/**
 * A bet against the hypothesis that outcomes g_1, g_2, ... have the mean 0:
 * the wealth starts at 1 and is multiplied by 1 - lambda_t g_t.
 *
 * lambda_1 = 0, and after each outcome, with z = g / (1 - lambda g), lambda
 * becomes lambda - 2 / (2 - ln 3) z / (1 + sum z^2), kept between the smallest
 * and the largest bet (an online Newton step). Under the hypothesis the wealth
 * is a non-negative martingale, so it ever reaches 1 / alpha with probability at
 * most alpha (Ville's inequality), however often it is looked at. It needs each
 * outcome's mean, given all before it, to be 0; no independence, no law.
 * @throws {ValueError} for bets outside their ranges
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

  /** The wealth after the outcomes so far, 1 at the start; Infinity where float64 ends. */
  get wealth(): number {
    return Math.exp(this.#logWealth);
  }

  /** ln of the wealth, which does not overflow: compare it with ln(1 / alpha). */
  get logWealth(): number {
    return this.#logWealth;
  }

  /** lambda for the next outcome, settled before it is seen. */
  get bet(): number {
    return this.#bet;
  }

  /**
   * Takes one outcome and settles the next bet.
   * @param outcome g above -2 and below 2, so that no bet can lose everything
   * @returns the wealth after it
   * @throws {ValueError} for another outcome; the process is then as before
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

  /** The state as plain numbers, for {@link BettingProcess.restore}. */
  snapshot(): BettingState {
    return Object.freeze({ logWealth: this.#logWealth, bet: this.#bet, sumOfSquares: this.#sumOfSquares });
  }

  /**
   * A process that goes on where a snapshot was taken.
   * @param options as the process was made with
   * @throws {ValueError} for a state that no process can be in
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
