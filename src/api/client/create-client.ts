import createFetchClient, { type Client } from 'openapi-fetch';

import { assertKnownOptions, type OptionNames } from '../../internal/known-options.ts';
import { assertBaseUrl } from './base-address.ts';
import type { Run, RunEvent } from './client-types.ts';
import { type FollowOptions, followRun } from './follow-run.ts';
import { nameUnreachable } from './name-unreachable.ts';
import type { paths } from './schema.ts';
import { serializeBody } from './serialize-body.ts';
import { type WaitOptions, waitForRun } from './wait-for-run.ts';

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
