import type { LLMParams } from '../../schemas/llm-eval/llm-eval-document.ts';
import { type ModelIdentity, requestKey } from '../cache/request-key.ts';
import type { LLMRequest, PlannedPrompt } from './planned-prompt.ts';

/** A planned prompt with the key of the request that answers it. */
export interface KeyedPrompt extends PlannedPrompt {
  readonly key: string;
}

/** The plan of a run: every prompt of every evaluator, and the requests that answer them. */
export interface RequestPlan {
  readonly prompts: readonly KeyedPrompt[];
  /** Each request once, in the order of first use. */
  readonly requests: readonly LLMRequest[];
}

/** Plans the requests that answer prompts, each once for all evaluators that need it. */
export function planRequests(prompts: readonly PlannedPrompt[], model: ModelIdentity, params: LLMParams): RequestPlan {
  const keyed = prompts.map((prompt) => ({
    ...prompt,
    key: requestKey({ ...model, prompt: prompt.prompt, params, repeat: prompt.repeat }),
  }));
  const requests = new Map<string, LLMRequest>();
  for (const { key, prompt, repeat } of keyed) {
    if (!requests.has(key)) requests.set(key, { key, prompt, repeat, params });
  }
  return { prompts: keyed, requests: [...requests.values()] };
}
