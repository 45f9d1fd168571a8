import { FairnessToolkitError, type LLMClientError } from '../../../exceptions/index.ts';
import { Utf8Stream } from '../../../internal/decode-utf8.ts';
import { VERSION } from '../../../internal/version.ts';
import { cancelledError, clientError, refuseCancelled } from '../client-error.ts';
import { redactSecrets } from '../secrets.ts';
import { type Endpoint, excerptOf, faultOfAnswer } from './fault-of-answer.ts';

/** What no further attempt would change: certificates, and ports that fetch refuses. */
const LASTING = /CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS|ERR_SSL|bad port/i;
const TIMEOUTS = /TIMEDOUT|TIMEOUT/;

/** The error of an attempt that got no whole answer; an error of ours stays as it is. */
function faultOfConnection(endpoint: Endpoint, thrown: unknown): Error {
  if (FairnessToolkitError.isInstance(thrown)) return thrown;
  return connectionError(endpoint, describe(thrown));
}

function connectionError({ id, env }: Endpoint, reason: string): LLMClientError {
  const shown = redactSecrets(reason, env);
  // The original may hold what was sent, so its words alone go on.
  const cause = new Error(shown);
  if (TIMEOUTS.test(reason)) return clientError('timeout', `${id} did not answer in time: ${shown}.`, { cause });
  const isLasting = LASTING.test(reason);
  return clientError('network', `The connection to ${id} failed: ${shown}.`, {
    isRetryable: !isLasting,
    isFatal: isLasting,
    cause,
  });
}

/** fetch says only "fetch failed"; the reason is in its cause. */
function describe(thrown: unknown): string {
  if (!(thrown instanceof Error)) return 'no reason is known';
  const { cause } = thrown;
  if (!(cause instanceof Error)) return thrown.message;
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
  const first = cause instanceof AggregateError ? (cause.errors[0] as unknown) : undefined;
  const message = cause.message === '' && first instanceof Error ? first.message : cause.message;
  return message.includes(code) ? message : `${message} (${code})`;
}

/** An answer may have this many bytes; the longest that models give have a hundredth of it. */
const MAX_BYTES = 8 * 1024 * 1024;
/** Of an error no more is read than may be shown after the key is taken out. */
const MAX_ERROR_BYTES = 64 * 1024;

/** An answer that is JSON. */
export interface JsonAnswer {
  readonly status: number;
  readonly json: unknown;
  readonly latencyMillis: number;
}

/**
 * Posts JSON once and gives the JSON that comes back. Follows no redirect,
 * since the key would go along; ends by the time limit or the signal, also
 * while the answer is coming.
 * @param isAnswer tells a status of failure that is an answer all the same
 * @throws {LLMClientError} whose context is a `ClientFault`, for all else that is not JSON with a status of success
 */
export async function postJson(
  endpoint: Endpoint,
  body: unknown,
  signal: AbortSignal | undefined,
  isAnswer: (status: number, json: unknown) => boolean,
): Promise<JsonAnswer> {
  refuseCancelled(endpoint.id, signal);
  const attempt = startAttempt(endpoint.timeoutMillis, signal);
  const start = performance.now();
  try {
    const response = await fetch(endpoint.address, {
      method: 'POST',
      headers: { ...endpoint.headers, accept: 'application/json', 'content-type': 'application/json', ...USER_AGENT },
      body: JSON.stringify(body),
      redirect: 'manual',
      signal: attempt.signal,
    });
    const read = await readText(response, response.ok ? MAX_BYTES : MAX_ERROR_BYTES);
    const latencyMillis = Math.round(performance.now() - start);
    return { status: response.status, json: toJson(endpoint, response, read, isAnswer), latencyMillis };
  } catch (cause) {
    if (attempt.signal.reason === CANCELLED) throw cancelledError(endpoint.id);
    if (attempt.signal.reason === TIMED_OUT) throw timeoutError(endpoint);
    throw faultOfConnection(endpoint, cause);
  } finally {
    attempt.end();
  }
}

const USER_AGENT = { 'user-agent': `evenhand/${VERSION}` };
const CANCELLED = new Error('cancelled');
const TIMED_OUT = new Error('timed out');

/** One signal for both reasons to stop, with a timer that is cleared at the end. */
function startAttempt(
  timeoutMillis: number,
  signal: AbortSignal | undefined,
): { readonly signal: AbortSignal; end(): void } {
  const controller = new AbortController();
  const cancel = (): void => {
    controller.abort(CANCELLED);
  };
  const timer = setTimeout(() => {
    controller.abort(TIMED_OUT);
  }, timeoutMillis);
  signal?.addEventListener('abort', cancel, { once: true });
  return {
    signal: controller.signal,
    end: () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', cancel);
    },
  };
}

function toJson(
  endpoint: Endpoint,
  response: Response,
  { text, isWhole }: { readonly text: string; readonly isWhole: boolean },
  isAnswer: (status: number, json: unknown) => boolean,
): unknown {
  const json = parse(text);
  if (!response.ok && !isAnswer(response.status, json)) throw faultOfAnswer(endpoint, response, json ?? text);
  if (isWhole && json !== undefined) return json;
  const type = response.headers.get('content-type') ?? 'no content type';
  const reason = isWhole
    ? `no JSON (${redactSecrets(type, endpoint.env).slice(0, 60)}): ${excerptOf(text, endpoint.env)}`
    : `more than ${String(MAX_BYTES / 1024 / 1024)} MiB`;
  // What begins as JSON was cut on its way, and may come whole the next time.
  const isRetryable = isWhole && /^\s*[[{]/.test(text);
  throw clientError('malformed', `${endpoint.id} answered with ${reason}.`, { status: response.status, isRetryable });
}

/** undefined for what is no JSON: the parser's own error would quote the text. */
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

/**
 * The text of a response, its first bytes alone where there are more than allowed:
 * a server must not be able to fill the memory.
 * @throws {DataValidationError} for an answer that is not UTF-8
 */
async function readText(
  response: Response,
  mostBytes: number,
): Promise<{ readonly text: string; readonly isWhole: boolean }> {
  if (response.body === null) return { text: '', isWhole: true };
  const decoder = new Utf8Stream('The answer');
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let text = '';
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return { text: text + decoder.end(), isWhole: true };
    bytes += value.byteLength;
    text += decoder.write(value);
    if (bytes <= mostBytes) continue;
    await reader.cancel();
    return { text: text.slice(0, mostBytes), isWhole: false };
  }
}
