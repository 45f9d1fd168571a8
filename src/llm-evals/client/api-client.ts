import { ConfigValidationError } from '../../exceptions/index.ts';
import type { LLMParams, LLMProvider } from '../../schemas/llm-eval/llm-eval-document.ts';
import type { ApiAccess } from './access.ts';
import { clientError, fieldsOf, refuseCancelled } from './client-error.ts';
import { ANTHROPIC_MESSAGES } from './dialects/anthropic-messages.ts';
import { type ApiDialect, FILTERED, type Question, type ReadAnswer } from './dialects/api-dialect.ts';
import { BEDROCK_CONVERSE } from './dialects/bedrock-converse.ts';
import { CHAT_COMPLETIONS } from './dialects/chat-completions.ts';
import { GEMINI_GENERATE_CONTENT } from './dialects/gemini-generate-content.ts';
import { OLLAMA_CHAT } from './dialects/ollama-chat.ts';
import { OPENAI_RESPONSES } from './dialects/openai-responses.ts';
import type { ChatMessage, CompletionOptions, LLMClient } from './llm-client.ts';
import { type Endpoint, excerptOf, type JsonAnswer, postJson, problemOfError, readError } from './post-json.ts';
import { redactorOf } from './secrets.ts';

const DIALECTS: Readonly<Record<ApiAccess['provider'], ApiDialect>> = {
  openai: CHAT_COMPLETIONS,
  openai_responses: OPENAI_RESPONSES,
  anthropic: ANTHROPIC_MESSAGES,
  gemini: GEMINI_GENERATE_CONTENT,
  bedrock: BEDROCK_CONVERSE,
  ollama: OLLAMA_CHAT,
  vllm: CHAT_COMPLETIONS,
  compatible: CHAT_COMPLETIONS,
} satisfies Partial<Record<LLMProvider, ApiDialect>>;

const FILTER_CODES = ['content_filter', 'content_policy_violation'];

/**
 * Creates a client for a provider's API. The client makes one attempt for each prompt. The key is kept in a closure, so
 * that printing the client does not show it.
 */
export function createApiClient(access: ApiAccess): LLMClient {
  const { id, env, provider, baseUrl } = access;
  const dialect = DIALECTS[provider];
  const address = `${baseUrl}${dialect.path(access)}`;
  const redact = redactorOf(env);
  return Object.freeze<LLMClient>({
    id,
    async complete(prompt, options = {}) {
      refuseCancelled(id, options.signal);
      const body = JSON.stringify(dialect.write(access, questionOf(prompt, options)));
      const hasKey = access.key !== null || access.credentials !== null;
      if (!hasKey && !access.isKeyOptional) throw missingKey(access);
      const endpoint: Endpoint = { ...access, address, headers: dialect.headers(access, address, body) };
      const answer = await postJson(endpoint, body, options.signal, isFiltered);
      const read = isFiltered(answer.status, answer.json) ? FILTERED : readAnswer(endpoint, dialect, answer);
      const { latencyMillis } = answer;
      return Object.freeze({ ...read, text: redact(read.text), cached: false, latencyMillis });
    },
  });
}

/**
 * Builds the question of a request: the conversation, and the params by their use. A system message of the conversation
 * follows the system prompt of the params.
 */
export function questionOf(prompt: string, { messages, params = {} }: CompletionOptions): Question {
  const { system, ...rest } = readParams(params);
  const given: readonly ChatMessage[] = messages ?? [{ role: 'user', content: prompt }];
  const own = given.filter(({ role }) => role === 'system').map(({ content }) => content);
  const all = [...(system === null ? [] : [system]), ...own];
  return {
    ...rest,
    system: all.length === 0 ? null : all.join('\n\n'),
    messages: given.filter(({ role }) => role !== 'system'),
  };
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
  throw unexpectedFields(endpoint, status, json);
}

/** Returns the error for a successful response without an answer. */
export function unexpectedFields(endpoint: Endpoint, status: number, json: unknown): Error {
  // Some gateways put an error into a successful response.
  const error = fieldsOf(fieldsOf(json)?.['error']);
  if (error !== undefined) return problemOfError(endpoint, statusOf(error['code']), json);
  const shown = excerptOf(JSON.stringify(json), endpoint.env);
  return clientError('malformed', `${endpoint.id} returned unexpected fields: ${shown}.`, { status });
}

function statusOf(code: unknown): number {
  return typeof code === 'number' && code >= 400 && code < 600 ? code : 500;
}

/** Params that the client sets itself, each with advice on what to do instead. */
const RESERVED: Readonly<Record<string, string>> = {
  model: 'set model instead',
  messages: 'the prompt is the message',
  input: 'the prompt is the input',
  contents: 'the prompt is the content',
  instructions: 'set system_prompt instead',
  systemInstruction: 'set system_prompt instead',
  stream: 'answers are not streamed',
  n: 'use repeats for several answers',
};

/**
 * Splits the params of a request into the system prompt, the maximum number of tokens and the other params.
 * @throws {ConfigValidationError} if params contain a setting of the client such as `model`, `messages` or `stream`, if
 * `system` is not a string, or if `max_tokens` is not a positive whole number
 */
export function readParams(params: LLMParams): Omit<Question, 'messages'> {
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
