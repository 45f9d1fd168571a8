import { ConfigValidationError } from '../../exceptions/index.ts';
import type { Mapping } from '../../internal/values.ts';
import type { LLMParams } from '../../schemas/llm-eval/llm-eval-document.ts';
import type { ApiAccess } from './access.ts';
import { clientError, countOf, fieldsOf, joinTexts, refuseCancelled, textOf, usageOf } from './client-error.ts';
import type { Completion, FinishReason, LLMClient, TokenUsage } from './llm-client.ts';
import { type Endpoint, excerptOf, type JsonAnswer, postJson, problemOfError, readError } from './post-json.ts';
import { redactorOf } from './secrets.ts';

/** The content of an answer, parsed from a response. */
type ReadAnswer = Pick<Completion, 'text' | 'finishReason' | 'isRefusal' | 'usage'>;

/** The properties in which the APIs of providers differ. */
interface ApiDialect {
  /** The URL path of the requests, after the base URL. */
  readonly path: string;
  /** Returns the headers for a key; null if there is no key. */
  headers(key: string | null): Readonly<Record<string, string>>;
  /** Builds the body of a request. */
  write(access: ApiAccess, prompt: string, params: RequestParams): unknown;
  /** Parses an answer. Returns undefined if the answer does not have the format of this API. */
  read(fields: Mapping): ReadAnswer | undefined;
}

/**
 * OpenAI's API for chat completions. Compatible servers offer the same API.
 *
 * `max_tokens` is sent to OpenAI as `max_completion_tokens`, because its newer models require this name. Other servers
 * receive `max_tokens`, because most servers support only this name. If an answer contains no text (such as a tool
 * call), its text is ''.
 */
const CHAT_COMPLETIONS: ApiDialect = {
  path: '/chat/completions',
  headers: (key) => (key === null ? {} : { authorization: `Bearer ${key}` }),
  write: ({ provider, model }, prompt, { system, maxTokens, rest }) => ({
    ...rest,
    ...(maxTokens === null ? {} : { [provider === 'openai' ? 'max_completion_tokens' : 'max_tokens']: maxTokens }),
    model,
    messages: [...(system === null ? [] : [{ role: 'system', content: system }]), { role: 'user', content: prompt }],
  }),
  read: readChatCompletion,
};

/** The version of Anthropic's API that this client supports. */
const API_VERSION = '2023-06-01';

/** The default of `max_tokens`, which Anthropic's API requires in every request. */
const DEFAULT_MAX_TOKENS = 1024;

/**
 * Anthropic's messages API.
 *
 * `max_tokens` is {@link DEFAULT_MAX_TOKENS} by default. The texts of an answer's blocks are joined. If an answer
 * contains no text (such as a tool call), its text is ''. Input tokens include tokens that are read from or written to
 * the provider's cache.
 */
const MESSAGES: ApiDialect = {
  path: '/messages',
  headers: (key) => ({ 'anthropic-version': API_VERSION, ...(key === null ? {} : { 'x-api-key': key }) }),
  write: ({ model }, prompt, { system, maxTokens, rest }) => ({
    ...rest,
    max_tokens: maxTokens ?? DEFAULT_MAX_TOKENS,
    ...(system === null ? {} : { system }),
    model,
    messages: [{ role: 'user', content: prompt }],
  }),
  read: readMessage,
};

/**
 * The answer to a prompt that a filter blocked before the model received it. The provider's refusal counts as an
 * answer.
 */
const FILTERED: ReadAnswer = { text: '', finishReason: 'content_filter', isRefusal: true, usage: null };
const FILTER_CODES = ['content_filter', 'content_policy_violation'];

/**
 * Creates a client for a provider's API. The client makes one attempt for each prompt. The key is kept in a closure, so
 * that printing the client does not show it.
 */
export function createApiClient(access: ApiAccess): LLMClient {
  const { id, env, key, provider, baseUrl } = access;
  const dialect = provider === 'anthropic' ? MESSAGES : CHAT_COMPLETIONS;
  const endpoint: Endpoint = { ...access, address: `${baseUrl}${dialect.path}`, headers: dialect.headers(key) };
  const redact = redactorOf(env);
  return Object.freeze<LLMClient>({
    id,
    async complete(prompt, options = {}) {
      refuseCancelled(id, options.signal);
      const body = dialect.write(access, prompt, readParams(options.params ?? {}));
      if (key === null && provider !== 'compatible') throw missingKey(access);
      const answer = await postJson(endpoint, body, options.signal, isFiltered);
      const read = isFiltered(answer.status, answer.json) ? FILTERED : readAnswer(endpoint, dialect, answer);
      const { latencyMillis } = answer;
      return Object.freeze({ ...read, text: redact(read.text), cached: false, latencyMillis });
    },
  });
}

function missingKey({ id, keyVariable }: ApiAccess): Error {
  return clientError('auth', `The key of ${id} is missing: ${keyVariable} is not set.`, {
    suggestion: `Set ${keyVariable} in the environment; keys are read only from there.`,
  });
}

function isFiltered(status: number, json: unknown): boolean {
  return status === 400 && readError(json).codes.some((code) => FILTER_CODES.includes(code));
}

function readAnswer(endpoint: Endpoint, dialect: ApiDialect, { status, json }: JsonAnswer): ReadAnswer {
  const fields = fieldsOf(json);
  const read = fields === undefined ? undefined : dialect.read(fields);
  if (read !== undefined) return read;
  // Some gateways put an error into a successful response.
  const error = fieldsOf(fields?.['error']);
  if (error !== undefined) throw problemOfError(endpoint, statusOf(error['code']), json);
  const shown = excerptOf(JSON.stringify(json), endpoint.env);
  throw clientError('malformed', `${endpoint.id} returned unexpected fields: ${shown}.`, { status });
}

function statusOf(code: unknown): number {
  return typeof code === 'number' && code >= 400 && code < 600 ? code : 500;
}

function readChatCompletion(fields: Readonly<Record<string, unknown>>): ReadAnswer | undefined {
  const choices = fields['choices'];
  const choice = fieldsOf(Array.isArray(choices) ? (choices as unknown[])[0] : undefined);
  const message = fieldsOf(choice?.['message']);
  if (choice === undefined || message === undefined) return undefined;
  const text = readContent(message['content']);
  if (text === undefined) return undefined;
  const counts = fieldsOf(fields['usage']);
  const usage = usageOf(counts?.['prompt_tokens'], counts?.['completion_tokens']);
  const refusal = textOf(message['refusal']);
  if (refusal !== '') return { text: refusal, finishReason: 'refusal', isRefusal: true, usage };
  const finishReason = CHAT_FINISH_REASONS.find((known) => known === choice['finish_reason']) ?? 'other';
  return { text, finishReason, ...(finishReason === 'content_filter' ? { isRefusal: true } : {}), usage };
}

const CHAT_FINISH_REASONS: readonly FinishReason[] = ['stop', 'length', 'content_filter'];

/**
 * Reads the content of a message, which is a text or, from some servers, a list of blocks. Returns undefined for other
 * content.
 */
function readContent(content: unknown): string | undefined {
  if (content === null || content === undefined) return '';
  if (Array.isArray(content)) return joinTexts(content);
  return typeof content === 'string' ? content : undefined;
}

function readMessage(fields: Readonly<Record<string, unknown>>): ReadAnswer | undefined {
  const content = fields['content'];
  if (!Array.isArray(content)) return undefined;
  const finishReason = MESSAGE_FINISH_REASONS.get(textOf(fields['stop_reason'])) ?? 'other';
  return {
    text: joinTexts(content),
    finishReason,
    ...(finishReason === 'refusal' ? { isRefusal: true } : {}),
    usage: readUsage(fields['usage']),
  };
}

/** A map, because an object also has inherited properties such as `constructor`. */
const MESSAGE_FINISH_REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['refusal', 'refusal'],
]);

function readUsage(given: unknown): TokenUsage | null {
  const fields = fieldsOf(given);
  const parts = [
    fields?.['input_tokens'],
    fields?.['cache_creation_input_tokens'] ?? 0,
    fields?.['cache_read_input_tokens'] ?? 0,
  ].map(countOf);
  const inputTokens = parts.reduce<number>((sum, part) => sum + (part ?? NaN), 0);
  return usageOf(inputTokens, fields?.['output_tokens']);
}

/** The params of a request, separated by their use. */
interface RequestParams {
  /** The system prompt; null if there is no system prompt. */
  readonly system: string | null;
  /** The maximum number of tokens of the answer; null if the length of the answer is not limited. */
  readonly maxTokens: number | null;
  /** Params that are sent unchanged. */
  readonly rest: LLMParams;
}

/** Params that the client sets itself, each with advice on what to do instead. */
const RESERVED: Readonly<Record<string, string>> = {
  model: 'set model instead',
  messages: 'the prompt is the message',
  stream: 'answers are not streamed',
  n: 'use repeats for several answers',
};

/**
 * Splits the params of a request into the system prompt, the maximum number of tokens and the other params.
 * @throws {ConfigValidationError} if params contain `model`, `messages`, `stream` or `n`, if `system` is not a string,
 * or if `max_tokens` is not a positive whole number
 */
export function readParams(params: LLMParams): RequestParams {
  for (const name of Object.keys(RESERVED)) {
    if (name in params) throw refused(name, `must not contain ${name}`, `Remove it: ${RESERVED[name] ?? ''}.`);
  }
  const { system, max_tokens: maxTokens, ...rest } = params;
  if (system !== undefined && system !== null && typeof system !== 'string') {
    throw refused('system', 'must have a string for system', 'Set the system prompt as a string.');
  }
  if (maxTokens !== undefined && (!Number.isInteger(maxTokens) || Number(maxTokens) < 1)) {
    throw refused('max_tokens', 'must have a positive whole number for max_tokens', 'For example: max_tokens: 256.');
  }
  return { system: system ?? null, maxTokens: maxTokens === undefined ? null : Number(maxTokens), rest };
}

/**
 * Creates the error for an invalid setting. The error does not contain the value, because the value may be a prompt.
 */
function refused(name: string, required: string, suggestion: string): ConfigValidationError {
  return new ConfigValidationError(`The params ${required}.`, { context: { parameter: `params.${name}` }, suggestion });
}
