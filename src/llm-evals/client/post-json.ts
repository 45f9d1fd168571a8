import { FairnessToolkitError, type LLMClientError } from '../../../exceptions/index.ts';
import { fetchFailureOf, type LimitedText, readLimitedText } from '../../../internal/http.ts';
import { withTimeLimit } from '../../../internal/retry.ts';
import { VERSION } from '../../../internal/version.ts';
import { cancelledError, clientError, refuseCancelled } from '../client-error.ts';
import { redactSecrets } from '../secrets.ts';
import { type Endpoint, excerptOf, failureOfAnswer } from './answer-failure.ts';

/** Failures that a retry does not change: certificates, and ports that fetch blocks. */
const PERMANENT = /CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS|ERR_SSL|bad port/i;
const TIMEOUTS = /TIMEDOUT|TIMEOUT/;

/** Returns the error for an attempt without a complete response; errors of this package stay as they are. */
function toClientError(endpoint: Endpoint, thrown: unknown): Error {
  if (FairnessToolkitError.isInstance(thrown)) return thrown;
  return connectionError(endpoint, describe(thrown));
}

function connectionError({ id, env }: Endpoint, reason: string): LLMClientError {
  const shown = redactSecrets(reason, env);
  // Only the message is kept: the original error may contain what was sent.
  const cause = new Error(shown);
  if (TIMEOUTS.test(reason)) return clientError('timeout', `${id} did not answer in time: ${shown}.`, { cause });
  const isPermanent = PERMANENT.test(reason);
  return clientError('network', `The connection to ${id} failed: ${shown}.`, {
    isRetryable: !isPermanent,
    isFatal: isPermanent,
    cause,
  });
}

function describe(thrown: unknown): string {
  const { message = 'the reason is unknown', code = '' } = fetchFailureOf(thrown) ?? {};
  return message.includes(code) ? message : `${message} (${code})`;
}

/** The largest response that is read, 8 MiB: a hundred times the longest completions of models. */
const MAX_BYTES = 8 * 1024 * 1024;
/** The largest error response that is read: it is redacted before it is shortened to what is shown. */
const MAX_ERROR_BYTES = 64 * 1024;

/** A response with JSON. */
export interface JsonAnswer {
  readonly status: number;
  readonly json: unknown;
  readonly latencyMillis: number;
}

/**
 * Posts JSON once and returns the JSON of the response. Does not follow redirects, which would forward the key. The
 * time limit and the signal also apply while the body arrives.
 * @param isAnswer returns whether a status that is not a success is a valid answer nevertheless
 * @throws {LLMClientError} whose context is a `ClientFailure`, if the status or content is different
 */
export async function postJson(
  endpoint: Endpoint,
  body: unknown,
  signal: AbortSignal | undefined,
  isAnswer: (status: number, json: unknown) => boolean,
): Promise<JsonAnswer> {
  refuseCancelled(endpoint.id, signal);
  const start = performance.now();
  const exceeded = (): Error => timeoutError(endpoint);
  return withTimeLimit(endpoint.timeoutMillis, exceeded, signal, async (limit) => {
    const response = await fetch(endpoint.address, {
      method: 'POST',
      headers: { ...endpoint.headers, accept: 'application/json', 'content-type': 'application/json', ...USER_AGENT },
      body: JSON.stringify(body),
      redirect: 'manual',
      signal: limit,
    });
    const read = await readLimitedText(response, response.ok ? MAX_BYTES : MAX_ERROR_BYTES);
    const latencyMillis = Math.round(performance.now() - start);
    return { status: response.status, json: toJson(endpoint, response, read, isAnswer), latencyMillis };
  }).catch((cause: unknown) => {
    // The signal's own reason is not shown: it may contain secrets.
    if (signal?.aborted === true) throw cancelledError(endpoint.id);
    throw toClientError(endpoint, cause);
  });
}

const USER_AGENT = { 'user-agent': `evenhand/${VERSION}` };

function toJson(
  endpoint: Endpoint,
  response: Response,
  { text, isComplete }: LimitedText,
  isAnswer: (status: number, json: unknown) => boolean,
): unknown {
  const json = parse(text);
  if (!response.ok && !isAnswer(response.status, json)) throw failureOfAnswer(endpoint, response, json ?? text);
  if (isComplete && json !== undefined) return json;
  const type = response.headers.get('content-type') ?? 'no content type';
  const reason = isComplete
    ? `no JSON (${redactSecrets(type, endpoint.env).slice(0, 60)}): ${excerptOf(text, endpoint.env)}`
    : `more than ${String(MAX_BYTES / 1024 / 1024)} MiB`;
  // Text that starts as JSON was truncated on its way, so a retry may get all of it.
  const isRetryable = isComplete && /^\s*[[{]/.test(text);
  throw clientError('malformed', `${endpoint.id} answered with ${reason}.`, { status: response.status, isRetryable });
}

/** Returns undefined for text that is not JSON: the parser's own error would quote it. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function timeoutError({ id, timeoutMillis }: Endpoint): Error {
  return clientError('timeout', `${id} did not answer within ${String(timeoutMillis)} ms.`);
}
