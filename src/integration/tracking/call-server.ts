import { setTimeout as sleep } from 'node:timers/promises';

import { FairnessToolkitError } from '../../exceptions/index.ts';
import { limitedText } from './limited-text.ts';
import { readAnswer } from './read-answer.ts';
import { within } from './time-limit.ts';
import { TrackingFault } from './tracking-fault.ts';
import type { TrackingServer } from './tracking-server.ts';

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
const MOST_RETRIES = 3;

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
        if (retry >= MOST_RETRIES || !mayRepeat(call, fault)) throw fault;
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
