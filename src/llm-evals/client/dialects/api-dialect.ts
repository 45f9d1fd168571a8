import type { Mapping } from '../../../internal/values.ts';
import type { LLMParams } from '../../../schemas/llm-eval/llm-eval-document.ts';
import type { ApiAccess } from '../access.ts';
import type { ChatMessage, Completion } from '../llm-client.ts';

/** The content of an answer, parsed from a response. */
export type ReadAnswer = Pick<Completion, 'text' | 'finishReason' | 'isRefusal' | 'usage'>;

/** What a request asks: a conversation and its params, separated by their use. */
export interface Question {
  /** The system prompt; null if there is no system prompt. */
  readonly system: string | null;
  /** The messages of the user and the assistant. */
  readonly messages: readonly ChatMessage[];
  /** The maximum number of tokens of the answer; null if the length of the answer is not limited. */
  readonly maxTokens: number | null;
  /** Params that are sent unchanged. */
  readonly rest: LLMParams;
}

/** The properties in which the APIs of providers differ. */
export interface ApiDialect {
  /** Returns the URL path of the requests, after the base URL. */
  path(access: ApiAccess): string;
  /**
   * Returns the headers of a request, including its key or its signature.
   * @param body the body as it is sent
   */
  headers(access: ApiAccess, address: string, body: string): Readonly<Record<string, string>>;
  /** Builds the body of a request. */
  write(access: ApiAccess, question: Question): Mapping;
  /** Parses an answer. Returns undefined if the answer does not have the format of this API. */
  read(fields: Mapping): ReadAnswer | undefined;
}

/**
 * The answer to a prompt that a filter blocked before the model received it. The provider's refusal counts as an
 * answer.
 */
export const FILTERED: ReadAnswer = { text: '', finishReason: 'content_filter', isRefusal: true, usage: null };

/** Returns the messages with the system prompt as the first message. */
export function withSystemMessage({ system, messages }: Pick<Question, 'system' | 'messages'>): readonly ChatMessage[] {
  return system === null ? messages : [{ role: 'system', content: system }, ...messages];
}

/** Returns the header with a key as a bearer token; no header if there is no key. */
export function bearerHeader({ key }: Pick<ApiAccess, 'key'>): Readonly<Record<string, string>> {
  return key === null ? {} : { authorization: `Bearer ${key}` };
}

/** Divides params into those that the API expects at the top level of a body, and the others. */
export function divideParams(rest: LLMParams, topLevel: readonly string[]): readonly [top: Mapping, others: Mapping] {
  const entries = Object.entries(rest);
  const isTop = ([name]: readonly [string, unknown]): boolean => topLevel.includes(name);
  return [Object.fromEntries(entries.filter(isTop)), Object.fromEntries(entries.filter((entry) => !isTop(entry)))];
}
