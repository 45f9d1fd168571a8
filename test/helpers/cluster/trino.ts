import { type ChildProcess, execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { type EngineKind, inDoubleQuotes, type RunningEngine, type Value } from '../engines.ts';
import { freePort } from '../mlflow-server.ts';
import { killServer, startServer } from '../servers.ts';
import { cached, compileJava, lackingProgram, SERVER_ENVIRONMENT, until } from './programs.ts';

/** A coordinator of Trino with two workers. */
export interface RunningTrino extends RunningEngine {
  /** The address without TLS, which takes no password. */
  readonly plainUrl: string;
  /** Ends one of the workers without a warning. */
  readonly killWorker: () => Promise<void>;
  /** Stops and continues the coordinator, as a machine that hangs. */
  readonly signal: (signal: 'SIGSTOP' | 'SIGCONT') => void;
  /** Returns the codes of the errors of statements that contain a text. */
  readonly failures: (text: string) => Promise<readonly string[]>;
  /** Returns the number of workers that take part in a statement. */
  readonly busyWorkers: () => Promise<number>;
}

const LIBRARIES = 'trino-435/lib';

/** The names of the servers. The first one is the coordinator. */
const SERVERS = ['coordinator', 'worker-1', 'worker-2'] as const;

/** A relation with 100 million rows. */
const LONG = 'UNNEST(sequence(1, 10000)) AS a(row_1), UNNEST(sequence(1, 10000)) AS b(row_2)';

/** The rows of one INSERT statement. */
const INSERT_ROWS = 500;

const literal = (value: Value): string =>
  typeof value === 'string'
    ? `'${value.replaceAll("'", "''")}'`
    : // A number with a point would be a decimal, whose conversion rounds twice.
      Number.isInteger(value ?? 0)
      ? String(value ?? 'NULL')
      : `DOUBLE '${String(value)}'`;

/** The key of the coordinator, which `scripts/test-engines.sh` creates. NODE_EXTRA_CA_CERTS names its certificate. */
const KEY_STORE = 'tls/key.p12';

export const TRINO: EngineKind<RunningTrino> = {
  title: 'Trino 435, two workers',
  lacking: () => lackingProgram(LIBRARIES, 'trino-435/plugin/memory', KEY_STORE),
  async start(folder) {
    const classes = path.join(folder, 'classes');
    compileJava('TrinoServer.java', path.join(cached(LIBRARIES), '*'), classes);
    const services = path.join(classes, 'META-INF/services');
    mkdirSync(services, { recursive: true });
    writeFileSync(path.join(services, 'io.trino.spi.Plugin'), 'TrinoServer\n');
    const plugins = path.join(folder, 'plugin');
    mkdirSync(path.join(plugins, 'password'), { recursive: true });
    execFileSync('jar', ['cf', path.join(plugins, 'password/password.jar'), '-C', classes, '.']);
    execFileSync('ln', ['-s', cached('trino-435/plugin/memory'), path.join(plugins, 'memory')]);
    const ports = await Promise.all(SERVERS.map(freePort));
    const securePort = await freePort();
    const discovery = `http://127.0.0.1:${String(ports[0])}`;
    const children: (ChildProcess | undefined)[] = [];
    const logs: (() => string)[] = [];
    // Tables are in memory, so small ones are created again after a restart.
    const tables = new Map<string, () => Promise<void>>();

    const startOne = (index: number): void => {
      const node = path.join(folder, SERVERS[index] as string);
      rmSync(node, { recursive: true, force: true });
      const write = (file: string, settings: object): string => {
        const target = path.join(node, file);
        mkdirSync(path.dirname(target), { recursive: true });
        const lines = Object.entries(settings).map(([name, value]) => `${name}=${String(value)}\n`);
        writeFileSync(target, lines.join(''));
        return target;
      };
      const catalogs = path.dirname(write('catalog/memory.properties', { 'connector.name': 'memory' }));
      const passwords = write('passwords.properties', { 'password-authenticator.name': 'test-password' });
      const config = write('config.properties', {
        'catalog.config-dir': catalogs,
        coordinator: index === 0,
        'discovery.uri': discovery,
        // Without these two, a statement whose worker has ended has no answer for minutes.
        'exchange.max-error-duration': '10s',
        'query.remote-task.max-error-duration': '10s',
        'http-server.http.port': ports[index],
        'internal-communication.shared-secret': 'of-the-tests',
        'node.environment': 'test',
        'memory.heap-headroom-per-node': '256MB',
        'plugin.dir': plugins,
        // One worker must be able to finish what two of them began.
        'query.max-memory-per-node': '640MB',
        // Otherwise a statement leaves the coordinator no time to answer on a small machine.
        'task.max-worker-threads': 1,
        ...(index === 0
          ? {
              'http-server.authentication.allow-insecure-over-http': true,
              'http-server.authentication.type': 'PASSWORD',
              'http-server.https.enabled': true,
              'http-server.https.keystore.key': 'changeit',
              'http-server.https.keystore.path': cached(KEY_STORE),
              'http-server.https.port': securePort,
              'node-scheduler.include-coordinator': false,
              'password-authenticator.config-files': passwords,
            }
          : {}),
      });
      const properties = {
        config,
        'jdk.attach.allowAttachSelf': true,
        'node.bind-ip': '127.0.0.1',
        'node.data-dir': path.join(node, 'data'),
        'node.id': SERVERS[index],
        'node.internal-address': '127.0.0.1',
      };
      const set = Object.entries(properties).map(([name, value]) => `-D${name}=${String(value)}`);
      const classPath = `${classes}:${cached(LIBRARIES)}/*`;
      const server = startServer('java', ['-Xmx1g', ...set, '-cp', classPath, 'TrinoServer'], folder, {
        asNobody: false,
        env: SERVER_ENVIRONMENT,
      });
      children[index] = server.child;
      logs[index] = server.log;
    };

    /** Runs a statement without the driver, which only reads. */
    const query = async (statement: string): Promise<unknown[][]> => {
      const signal = AbortSignal.timeout(120_000);
      const headers = {
        'X-Trino-User': 'tester',
        'X-Trino-Source': 'tests',
        'X-Trino-Catalog': 'memory',
        'X-Trino-Schema': 'default',
      };
      const rows: unknown[][] = [];
      let page = await readPage(
        await fetch(`${discovery}/v1/statement`, { method: 'POST', body: statement, headers, signal }),
      );
      for (;;) {
        if (page.error !== undefined) throw new Error(page.error.message);
        rows.push(...(page.data ?? []));
        if (page.nextUri === undefined) return rows;
        page = await readPage(await fetch(page.nextUri, { headers, signal }));
      }
    };
    const write = async (...statements: readonly string[]): Promise<void> => {
      for (const statement of statements) await query(statement);
    };

    const start = async (): Promise<void> => {
      await Promise.all(children.map(killServer));
      for (const index of SERVERS.keys()) startOne(index);
      const isReady = async (): Promise<boolean> => {
        if (children.some((child) => child?.exitCode !== null)) throw new Error('A server has ended.');
        const nodes = "SELECT count(*) FROM system.runtime.nodes WHERE state = 'active' AND NOT coordinator";
        return Number((await query(nodes))[0]?.[0]) === 2;
      };
      await until('two workers are active', isReady, { log: () => logs.map((log) => log()).join('\n') });
      for (const create of tables.values()) await create();
    };

    const types = { text: 'varchar', double: 'double', integer: 'integer' };
    const createFrom = async (
      table: string,
      columns: Parameters<RunningEngine['create']>[1],
      selects: readonly string[],
    ): Promise<() => Promise<void>> => {
      const defined = Object.entries(columns).map(([name, type]) => `${inDoubleQuotes(name)} ${types[type]}`);
      const create = (): Promise<void> =>
        write(
          `CREATE TABLE ${inDoubleQuotes(table)} (${defined.join(', ')})`,
          ...selects.map((select) => `INSERT INTO ${inDoubleQuotes(table)} ${select}`),
        );
      await create();
      return create;
    };

    await start();
    const unfinished = "source = 'evenhand' AND state NOT IN ('FINISHED', 'FAILED')";
    return {
      url: `trinos://tester@127.0.0.1:${String(securePort)}/memory/default`,
      plainUrl: `trino://tester@127.0.0.1:${String(ports[0])}/memory/default`,
      literal,
      quoted: inDoubleQuotes,
      named: inDoubleQuotes,
      storesNul: true,
      slowQuery: `SELECT 1 AS hired, 'a' AS known FROM ${LONG}, UNNEST(sequence(1, 10000)) AS c(row_3) WHERE (row_1 * row_2 * row_3) % 3 = 5`,
      slowOver: (table) => `SELECT hired, known FROM ${inDoubleQuotes(table)}, ${LONG} WHERE (row_1 * row_2) % 3 <> 5`,
      async running() {
        return Number((await query(`SELECT count(*) FROM system.runtime.queries WHERE ${unfinished}`))[0]?.[0]);
      },
      async busyWorkers() {
        const own = `query_id IN (SELECT query_id FROM system.runtime.queries WHERE ${unfinished})`;
        const tasks = `SELECT count(DISTINCT node_id) FROM system.runtime.tasks WHERE ${own} AND state = 'RUNNING' AND node_id LIKE 'worker%' AND split_cpu_time_ms > 0`;
        return Number((await query(tasks))[0]?.[0]);
      },
      async failures(text) {
        const failed = "source = 'evenhand' AND state = 'FAILED'";
        const codes = `SELECT error_code FROM system.runtime.queries WHERE ${failed} AND strpos(query, ${literal(text)}) > 0`;
        return (await query(codes)).map(([code]) => String(code));
      },
      async create(table, columns, rows) {
        const values = rows.map((row) => `(${row.map(literal).join(', ')})`);
        const parts = Array.from({ length: Math.ceil(rows.length / INSERT_ROWS) }, (_, part) =>
          values.slice(part * INSERT_ROWS, (part + 1) * INSERT_ROWS),
        );
        const inserts = parts.map((part) => `VALUES ${part.join(', ')}`);
        tables.set(table, await createFrom(table, columns, inserts));
      },
      async createSeries(table, columns, rows, expressions) {
        const series = `FROM TABLE(sequence(0, ${String(rows - 1)})) AS s(i)`;
        await createFrom(table, columns, [`SELECT ${expressions.join(', ')} ${series}`]);
      },
      write,
      start,
      kill: () => killServer(children[0]),
      killWorker: () => killServer(children[1]),
      signal: (signal) => {
        const pid = children[0]?.pid;
        if (pid !== undefined) process.kill(pid, signal);
      },
      async stop() {
        await Promise.all(children.map(killServer));
      },
    };
  },
};

interface Page {
  readonly data?: unknown[][];
  readonly nextUri?: string;
  readonly error?: { readonly message: string };
}

async function readPage(response: Response): Promise<Page> {
  if (!response.ok) throw new Error(`HTTP ${String(response.status)}: ${await response.text()}`);
  return (await response.json()) as Page;
}
