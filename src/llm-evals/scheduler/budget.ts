import { invalidParameter } from '../../internal/arguments.ts';
import { requireInteger } from '../../stats/parameters.ts';
import type { TokenUsage } from '../client/llm-client.ts';

/** What a run may take; null for no limit. */
export interface RunLimits {
  /**
   * Attempts, repeated ones too.
   * @defaultValue null
   */
  readonly requests?: number | null | undefined;
  /**
   * Tokens, of prompts and answers together.
   * @defaultValue null
   */
  readonly tokens?: number | null | undefined;
  /**
   * US dollars; needs a price.
   * @defaultValue null
   */
  readonly costUsd?: number | null | undefined;
  /**
   * Minutes after which no attempt starts.
   * @defaultValue null
   */
  readonly minutes?: number | null | undefined;
}

/** US dollars for a million tokens. */
export interface RunPrice {
  readonly input: number;
  readonly output: number;
}

/** What one attempt takes at most. */
export interface TokenCeiling {
  /** Tokens of the prompt. */
  readonly input: number;
  /** The most tokens that the answer can have. */
  readonly outputCeiling: number;
}

/** {@link RunLimits} with every default filled in. */
export type BudgetLimits = Readonly<Record<keyof RunLimits, number | null>>;

/** For sums of dollars, which float64 rounds. */
const ROUNDING = 1 + 1e-12;

/**
 * Checks limits and fills in what they leave out.
 * @throws {ValueError} for one out of range, or a limit of money without a price
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
    throw invalidParameter('price', 'be given where limits.costUsd is', null);
  }
  return { requests, tokens, costUsd, minutes };
}

/**
 * A finite number of at least 0; a text that looks like one is none.
 * @throws {ValueError} for anything else
 */
export function requireAmount(parameter: string, given: unknown): number {
  if (typeof given === 'number' && given >= 0 && given < Infinity) return given;
  throw invalidParameter(parameter, 'be a finite number of at least 0', given);
}

/**
 * Tracks the usage of a run, and the maximum usage of its attempts in flight. No attempt starts that could exceed a
 * limit.
 */
export class Budget {
  readonly #limits: BudgetLimits;
  readonly #price: RunPrice | null;
  #requests = 0;
  #input = 0;
  #output = 0;
  #reservedInput = 0;
  #reservedOutput = 0;
  #underWay = 0;
  #uncounted = 0;

  constructor(limits: BudgetLimits, price: RunPrice | null) {
    this.#limits = limits;
    this.#price = price;
  }

  /** Attempts that were sent. */
  get requests(): number {
    return this.#requests;
  }

  get inputTokens(): number {
    return this.#input;
  }

  get outputTokens(): number {
    return this.#output;
  }

  /** The number of attempts that may be charged but have no token count. Their ceiling is counted. */
  get uncounted(): number {
    return this.#uncounted;
  }

  /** null without a price. */
  get costUsd(): number | null {
    return this.#costOf(this.#input, this.#output);
  }

  /**
   * Counts an attempt and puts aside what it may take.
   * @returns what is spent, or `later` where it may fit once others have ended; null where it may start
   */
  reserve({ input, outputCeiling }: TokenCeiling): StopReason | 'later' | null {
    const { requests } = this.#limits;
    if (requests !== null && this.#requests >= requests) return 'requests';
    const alone = this.#passedBy(input, outputCeiling);
    if (alone !== null) return alone;
    if (this.#passedBy(input + this.#reservedInput, outputCeiling + this.#reservedOutput) !== null) return 'later';
    this.#requests++;
    this.#underWay++;
    this.#reservedInput += input;
    this.#reservedOutput += outputCeiling;
    return null;
  }

  /** Replaces what was put aside by what the provider counted. */
  settle(ceiling: TokenCeiling, usage: TokenUsage): void {
    this.#giveBack(ceiling);
    this.#input += usage.inputTokens;
    this.#output += usage.outputTokens;
  }

  /** The attempt may be charged, and nobody says what: it counts in full. */
  settleUncounted(ceiling: TokenCeiling): void {
    this.#uncounted++;
    this.settle(ceiling, { inputTokens: ceiling.input, outputTokens: ceiling.outputCeiling });
  }

  /** The attempt was refused: nothing is charged. */
  settleFree(ceiling: TokenCeiling): void {
    this.#giveBack(ceiling);
  }

  /** Nothing was sent after all: the answer was known. */
  undo(ceiling: TokenCeiling): void {
    this.#giveBack(ceiling);
    this.#requests--;
  }

  #giveBack({ input, outputCeiling }: TokenCeiling): void {
    const isLast = --this.#underWay === 0;
    // What float64 rounds must not keep anybody waiting when nothing is under way.
    this.#reservedInput = isLast ? 0 : this.#reservedInput - input;
    this.#reservedOutput = isLast ? 0 : this.#reservedOutput - outputCeiling;
  }

  /** The limit that so much more would pass. */
  #passedBy(input: number, output: number): 'tokens' | 'cost' | null {
    const { tokens, costUsd } = this.#limits;
    const inputTotal = this.#input + input;
    const outputTotal = this.#output + output;
    if (tokens !== null && inputTotal + outputTotal > tokens) return 'tokens';
    if (costUsd !== null && (this.#costOf(inputTotal, outputTotal) ?? 0) > costUsd * ROUNDING) return 'cost';
    return null;
  }

  #costOf(input: number, output: number): number | null {
    return this.#price === null ? null : (input * this.#price.input + output * this.#price.output) / 1e6;
  }
}

/** What ended a run before its plan was done. */
export type StopReason = 'requests' | 'tokens' | 'cost' | 'minutes' | 'cancelled';
