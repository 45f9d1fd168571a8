import { type ChildProcess, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtempSync } from 'node:fs';
import { createConnection, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { freePort } from './mlflow-server.ts';
import { killServer, makeOpen, NOBODY, START_SECONDS, startServer, untilOpen } from './servers.ts';

/** A database that runs for the tests, on a free port of this machine. */
export interface RunningEngine {
  /** The address for createSqlEngine, whose user has {@link ENGINE_PASSWORD}. */
  readonly url: string;
  /** Creates a table with rows. */
  readonly create: (table: string, columns: Columns, rows: readonly (readonly Value[])[]) => Promise<void>;
  /** Creates a table from expressions over `i`, which goes from 0 to `rows` - 1. */
  readonly createSeries: (
    table: string,
    columns: Columns,
    rows: number,
    expressions: readonly string[],
  ) => Promise<void>;
  /** Returns a text as a SQL literal. */
  readonly literal: (value: Value) => string;
  /** Returns a name as an identifier. */
  readonly quoted: (name: string) => string;
  /** Returns the name of a table of {@link RunningEngine.create} for the option `table`. */
  readonly named: (table: string) => string;
  /** Whether texts may contain NUL characters. */
  readonly storesNul: boolean;
  /** A query that takes a minute, with the columns `hired` and `known`. */
  readonly slowQuery: string;
  /** A query over a table of {@link RunningEngine.create} with the same columns, which takes seconds on each machine. */
  readonly slowOver: (table: string) => string;
  /** Returns the number of statements that run for the product. */
  readonly running: () => Promise<number>;
  /** Runs statements that write. */
  readonly write: (...statements: readonly string[]) => Promise<unknown>;
  /** Ends the server without a warning, as a lost machine would. */
  readonly kill: () => Promise<void>;
  /** Starts the server again with its data, on the same port. */
  readonly start: () => Promise<void>;
}

/** The password of the databases' user. */
export const ENGINE_PASSWORD = "hush'hush@#%:/ ü";

export type Value = string | number | null;

/** The types of a table's columns, by name. */
export type Columns = Readonly<Record<string, 'text' | 'double' | 'integer'>>;

/** A database and the way to start it. */
export interface EngineKind<Engine extends RunningEngine = RunningEngine> {
  readonly title: string;
  /** Why it cannot be started here; undefined if it can. */
  readonly lacking: () => string | undefined;
  readonly start: (folder: string) => Promise<Engine & { readonly stop: () => Promise<void> }>;
}

/** The folder with PostgreSQL's programs; undefined if there is none. */
function postgresFolder(): string | undefined {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root) : [];
  return versions.map((version) => path.join(root, version, 'bin')).find((bin) => existsSync(path.join(bin, 'initdb')));
}

export const POSTGRES: EngineKind = {
  title: 'PostgreSQL',
  lacking: () => (postgresFolder() === undefined ? 'there is no /usr/lib/postgresql/*/bin/initdb' : undefined),
  async start(folder) {
    const bin = postgresFolder() as string;
    const data = path.join(folder, 'data');
    const passwords = path.join(folder, 'password');
    writeFileSync(passwords, ENGINE_PASSWORD);
    makeOpen(folder);
    const initialise = [
      path.join(bin, 'initdb'),
      '-D',
      data,
      '-A',
      'scram-sha-256',
      `--pwfile=${passwords}`,
      '-U',
      'tester',
      '--no-sync',
      '-E',
      'UTF8',
      '--locale=C',
    ];
    const [program, ...args] = process.getuid?.() === 0 ? ['setpriv', ...NOBODY, ...initialise] : initialise;
    execFileSync(program as string, args, { cwd: folder, stdio: 'pipe' });
    const port = await freePort();
    let child: ChildProcess | undefined;
    const start = async (): Promise<void> => {
      const settings = { port, listen_addresses: '127.0.0.1', unix_socket_directories: '', fsync: 'off' };
      const set = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${String(value)}`]);
      rmSync(path.join(data, 'postmaster.pid'), { force: true });
      const server = startServer(path.join(bin, 'postgres'), ['-D', data, ...set], folder);
      child = server.child;
      await untilOpen(port, child, server.log);
    };
    await start();
    const url = `postgres://tester@127.0.0.1:${String(port)}/postgres`;
    const query = async (...statements: readonly string[]): Promise<unknown[][]> => {
      const { default: pg } = (await import('pg')) as { default: { Client: new (options: object) => PgClient } };
      const client = new pg.Client({
        host: '127.0.0.1',
        port,
        user: 'tester',
        database: 'postgres',
        password: ENGINE_PASSWORD,
      });
      await client.connect();
      try {
        let rows: unknown[][] = [];
        for (const text of statements) ({ rows } = await client.query({ text, rowMode: 'array' }));
        return rows;
      } finally {
        await client.end();
      }
    };
    // After a kill, the server first repeats what it had logged.
    const startAgain = async (): Promise<void> => {
      await start();
      const signal = AbortSignal.timeout(1000 * START_SECONDS);
      const isReady = (): Promise<boolean> =>
        query('SELECT 1').then(
          () => true,
          () => false,
        );
      while (!(await isReady())) {
        signal.throwIfAborted();
        await sleep(100);
      }
    };
    const literal = (value: Value): string =>
      typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value ?? 'NULL');
    const types = { text: 'text', double: 'double precision', integer: 'integer' };
    const define = (table: string, columns: Columns): string =>
      `CREATE TABLE ${quoted(table, '"')} (${Object.entries(columns)
        .map(([name, type]) => `${quoted(name, '"')} ${types[type]}`)
        .join(', ')})`;
    return {
      url,
      start: startAgain,
      write: query,
      literal,
      quoted: (name) => quoted(name, '"'),
      named: inDoubleQuotes,
      storesNul: false,
      slowQuery: "SELECT 1 AS hired, 'a' AS known FROM pg_sleep(60)",
      slowOver: (table) => `SELECT hired, known FROM ${quoted(table, '"')}, pg_sleep(20)`,
      async running() {
        const active = "SELECT COUNT(*) FROM pg_stat_activity WHERE application_name = 'evenhand' AND state = 'active'";
        return Number((await query(active))[0]?.[0]);
      },
      async create(table, columns, rows) {
        const values = rows.map((row) => `(${row.map(literal).join(', ')})`);
        await query(define(table, columns), `INSERT INTO ${quoted(table, '"')} VALUES ${values.join(', ')}`);
      },
      async createSeries(table, columns, rows, expressions) {
        const series = `FROM generate_series(0::bigint, ${String(rows - 1)}) AS s(i)`;
        await query(
          define(table, columns),
          `INSERT INTO ${quoted(table, '"')} SELECT ${expressions.join(', ')} ${series}`,
        );
      },
      kill: () => killServer(child),
      stop: () => killServer(child),
    };
  },
};

/** Passes the bytes of connections on to a database. */
interface Wire {
  /** The database's URL with another port. */
  readonly url: string;
  /** Returns the number of bytes in both directions. */
  readonly bytes: () => number;
  /** Returns the number of connections that are open. */
  readonly connections: () => number;
  readonly close: () => void;
}

/** Passes the bytes of connections on to a database, and counts both. */
export async function countWire(url: string): Promise<Wire> {
  const { port, hostname } = new URL(url);
  let [bytes, connections] = [0, 0];
  const server = createServer((socket) => {
    connections += 1;
    socket.on('close', () => (connections -= 1));
    const target = createConnection(Number(port), hostname);
    for (const side of [socket, target]) {
      side.on('data', (part) => (bytes += part.length)).on('error', () => undefined);
    }
    socket.pipe(target).pipe(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = new URL(url);
  address.port = String((server.address() as AddressInfo).port);
  return { url: address.href, bytes: () => bytes, connections: () => connections, close: () => server.close() };
}

/** Returns the name of a table for the option `table`: in double quotes, so that points are part of the name. */
export const inDoubleQuotes = (name: string): string => quoted(name, '"');

const quoted = (name: string, mark: string): string => `${mark}${name.replaceAll(mark, mark + mark)}${mark}`;

/** Returns a name as an identifier of ClickHouse. */
export const inBackticks = (name: string): string => `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``;

/** Returns a value as a literal of ClickHouse. */
export const clickhouseLiteral = (value: Value): string =>
  typeof value === 'string'
    ? `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\0', '\\0')}'`
    : String(value ?? 'NULL');

/** Returns the statement that creates a table of ClickHouse. */
export function clickhouseTable(table: string, columns: Columns, engine = 'MergeTree() ORDER BY tuple()'): string {
  const types = { text: 'Nullable(String)', double: 'Nullable(Float64)', integer: 'Nullable(Int64)' };
  const own = Object.entries(columns).map(([name, type]) => `${inBackticks(name)} ${types[type]}`);
  return `CREATE TABLE ${inBackticks(table)} (${own.join(', ')}) ENGINE = ${engine}`;
}

interface PgClient {
  connect(): Promise<void>;
  query(query: object): Promise<{ rows: unknown[][] }>;
  end(): Promise<void>;
}

const CLICKHOUSE = '/usr/sbin/clickhouse-server';

function clickhouseConfig(folder: string, own: Readonly<Record<string, number>>, shards: readonly number[]): string {
  const secret = ENGINE_PASSWORD.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const replicas = shards.map(
    (port) =>
      `<shard><replica><host>127.0.0.1</host><port>${String(port)}</port><user>default</user><password>${secret}</password></replica></shard>`,
  );
  return `<yandex>
<logger><level>warning</level><console>1</console></logger>
${Object.entries(own)
  .map(([name, value]) => `<${name}>${String(value)}</${name}>`)
  .join('\n')}
<listen_host>127.0.0.1</listen_host>
<path>${folder}/data/</path><tmp_path>${folder}/tmp/</tmp_path>
<user_files_path>${folder}/files/</user_files_path><format_schema_path>${folder}/schemas/</format_schema_path>
<mark_cache_size>67108864</mark_cache_size>
<users><default><password>${secret}</password><profile>default</profile><quota>default</quota>
<networks><ip>127.0.0.1</ip></networks></default>
<breaking><password>${secret}</password><profile>breaking</profile><quota>default</quota>
<networks><ip>127.0.0.1</ip></networks></breaking></users>
<profiles><default><max_memory_usage>2000000000</max_memory_usage></default>
<breaking><timeout_overflow_mode>break</timeout_overflow_mode>
<max_rows_to_group_by>2</max_rows_to_group_by><group_by_overflow_mode>any</group_by_overflow_mode></breaking></profiles>
<quotas><default></default></quotas>
<remote_servers><both>${shards.length === 0 ? '' : replicas.join('')}</both></remote_servers>
</yandex>`;
}

/** Two servers, each with half of the rows. */
export const CLICKHOUSE_SHARDS: EngineKind = {
  title: 'ClickHouse, two shards',
  lacking: () => (existsSync(CLICKHOUSE) ? undefined : `there is no ${CLICKHOUSE}`),
  async start(folder) {
    const ports = await Promise.all(
      [0, 1].map(async () => ({
        http_port: await freePort(),
        tcp_port: await freePort(),
        interserver_http_port: await freePort(),
      })),
    );
    const shards = ports.map(({ tcp_port }) => tcp_port);
    const children: (ChildProcess | undefined)[] = [];
    const startOne = async (index: number): Promise<void> => {
      const own = path.join(folder, `shard-${String(index)}`);
      mkdirSync(own, { recursive: true });
      const config = path.join(own, 'config.xml');
      writeFileSync(config, clickhouseConfig(own, ports[index] as (typeof ports)[number], shards));
      makeOpen(folder);
      chmodSync(own, 0o777);
      const server = startServer(CLICKHOUSE, [`--config-file=${config}`], own);
      children[index] = server.child;
      await untilOpen((ports[index] as (typeof ports)[number]).http_port, server.child, server.log);
    };
    await Promise.all([startOne(0), startOne(1)]);
    const write = async (index: number, statement: string): Promise<string> => {
      const { http_port: port } = ports[index] as (typeof ports)[number];
      const credentials = Buffer.from(`default:${ENGINE_PASSWORD}`).toString('base64');
      const response = await fetch(`http://127.0.0.1:${String(port)}/`, {
        method: 'POST',
        headers: { authorization: `Basic ${credentials}` },
        body: statement,
      });
      const text = await response.text();
      if (!response.ok) throw new Error(text);
      return text;
    };
    /** Creates the table of each shard, and the table over both. */
    const define = async (table: string, columns: Columns): Promise<string> => {
      const local = `${table} local`;
      for (const index of [0, 1]) {
        await write(index, clickhouseTable(local, columns));
        const over = `Distributed(both, default, ${clickhouseLiteral(local)}, rand())`;
        await write(index, clickhouseTable(table, columns, over));
      }
      return inBackticks(local);
    };
    return {
      literal: clickhouseLiteral,
      write: async (...statements) => {
        for (const statement of statements) for (const index of [0, 1]) await write(index, statement);
      },
      quoted: inBackticks,
      named: inDoubleQuotes,
      storesNul: true,
      slowQuery: "SELECT toInt64(1) AS hired, 'a' AS known FROM system.numbers WHERE number % 3 = 5",
      slowOver: (table) => `SELECT hired, known FROM ${inBackticks(table)} WHERE NOT ignore(sleepEachRow(0.0015))`,
      async running() {
        const others = "SELECT count() FROM system.processes WHERE query NOT LIKE '%system.processes%'";
        return Number(await write(0, others)) + Number(await write(1, others));
      },
      async create(table, columns, rows) {
        const local = await define(table, columns);
        const values = rows.map((row) => `(${row.map(clickhouseLiteral).join(', ')})`);
        for (const index of [0, 1]) {
          const own = values.filter((_, row) => row % 2 === index);
          await write(index, `INSERT INTO ${local} VALUES ${own.join(', ')}`);
        }
      },
      async createSeries(table, columns, rows, expressions) {
        const local = await define(table, columns);
        const half = Math.floor(rows / 2);
        for (const [index, from, count] of [
          [0, 0, half],
          [1, half, rows - half],
        ] as const) {
          const series = `FROM (SELECT number + ${String(from)} AS i FROM numbers(${String(count)}))`;
          await write(index, `INSERT INTO ${local} SELECT ${expressions.join(', ')} ${series}`);
        }
      },
      url: `clickhouse://127.0.0.1:${String(ports[0]?.http_port)}`,
      start: () => startOne(1),
      kill: () => killServer(children[1]),
      async stop() {
        await Promise.all(children.map(killServer));
      },
    };
  },
};

/**
 * Describes a suite that needs a database, which is started before it and ended after it. Where the database is not
 * installed, the suite is skipped with the reason, or fails if EVENHAND_REQUIRE_ENGINES is 1.
 */
export function describeWithEngine<Engine extends RunningEngine>(
  { title: name, lacking, start }: EngineKind<Engine>,
  title: string,
  suite: (engine: () => Engine) => void,
): void {
  const reason = lacking();
  describe(`${title}: ${name}`, () => {
    if (reason !== undefined) {
      it(`needs ${name}: ${reason}`, function () {
        if (process.env['EVENHAND_REQUIRE_ENGINES'] === '1')
          throw new Error(`EVENHAND_REQUIRE_ENGINES is 1, but ${reason}`);
        this.skip();
      });
      return;
    }
    let running: (Engine & { readonly stop: () => Promise<void> }) | undefined;
    let folder = '';
    before(async function () {
      this.timeout(6000 * START_SECONDS);
      folder = mkdtempSync(path.join(tmpdir(), 'evenhand-engine-'));
      running = await start(folder);
    });
    after(async () => {
      await running?.stop();
      rmSync(folder, { recursive: true, force: true });
    });
    suite(() => running as Engine);
  });
}
