import { ConfigValidationError } from '../../../exceptions/index.ts';
import type { LLMParams } from '../../../schemas/llm-eval/llm-eval-document.ts';

/** Params by what a client does with them. */
export interface RequestParams {
  /** null for none. */
  readonly system: string | null;
  /** null where it is not limited. */
  readonly maxTokens: number | null;
  /** Sent as they are. */
  readonly rest: LLMParams;
}

/** What a client sets itself, and why it is no param. */
const RESERVED: Readonly<Record<string, string>> = {
  model: 'name it as model',
  messages: 'the prompt is the message',
  stream: 'answers are read whole',
  n: 'ask for several answers with repeats',
};

/**
 * Splits the params of a request.
 * @throws {ConfigValidationError} for `model`, `messages`, `stream` and `n`, a `system` that is no text, or a `max_tokens` that is no positive whole number
 */
export function readParams(params: LLMParams): RequestParams {
  for (const name of Object.keys(RESERVED)) {
    if (name in params) throw invalid(name, `must not hold ${name}`, `Leave it out: ${RESERVED[name] ?? ''}.`);
  }
  const { system, max_tokens: maxTokens, ...rest } = params;
  if (system !== undefined && system !== null && typeof system !== 'string') {
    throw invalid('system', 'must hold a text as system', 'Give the system prompt as a text.');
  }
  if (maxTokens !== undefined && (!Number.isInteger(maxTokens) || Number(maxTokens) < 1)) {
    throw invalid('max_tokens', 'must hold a positive whole number as max_tokens', 'Give it as in max_tokens: 256.');
  }
  return { system: system ?? null, maxTokens: maxTokens === undefined ? null : Number(maxTokens), rest };
}

/** The value is not shown: it may be a prompt. */
function invalid(name: string, required: string, suggestion: string): ConfigValidationError {
  return new ConfigValidationError(`The params ${required}.`, { context: { parameter: `params.${name}` }, suggestion });
}
