import { createConnection } from 'node:net';

import { importOptional } from '../../internal/packages.ts';
import type { EngineResult, EngineValue } from '../sql-engine.ts';
import { type Driver, type EngineSettings, type Failure, isUnreachable } from './open-engine.ts';

/** The part of the package pg that is used. */
interface PgModule {
  readonly default: { readonly Client: new (options: object) => PgClient };
}

interface PgClient {
  readonly host: string;
  readonly port: number;
  /** The process of the connection in the server, and the number with which its statement can be stopped. */
  readonly processID: number | null;
  readonly secretKey: number | null;
  readonly connection: { readonly stream: { destroy(): void } };
  connect(): Promise<void>;
  query(query: string | object): Promise<{ readonly fields: readonly PgField[]; readonly rows: EngineValue[][] }>;
  end(): Promise<void>;
  on(event: 'error', listener: () => void): void;
}

interface PgField {
  readonly name: string;
  readonly dataTypeID: number;
}

/** The object identifiers of PostgreSQL's types of numbers: int2, int4, int8, float4, float8 and numeric. */
const NUMBERS = new Set([21, 23, 20, 700, 701, 1700]);

/** The number of rows that one FETCH returns. */
const ROWS_AT_ONCE = 10_000;

/** The time to connect. */
const CONNECT_MS = 15_000;

/**
 * Returns the driver of PostgreSQL. Its URL may have the parameters of pg, such as `sslmode=verify-full`. Without a
 * password, pg uses PGPASSWORD or the file ~/.pgpass.
 */
export function postgresDriver(url: URL, name: string, { timeoutSeconds, user, password }: EngineSettings): Driver {
  const address = new URL(url);
  address.username = user === undefined ? '' : encodeURIComponent(user);
  address.password = password === undefined ? '' : encodeURIComponent(password);

  async function connect(): Promise<PgClient> {
    const { default: pg } = (await importOptional('pg', 'to count in PostgreSQL', () => import('pg'))) as PgModule;
    const client = new pg.Client({
      connectionString: address.href,
      application_name: 'evenhand',
      connectionTimeoutMillis: CONNECT_MS,
      keepAlive: true,
    });
    // A lost connection also rejects the query.
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }

  /** Opens a transaction that reads only. Its statements are stopped if the signal is aborted. */
  async function open(
    signal: AbortSignal,
  ): Promise<{ readonly client: PgClient; readonly close: () => Promise<void> }> {
    const client = await connect();
    const stop = (): void => {
      cancel(client);
    };
    const close = async (): Promise<void> => {
      signal.removeEventListener('abort', stop);
      await client.end().catch(() => undefined);
    };
    try {
      signal.throwIfAborted();
      signal.addEventListener('abort', stop, { once: true });
      // In a transaction that reads only, the statement cannot write, even if the user may write.
      await client.query('BEGIN TRANSACTION READ ONLY');
      await client.query(`SET LOCAL statement_timeout = ${String(Math.ceil(timeoutSeconds * 1000))}; ${TEXTS}`);
      return { client, close };
    } catch (error) {
      await close();
      throw error;
    }
  }

  // The extended protocol runs one statement only. A query that ends this statement and adds another is an error.
  const single = (text: string): object => ({ text, queryMode: 'extended', rowMode: 'array' });

  return {
    name,
    dialect: 'postgres',
    async run(sql, signal): Promise<EngineResult> {
      const { client, close } = await open(signal);
      try {
        const { fields, rows } = await client.query(single(sql));
        return {
          columns: fields.map((field) => field.name),
          areNumbers: fields.map((field) => NUMBERS.has(field.dataTypeID)),
          rows,
        };
      } finally {
        await close();
      }
    },
    async *stream(sql, signal) {
      const { client, close } = await open(signal);
      try {
        await client.query(single(`DECLARE evenhand_rows NO SCROLL CURSOR FOR ${sql}`));
        for (;;) {
          const { rows } = await client.query(single(`FETCH ${String(ROWS_AT_ONCE)} FROM evenhand_rows`));
          if (rows.length === 0) return;
          yield rows;
        }
      } finally {
        await close();
      }
    },
    explain,
  };
}

/** The settings of a user could make texts of different numbers and dates equal, or write the same date in two ways. */
const TEXTS =
  "SET LOCAL extra_float_digits = 3; SET LOCAL DateStyle = 'ISO, YMD'; SET LOCAL IntervalStyle = 'postgres'; SET LOCAL bytea_output = 'hex'";

/**
 * Stops the statement of a connection by the protocol's cancel request, which needs neither a login nor a free
 * connection. If the server does not answer, the connection is destroyed.
 */
function cancel({ host, port, processID, secretKey, connection }: PgClient): void {
  const request = Buffer.alloc(16);
  [16, CANCEL_REQUEST, processID ?? 0, secretKey ?? 0].forEach((value, index) =>
    request.writeInt32BE(value | 0, 4 * index),
  );
  const socket = host.startsWith('/')
    ? createConnection(`${host}/.s.PGSQL.${String(port)}`)
    : createConnection(port, host);
  socket.on('error', () => undefined).end(request);
  setTimeout(() => {
    socket.destroy();
    connection.stream.destroy();
  }, CANCEL_MS).unref();
}

/** The code of a cancel request in PostgreSQL's protocol 3.0. */
const CANCEL_REQUEST = 80877102;

/** The time that the server has to stop a statement. */
const CANCEL_MS = 3000;

/** Reads the classes of PostgreSQL's error codes, and the codes of Node.js. */
function explain(cause: unknown): Failure {
  const { code = '', message: given } = cause as { readonly code?: string; readonly message: string };
  const message = given === '' ? code : given;
  // 57P03: the server starts or stops.
  if (isUnreachable(code) || code === '57P03' || /timeout expired/.test(message))
    return { kind: 'unreachable', message };
  if (/^28/.test(code) || /SASL|password must be a string/.test(message)) return { kind: 'denied', message };
  if (code === '57014' && message.includes('statement timeout')) return { kind: 'slow', message };
  // 57P: the server shuts down, or an administrator ended the connection. 08: the connection failed, but 08P01 is an
  // error of the statement. An error without a code comes from pg.
  if (/^(57P|08(?!P01))|^E(CONNRESET|PIPE)$/.test(code)) return { kind: 'lost', message };
  if (code === '' && /terminated|connection (error|is closed)/i.test(message)) return { kind: 'lost', message };
  return { kind: 'statement', message };
}
