import { FairnessToolkitError, type LLMClientError } from '../../exceptions/index.ts';
import { fetchFailureOf, type LimitedText, readLimitedText, retryAfterMillis } from '../../internal/http.ts';
import { machineClock } from '../../internal/machine-clock.ts';
import { withTimeLimit } from '../../internal/retry.ts';
import { tryParseJson } from '../../internal/values.ts';
import { VERSION } from '../../internal/version.ts';
import type { ApiAccess } from './access.ts';
import { cancelledError, clientError, fieldsOf, objectsIn, refuseCancelled, textOf } from './client-error.ts';
import type { FailureKind } from './llm-client.ts';
import { type Environment, redactSecrets } from './secrets.ts';

/** The maximum number of characters of a server's message that an error shows. */
const MAX_SHOWN = 200;

/** The address, the headers and the settings with which a client sends its requests. */
export interface Endpoint extends Pick<ApiAccess, 'id' | 'env' | 'keyVariable' | 'timeoutMillis'> {
  readonly address: string;
  /** @defaultValue 'POST' */
  readonly method?: string | undefined;
  /** The headers, in lower case. The headers include the key, so they are never shown. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Matches failures that a retry cannot fix: invalid certificates, and ports that fetch blocks. */
const PERMANENT = /CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS|ERR_SSL|bad port/i;
const TIMEOUTS = /TIMEDOUT|TIMEOUT/;

/** Returns the error for an attempt that received no complete response. Returns errors of this package unchanged. */
function toClientError({ id, env }: Endpoint, thrown: unknown): Error {
  if (FairnessToolkitError.isInstance(thrown)) return thrown;
  const { message = 'the reason is unknown', code = '' } = fetchFailureOf(thrown) ?? {};
  const reason = message.includes(code) ? message : `${message} (${code})`;
  const shown = redactSecrets(reason, env);
  // Only the message is kept: the original error may contain what was sent.
  const cause = new Error(shown);
  if (TIMEOUTS.test(reason)) return clientError('timeout', `${id} did not answer in time: ${shown}.`, { cause });
  const isFatal = PERMANENT.test(reason);
  return clientError('network', `The connection to ${id} failed: ${shown}.`, { isRetryable: !isFatal, isFatal, cause });
}

/** The maximum size of a response, 8 MiB. This is a hundred times the size of the longest completions. */
const MAX_BYTES = 8 * 1024 * 1024;
/** The maximum size of an error response, 64 KiB. The response is redacted first, and then shortened for the error. */
const MAX_ERROR_BYTES = 64 * 1024;

/** A response with a text. */
export interface TextAnswer {
  readonly status: number;
  readonly text: string;
  /** The content type; null if the response has none. */
  readonly contentType: string | null;
  readonly latencyMillis: number;
}

/** A response with JSON. */
export interface JsonAnswer extends Pick<TextAnswer, 'status' | 'latencyMillis'> {
  readonly json: unknown;
}

/** Returns whether a response with an error status is nevertheless a valid answer. */
type IsAnswer = (status: number, json: unknown) => boolean;

/**
 * Sends a body once and returns the text of the response. Does not follow redirects, because a redirect would forward
 * the key. The time limit and the signal also apply while the body is received.
 * @throws {LLMClientError} whose context is a `ClientFailure`, if the status is not a success, or if the text is too
 * long
 */
export async function sendText(
  endpoint: Endpoint,
  body: string,
  signal: AbortSignal | undefined,
  isAnswer: IsAnswer = () => false,
): Promise<TextAnswer> {
  const { id, timeoutMillis, method = 'POST' } = endpoint;
  refuseCancelled(id, signal);
  const start = performance.now();
  const exceeded = (): Error => clientError('timeout', `${id} did not answer within ${String(timeoutMillis)} ms.`);
  return withTimeLimit(timeoutMillis, exceeded, signal, async (limit) => {
    const response = await fetch(endpoint.address, {
      method,
      headers: { accept: 'application/json', 'content-type': 'application/json', ...USER_AGENT, ...endpoint.headers },
      body,
      redirect: 'manual',
      signal: limit,
    });
    const read = await readLimitedText(response, response.ok ? MAX_BYTES : MAX_ERROR_BYTES);
    const latencyMillis = Math.round(performance.now() - start);
    const text = checkedText(endpoint, response, read, isAnswer);
    return { status: response.status, text, contentType: response.headers.get('content-type'), latencyMillis };
  }).catch((cause: unknown) => {
    // The signal's own reason is not shown, because it may contain secrets.
    if (signal?.aborted === true) throw cancelledError(id);
    throw toClientError(endpoint, cause);
  });
}

/**
 * Sends a body once and returns the JSON of the response; see {@link sendText}.
 * @throws {LLMClientError} also if the content is not JSON
 */
export async function postJson(
  endpoint: Endpoint,
  body: string,
  signal: AbortSignal | undefined,
  isAnswer: IsAnswer,
): Promise<JsonAnswer> {
  const answer = await sendText(endpoint, body, signal, isAnswer);
  return { status: answer.status, json: readJson(endpoint, answer), latencyMillis: answer.latencyMillis };
}

const USER_AGENT = { 'user-agent': `evenhand/${VERSION}` };

/** Returns the text of a response. Throws if the response is an error, or if its text is too long. */
function checkedText(
  endpoint: Endpoint,
  response: Response,
  { text, isComplete }: LimitedText,
  isAnswer: IsAnswer,
): string {
  const json = response.ok ? undefined : tryParseJson(text);
  if (!response.ok && !isAnswer(response.status, json)) {
    const wait = retryAfterMillis(response.headers, machineClock(), { acceptsModelServerForms: true });
    throw problemOfError(endpoint, response.status, json ?? text, wait ?? null);
  }
  if (isComplete) return text;
  const message = `${endpoint.id} returned more than ${String(MAX_BYTES / 1024 / 1024)} MiB.`;
  throw clientError('malformed', message, { status: response.status, isRetryable: false });
}

/**
 * Parses the JSON of a response.
 * @throws {LLMClientError} if the text is not JSON
 */
export function readJson(endpoint: Endpoint, { text, contentType, status }: TextAnswer): unknown {
  const json = tryParseJson(text);
  if (json !== undefined) return json;
  const type = redactSecrets(contentType ?? 'no content type', endpoint.env).slice(0, 60);
  const message = `${endpoint.id} returned no JSON (${type}): ${excerptOf(text, endpoint.env)}.`;
  // A text that starts like JSON was truncated during the transfer, so a retry may receive the complete text.
  throw clientError('malformed', message, { status, isRetryable: /^\s*[[{]/.test(text) });
}

/**
 * Returns the error for a response whose error object contains a status.
 * @param retryAfter the wait in milliseconds that the headers of the response ask for
 */
export function problemOfError(
  endpoint: Endpoint,
  status: number,
  body: unknown,
  retryAfter: number | null = null,
): LLMClientError {
  const error = readError(body);
  const kind = kindOf(status, error);
  const words = excerptOf(error.message, endpoint.env);
  const message = `${endpoint.id} answered ${String(status)}${words === '' ? '' : `: ${words}`}`;
  return clientError(kind, /[.!?]$/.test(message) ? message : `${message}.`, {
    status,
    retryAfterMillis: retryAfter ?? error.retryAfterMillis,
    suggestion: adviceOf(kind, status, endpoint),
  });
}

/** An error object of a server. */
interface ServerError {
  /** The message; empty if the body has none. */
  readonly message: string;
  /** The type and the code of the error, such as `insufficient_quota`. */
  readonly codes: readonly string[];
  /** The wait in milliseconds that the body asks for; null if it asks for none. */
  readonly retryAfterMillis: number | null;
}

/**
 * Returns the message and the codes of an error body. Supports `{ error: { message, type, code } }`, Google's `{ error:
 * { message, status, details } }`, the fields `error`, `message` or `detail` at the top level, and plain text.
 */
export function readError(body: unknown): ServerError {
  const fields = fieldsOf(body);
  if (fields === undefined) return { message: typeof body === 'string' ? body : '', codes: [], retryAfterMillis: null };
  const error = fieldsOf(fields['error']) ?? fields;
  const message = [error['message'], fields['error'], fields['message'], fields['detail']].find(
    (value): value is string => typeof value === 'string',
  );
  const details = objectsIn(error['details']);
  const codes = [error['type'], error['code'], error['status'], ...details.map(({ reason }) => reason)].map(textOf);
  // Google sends the wait in the body, such as retryDelay: 34s, and has no Retry-After header.
  const [delay] = details.flatMap(({ retryDelay }) => /^(\d+(?:\.\d+)?)s$/.exec(textOf(retryDelay))?.[1] ?? []);
  return {
    message: message ?? '',
    codes: codes.filter((code) => code !== ''),
    retryAfterMillis: delay === undefined ? null : Math.round(Number(delay) * 1000),
  };
}

/** Returns a server's text for use in errors: on one line, without secrets, and with at most 200 characters. */
export function excerptOf(text: string, env: Environment): string {
  // The text is redacted before it is shortened, so that no part of a key remains.
  const shown = redactSecrets(text, env)
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return shown.length > MAX_SHOWN ? `${shown.slice(0, MAX_SHOWN)}…` : shown;
}

const QUOTA_CODES = ['insufficient_quota', 'billing_error', 'billing_hard_limit_reached', 'billing_not_active'];

function kindOf(status: number, { codes, message }: ServerError): FailureKind {
  if (status < 500 && codes.some((code) => QUOTA_CODES.includes(code))) return 'quota';
  // Anthropic returns 400 for an account without credit.
  if (status === 400 && /credit balance is too low/i.test(message)) return 'quota';
  // Google returns 400 for an invalid key.
  if (status === 400 && codes.includes('API_KEY_INVALID')) return 'auth';
  const [known] = KINDS.find(([, statuses]) => statuses.includes(status)) ?? [];
  if (known !== undefined) return known;
  if (status >= 500) return 'server';
  return status >= 400 ? 'bad_request' : 'not_found';
}

const KINDS: readonly (readonly [kind: FailureKind, statuses: readonly number[]])[] = [
  ['auth', [401, 403]],
  ['quota', [402]],
  ['not_found', [404, 405, 410]],
  ['server', [408, 409, 424, 425]],
  ['rate_limit', [429]],
];

/** Returns a suggestion that is more specific than the default of the kind; undefined if there is none. */
function adviceOf(kind: FailureKind, status: number, { keyVariable }: Endpoint): string | undefined {
  if (kind === 'auth') return `Check that ${keyVariable} contains a valid key with access to this model.`;
  if (status < 300 || status >= 400) return undefined;
  return 'Set base_url to the final address. Redirects are not followed, because they would forward the key.';
}
