import { importOptional } from '../../internal/packages.ts';
import type { EngineResult, EngineValue } from '../sql-engine.ts';
import { type Driver, type EngineSettings, type Failure, isUnreachable } from './open-engine.ts';

/** The part of the package pg that is used. */
interface PgModule {
  readonly default: { readonly Client: new (options: object) => PgClient };
}

interface PgClient {
  /** The process of the connection in the server. */
  readonly processID: number | null;
  connect(): Promise<void>;
  query(
    query: string | object,
  ): Promise<{ readonly fields: readonly { name: string }[]; readonly rows: EngineValue[][] }>;
  end(): Promise<void>;
  on(event: 'error', listener: () => void): void;
}

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

  /** Stops the statement of another connection. */
  async function cancel(processId: number | null): Promise<void> {
    const other = await connect();
    try {
      await other.query(`SELECT pg_cancel_backend(${String(processId)})`);
    } finally {
      await other.end();
    }
  }

  return {
    name,
    dialect: 'postgres',
    async run(sql, signal): Promise<EngineResult> {
      const client = await connect();
      const stop = (): void => {
        void cancel(client.processID).catch(() => undefined);
      };
      try {
        signal.throwIfAborted();
        signal.addEventListener('abort', stop, { once: true });
        // In a transaction that reads only, the statement cannot write, whatever the rights of the user are.
        await client.query('BEGIN TRANSACTION READ ONLY');
        await client.query(`SET LOCAL statement_timeout = ${String(Math.ceil(timeoutSeconds * 1000))}`);
        // The extended protocol runs one statement only. A query that ends this statement and adds another is an error.
        const { fields, rows } = await client.query({ text: sql, queryMode: 'extended', rowMode: 'array' });
        return { columns: fields.map((field) => field.name), rows };
      } finally {
        signal.removeEventListener('abort', stop);
        await client.end().catch(() => undefined);
      }
    },
    explain,
  };
}

/** Reads the classes of PostgreSQL's error codes, and the codes of Node.js. */
function explain(cause: unknown): Failure {
  const { code = '', message: given } = cause as { readonly code?: string; readonly message: string };
  const message = given === '' ? code : given;
  // 57P03: the server starts or stops.
  if (isUnreachable(code) || code === '57P03' || /timeout expired/.test(message))
    return { kind: 'unreachable', message };
  if (/^28/.test(code) || /SASL|password must be a string/.test(message)) return { kind: 'denied', message };
  // 57014: the server cancelled the statement at its time limit.
  if (code === '57014') return { kind: 'slow', message };
  // 57P: the server shuts down, or an administrator ended the connection.
  if (/^(57P|08)|^E(CONNRESET|PIPE)$/.test(code) || /terminated|connection (error|is closed)/i.test(message))
    return { kind: 'lost', message };
  return { kind: 'statement', message };
}
