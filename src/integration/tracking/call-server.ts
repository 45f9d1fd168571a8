import { setTimeout as sleep } from 'node:timers/promises';

import { isMapping, parseObject } from '../../internal/values.ts';
import { FairnessToolkitError } from '../../exceptions/index.ts';
import { Utf8Stream } from '../../internal/decode-utf8.ts';
import { TrackingFault, type TrackingServer } from './tracking-server.ts';

/** As much of a server's own words as a log should show. */
const MAX_MESSAGE_LENGTH = 300;

/**
 * A response's JSON; null where it is empty, as it is after a file was taken.
 * @throws {TrackingFault} for another status than 2xx, or content that is no JSON object
 */
function readAnswer(response: Response, text: string): unknown {
  const { status } = response;
  if (status >= 300 && status < 400) throw redirected(response);
  const answer = text === '' ? null : parseObject(text);
  if (!response.ok) throw refused(response, answer);
  if (answer === undefined) {
    throw new TrackingFault(`the answer is not MLflow's (HTTP ${String(status)} without JSON): check the address`);
  }
  return answer;
}

/** A text inside an answer, by the names that lead to it. */
export function textAt(answer: unknown, ...names: readonly string[]): string | undefined {
  const found = names.reduce<unknown>(
    (value, name) => (isMapping(value) && Object.hasOwn(value, name) ? value[name] : undefined),
    answer,
  );
  return typeof found === 'string' ? found : undefined;
}

/**
 * The same, where MLflow always has it.
 * @throws {TrackingFault} where it is missing or empty
 */
export function requiredTextAt(answer: unknown, ...names: readonly string[]): string {
  const found = textAt(answer, ...names);
  if (found !== undefined && found !== '') return found;
  throw new TrackingFault(`the answer is not MLflow's (it has no ${names.join('.')}): check the address`);
}

function refused({ status, headers }: Response, answer: unknown): TrackingFault {
  const errorCode = textAt(answer, 'error_code');
  const words = [errorCode, textAt(answer, 'message')].filter((word) => word !== undefined).join(': ');
  const said = words === '' ? '' : `, ${oneLine(words)}`;
  const advice = status === 401 || status === 403 ? '; check the credentials' : '';
  return new TrackingFault(`the server answered HTTP ${String(status)}${said}${advice}`, {
    ...(errorCode === undefined ? {} : { errorCode }),
    isTransient: status === 429 || status >= 500,
    isUndone: status === 429 || status === 503,
    retryAfterMillis: retryAfterMillis(headers),
  });
}

function redirected({ status, headers }: Response): TrackingFault {
  const location = headers.get('location') ?? '';
  const elsewhere = URL.canParse(location) ? ` to ${new URL(location).origin}` : '';
  return new TrackingFault(`the server redirects${elsewhere} (HTTP ${String(status)}): name the final address`);
}

/** Retry-After in seconds; its other form, a date, depends on clocks that agree. */
function retryAfterMillis(headers: Headers): number | undefined {
  const value = headers.get('retry-after');
  return value !== null && /^\d{1,6}$/.test(value.trim()) ? Number(value) * 1000 : undefined;
}

function oneLine(text: string): string {
  const line = text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
  return line.length > MAX_MESSAGE_LENGTH ? `${line.slice(0, MAX_MESSAGE_LENGTH)}…` : line;
}

/** Far more than MLflow says of a run; beyond it the other side is something else. */
const MAX_BYTES = 2 ** 20;

/**
 * A response's text, decoded as UTF-8, as long as it has at most 1 MiB after
 * decompression; the rest is not taken from the network.
 * @throws {TrackingFault} for a longer one, which is no passing fault
 * @throws {DataValidationError} for one that is not UTF-8
 */
async function limitedText({ body }: Response): Promise<string> {
  if (body === null) return '';
  const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const decoder = new Utf8Stream('The answer');
  let text = '';
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.end();
    size += value.byteLength;
    if (size > MAX_BYTES) {
      // Not waited for: a server that goes on sending must not delay the fault.
      void reader.cancel().catch(() => undefined);
      throw new TrackingFault('the answer is longer than 1 MiB');
    }
    text += decoder.write(value);
  }
}

/** One call of the REST API. */
interface ServerCall {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** After the server's address, with its query. */
  readonly path: string;
  /** What is sent: bytes as they are, anything else as JSON. */
  readonly body?: unknown;
  /**
   * Whether doing it twice comes to the same as once.
   * @defaultValue true
   */
  readonly isRepeatable?: boolean;
}

/** Calls the server and gives its answer as parsed JSON. */
export type CallServer = (call: ServerCall) => Promise<unknown>;

/** How calls are made. */
export interface CallServerOptions {
  readonly timeoutMillis: number;
  /** Ends a call and the wait before its repetition. */
  readonly signal: AbortSignal;
}

/** How often a call that failed for a passing reason is repeated. */
const MAX_RETRIES = 3;

const FIRST_WAIT_MILLIS = 250;

/** Errors of a connection that was never made: the server has seen nothing. */
const NEVER_CONNECTED = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'];

/**
 * A way to call the server. A call that fails by the network, with 429 or with
 * 5xx is repeated up to three times after 250, 500 and 1000 milliseconds, or
 * after what the server asks for with Retry-After.
 */
export function callerOf(server: TrackingServer, options: CallServerOptions): CallServer {
  return async (call) => {
    for (let retry = 0; ; retry++) {
      try {
        return await callOnce(server, call, options);
      } catch (cause) {
        const fault = faultOf(cause, options.signal);
        if (retry >= MAX_RETRIES || !mayRepeat(call, fault)) throw fault;
        await pause(fault.retryAfterMillis ?? FIRST_WAIT_MILLIS * 2 ** retry, options.signal);
      }
    }
  };
}

async function callOnce(
  server: TrackingServer,
  { method, path, body }: ServerCall,
  { timeoutMillis, signal }: CallServerOptions,
): Promise<unknown> {
  const isBytes = body instanceof Uint8Array;
  const headers: Record<string, string> = { accept: 'application/json' };
  if (body !== undefined) headers['content-type'] = isBytes ? 'application/octet-stream' : 'application/json';
  if (server.authorization !== undefined) headers['authorization'] = server.authorization;
  const exceeded = (): Error =>
    new TrackingFault(`the server gave no answer within ${seconds(timeoutMillis)}`, { isTransient: true });
  return within(timeoutMillis, exceeded, signal, async (limit) => {
    const response = await fetch(`${server.address}${path}`, {
      method,
      headers,
      // A redirect would turn a POST into a GET, or carry credentials elsewhere.
      redirect: 'manual',
      signal: limit,
      ...(body === undefined ? {} : { body: isBytes ? (body as Uint8Array<ArrayBuffer>) : JSON.stringify(body) }),
    });
    const text = await limitedText(response).catch((cause: unknown) => {
      // The status of a failure counts, whatever page comes with it.
      if (response.ok || !FairnessToolkitError.isInstance(cause)) throw cause;
      return '';
    });
    return readAnswer(response, text);
  });
}

/** A duration for people. */
export function seconds(millis: number): string {
  return `${String(millis / 1000)} s`;
}

/** Whatever a call threw, as a fault: ours as it is, an abort, or an error of the network. */
function faultOf(cause: unknown, signal: AbortSignal): TrackingFault {
  const own = [cause, signal.aborted ? signal.reason : undefined].find((value) => value instanceof TrackingFault);
  if (own !== undefined) return own;
  if (signal.aborted) return new TrackingFault('it was stopped', { cause });
  // Bytes that are not UTF-8 stay so, however often they are sent.
  if (FairnessToolkitError.isInstance(cause)) return new TrackingFault(cause.message, { cause });
  const inner = cause instanceof Error ? (cause.cause ?? cause) : cause;
  const code = inner instanceof Error ? ('code' in inner ? String(inner.code) : inner.message) : 'no reason is known';
  return new TrackingFault(`the server cannot be reached (${code})`, {
    isTransient: true,
    isUndone: NEVER_CONNECTED.includes(code),
    cause,
  });
}

function mayRepeat({ isRepeatable = true }: ServerCall, fault: TrackingFault): boolean {
  return fault.isTransient && (isRepeatable || fault.isUndone);
}

async function pause(millis: number, signal: AbortSignal): Promise<void> {
  await sleep(millis, undefined, { signal }).catch((cause: unknown) => {
    throw faultOf(cause, signal);
  });
}

/**
 * Runs work with a signal that is raised when time is up or when the outer
 * signal is. Its timer and listener end with the work.
 * @param exceeded makes the reason of the abort when time is up
 */
export async function within<T>(
  millis: number,
  exceeded: () => Error,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const timer = setTimeout(() => {
    controller.abort(exceeded());
  }, millis);
  const passOn = (): void => {
    controller.abort(outer?.reason);
  };
  outer?.addEventListener('abort', passOn, { once: true });
  if (outer?.aborted === true) passOn();
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener('abort', passOn);
  }
}
