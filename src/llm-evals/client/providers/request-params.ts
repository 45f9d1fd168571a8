import { ConfigValidationError } from '../../../exceptions/index.ts';
import type { LLMParams } from '../../../schemas/llm-eval/llm-eval-document.ts';

/** Params by their use in a client. */
export interface RequestParams {
  /** null if there is none. */
  readonly system: string | null;
  /** null if it is not limited. */
  readonly maxTokens: number | null;
  /** Sent unchanged. */
  readonly rest: LLMParams;
}

/** Params that a client sets itself, with the reason. */
const RESERVED: Readonly<Record<string, string>> = {
  model: 'set model instead',
  messages: 'the prompt is the message',
  stream: 'answers are not streamed',
  n: 'use repeats for several answers',
};

/**
 * Splits the params of a request.
 * @throws {ConfigValidationError} if params contain `model`, `messages`, `stream` or `n`, `system` is not a string, or
 * `max_tokens` is not a positive whole number
 */
export function readParams(params: LLMParams): RequestParams {
  for (const name of Object.keys(RESERVED)) {
    if (name in params) throw invalid(name, `must not contain ${name}`, `Remove it:  ${RESERVED[name] ?? ''}.`);
  }
  const { system, max_tokens: maxTokens, ...rest } = params;
  if (system !== undefined && system !== null && typeof system !== 'string') {
    throw invalid('system', 'must have a string as system', 'Set the system prompt as a string.');
  }
  if (maxTokens !== undefined && (!Number.isInteger(maxTokens) || Number(maxTokens) < 1)) {
    throw invalid('max_tokens', 'must have a positive whole number as max_tokens', 'For example: max_tokens: 256.');
  }
  return { system: system ?? null, maxTokens: maxTokens === undefined ? null : Number(maxTokens), rest };
}

/** Creates an error without the value, which may be a prompt. */
function invalid(name: string, required: string, suggestion: string): ConfigValidationError {
  return new ConfigValidationError(`The params ${required}.`, { context: { parameter: `params.${name}` }, suggestion });
}
