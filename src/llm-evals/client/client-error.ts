import { LLMClientError } from '../../exceptions/index.ts';
import type { ClientFault, FaultKind } from './llm-client.ts';

/** The fields of a parsed object; undefined for what is none. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return value as Readonly<Record<string, unknown>>;
}

/** A text; '' for what is none. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** No model takes or gives so many tokens at once; what is above is no count, and would spend any budget. */
const MAX_TOKENS = 1e9;

/** A count of tokens; undefined for what is none. */
export function countOf(value: unknown): number | undefined {
  return isTokenAmount(value) && Number.isInteger(value) ? value : undefined;
}

/** Whether a value can be a number of tokens, estimated ones with a fraction too. */
export function isTokenAmount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= MAX_TOKENS;
}

/** The texts of a list of content blocks, joined; other blocks have no text. */
export function joinTexts(blocks: readonly unknown[]): string {
  return blocks
    .map((block) => {
      const fields = fieldsOf(block);
      return fields?.['type'] === 'text' ? textOf(fields['text']) : '';
    })
    .join('');
}

/** What a fault says beyond its kind. */
export interface FaultDetails extends Partial<Omit<ClientFault, 'kind'>> {
  readonly suggestion?: string | undefined;
  readonly cause?: unknown;
}

const RETRYABLE: ReadonlySet<FaultKind> = new Set(['rate_limit', 'server', 'timeout', 'network']);
const FATAL: ReadonlySet<FaultKind> = new Set(['auth', 'not_found', 'quota']);

/** The error of a request whose context is a whole {@link ClientFault}; what is not given follows from the kind. */
export function clientError(kind: FaultKind, message: string, details: FaultDetails = {}): LLMClientError {
  const fault: ClientFault = {
    kind,
    status: details.status ?? null,
    isRetryable: details.isRetryable ?? RETRYABLE.has(kind),
    isFatal: details.isFatal ?? FATAL.has(kind),
    retryAfterMillis: details.retryAfterMillis ?? null,
  };
  return new LLMClientError(message, {
    context: { ...fault },
    suggestion: details.suggestion ?? SUGGESTIONS[kind],
    ...(details.cause === undefined ? {} : { cause: details.cause }),
  });
}

/** The error of a request that its caller gave up. */
export function cancelledError(id: string): LLMClientError {
  return clientError('cancelled', `The request to ${id} was cancelled.`);
}

/** @throws {LLMClientError} of kind `cancelled` where the caller has given up already */
export function refuseCancelled(id: string, signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw cancelledError(id);
}

const SUGGESTIONS: Readonly<Record<FaultKind, string>> = {
  auth: 'Check that the key in the environment is right and may use this model.',
  not_found: 'Check the model and the base_url.',
  bad_request: 'Check the params and the prompt; other prompts may be answered.',
  rate_limit: 'Ask again later, or lower the concurrency.',
  quota: "Check the account's plan and billing; answers that came already are kept.",
  server: 'Ask again later; the fault is on the side of the server.',
  timeout: 'Ask again, or raise timeout_ms.',
  network: 'Check the connection and the base_url.',
  malformed: 'Check that the base_url leads to the API that the provider names.',
  cancelled: 'Ask again when it is wanted.',
  function: 'See the cause; the function must give a text for every prompt.',
};
