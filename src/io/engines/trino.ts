import http from 'node:http';
import https from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';

import { ConfigValidationError } from '../../exceptions/index.ts';
import { importOptional } from '../../internal/packages.ts';
import type { EngineResult, EngineValue } from '../sql-engine.ts';
import { assertSelect, type Driver, type EngineSettings, type Failure, isUnreachable } from './open-engine.ts';

/** The part of the package `trino-client` that is used. */
interface TrinoModule {
  readonly Trino: { readonly create: (options: object) => TrinoClient };
}

interface TrinoClient {
  /** The inner part of the client: the package has no option for a signal, a time limit, or another reading of numbers. */
  readonly client?: {
    /** The settings of each request. */
    readonly clientConfig?: object;
    request(request: object): Promise<unknown>;
  };
  query(sql: string): Promise<unknown>;
  cancel(id: string): Promise<unknown>;
}

/** A part of a statement's result. */
interface TrinoPage {
  readonly id: string;
  /** The address of the next part; undefined if this is the last one. */
  readonly nextUri?: string;
  readonly columns?: readonly { readonly name: string; readonly type: string }[];
  readonly data?: readonly EngineValue[][];
  readonly stats?: { readonly state: string };
  readonly error?: TrinoError;
}

interface TrinoError {
  readonly message: string;
  readonly errorName: string;
}

/** The time to stop a statement. */
const CANCEL_MS = 3000;

/**
 * The first and the longest time between two requests for a result that is not there yet. The server waits a second
 * before it answers such a request. The time grows by a twentieth, so that long statements need few requests.
 */
const [FIRST_WAIT_MS, MAX_WAIT_MS] = [50, 30_000];

/**
 * Returns the driver of Trino. The path of its URL is a catalog and a schema.
 * @throws {ConfigValidationError} if the path has more parts, or there is a password without TLS, which Trino does not
 *   accept
 */
export function trinoDriver(url: URL, name: string, { timeoutSeconds, user, password }: EngineSettings): Driver {
  const isSecure = url.protocol === 'trinos:';
  if (password !== undefined && !isSecure) throw unencrypted(name);
  const port = url.port === '' ? (isSecure ? '8443' : '8080') : url.port;
  const [catalog, schema, ...rest] = url.pathname.slice(1).split('/').map(decodeURIComponent);
  if (rest.length > 0) throw tooManyParts(name);

  async function open(settings: object): Promise<TrinoClient> {
    const { Trino } = (await importOptional(
      'trino-client',
      'to count in Trino',
      () => import('trino-client'),
    )) as TrinoModule;
    const trino = Trino.create({
      server: `${isSecure ? 'https' : 'http'}://${url.hostname}:${port}`,
      source: 'evenhand',
      catalog,
      schema,
      session: { query_max_run_time: `${String(Math.ceil(timeoutSeconds))}s` },
      extraHeaders: {
        ...(user === undefined ? {} : { 'X-Trino-User': user }),
        ...(password === undefined ? {} : { Authorization: basicCredentials(user ?? '', password) }),
      },
    });
    const config = trino.client?.clientConfig;
    if (config === undefined) throw new Error('This version of the package trino-client is not supported.');
    Object.assign(config, settings);
    return trino;
  }

  // Runs a statement, and yields the parts of its result.
  async function* pagesOf(sql: string, signal: AbortSignal): AsyncGenerator<TrinoPage> {
    assertSelect(name, sql);
    let page: TrinoPage | undefined;
    // The requests of a statement share a connection, which ends with the statement.
    const agents = { httpAgent: new http.Agent({ keepAlive: true }), httpsAgent: new https.Agent({ keepAlive: true }) };
    const trino = await open({
      ...agents,
      signal,
      transformResponse: [
        (text: string) => {
          const read = readPage(text);
          if (typeof read === 'object') page = read;
          return read;
        },
      ],
    });
    try {
      await trino.query(sql);
      let waitMillis = FIRST_WAIT_MS;
      while (page !== undefined) {
        const own: TrinoPage = page;
        // An error after the first rows is part of an otherwise valid result.
        if (own.error !== undefined) throw new TrinoFailure(own.error);
        yield own;
        if (own.nextUri === undefined) return;
        if (own.data === undefined) {
          await sleep(waitMillis, undefined, { signal });
          waitMillis = Math.min(1.05 * waitMillis, MAX_WAIT_MS);
        }
        if (isSecure && !own.nextUri.startsWith('https:')) throw new Error('The server continues without TLS.');
        await trino.client?.request({ url: own.nextUri });
        if (page === own) throw new Error('The answer is not in JSON.');
      }
    } finally {
      // Trino would run an abandoned statement for some minutes more.
      if (page?.nextUri !== undefined) {
        const again = await open({ ...agents, timeout: CANCEL_MS });
        await again.cancel(page.id).catch(() => undefined);
      }
      for (const agent of Object.values(agents)) agent.destroy();
    }
  }

  return {
    name,
    dialect: 'trino',
    async run(sql, signal): Promise<EngineResult> {
      const pages: TrinoPage[] = [];
      for await (const page of pagesOf(sql, signal)) pages.push(page);
      return resultOf(pages);
    },
    async *stream(sql, signal) {
      let last: TrinoPage | undefined;
      for await (const page of pagesOf(sql, signal)) {
        last = page;
        if (page.data !== undefined) yield page.data;
      }
      assertFinished(last);
    },
    explain,
  };
}

/**
 * Parses a response. Integers that float64 would round become texts.
 * @returns the text if it is not JSON, as that of an error
 */
function readPage(text: string): TrinoPage | string {
  const exact = text.replace(TOKEN, (token) =>
    LONG_INTEGER.test(token) && !Number.isSafeInteger(Number(token)) ? `"${token}"` : token,
  );
  try {
    return JSON.parse(exact) as TrinoPage;
  } catch {
    return text;
  }
}

/** A text or a number in JSON. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

const LONG_INTEGER = /^-?\d{16,}$/;

function resultOf(pages: readonly TrinoPage[]): EngineResult {
  const columns = pages.find((page) => page.columns !== undefined)?.columns;
  assertFinished(pages.at(-1));
  if (columns === undefined) throw new Error('The result has no columns.');
  return {
    columns: columns.map((column) => column.name),
    areNumbers: columns.map(({ type }) => NUMBER.test(type)),
    rows: pages.flatMap(({ data = [] }) => data),
  };
}

/** The types of numbers. */
const NUMBER = /^(tinyint|smallint|integer|bigint|real|double|decimal)\b/;

function assertFinished(last: TrinoPage | undefined): void {
  if (last?.stats?.state !== 'FINISHED') throw new Error('The result is not complete.');
}

/** An error of the statement, which Trino returns as a part of the result. */
class TrinoFailure extends Error {
  readonly errorName: string;

  constructor({ message, errorName }: TrinoError) {
    super(message);
    this.errorName = errorName;
  }
}

/** Returns the header of a user and a password. Trino decodes ISO 8859-1, but the package would encode UTF-8. */
function basicCredentials(user: string, password: string): string {
  const text = `${user}:${password}`;
  const encoding = /^[\0-\xFF]*$/.test(text) ? 'latin1' : 'utf8';
  return `Basic ${Buffer.from(text, encoding).toString('base64')}`;
}

function tooManyParts(name: string): ConfigValidationError {
  return new ConfigValidationError(`The path of the URL of ${name} must be a catalog and a schema.`, {
    context: { parameter: 'url' },
    suggestion: 'Write trino://user@host:8080/catalog/schema. Percent-encode a slash in a name as %2F.',
  });
}

function unencrypted(name: string): ConfigValidationError {
  return new ConfigValidationError(`${name} would receive the password unencrypted, which Trino does not accept.`, {
    context: { parameter: 'password' },
    suggestion: 'Write trinos:// in the URL to use TLS, or remove the password (EVENHAND_SQL_PASSWORD).',
  });
}

/** An error of a request. */
interface RequestError extends Error {
  readonly code?: string;
  readonly response?: { readonly status: number; readonly data: unknown };
}

function explain(cause: unknown): Failure {
  if (cause instanceof TrinoFailure) return { kind: kindOf(cause.errorName), message: cause.message };
  const { code = '', response, message: given } = cause as RequestError;
  if (response !== undefined) {
    const { status, data } = response;
    const message = `HTTP ${String(status)} ${typeof data === 'string' ? data : ''}`.trim();
    if (status === 401 || status === 403) return { kind: 'denied', message };
    // 404 and 410: the server was restarted, and does not know the statement any more.
    return { kind: status >= 500 || [404, 410, 429].includes(status) ? 'lost' : 'statement', message };
  }
  const message = given === '' ? code : given;
  if (isUnreachable(code)) return { kind: 'unreachable', message };
  if (/^E(CONNRESET|PIPE|CONNABORTED)$/.test(code) || /socket hang up/.test(message)) return { kind: 'lost', message };
  return { kind: 'statement', message };
}

function kindOf(errorName: string): Failure['kind'] {
  if (errorName === 'EXCEEDED_TIME_LIMIT') return 'slow';
  // A worker or the coordinator ended.
  return LOST.has(errorName) ? 'lost' : 'statement';
}

const LOST = new Set([
  'NO_NODES_AVAILABLE',
  'REMOTE_HOST_GONE',
  'REMOTE_TASK_ERROR',
  'REMOTE_TASK_FAILED',
  'PAGE_TRANSPORT_ERROR',
  'PAGE_TRANSPORT_TIMEOUT',
  'TOO_MANY_REQUESTS_FAILED',
  'SERVER_SHUTTING_DOWN',
  'SERVER_STARTING_UP',
]);
