import type { LLMClientError } from '../../../exceptions/index.ts';
import { machineClock } from '../../../internal/machine-clock.ts';
import { clientError, type FaultDetails, fieldsOf, textOf } from '../client-error.ts';
import type { FaultKind } from '../llm-client.ts';
import { type Environment, redactSecrets } from '../secrets.ts';

/** As much of a server's words as an error shows. */
const MAX_SHOWN = 200;

/**
 * The error of an answer with a status of failure.
 * @param body parsed where it is JSON, the text otherwise
 */
export function faultOfAnswer(endpoint: Endpoint, response: Response, body: unknown): LLMClientError {
  return faultOfError(endpoint, response.status, body, retryAfterMillis(response.headers));
}

/** The same for an error that came with a status of its own. */
export function faultOfError(
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

/** What a server says in place of an answer. */
interface ServerError {
  readonly message: string;
  /** Type and code, as `insufficient_quota`. */
  readonly codes: readonly string[];
}

/** `{ error: { message, type, code } }` of both APIs; other servers say `error`, `message` or `detail`, or some text. */
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

/** A server's words as an error shows them: in one line, without secrets, and few. */
export function excerptOf(text: string, env: Environment): string {
  // Before it is cut, so that no half of a key is left.
  const shown = redactSecrets(text, env)
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return shown.length > MAX_SHOWN ? `${shown.slice(0, MAX_SHOWN)}…` : shown;
}

const QUOTA_CODES = ['insufficient_quota', 'billing_error', 'billing_hard_limit_reached', 'billing_not_active'];

function kindOf(status: number, { codes, message }: ServerError): FaultKind {
  if (status < 500 && codes.some((code) => QUOTA_CODES.includes(code))) return 'quota';
  // Anthropic answers 400 to an account without credit.
  if (status === 400 && /credit balance is too low/i.test(message)) return 'quota';
  const known = KINDS[status];
  if (known !== undefined) return known;
  if (status >= 500) return 'server';
  return status >= 400 ? 'bad_request' : 'not_found';
}

const KINDS: Readonly<Record<number, FaultKind>> = {
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

/** A suggestion that knows more than the kind. */
function adviceOf(kind: FaultKind, status: number, { keyVariable }: Endpoint): FaultDetails {
  if (kind === 'auth') {
    return { suggestion: `Check that ${keyVariable} holds a key that is right and may use this model.` };
  }
  if (status >= 300 && status < 400) {
    return {
      suggestion: 'Redirects are not followed, since the key would go along: name the last address as base_url.',
    };
  }
  return {};
}

/**
 * How long a server asks to wait, in milliseconds: `retry-after-ms`, or
 * `retry-after` as seconds or as a date, which is compared with the server's
 * own clock where it tells it. null where it does not say.
 */
export function retryAfterMillis(headers: Headers, now: () => number = machineClock): number | null {
  const millis = readNumber(headers.get('retry-after-ms'));
  if (millis !== null) return millis;
  const value = headers.get('retry-after');
  const seconds = readNumber(value);
  if (seconds !== null) return Math.round(seconds * 1000);
  const until = Date.parse(value ?? '');
  if (Number.isNaN(until)) return null;
  const serverTime = Date.parse(headers.get('date') ?? '');
  return Math.max(0, until - (Number.isNaN(serverTime) ? now() : serverTime));
}

/** A number as a header has it: digits, perhaps with a fraction; a negative wait is none. */
function readNumber(value: string | null): number | null {
  const text = value?.trim() ?? '';
  if (/^-\d{1,15}(?:\.\d+)?$/.test(text)) return 0;
  return /^\d{1,15}(?:\.\d+)?$/.test(text) ? Number(text) : null;
}

/** Where requests of a client go, and what they carry. */
export interface Endpoint {
  /** The client's id, for messages. */
  readonly id: string;
  readonly address: string;
  /** The key among them: shown nowhere. */
  readonly headers: Readonly<Record<string, string>>;
  /** What must not be shown, as variables. */
  readonly env: Environment;
  /** The variable that the key is read from, for suggestions. */
  readonly keyVariable: string;
  readonly timeoutMillis: number;
}
