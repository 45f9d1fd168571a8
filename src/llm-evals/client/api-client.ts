import { clientError, fieldsOf, refuseCancelled } from '../client-error.ts';
import { type Endpoint, excerptOf, problemOfError, readError } from '../http/answer-failure.ts';
import { type JsonAnswer, postJson } from '../http/post-json.ts';
import type { Completion, LLMClient } from '../llm-client.ts';
import { redactorOf } from '../secrets.ts';
import { readParams, type RequestParams } from './request-params.ts';

/** The parsed content of an answer. */
export type ReadAnswer = Pick<Completion, 'text' | 'finishReason' | 'isRefusal' | 'usage'>;

/** The specifics of one API. */
export interface ApiDialect {
  /** Builds the body of a request. */
  write(prompt: string, params: RequestParams): unknown;
  /** Parses an answer. Returns undefined if it is not one of this API. */
  read(fields: Readonly<Record<string, unknown>>): ReadAnswer | undefined;
}

/**
 * The answer for a prompt that a filter blocked before the model received it. The provider's refusal is an answer to
 * measure.
 */
const FILTERED: ReadAnswer = { text: '', finishReason: 'content_filter', isRefusal: true, usage: null };
const FILTER_CODES = ['content_filter', 'content_policy_violation'];

/** Creates a client of an API, with one attempt for each prompt. Its key is stored where no output shows it. */
export function createApiClient(endpoint: Endpoint, hasKey: boolean, dialect: ApiDialect): LLMClient {
  const { id, env, keyVariable } = endpoint;
  const redact = redactorOf(env);
  return Object.freeze<LLMClient>({
    id,
    async complete(prompt, options = {}) {
      refuseCancelled(id, options.signal);
      const body = dialect.write(prompt, readParams(options.params ?? {}));
      if (!hasKey) throw missingKey(id, keyVariable);
      const answer = await postJson(endpoint, body, options.signal, isFiltered);
      const read = isFiltered(answer.status, answer.json) ? FILTERED : readAnswer(endpoint, dialect, answer);
      const { latencyMillis } = answer;
      return Object.freeze({ ...read, text: redact(read.text), cached: false, latencyMillis });
    },
  });
}

function missingKey(id: string, variable: string): Error {
  return clientError('auth', `The key of ${id} is missing: ${variable} is not set.`, {
    suggestion: `Set ${variable} in the environment; keys are read only from there.`,
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
  throw clientError('malformed', `${endpoint.id} answered with unexpected fields: ${shown}.`, { status });
}

function statusOf(code: unknown): number {
  return typeof code === 'number' && code >= 400 && code < 600 ? code : 500;
}
