import { ConfigValidationError } from '../../exceptions/index.ts';
import type { LLMEvalConfig, LLMParams } from '../../schemas/llm-eval/llm-eval-document.ts';
import { type ModelIdentity, requestKeys } from '../cache/request-key.ts';
import { isSendable, type PlannedMessage } from './conversation.ts';

/**
 * The default maximum number of tokens of an answer. Without a limit in the configuration, this default limits the cost
 * of a run.
 */
const DEFAULT_MAX_TOKENS = 512;

/** Returns the parameters of each request: `params`, a maximum answer length, and the system prompt as `system`. */
export function requestParams({ params, systemPrompt }: LLMEvalConfig): LLMParams {
  const hasEnd = params['max_tokens'] !== undefined || params['max_completion_tokens'] !== undefined;
  return {
    ...(hasEnd ? {} : { max_tokens: DEFAULT_MAX_TOKENS }),
    ...params,
    ...(systemPrompt === null ? {} : { system: systemPrompt }),
  };
}

/**
 * Returns the identity of a configuration's model, which is part of the key of every request. For the providers `http`
 * and `command`, it contains the endpoint or the program, because the answers depend on them.
 */
export function modelIdentity({
  provider,
  baseUrl,
  model,
  http,
  command,
  commandInput,
}: Pick<LLMEvalConfig, 'provider' | 'baseUrl' | 'model' | 'http' | 'command' | 'commandInput'>): ModelIdentity {
  const identity = { provider, baseUrl, model };
  if (provider === 'http') return { ...identity, target: http };
  return provider === 'command' ? { ...identity, target: { command, commandInput } } : identity;
}

/** Returns the id of a model, as clients have it: the provider, the address if it is not the default one, and the model. */
export function modelId({ provider, baseUrl, model }: ModelIdentity): string {
  return [provider, ...(baseUrl === null ? [] : [baseUrl]), model].join(':');
}

/** Returns the maximum number of tokens of an answer. */
export function maxTokenCount(params: LLMParams): number {
  const given = params['max_tokens'] ?? params['max_completion_tokens'];
  return typeof given === 'number' ? given : DEFAULT_MAX_TOKENS;
}

/**
 * A prompt, with the evaluator that needs the answer to it. If two evaluators need the same answer, it is requested
 * only once.
 */
export interface PlannedPrompt {
  readonly evaluator: string;
  /** The text of the prompt; for a conversation, a readable text of all its messages. */
  readonly prompt: string;
  /**
   * The messages of a conversation. A message of the assistant whose content is null is a turn of the model.
   * @defaultValue the prompt as one message of the user
   */
  readonly messages?: readonly PlannedMessage[] | undefined;
  /** The index of the answer, from 0, if several answers to this prompt are requested. */
  readonly repeat: number;
  /** The template's name. */
  readonly template: string;
  /**
   * The name of the item: a set of prompts that are compared with each other. The prompts of an item differ only in the
   * value of the dimension.
   */
  readonly item: string;
  /**
   * The statistical unit. Items with the same name are not independent and count as one unit. Without names, items with
   * the same template count as one unit.
   * @defaultValue the item
   */
  readonly unit?: string | undefined;
  /** The varied dimension; null for a prompt without a dimension. */
  readonly dimension: string | null;
  /** The dimension's value; null for a prompt without a dimension. */
  readonly group: string | null;
  /**
   * The values that the group combines, such as `woman` and `Black`.
   * @defaultValue the group
   */
  readonly groupValues?: readonly string[] | undefined;
  /** Further details for scoring, such as the name in the prompt or the format of a BBQ question. */
  readonly details: Readonly<Record<string, string>>;
}

/** One request of a run. A prompt is sent once for all evaluators that need its answer. */
export interface LLMRequest {
  /** The SHA-256 of the request's identity; see `requestKey`. */
  readonly key: string;
  readonly prompt: string;
  /**
   * The messages of a conversation. One request is sent for each turn of the model.
   * @defaultValue the prompt as one message of the user
   */
  readonly messages?: readonly PlannedMessage[] | undefined;
  /**
   * The answers to the first turns of the conversation that an earlier run received. They are not requested again.
   * @defaultValue none
   */
  readonly turns?: readonly string[] | undefined;
  readonly repeat: number;
  readonly params: LLMParams;
}

/** A planned prompt, with the key of the request for its answer. */
export interface KeyedPrompt extends PlannedPrompt {
  readonly key: string;
}

/** The plan of a run: every prompt of every evaluator, and the requests for the answers. */
export interface RequestPlan {
  readonly prompts: readonly KeyedPrompt[];
  /** The requests, in the order in which prompts first need them. Each request occurs once. */
  readonly requests: readonly LLMRequest[];
}

function assertSendable({ evaluator, item, messages }: PlannedPrompt): void {
  if (messages === undefined || isSendable(messages)) return;
  throw new ConfigValidationError(
    `The evaluator '${evaluator}' planned a conversation for the item '${item}' that cannot be sent.`,
    {
      context: { evaluator, item },
      suggestion: 'End with a message of the user, and omit the content only of messages of the assistant.',
    },
  );
}

/**
 * Plans the requests for a list of prompts. A request is planned once for all evaluators that need its answer.
 * @throws {ConfigValidationError} if a conversation does not end with a message of the user
 */
export function planRequests(prompts: readonly PlannedPrompt[], model: ModelIdentity, params: LLMParams): RequestPlan {
  prompts.forEach(assertSendable);
  const keyOf = requestKeys(model, params);
  const requests = new Map<string, LLMRequest>();
  // Most prompts are planned for several evaluators and dimensions, so the requests of a text are looked up.
  const byPrompt = new Map<string, Map<number, LLMRequest>>();
  // Different conversations can have the same text, so they are looked up by their messages.
  const byMessages = new Map<string, Map<number, LLMRequest>>();
  const keyed = prompts.map((planned): KeyedPrompt => {
    const { prompt, messages, repeat } = planned;
    const [known, id] = messages === undefined ? [byPrompt, prompt] : [byMessages, JSON.stringify(messages)];
    const repeats = known.get(id) ?? new Map<number, LLMRequest>();
    const conversation = messages === undefined ? {} : { messages };
    const request = repeats.get(repeat) ?? { key: keyOf(planned), prompt, ...conversation, repeat, params };
    if (!repeats.has(repeat)) {
      requests.set(request.key, request);
      known.set(id, repeats.set(repeat, request));
    }
    return { ...planned, key: request.key };
  });
  return { prompts: keyed, requests: [...requests.values()] };
}
