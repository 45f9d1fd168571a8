import createFetchClient, { type Client, type Middleware } from 'openapi-fetch';

import { assertKnownOptions, invalidParameter, type OptionNames } from '../../internal/arguments.ts';
import { fetchFailureOf } from '../../internal/http.ts';
import { type FollowOptions, followRun } from './follow-run.ts';
import type { paths } from './schema.ts';
import { type Run, type RunEvent, ServiceError } from './service-error.ts';
import { waitForRun, type WaitOptions } from './wait-for-run.ts';

/** Replaces the error for a missing response with an error that names the address. Abort errors are not changed. */
const nameUnreachable: Middleware = {
  onError: ({ error, request }) => {
    if (request.signal.aborted || ServiceError.isInstance(error)) return undefined;
    return unreachable(request.url, error);
  },
};

function unreachable(url: string, cause: unknown): ServiceError {
  const { origin, pathname } = new URL(url);
  return new ServiceError(
    {
      type: 'urn:evenhand:problem:unavailable',
      title: 'The service cannot be reached',
      status: 503,
      code: 'unavailable',
      detail: `${origin}${pathname} gave no answer: ${fetchFailureOf(cause)?.message ?? 'the request failed'}.`,
      suggestion: `Check that the service runs and answers at ${origin}.`,
    },
    { cause },
  );
}

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

/** A client with `GET`, `POST` and `DELETE`, typed by the OpenAPI document, and functions that wait for runs. */
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
   * @throws the last connection error, after too many consecutive connections without an event; or the signal's reason
   *   when it is aborted
   */
  followRun(runId: string, options?: FollowOptions): AsyncGenerator<RunEvent, void, undefined>;
}

/**
 * Returns a client of the service. Its paths, bodies and responses are typed by the OpenAPI document.
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
 * @param body of the type that the operation requires
 */
function serializeBody(body: unknown): string | Blob | FormData {
  if (typeof body === 'string' || body instanceof Blob || body instanceof FormData) return body;
  if (typeof body !== 'object' || body === null) return JSON.stringify(body);
  const entries: [string, unknown][] = Object.entries(body);
  return entries.some(([, value]) => value instanceof Blob) ? formOf(entries) : JSON.stringify(body);
}

/** Builds a form. Strings and `Blob`s are kept; other values become JSON. */
function formOf(entries: readonly [string, unknown][]): FormData {
  const form = new FormData();
  for (const [name, value] of entries) {
    if (value instanceof Blob) form.append(name, value);
    else if (value !== undefined) form.append(name, typeof value === 'string' ? value : JSON.stringify(value));
  }
  return form;
}
