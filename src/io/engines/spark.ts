import type { Socket } from 'node:net';

import { importOptional } from '../../internal/packages.ts';
import type { EngineResult, EngineValue } from '../sql-engine.ts';
import { assertSelect, type Driver, type EngineSettings, type Failure, isUnreachable } from './open-engine.ts';

/** The part of the package `hive-driver` that is used. */
interface HiveModule {
  readonly auth: { readonly PlainTcpAuthentication: new (options: object) => Authentication };
  readonly connections: { readonly TcpConnection: new () => object };
  readonly thrift: { readonly TCLIService: object; readonly TCLIService_types: HiveTypes };
  readonly HiveClient: new (service: object, types: HiveTypes) => HiveClient;
  readonly HiveDriver: new (types: HiveTypes, client: object) => { cancelOperation(request: object): Promise<unknown> };
}

interface HiveTypes {
  readonly TProtocolVersion: { readonly HIVE_CLI_SERVICE_PROTOCOL_V10: number };
  readonly TOperationState: Readonly<Record<string, number>>;
  readonly TTypeId: Readonly<Record<string, number>>;
}

interface Authentication {
  authenticate(transport: Transport): Promise<Transport>;
}

interface Transport {
  getTransport(): Socket;
}

interface HiveClient {
  on(event: 'error', listener: () => void): void;
  connect(address: object, connection: object, authentication: Authentication): Promise<unknown>;
  openSession(request: object): Promise<HiveSession>;
  getClient(): object;
}

interface HiveSession {
  executeStatement(sql: string, options?: object): Promise<HiveOperation>;
}

interface HiveOperation {
  readonly operationHandle?: object;
  status(): Promise<HiveStatus>;
  fetch(): Promise<unknown>;
  setMaxRows(rows: number): void;
  hasMoreRows(): boolean;
  getSchema(): { readonly columns: readonly HiveColumnSchema[] };
  getData(): readonly { readonly columns: readonly HiveColumn[] }[];
  /** Removes the rows that were fetched. */
  flush(): void;
}

interface HiveColumnSchema {
  readonly columnName: string;
  readonly position: number;
  readonly typeDesc: { readonly types: readonly { readonly primitiveEntry?: { readonly type: number } | null }[] };
}

interface HiveStatus {
  readonly operationState: number;
  readonly sqlState?: string | null;
  readonly errorMessage?: string | null;
}

/** The values of a column in the property of their type. The other properties are null. */
type HiveColumn = Readonly<Record<string, HiveValues | null>>;

interface HiveValues {
  readonly values: readonly (EngineValue | Int64)[];
  /** One bit for each value, which is set if the value is missing. Zeros at the end are left out. */
  readonly nulls: Uint8Array;
}

/** An integer of 64 bits. */
interface Int64 {
  readonly buffer: Buffer;
  readonly offset: number;
}

/** The time to connect and to open a session. */
const CONNECT_MS = 30_000;

/** The time to stop a statement. */
const CANCEL_MS = 3000;

/** The rows of one part of a result. */
const FETCH_ROWS = 20_000;

/**
 * Statements before the first one. Settings of the server could leave out files that cannot be read, without an error,
 * and could read names of columns as patterns.
 */
const SETTINGS = ['files.ignoreCorruptFiles', 'files.ignoreMissingFiles', 'parser.quotedRegexColumnNames'].map(
  (name) => `SET spark.sql.${name}=false`,
);

/** Returns the driver of Spark's Thrift server. The path of its URL is a database. */
export function sparkDriver(url: URL, name: string, settings: EngineSettings): Driver {
  const names = url.pathname.split('/').filter((part) => part !== '');
  const database = names.map((part) => `\`${decodeURIComponent(part).replaceAll('`', '``')}\``).join('.');
  const preparations = database === '' ? SETTINGS : [...SETTINGS, `USE ${database}`];

  // Runs a statement, and yields the parts of its result.
  async function* partsOf(sql: string, signal: AbortSignal): AsyncGenerator<EngineResult> {
    assertSelect(name, sql);
    const hive = await loadHive();
    const connection = connect(hive, url, settings, CONNECT_MS);
    let operation: HiveOperation | undefined;
    const execute = async (): Promise<HiveOperation> => {
      const session = await connection.openSession();
      for (const statement of preparations) await session.executeStatement(statement);
      signal.throwIfAborted();
      const queryTimeout = Math.ceil(settings.timeoutSeconds);
      operation = await session.executeStatement(sql, { runAsync: true, queryTimeout });
      await untilFinished(hive, operation);
      operation.setMaxRows(FETCH_ROWS);
      return operation;
    };
    const stop = (): void => {
      if (operation === undefined) connection.end();
      else void cancel(hive, url, settings, operation).finally(connection.end);
    };
    signal.addEventListener('abort', stop, { once: true });
    try {
      const finished = await connection.whileOpen(execute());
      do {
        await connection.whileOpen(finished.fetch());
        yield resultOf(hive, finished);
        finished.flush();
      } while (finished.hasMoreRows());
    } finally {
      signal.removeEventListener('abort', stop);
      // The server closes the session and its statements with the connection.
      if (operation === undefined || !signal.aborted) connection.end();
    }
  }

  return {
    name,
    dialect: 'spark',
    async run(sql, signal): Promise<EngineResult> {
      const parts: EngineResult[] = [];
      for await (const part of partsOf(sql, signal)) parts.push(part);
      return { ...(parts[0] as EngineResult), rows: parts.flatMap(({ rows }) => rows) };
    },
    async *stream(sql, signal) {
      for await (const { rows } of partsOf(sql, signal)) yield rows;
    },
    explain,
  };
}

function loadHive(): Promise<HiveModule> {
  return importOptional('hive-driver', 'to count in Spark', () => import('hive-driver') as Promise<HiveModule>);
}

/** A connection to the server. The promises of the driver stay pending if it ends. */
interface Connection {
  /** Opens a session, within the time limit of the connection. */
  openSession(): Promise<HiveSession>;
  /** Returns the client of the driver after it has connected. */
  client(): Promise<HiveClient>;
  /** Returns the result of work, or rejects if the connection ends before. */
  whileOpen<T>(work: Promise<T>): Promise<T>;
  readonly end: () => void;
}

/** Connects to a server. Its authentication is SASL PLAIN, in which a server without authentication accepts any password. */
function connect(
  { auth, connections, thrift, HiveClient }: HiveModule,
  { hostname, port, protocol }: URL,
  { user, password }: Pick<EngineSettings, 'user' | 'password'>,
  limitMillis: number,
): Connection {
  const { TCLIService, TCLIService_types: types } = thrift;
  const client = new HiveClient(TCLIService, types);
  client.on('error', () => undefined);
  let socket: Socket | undefined;
  let reject: (cause: Error) => void = () => undefined;
  const ended = new Promise<never>((_, fail) => (reject = fail));
  ended.catch(() => undefined);
  const plain = new auth.PlainTcpAuthentication({ username: user, password });
  const authentication: Authentication = {
    authenticate(transport) {
      const done = plain.authenticate(transport);
      socket = transport.getTransport();
      socket.setKeepAlive(true);
      socket.on('error', reject).on('close', () => {
        reject(new LostConnection());
      });
      return done;
    },
  };
  const address = {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port === '' ? '10000' : port),
    options: protocol === 'sparks:' ? { ssl: true, rejectUnauthorized: true } : {},
  };
  const connected = client.connect(address, new connections.TcpConnection(), authentication).then(() => client);
  connected.catch(() => undefined);
  const late = setTimeout(() => {
    socket?.destroy(Object.assign(new Error('It accepts connections, but does not answer.'), { code: 'ETIMEDOUT' }));
  }, limitMillis);
  return {
    async openSession() {
      await connected;
      const client_protocol = types.TProtocolVersion.HIVE_CLI_SERVICE_PROTOCOL_V10;
      const session = await client.openSession({ client_protocol, username: user, password });
      clearTimeout(late);
      return session;
    },
    client: () => connected,
    whileOpen: (work) => Promise.race([work, ended]),
    end() {
      clearTimeout(late);
      socket?.destroy();
    },
  };
}

/**
 * Stops a statement on a further connection, because a server answers the requests of a connection one after the other,
 * and waits some seconds before it reports that a statement still runs.
 */
async function cancel(
  hive: HiveModule,
  url: URL,
  settings: EngineSettings,
  { operationHandle }: HiveOperation,
): Promise<void> {
  const connection = connect(hive, url, settings, CANCEL_MS);
  try {
    const stop = async (): Promise<unknown> => {
      const client = await connection.client();
      return new hive.HiveDriver(hive.thrift.TCLIService_types, client.getClient()).cancelOperation({
        operationHandle,
      });
    };
    await connection.whileOpen(stop());
  } catch {
    // The statement ends with its connection, or at its time limit.
  } finally {
    connection.end();
  }
}

/** Waits for the end of a statement. The server answers when it ends, or after some seconds. */
async function untilFinished({ thrift }: HiveModule, operation: HiveOperation): Promise<void> {
  const { INITIALIZED_STATE, PENDING_STATE, RUNNING_STATE, FINISHED_STATE } = thrift.TCLIService_types.TOperationState;
  for (;;) {
    const status = await operation.status();
    if (status.operationState === FINISHED_STATE) return;
    if (![INITIALIZED_STATE, PENDING_STATE, RUNNING_STATE].includes(status.operationState)) {
      const isLate = status.operationState === thrift.TCLIService_types.TOperationState['TIMEDOUT_STATE'];
      throw new StatementFailure(status, isLate);
    }
  }
}

/** Returns the rows that were fetched. The package's own result rounds integers and decimals, and joins columns of the same name. */
function resultOf({ thrift }: HiveModule, operation: HiveOperation): EngineResult {
  const { TTypeId } = thrift.TCLIService_types;
  const numbers = new Set(NUMBERS.map((type) => TTypeId[`${type}_TYPE`]));
  const columns = [...operation.getSchema().columns].sort((a, b) => a.position - b.position);
  const rows = operation.getData().flatMap((batch) => {
    const values = batch.columns.map(valuesOf);
    return Array.from(values[0] ?? [], (_, row) => values.map((column) => column[row] ?? null));
  });
  return {
    columns: columns.map(({ columnName }) => columnName),
    areNumbers: columns.map(({ typeDesc }) => numbers.has(typeDesc.types[0]?.primitiveEntry?.type)),
    rows,
  };
}

/** The types of numbers. */
const NUMBERS = ['TINYINT', 'SMALLINT', 'INT', 'BIGINT', 'FLOAT', 'DOUBLE', 'DECIMAL'] as const;

function valuesOf(column: HiveColumn): EngineValue[] {
  const own = Object.values(column).find((values) => values !== null);
  const { values = [], nulls = new Uint8Array() } = own ?? {};
  return values.map((value, index) => {
    if (((nulls[index >> 3] ?? 0) & (1 << (index & 7))) !== 0) return null;
    if (typeof value !== 'object' || value === null) return value;
    const integer = value.buffer.readBigInt64BE(value.offset);
    return Number.isSafeInteger(Number(integer)) ? Number(integer) : integer;
  });
}

class LostConnection extends Error {
  constructor() {
    super('The connection ended.');
  }
}

/** The end of a statement without a result. */
class StatementFailure extends Error {
  readonly sqlState: string;
  readonly isLate: boolean;

  constructor({ sqlState, errorMessage }: HiveStatus, isLate: boolean) {
    super(errorMessage ?? 'The server stopped the statement.');
    this.sqlState = sqlState ?? '';
    this.isLate = isLate;
  }
}

function explain(cause: unknown): Failure {
  if (cause instanceof StatementFailure) {
    const message = withoutStack(cause.message);
    if (cause.isLate) return { kind: 'slow', message };
    // The server has begun to stop.
    const isLost =
      cause.sqlState.startsWith('08') ||
      /SparkContext (was shut down|.*has been shutdown)|stopped SparkContext/.test(message);
    return { kind: isLost ? 'lost' : 'statement', message };
  }
  const { code, message: given } = cause as { readonly code?: string | number; readonly message: string };
  const message = withoutStack(given === '' ? String(code) : given);
  if (/^Authentication error/.test(message)) return { kind: 'denied', message };
  if (typeof code === 'string' && isUnreachable(code)) return { kind: 'unreachable', message };
  if (cause instanceof LostConnection || /^(ECONNRESET|EPIPE)$/.test(String(code))) return { kind: 'lost', message };
  return { kind: 'statement', message };
}

/** Returns the first paragraph of a message, without Java's names of classes and Spark's plan of the statement. */
function withoutStack(message: string): string {
  const [first = ''] = message.split(/\n\s*\n|\n\tat |\n== SQL|; line \d+ pos \d+/);
  return first
    .replaceAll(/\b(?:[a-z]\w*\.)+[A-Z]\w*(?:Exception|Error): /g, '')
    .replace(/^Error running query: /, '')
    .replace(/^(\[[A-Z_.]+\] )+/, '$1');
}
