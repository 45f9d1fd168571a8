import type { LLMClientError } from '../../../exceptions/index.ts';
import { retryAfterMillis } from '../../../internal/http.ts';
import { machineClock } from '../../../internal/machine-clock.ts';
import { clientError, type FailureDetails, fieldsOf, textOf } from '../client-error.ts';
import type { FailureKind } from '../llm-client.ts';
import { type Environment, redactSecrets } from '../secrets.ts';

/** The longest excerpt of a server's message that an error shows. */
const MAX_SHOWN = 200;

/**
 * Returns the error for a response whose status is not a success.
 * @param body the parsed JSON, or the text if it is not JSON
 */
export function failureOfAnswer(endpoint: Endpoint, response: Response, body: unknown): LLMClientError {
  const wait = retryAfterMillis(response.headers, machineClock(), { acceptsModelServerForms: true });
  return problemOfError(endpoint, response.status, body, wait ?? null);
}

/**
 * Returns the error for an error object that carries its own status.
 * @param retryAfter how long the server asks to wait, in milliseconds
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
    retryAfterMillis: retryAfter,
    ...adviceOf(kind, status, endpoint),
  });
}

/** An error object of a server. */
interface ServerError {
  /** The message; empty if the body has none. */
  readonly message: string;
  /** Type and code, such as `insufficient_quota`. */
  readonly codes: readonly string[];
}

/**
 * Returns message and codes of an error body: `{ error: { message, type, code } }` of both APIs, or `error`, `message`
 * or `detail` at the top level, or plain text.
 */
export function readError(body: unknown): ServerError {
  const fields = fieldsOf(body);
  if (fields === undefined) return { message: typeof body === 'string' ? body : '', codes: [] };
  const error = fieldsOf(fields['error']) ?? fields;
  const message = [error['message'], fields['error'], fields['message'], fields['detail']].find(
    (value): value is string => typeof value === 'string',
  );
  return {
    message: message ?? '',
    codes: [textOf(error['type']), textOf(error['code'])].filter((code) => code !== ''),
  };
}

/** Returns a server's text as errors show it: on one line, without secrets, at most 200 characters. */
export function excerptOf(text: string, env: Environment): string {
  // Redacted before it is shortened, so that no part of a key remains.
  const shown = redactSecrets(text, env)
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return shown.length > MAX_SHOWN ? `${shown.slice(0, MAX_SHOWN)}…` : shown;
}

const QUOTA_CODES = ['insufficient_quota', 'billing_error', 'billing_hard_limit_reached', 'billing_not_active'];

function kindOf(status: number, { codes, message }: ServerError): FailureKind {
  if (status < 500 && codes.some((code) => QUOTA_CODES.includes(code))) return 'quota';
  // Anthropic answers 400 to an account without credit.
  if (status === 400 && /credit balance is too low/i.test(message)) return 'quota';
  const known = KINDS[status];
  if (known !== undefined) return known;
  if (status >= 500) return 'server';
  return status >= 400 ? 'bad_request' : 'not_found';
}

const KINDS: Readonly<Record<number, FailureKind>> = {
  401: 'auth',
  402: 'quota',
  403: 'auth',
  404: 'not_found',
  405: 'not_found',
  408: 'server',
  409: 'server',
  410: 'not_found',
  425: 'server',
  429: 'rate_limit',
};

/** Returns a more specific suggestion than that of the kind, if there is one. */
function adviceOf(kind: FailureKind, status: number, { keyVariable }: Endpoint): FailureDetails {
  if (kind === 'auth') {
    return { suggestion: `Check that ${keyVariable} contains a valid key with access to this model.` };
  }
  if (status >= 300 && status < 400) {
    return {
      suggestion: 'Set base_url to the final address. Redirects are not followed, because they would forward the key.',
    };
  }
  return {};
}

/** Where a client sends its requests, and with what. */
export interface Endpoint {
  /** The client's id, for messages. */
  readonly id: string;
  readonly address: string;
  /** Include the key, so they are never shown. */
  readonly headers: Readonly<Record<string, string>>;
  /** The variables whose values are secrets, which no message shows. */
  readonly env: Environment;
  /** The variable that the key is read from, for suggestions. */
  readonly keyVariable: string;
  readonly timeoutMillis: number;
}
