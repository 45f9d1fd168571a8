import { invalidParameter } from '../../internal/arguments.ts';
import { sumOf } from '../../internal/values.ts';
import { requireInteger } from '../../stats/parameters.ts';
import type { TokenUsage } from '../client/llm-client.ts';

/** The limits of a run. A limit is null if there is no limit. */
export interface RunLimits {
  /**
   * The maximum number of attempts, including retries.
   * @defaultValue null
   */
  readonly requests?: number | null | undefined;
  /**
   * The maximum total number of tokens of prompts and answers.
   * @defaultValue null
   */
  readonly tokens?: number | null | undefined;
  /**
   * The maximum cost in US dollars. Requires a price.
   * @defaultValue null
   */
  readonly costUsd?: number | null | undefined;
  /**
   * The time in minutes after which no new attempt is started.
   * @defaultValue null
   */
  readonly minutes?: number | null | undefined;
}

/** The price of a million tokens in US dollars. */
export interface RunPrice {
  readonly input: number;
  readonly output: number;
}

/** The maximum token usage of one attempt. */
export interface TokenCeiling {
  /** The estimated number of tokens of the prompt. */
  readonly input: number;
  /** The maximum number of tokens of the answer. */
  readonly outputCeiling: number;
  /**
   * The account to which the attempt is charged.
   * @defaultValue an account with the price of the run
   */
  readonly account?: BudgetAccount | undefined;
}

/** The budget that a run has used. */
export interface SpentBudget {
  /** The number of attempts, including retries. */
  readonly sent: number;
  /** The number of input tokens that the provider counted, plus the maximum usage of attempts without a count. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /**
   * The number of attempts that may be charged but have no token count: answers without a count, and calls that were
   * interrupted or timed out. Each of these attempts counts with its maximum usage.
   */
  readonly uncounted: number;
  /** The cost in US dollars; null if no price is known. */
  readonly costUsd: number | null;
}

/** {@link RunLimits} with every default filled in. */
export type BudgetLimits = Readonly<Record<keyof RunLimits, number | null>>;

/** The tolerance for rounding errors in sums of dollars. */
const ROUNDING = 1 + 1e-12;

/**
 * Checks limits and fills in the defaults.
 * @throws {ValueError} if a limit is out of range, or if the cost is limited but there is no price
 */
export function toBudgetLimits(limits: RunLimits, price: RunPrice | null): BudgetLimits {
  const { requests = null, tokens = null, costUsd = null, minutes = null } = limits;
  if (requests !== null) requireInteger('limits.requests', requests, 0);
  if (tokens !== null) requireAmount('limits.tokens', tokens);
  if (costUsd !== null) requireAmount('limits.costUsd', costUsd);
  if (minutes !== null) requireAmount('limits.minutes', minutes);
  if (price !== null) {
    requireAmount('price.input', price.input);
    requireAmount('price.output', price.output);
  } else if (costUsd !== null) {
    throw invalidParameter('price', 'be given if limits.costUsd is given', null);
  }
  return { requests, tokens, costUsd, minutes };
}

/**
 * Returns the value if it is a finite number of at least 0. Does not convert text to a number.
 * @throws {ValueError} if the value is not a finite number of at least 0
 */
export function requireAmount(parameter: string, given: unknown): number {
  if (typeof given === 'number' && given >= 0 && given < Infinity) return given;
  throw invalidParameter(parameter, 'be a finite number of at least 0', given);
}

/**
 * The usage of a part of a run, such as the requests to one of several models, and the price of the part. The limits
 * apply to all parts together.
 */
export class BudgetAccount {
  readonly price: RunPrice | null;
  sent = 0;
  inputTokens = 0;
  outputTokens = 0;
  uncounted = 0;

  constructor(price: RunPrice | null) {
    this.price = price;
  }

  /** The usage so far. */
  get spent(): SpentBudget {
    const { sent, inputTokens, outputTokens, uncounted } = this;
    return { sent, inputTokens, outputTokens, uncounted, costUsd: this.costOf(inputTokens, outputTokens) };
  }

  /** Returns the cost of tokens; null if the price is unknown. */
  costOf(input: number, output: number): number | null {
    return this.price === null ? null : (input * this.price.input + output * this.price.output) / 1e6;
  }
}

/**
 * Counts the usage of a run, and reserves the maximum usage of attempts in flight. An attempt does not start if it
 * could exceed a limit.
 */
export class Budget {
  readonly #limits: BudgetLimits;
  /** The account of attempts that name no other account. */
  readonly #own: BudgetAccount;
  /** The accounts of attempts so far. */
  readonly #accounts = new Set<BudgetAccount>();
  #reserved = { input: 0, output: 0, costUsd: 0 };
  #underWay = 0;

  constructor(limits: BudgetLimits, price: RunPrice | null) {
    this.#limits = limits;
    this.#own = new BudgetAccount(price);
  }

  /** The usage so far. */
  get spent(): SpentBudget {
    const sum = (field: 'sent' | 'inputTokens' | 'outputTokens' | 'uncounted'): number =>
      [...this.#accounts].reduce((total, account) => total + account[field], 0);
    const used = this.#accounts.size === 0 ? [this.#own] : [...this.#accounts];
    const costs = used.map(({ spent }) => spent.costUsd);
    return {
      sent: sum('sent'),
      inputTokens: sum('inputTokens'),
      outputTokens: sum('outputTokens'),
      uncounted: sum('uncounted'),
      costUsd: costs.includes(null) ? null : sumOf(costs.map((cost) => cost ?? 0)),
    };
  }

  /**
   * Counts an attempt and reserves its maximum usage.
   * @returns null if the attempt may start, `later` if it may start after other attempts have ended, or the name of the
   * limit that has been reached
   */
  reserve(ceiling: TokenCeiling): StopReason | 'later' | null {
    const { requests } = this.#limits;
    const account = this.#accountOf(ceiling);
    if (requests !== null && this.spent.sent >= requests) return 'requests';
    const { input, outputCeiling: output } = ceiling;
    const costUsd = account.costOf(input, output) ?? 0;
    const alone = this.#passedBy({ input, output, costUsd });
    if (alone !== null) return alone;
    const reserved = this.#reserved;
    const together = {
      input: input + reserved.input,
      output: output + reserved.output,
      costUsd: costUsd + reserved.costUsd,
    };
    if (this.#passedBy(together) !== null) return 'later';
    account.sent++;
    this.#underWay++;
    this.#reserved = together;
    return null;
  }

  /** Replaces the reserved usage of an attempt with the usage that the provider counted. */
  settle(ceiling: TokenCeiling, usage: TokenUsage): void {
    this.#giveBack(ceiling);
    const account = this.#accountOf(ceiling);
    account.inputTokens += usage.inputTokens;
    account.outputTokens += usage.outputTokens;
  }

  /** Counts the maximum usage of an attempt that has no token count but may be charged. */
  settleUncounted(ceiling: TokenCeiling): void {
    this.#accountOf(ceiling).uncounted++;
    this.settle(ceiling, { inputTokens: ceiling.input, outputTokens: ceiling.outputCeiling });
  }

  /** Releases the reserved usage of an attempt that was rejected. A rejected attempt is not charged. */
  settleFree(ceiling: TokenCeiling): void {
    this.#giveBack(ceiling);
  }

  /** Removes an attempt that sent nothing because the answer was cached. */
  undo(ceiling: TokenCeiling): void {
    this.#giveBack(ceiling);
    this.#accountOf(ceiling).sent--;
  }

  #accountOf({ account = this.#own }: TokenCeiling): BudgetAccount {
    this.#accounts.add(account);
    return account;
  }

  #giveBack(ceiling: TokenCeiling): void {
    const { input, outputCeiling: output } = ceiling;
    const costUsd = this.#accountOf(ceiling).costOf(input, output) ?? 0;
    const isLast = --this.#underWay === 0;
    const { input: inputs, output: outputs, costUsd: costs } = this.#reserved;
    // Without this reset, rounding errors could block a request although no other request is in flight.
    this.#reserved = isLast
      ? { input: 0, output: 0, costUsd: 0 }
      : { input: inputs - input, output: outputs - output, costUsd: costs - costUsd };
  }

  /** Returns the name of the first limit that additional usage would exceed; null if there is none. */
  #passedBy(more: { input: number; output: number; costUsd: number }): 'tokens' | 'cost' | null {
    const { tokens, costUsd: most } = this.#limits;
    const { inputTokens, outputTokens, costUsd } = this.spent;
    if (tokens !== null && inputTokens + outputTokens + more.input + more.output > tokens) return 'tokens';
    if (most !== null && (costUsd ?? 0) + more.costUsd > most * ROUNDING) return 'cost';
    return null;
  }
}

/** The reason why a run ended early. */
export type StopReason = 'requests' | 'tokens' | 'cost' | 'minutes' | 'cancelled';
