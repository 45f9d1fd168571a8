import { randomUUID } from 'node:crypto';

import { importOptional } from '../../internal/packages.ts';
import type { EngineResult, EngineValue } from '../sql-engine.ts';
import { type Driver, type EngineSettings, type Failure, isUnreachable } from './open-engine.ts';

/** The part of the package `@clickhouse/client` that is used. */
interface ClickHouseModule {
  readonly ClickHouseLogLevel: { readonly OFF: number };
  readonly createClient: (options: object) => ClickHouseClient;
}

interface ClickHouseClient {
  command(request: object): Promise<unknown>;
  query(request: object): Promise<ClickHouseResponse>;
  close(): Promise<void>;
}

interface ClickHouseResponse {
  json(): Promise<ClickHouseResult>;
  /** Returns parts of the result, as rows of text. */
  stream(): AsyncIterable<readonly { readonly text: string }[]>;
}

/** A client for one statement. */
interface OpenStatement {
  readonly query: (sql: string, format: string) => Promise<ClickHouseResponse>;
  readonly close: () => Promise<void>;
}

interface ClickHouseResult {
  readonly meta: readonly { readonly name: string; readonly type: string }[];
  readonly data: EngineValue[][];
  readonly rows: number;
  readonly exception?: string;
}

const SETTINGS = {
  // The statement may only read. With 1, it could not have the other settings.
  readonly: '2',
  // If a shard is missing, its rows must not be missing without an error.
  skip_unavailable_shards: 0,
  // Numbers that are not finite become texts, not null.
  output_format_json_quote_denormals: 1,
  // A long statement sends headers, so that nothing on the way ends a connection that looks idle.
  send_progress_in_http_headers: 1,
  http_headers_progress_interval_ms: '10000',
};

/** Returns the driver of ClickHouse. */
export function clickhouseDriver(url: URL, name: string, { timeoutSeconds, user, password }: EngineSettings): Driver {
  const database = decodeURIComponent(url.pathname.slice(1));
  const isSecure = url.protocol === 'clickhouses:';
  const port = url.port === '' ? (isSecure ? '8443' : '8123') : url.port;

  /** Opens a client for one statement. Closing it stops the statement if the signal is aborted. */
  async function open(signal: AbortSignal, maxSeconds: number): Promise<OpenStatement> {
    const { ClickHouseLogLevel, createClient } = (await importOptional(
      '@clickhouse/client',
      'to count in ClickHouse',
      () => import('@clickhouse/client'),
    )) as ClickHouseModule;
    const settings = {
      url: `${isSecure ? 'https' : 'http'}://${url.hostname}:${port}`,
      username: user ?? 'default',
      password: password ?? '',
      ...(database === '' ? {} : { database }),
      application: 'evenhand',
      log: { level: ClickHouseLogLevel.OFF },
    };
    const client = createClient({
      ...settings,
      request_timeout: Math.ceil((timeoutSeconds + 5) * 1000),
      clickhouse_settings: { ...SETTINGS, max_execution_time: Math.ceil(maxSeconds) },
    });
    const query_id = randomUUID();
    return {
      query: async (sql, format) =>
        client.query({
          query: sql,
          format,
          clickhouse_settings: await throwing(client, signal),
          query_id,
          abort_signal: signal,
        }),
      async close() {
        // A statement may go on after its connection has ended.
        if (signal.aborted) await kill(createClient({ ...settings, request_timeout: KILL_MS }), query_id);
        await client.close();
      },
    };
  }

  return {
    name,
    dialect: 'clickhouse',
    async run(sql, signal): Promise<EngineResult> {
      const { query, close } = await open(signal, timeoutSeconds);
      try {
        const result = await query(sql, 'JSONCompact');
        // eslint-disable-next-line no-restricted-syntax -- bytes that are not UTF-8 become U+FFFD, which is an error later
        const { meta, data, rows, exception } = await result.json();
        // An error after the first rows is part of an otherwise valid result.
        if (exception !== undefined || rows !== data.length)
          throw new Error(exception ?? 'The result is not complete.');
        return {
          columns: meta.map((column) => column.name),
          areNumbers: meta.map(({ type }) => NUMBER_TYPE.test(type)),
          rows: data,
        };
      } finally {
        await close();
      }
    },
    async *stream(sql, signal) {
      // The server's limit would apply to all rows together.
      const { query, close } = await open(signal, 0);
      try {
        // Older servers do not know a format with arrays.
        const result = await query(sql, 'JSONEachRow');
        // An error after the first rows is a line that is not JSON.
        for await (const rows of result.stream()) yield rows.map(({ text }) => parseRow(text));
      } finally {
        await close();
      }
    },
    explain,
  };
}

/** The types of numbers, of which Decimal has parameters. */
const NUMBER_TYPE = /^(Nullable\(|LowCardinality\()*(U?Int\d+|Float\d+|Decimal)/;

/** Returns the values of a row, whose columns have different names that are not numbers. */
function parseRow(text: string): EngineValue[] {
  try {
    return Object.values(JSON.parse(text) as Record<string, EngineValue>);
  } catch {
    throw new Error(text);
  }
}

/**
 * Returns settings with which every limit of the user's profile is an error. With the values `break` and `any`, a
 * statement beyond a limit has the result of some of the rows, without an error.
 */
async function throwing(client: ClickHouseClient, signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
  const query = "SELECT name FROM system.settings WHERE name LIKE '%overflow_mode%'";
  const result = await client.query({ query, format: 'JSONCompact', abort_signal: signal });
  // eslint-disable-next-line no-restricted-syntax -- names of settings are ASCII
  const { data } = await result.json();
  return Object.fromEntries(data.map(([name]) => [String(name), 'throw']));
}

/** The time to stop a statement. */
const KILL_MS = 3000;

/** Stops a statement. If the user may not stop it, its time limit does. */
async function kill(client: ClickHouseClient, queryId: string): Promise<void> {
  try {
    await client.command({ query: `KILL QUERY WHERE query_id = '${queryId}' ASYNC` });
  } catch {
    // The statement has ended, or its time limit ends it.
  } finally {
    await client.close();
  }
}

function explain(cause: unknown): Failure {
  const { code: own = '', message: given } = cause as { readonly code?: string; readonly message: string };
  // Older servers write the code into the message.
  const [, written = ''] = /^Code: (\d+)/.exec(given) ?? [];
  const code = own === '' ? written : own;
  const text = given.replace(/^Code: \d+.*?DB::Exception: /, '').replace(/,? e\.what\(\) = DB::Exception\.?\s*$/, '');
  const message = text === '' ? code : text;
  if (isUnreachable(code)) return { kind: 'unreachable', message };
  // 192 to 194 and 516: an unknown user, a wrong or a missing password.
  if (/^(19[2-4]|516)$/.test(code)) return { kind: 'denied', message };
  // 159 and 160: the server stopped the statement at its time limit.
  if (/^(159|160)$/.test(code) || /^Timeout error/.test(message)) return { kind: 'slow', message };
  // 210 and 279: the connection to a shard was lost. 32: it was lost while the shard answered.
  const isCutOff = code === '32' && message.includes('while receiving packet');
  if (isCutOff || /^(210|279|E(CONNRESET|PIPE))$/.test(code) || /socket hang up|aborted/i.test(message))
    return { kind: 'lost', message };
  return { kind: 'statement', message };
}
