import type { LLMEvalConfig, LLMParams } from '../../schemas/llm-eval/llm-eval-document.ts';

/** The default maximum number of tokens of an answer. It bounds the cost of a run if the configuration sets none. */
const DEFAULT_MAX_TOKENS = 512;

/** Returns the parameters of each request: `params`, with a limit on the answer, and the system prompt as `system`. */
export function requestParams({ params, systemPrompt }: LLMEvalConfig): LLMParams {
  const hasEnd = params['max_tokens'] !== undefined || params['max_completion_tokens'] !== undefined;
  return {
    ...(hasEnd ? {} : { max_tokens: DEFAULT_MAX_TOKENS }),
    ...params,
    ...(systemPrompt === null ? {} : { system: systemPrompt }),
  };
}

/** Returns the maximum number of tokens of an answer. */
export function maxTokenCount(params: LLMParams): number {
  const given = params['max_tokens'] ?? params['max_completion_tokens'];
  return typeof given === 'number' ? given : DEFAULT_MAX_TOKENS;
}

/** One prompt that an evaluator needs an answer to. An answer that two evaluators need is requested once. */
export interface PlannedPrompt {
  readonly evaluator: string;
  readonly prompt: string;
  /** The index, from 0, among several answers to this prompt. */
  readonly repeat: number;
  /** The template's name. */
  readonly template: string;
  /** The compared item. Its prompts differ only in the value of the dimension. */
  readonly item: string;
  /**
   * The statistical unit. Items that share a name, or without names a template, are not independent and count as one
   * unit.
   * @defaultValue the item
   */
  readonly unit?: string | undefined;
  /** The varied dimension; null for a prompt without a dimension. */
  readonly dimension: string | null;
  /** The dimension's value; null for a prompt without a dimension. */
  readonly group: string | null;
  /** Other details that the evaluator needs to score the answer: a name, BBQ's format and example. */
  readonly details: Readonly<Record<string, string>>;
}

/** One request of a run: a prompt, once, for all evaluators that need it. */
export interface LLMRequest {
  /** The SHA-256 of the request's identity; see `requestKey`. */
  readonly key: string;
  readonly prompt: string;
  readonly repeat: number;
  readonly params: LLMParams;
}
