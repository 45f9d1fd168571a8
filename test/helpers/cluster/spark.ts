import { type ChildProcess, execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';

import { openDuckDb } from '../../../src/io/index.ts';
import { type Columns, type EngineKind, ENGINE_PASSWORD, type RunningEngine, type Value } from '../engines.ts';
import { freePort } from '../mlflow-server.ts';
import { killServer, startServer, untilOpen } from '../servers.ts';
import { cached, CLUSTER_SECONDS, compileJava, lackingProgram, SERVER_ENVIRONMENT, until } from './programs.ts';

/** Spark's Thrift server with two executors. */
export interface RunningSpark extends RunningEngine {
  /** Returns the processes of the executors. */
  readonly executors: () => readonly number[];
  /** Stops and continues the server, as a machine that hangs. */
  readonly signal: (signal: 'SIGSTOP' | 'SIGCONT') => void;
  /** Returns the files of a table. */
  readonly files: (table: string) => readonly string[];
  /** Returns the number of tasks of statements that failed and were repeated. */
  readonly failedTasks: () => Promise<number>;
}

/** The part of the package `hive-driver` that writes rows. */
interface HiveModule {
  readonly auth: { readonly PlainTcpAuthentication: new (options: object) => object };
  readonly connections: { readonly TcpConnection: new () => object };
  readonly thrift: { readonly TCLIService: object; readonly TCLIService_types: object };
  readonly HiveClient: new (
    service: object,
    types: object,
  ) => {
    on(event: 'error', listener: () => void): void;
    connect(address: object, connection: object, authentication: object): Promise<unknown>;
    openSession(request: object): Promise<{
      executeStatement(statement: string): Promise<unknown>;
      close(): Promise<unknown>;
    }>;
    close(): void;
  };
}

const PYSPARK = 'spark-3.5.7/lib/pyspark';

const inBackticks = (name: string): string => `\`${name.replaceAll('`', '``')}\``;

/** Spark's own catalog allows only such names for tables. */
const tableName = (table: string): string => table.replaceAll(/\W/g, '_');

/** Returns a value as a literal of DuckDB, which writes the rows. Its statements cannot contain NUL. */
const literal = (value: Value): string =>
  typeof value === 'string'
    ? `('${value.replaceAll("'", "''").split('\0').join("' || chr(0) || '")}')`
    : String(value ?? 'NULL');

export const SPARK: EngineKind<RunningSpark> = {
  title: 'Spark 3.5, two executors',
  lacking: () => lackingProgram(`${PYSPARK}/bin/spark-submit`),
  async start(folder) {
    const home = cached(PYSPARK);
    const classes = path.join(folder, 'classes');
    compileJava('SparkPasswords.java', path.join(home, 'jars/*'), classes);
    const [port, uiPort] = [await freePort(), await freePort()];
    let child: ChildProcess | undefined;
    let log = (): string => '';
    // The catalog is in memory, so the tables are registered again after a restart.
    const tables = new Map<string, string>();

    const start = async (): Promise<void> => {
      const settings = {
        'spark.driver.bindAddress': '127.0.0.1',
        'spark.driver.host': '127.0.0.1',
        'spark.executor.memory': '1g',
        'spark.sql.ansi.enabled': true,
        'spark.sql.catalogImplementation': 'in-memory',
        // The driver must undo this setting, with which rows would be missing without an error.
        'spark.sql.files.ignoreCorruptFiles': true,
        'spark.sql.shuffle.partitions': 4,
        'spark.sql.warehouse.dir': path.join(folder, 'warehouse'),
        'spark.ui.port': uiPort,
      };
      const hive = {
        'hive.server2.authentication': 'CUSTOM',
        'hive.server2.custom.authentication.class': 'SparkPasswords',
        'hive.server2.thrift.bind.host': '127.0.0.1',
        'hive.server2.thrift.port': port,
      };
      const pairs = (flag: string, values: object): string[] =>
        Object.entries(values).flatMap(([name, value]) => [flag, `${name}=${String(value)}`]);
      const server = startServer(
        path.join(home, 'bin/spark-submit'),
        [
          ...['--class', 'org.apache.spark.sql.hive.thriftserver.HiveThriftServer2'],
          ...['--master', 'local-cluster[2,1,1024]', '--driver-memory', '1g', '--driver-class-path', classes],
          ...[...pairs('--conf', settings), 'spark-internal', ...pairs('--hiveconf', hive)],
        ],
        folder,
        {
          asNobody: false,
          env: {
            ...SERVER_ENVIRONMENT,
            SPARK_HOME: home,
            SPARK_LOCAL_IP: '127.0.0.1',
            SPARK_LOCAL_HOSTNAME: 'localhost',
          },
        },
      );
      ({ child, log } = server);
      await untilOpen(port, child, log, CLUSTER_SECONDS);
      await until('two executors run', () => Promise.resolve(executors().length === 2), { log });
      await write(...tables.values());
    };

    const executors = (): number[] =>
      execFileSync('ps', ['-e', '-o', 'pid=,pgid=,args='], { encoding: 'utf8', maxBuffer: 2 ** 26 })
        .split('\n')
        .filter((line) => line.includes('CoarseGrainedExecutorBackend'))
        .map((line) => line.trim().split(/\s+/).map(Number))
        .flatMap(([pid, group]) => (pid !== undefined && group === child?.pid ? [pid] : []));

    /** Runs statements without our driver, which only reads. */
    const write = async (...statements: readonly string[]): Promise<void> => {
      const { auth, connections, HiveClient, thrift } = (await import('hive-driver')) as unknown as HiveModule;
      const client = new HiveClient(thrift.TCLIService, thrift.TCLIService_types);
      client.on('error', () => undefined);
      const plain = new auth.PlainTcpAuthentication({ username: 'tester', password: ENGINE_PASSWORD });
      await client.connect({ host: '127.0.0.1', port }, new connections.TcpConnection(), plain);
      const session = await client.openSession({ client_protocol: 9 });
      for (const statement of statements) await session.executeStatement(statement);
      await session.close();
      client.close();
    };

    /** Writes rows as Parquet files with DuckDB, and creates a table over them. */
    const createFrom = async (table: string, columns: Columns, parts: readonly string[]): Promise<void> => {
      const data = path.join(folder, 'data', tableName(table));
      mkdirSync(data, { recursive: true });
      const engine = openDuckDb();
      const types = { text: 'VARCHAR', double: 'DOUBLE', integer: 'INTEGER' };
      const names = Object.entries(columns).map(
        ([name, type], index) => `CAST(c${String(index)} AS ${types[type]}) AS "${name.replaceAll('"', '""')}"`,
      );
      try {
        for (const [index, rows] of parts.entries()) {
          const file = path.join(data, `part-${String(index)}.parquet`);
          const own = Object.keys(columns).map((_, column) => `c${String(column)}`);
          const select = `SELECT ${names.join(', ')} FROM (${rows}) AS t(${own.join(', ')})`;
          await engine.run((session) => session.rows(`COPY (${select}) TO '${file}' (FORMAT parquet)`));
        }
      } finally {
        await engine.close();
      }
      const create = `CREATE TABLE ${tableName(table)} USING parquet LOCATION '${data}'`;
      tables.set(table, create);
      await write(create);
    };

    /** Returns the jobs of statements from Spark's own interface. */
    const jobs = async (filter = ''): Promise<readonly { readonly numFailedTasks: number }[]> => {
      const api = `http://127.0.0.1:${String(uiPort)}/api/v1/applications`;
      const get = async <T>(url: string): Promise<T> =>
        (await fetch(url, { signal: AbortSignal.timeout(30_000) })).json() as Promise<T>;
      const [application] = await get<readonly { readonly id: string }[]>(api);
      return get(`${api}/${application?.id ?? ''}/jobs${filter}`);
    };

    await start();
    return {
      url: `spark://tester@127.0.0.1:${String(port)}/default`,
      literal,
      quoted: (name) => inBackticks(tableName(name)),
      named: tableName,
      storesNul: true,
      slowQuery: "SELECT 1 AS hired, 'a' AS known FROM range(100000000000000) WHERE id % 3 = 5",
      slowOver: (table) =>
        `SELECT hired, known FROM ${tableName(table)}, (SELECT count(*) AS c FROM range(60000000000) WHERE id % 3 <> 5) WHERE c > 0`,
      running: async () => (await jobs('?status=running')).length,
      async create(table, columns, rows) {
        await createFrom(table, columns, [
          `VALUES ${rows.map((row) => `(${row.map(literal).join(', ')})`).join(', ')}`,
        ]);
      },
      async createSeries(table, columns, rows, expressions) {
        const parts = Array.from({ length: 4 }, (_, part) => {
          const [from, to] = [part, part + 1].map((index) => String(Math.floor((index * rows) / 4)));
          return `SELECT ${expressions.join(', ')} FROM range(${String(from)}, ${String(to)}) AS s(i)`;
        });
        await createFrom(table, columns, parts);
      },
      write,
      start,
      kill: () => killServer(child),
      stop: async () => {
        await killServer(child);
        rmSync(path.join(folder, 'data'), { recursive: true, force: true });
      },
      executors,
      signal: (signal) => {
        if (child?.pid !== undefined) process.kill(child.pid, signal);
      },
      files: (table) => {
        const own = path.join(folder, 'data', tableName(table));
        return readdirSync(own).map((file) => path.join(own, file));
      },
      failedTasks: async () => (await jobs()).reduce((sum, { numFailedTasks }) => sum + numFailedTasks, 0),
    };
  },
};
