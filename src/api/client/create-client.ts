import { createParser } from 'eventsource-parser';
import createFetchClient, { type Client, type Middleware } from 'openapi-fetch';

import { assertKnownOptions, invalidParameter, type OptionNames } from '../../internal/arguments.ts';
import { Utf8Stream } from '../../internal/decode-utf8.ts';
import { fetchFailureOf, retryAfterMillis } from '../../internal/http.ts';
import { machineClock } from '../../internal/machine-clock.ts';
import { sleep } from '../../internal/retry.ts';
import type { paths } from './schema.ts';
import { dataOf, errorOf, isBusy, type Run, type RunEvent, ServiceError } from './service-error.ts';

/** Options of `waitForRun`. */
export interface WaitOptions {
  /**
   * A signal that stops the waiting when it is aborted. The run itself continues.
   * @defaultValue none
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * The time between two requests for the state of the run, in milliseconds.
   * @defaultValue 1000
   */
  readonly pollMillis?: number | undefined;
}

/**
 * Polls a run until it has succeeded, and returns it.
 * @throws {ServiceError} if the run failed, was cancelled or is unknown
 * @throws the signal's reason when it is aborted
 */
async function waitForRun(
  client: Client<paths>,
  runId: string,
  { signal, pollMillis = 1000 }: WaitOptions = {},
): Promise<Run> {
  for (;;) {
    const request = { params: { path: { run_id: runId } }, ...(signal === undefined ? {} : { signal }) };
    const result = await client.GET('/results/{run_id}', request);
    if (isBusy(result.response)) {
      await sleep(retryAfterMillis(result.response.headers, machineClock()) ?? pollMillis, signal);
      continue;
    }
    // The response type also includes reports as text. Without an Accept header, the service always returns JSON.
    const run = dataOf(result) as Run;
    if (run.status === 'succeeded') return run;
    if (run.status === 'failed' || run.status === 'cancelled') throw new ServiceError(run.problem ?? unexplained(run));
    await sleep(pollMillis, signal);
  }
}

function unexplained({ run_id: runId, status }: Run): ServiceError['problem'] {
  return {
    type: 'urn:evenhand:problem:conflict',
    title: 'The run has no result',
    status: 409,
    code: 'conflict',
    detail: `The run is ${status}.`,
    suggestion: 'Send the request again.',
    run_id: runId,
  };
}

/** An event of a stream, with its unparsed fields. */
interface StreamEvent {
  /** The ID of this event, or of the most recent event that had an ID. Empty if no event had one. */
  readonly id: string;
  readonly type: string;
  readonly data: string;
}

/**
 * Parses a stream of events (`text/event-stream`, WHATWG HTML section 9.2). An incomplete event at the end of the
 * stream is discarded, as the standard requires.
 * @yields each event once it is complete
 * @throws {DataValidationError} for bytes that are not UTF-8
 */
export async function* parseEvents(stream: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent, void, undefined> {
  const decoder = new Utf8Stream('The stream of events');
  const reader = stream.getReader();
  let lastId = '';
  let complete: StreamEvent[] = [];
  const parser = createParser({
    onEvent: ({ id, event, data }) => {
      lastId = id ?? lastId;
      complete.push({ id: lastId, type: event ?? 'message', data });
    },
  });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      parser.feed(decoder.write(value));
      const events = complete;
      complete = [];
      yield* events;
    }
  } finally {
    // Closes the connection when the consumer stops reading. If the connection was lost, `read` has already thrown the
    // error.
    await reader.cancel().catch(() => undefined);
  }
}

/** Options of `followRun`. */
export interface FollowOptions {
  /**
   * The number of the last event that is already known. Only later events are returned.
   * @defaultValue 0: all events
   */
  readonly lastEventId?: number | undefined;
  /**
   * A signal that ends the stream of events when it is aborted. The run itself continues.
   * @defaultValue none
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * The time in milliseconds to wait before reconnecting.
   * @defaultValue 1000
   */
  readonly retryMillis?: number | undefined;
  /**
   * The maximum number of consecutive connections that deliver no event. When it is reached, an error is thrown.
   * @defaultValue 5
   */
  readonly maxRetries?: number | undefined;
}

/**
 * Returns the events of a run until its final status. Reconnects if the connection is lost.
 * @yields each event once
 * @throws {ServiceError} 404 for an unknown run
 * @throws the last connection error after too many consecutive connections without an event; the signal's reason if the
 * signal is aborted
 */
async function* followRun(
  client: Client<paths>,
  runId: string,
  { lastEventId = 0, signal, retryMillis = 1000, maxRetries = 5 }: FollowOptions = {},
): AsyncGenerator<RunEvent, void, undefined> {
  let seen = lastEventId;
  let losses = 0;
  for (;;) {
    try {
      const stream = await connect(client, runId, seen, signal);
      if (stream === undefined) return;
      for await (const event of eventsOf(stream, signal)) {
        seen = event.id;
        losses = 0;
        yield event;
        if (isLast(event)) return;
      }
      throw new ConnectionLost('the stream of events ended before the run did');
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw error;
      losses += 1;
      if (losses > maxRetries) throw error.cause instanceof Error ? error.cause : error;
    }
    await sleep(retryMillis, signal);
  }
}

/** The error for a connection that was lost or could not be opened. Reconnecting may help. */
class ConnectionLost extends Error {}

/**
 * Returns the events of one connection.
 * @yields each event as it arrives
 */
async function* eventsOf(
  stream: ReadableStream<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<RunEvent, void, undefined> {
  const events = parseEvents(stream);
  try {
    for (;;) {
      const next = await lostIfBroken(events.next(), signal);
      if (next.done === true) return;
      yield runEventOf(next.value);
    }
  } finally {
    await events.return();
  }
}

/**
 * Opens the stream of the events that follow the last received event. Returns undefined if there are no more events.
 */
async function connect(
  client: Client<paths>,
  runId: string,
  seen: number,
  signal: AbortSignal | undefined,
): Promise<ReadableStream<Uint8Array> | undefined> {
  const result = await lostIfBroken(
    client.GET('/results/{run_id}/events', {
      params: { path: { run_id: runId }, header: { 'Last-Event-ID': seen } },
      headers: { accept: 'text/event-stream' },
      parseAs: 'stream',
      ...(signal === undefined ? {} : { signal }),
    }),
    signal,
  );
  if (result.response.status === 204) return undefined;
  if (result.response.ok && result.data instanceof ReadableStream) return result.data;
  if (!isBusy(result.response)) throw errorOf(result);
  await sleep(retryAfterMillis(result.response.headers, machineClock()) ?? 0, signal);
  throw new ConnectionLost('busy', { cause: errorOf(result) });
}

/**
 * Converts any error except an abort to ConnectionLost, because the errors for a lost connection depend on the
 * platform.
 */
async function lostIfBroken<Value>(step: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  try {
    return await step;
  } catch (cause) {
    if (signal?.aborted === true) throw cause;
    throw new ConnectionLost('the connection was lost', { cause });
  }
}

function runEventOf({ id, type, data }: StreamEvent): RunEvent {
  return { ...(JSON.parse(data) as object), id: Number(id), type } as RunEvent;
}

function isLast(event: RunEvent): boolean {
  return event.type === 'status' && ['succeeded', 'failed', 'cancelled'].includes(event.status);
}

/**
 * Replaces the error for a request without a response by an error that contains the address of the service. Abort
 * errors are not changed.
 */
const nameUnreachable: Middleware = {
  onError: ({ error, request }) => {
    if (request.signal.aborted || ServiceError.isInstance(error)) return undefined;
    const { origin, pathname } = new URL(request.url);
    return new ServiceError(
      {
        type: 'urn:evenhand:problem:unavailable',
        title: 'The service cannot be reached',
        status: 503,
        code: 'unavailable',
        detail: `${origin}${pathname} did not respond: ${fetchFailureOf(error)?.message ?? 'the request failed'}.`,
        suggestion: `Check that the service runs and answers at ${origin}.`,
      },
      { cause: error },
    );
  },
};

/** Options of {@link createClient}. */
export interface ClientOptions {
  /** The address of the service, including its mount path: `http://127.0.0.1:8000`. */
  readonly baseUrl: string;
  /**
   * An API key of the service, sent as a bearer token.
   * @defaultValue none
   */
  readonly key?: string | undefined;
  /**
   * A replacement for the global `fetch`.
   * @defaultValue the global fetch
   */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
}

const CLIENT_OPTION_NAMES: OptionNames<ClientOptions> = { baseUrl: true, key: true, fetch: true };

/**
 * A client with the methods `GET`, `POST` and `DELETE`, typed by the OpenAPI document, and methods that wait for runs.
 */
export interface ServiceClient extends Pick<Client<paths>, 'GET' | 'POST' | 'DELETE' | 'use' | 'eject'> {
  /**
   * Polls a run until it has succeeded, and returns it.
   * @throws {ServiceError} if the run failed or was cancelled; 404 for an unknown run
   * @throws the signal's reason when it is aborted
   */
  waitForRun(runId: string, options?: WaitOptions): Promise<Run>;
  /**
   * Returns the events of a run, from its start until its final status. Reconnects if the connection is lost. No event
   * is returned twice.
   * @throws {ServiceError} 404 for an unknown run
   * @throws the last connection error after too many consecutive connections without an event; the signal's reason if
   * the signal is aborted
   */
  followRun(runId: string, options?: FollowOptions): AsyncGenerator<RunEvent, void, undefined>;
}

/**
 * Returns a client of the service. The types of paths, bodies and responses come from the OpenAPI document.
 *
 * Each method returns `{ data, error, response }`. `dataOf` returns the data, or throws a `ServiceError` with the
 * problem. A body that contains a `Blob` is sent as a form. A string or a `Blob` is sent unchanged; set its
 * Content-Type in `headers`. Any other body is sent as JSON. A request without a response throws a `ServiceError` that
 * names the address.
 * @throws {ValueError} for a base URL that is not an http or https address
 */
export function createClient(options: ClientOptions): ServiceClient {
  assertKnownOptions('createClient', options, CLIENT_OPTION_NAMES);
  const { baseUrl, key, fetch } = options;
  const client = createFetchClient<paths>({
    baseUrl: assertBaseUrl(baseUrl),
    bodySerializer: serializeBody,
    ...(key === undefined ? {} : { headers: { authorization: `Bearer ${key}` } }),
    ...(fetch === undefined ? {} : { fetch }),
  });
  client.use(nameUnreachable);
  return {
    GET: client.GET,
    POST: client.POST,
    DELETE: client.DELETE,
    use: (...middleware) => {
      client.use(...middleware);
    },
    eject: (...middleware) => {
      client.eject(...middleware);
    },
    waitForRun: (runId, options) => waitForRun(client, runId, options),
    followRun: (runId, options) => followRun(client, runId, options),
  };
}

/**
 * Returns the base URL unchanged.
 * @throws {ValueError} if it is not an http or https address
 */
function assertBaseUrl(baseUrl: string): string {
  const { protocol = '' } = URL.canParse(baseUrl) ? new URL(baseUrl) : {};
  if (protocol === 'http:' || protocol === 'https:') return baseUrl;
  throw invalidParameter('baseUrl', 'be an http or https address, such as http://127.0.0.1:8000', shown(baseUrl));
}

function shown(given: unknown): string {
  return typeof given === 'string' ? `'${given}'` : typeof given;
}

/**
 * Serializes a body. A string, `Blob` or form is unchanged. An object that contains a `Blob` becomes a form. Any other
 * body becomes JSON.
 * @param body the body, of the type that the operation requires
 */
function serializeBody(body: unknown): string | Blob | FormData {
  if (typeof body === 'string' || body instanceof Blob || body instanceof FormData) return body;
  if (typeof body !== 'object' || body === null) return JSON.stringify(body);
  const entries: [string, unknown][] = Object.entries(body);
  return entries.some(([, value]) => value instanceof Blob) ? formOf(entries) : JSON.stringify(body);
}

/** Builds a form. Strings and `Blob`s are added unchanged, and all other values as JSON. */
function formOf(entries: readonly [string, unknown][]): FormData {
  const form = new FormData();
  for (const [name, value] of entries) {
    if (value instanceof Blob) form.append(name, value);
    else if (value !== undefined) form.append(name, typeof value === 'string' ? value : JSON.stringify(value));
  }
  return form;
}
