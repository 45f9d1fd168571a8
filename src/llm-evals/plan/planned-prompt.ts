import type { LLMEvalConfig, LLMParams } from '../../schemas/llm-eval/llm-eval-document.ts';

/** Tokens that an answer may have where the configuration does not say: what a run may cost must have an end. */
const DEFAULT_MAX_TOKENS = 512;

/** What goes along with each request: `params`, with an end to the answer, and the system prompt as `system`. */
export function requestParams({ params, systemPrompt }: LLMEvalConfig): LLMParams {
  const hasEnd = params['max_tokens'] !== undefined || params['max_completion_tokens'] !== undefined;
  return {
    ...(hasEnd ? {} : { max_tokens: DEFAULT_MAX_TOKENS }),
    ...params,
    ...(systemPrompt === null ? {} : { system: systemPrompt }),
  };
}

/** Tokens that an answer has at most. */
export function mostTokens(params: LLMParams): number {
  const given = params['max_tokens'] ?? params['max_completion_tokens'];
  return typeof given === 'number' ? given : DEFAULT_MAX_TOKENS;
}

/** One prompt that an evaluator needs an answer to. Two evaluators may need the same answer: it is asked for once. */
export interface PlannedPrompt {
  readonly evaluator: string;
  readonly prompt: string;
  /** Which of several answers to this prompt, from 0. */
  readonly repeat: number;
  /** The template's name. */
  readonly template: string;
  /** What is compared: prompts of one item differ in nothing but the value of the dimension. */
  readonly item: string;
  /**
   * What statistics count: items that share a name, or without names a template, are
   * not independent, and count as one unit.
   * @defaultValue the item
   */
  readonly unit?: string | undefined;
  /** What is varied; null for a prompt without a dimension. */
  readonly dimension: string | null;
  /** The dimension's value; null for a prompt without a dimension. */
  readonly group: string | null;
  /** What else the evaluator needs to score the answer: a name, BBQ's format and example. */
  readonly details: Readonly<Record<string, string>>;
}

/** One request of a run: a prompt that some evaluator needs, once, whoever needs it. */
export interface LLMRequest {
  /** SHA-256 of what is asked of whom; see `requestKey`. */
  readonly key: string;
  readonly prompt: string;
  readonly repeat: number;
  readonly params: LLMParams;
}
