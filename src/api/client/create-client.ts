import createFetchClient, { type Client, type Middleware } from 'openapi-fetch';

import { assertKnownOptions, invalidParameter, type OptionNames } from '../../internal/arguments.ts';
import { type FollowOptions, followRun } from './follow-run.ts';
import type { paths } from './schema.ts';
import { type Run, type RunEvent, ServiceError } from './service-error.ts';
import { waitForRun, type WaitOptions } from './wait-for-run.ts';

/** Tells a request that no answer came to, with the address that it went to; an end that was asked for stays what it is. */
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
      detail: `${origin}${pathname} gave no answer: ${reasonOf(cause)}.`,
      suggestion: `Check that the service runs and answers at ${origin}.`,
    },
    { cause },
  );
}

/** fetch says no more than that it failed; what it met stands in the cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'the request failed';
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
  return cause.message === '' ? code || error.message : cause.message;
}

/** Options of {@link createClient}. */
export interface ClientOptions {
  /** Where the service answers: `http://127.0.0.1:8000`, with the path that it is mounted at. */
  readonly baseUrl: string;
  /**
   * One of the service's keys.
   * @defaultValue none is shown
   */
  readonly key?: string | undefined;
  /**
   * What sends requests.
   * @defaultValue the global fetch
   */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
}

const CLIENT_OPTION_NAMES: OptionNames<ClientOptions> = { baseUrl: true, key: true, fetch: true };

/** What asks the service: `GET`, `POST` and `DELETE` by its paths, with the types of its document, and what waits for runs. */
export interface ServiceClient extends Pick<Client<paths>, 'GET' | 'POST' | 'DELETE' | 'use' | 'eject'> {
  /**
   * Asks for a run until it has succeeded.
   * @throws {ServiceError} why it failed or was cancelled, or 404 for an unknown run; the signal's reason where that comes first
   */
  waitForRun(runId: string, options?: WaitOptions): Promise<Run>;
  /**
   * Tells what happens to a run, from its beginning until its final status. A connection that is lost is made again, and no
   * event is told twice.
   * @throws {ServiceError} 404 for an unknown run; what broke the connection, where it breaks time and again
   */
  followRun(runId: string, options?: FollowOptions): AsyncGenerator<RunEvent, void, undefined>;
}

/**
 * A client of the service whose paths, bodies and answers are typed by its OpenAPI document.
 *
 * Each method gives `{ data, error, response }`; `dataOf` gives the data or throws a `ServiceError` that carries the
 * problem. A body with a `Blob` in it is sent as a form, a text or a `Blob` as it is (name its Content-Type in `headers`), any
 * other as JSON. A request that no answer comes to throws a `ServiceError` that names the address.
 * @throws {ValueError} for a base URL that is no http or https address
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
 * Where the service answers, as it was given.
 * @throws {ValueError} for what is no address of the web
 */
function assertBaseUrl(baseUrl: string): string {
  const { protocol = '' } = URL.canParse(baseUrl) ? new URL(baseUrl) : {};
  if (protocol === 'http:' || protocol === 'https:') return baseUrl;
  throw invalidParameter('baseUrl', 'be an address with its scheme, as http://127.0.0.1:8000', shown(baseUrl));
}

function shown(given: unknown): string {
  return typeof given === 'string' ? `'${given}'` : typeof given;
}

/**
 * A body as it is sent: texts and bytes as they are, an object with a file in it as a form, any other as JSON.
 * @param body what the types of the operation ask for
 */
function serializeBody(body: unknown): string | Blob | FormData {
  if (typeof body === 'string' || body instanceof Blob || body instanceof FormData) return body;
  if (typeof body !== 'object' || body === null) return JSON.stringify(body);
  const entries: [string, unknown][] = Object.entries(body);
  return entries.some(([, value]) => value instanceof Blob) ? formOf(entries) : JSON.stringify(body);
}

/** Fields of a form are texts, whatever they stand for. */
function formOf(entries: readonly [string, unknown][]): FormData {
  const form = new FormData();
  for (const [name, value] of entries) {
    if (value instanceof Blob) form.append(name, value);
    else if (value !== undefined) form.append(name, typeof value === 'string' ? value : JSON.stringify(value));
  }
  return form;
}
