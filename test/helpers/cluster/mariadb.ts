import { execFile } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';

import type { SqlEngine } from '../../../src/io/index.ts';
import type { RunningEngine, Value } from '../engines.ts';
import { freePort } from '../mlflow-server.ts';
import { killServer, startServer, untilOpen } from '../servers.ts';
import { cached } from './programs.ts';

const ROOT = 'mariadb';

const inBackticks = (name: string): string => `\`${name.replaceAll('`', '``')}\``;

const literal = (value: Value): string =>
  typeof value === 'string' ? `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'` : String(value ?? 'NULL');

/** Returns why MariaDB cannot be started here; undefined if it can. */
export function lackingMariaDb(): string | undefined {
  const server = cached(ROOT, 'usr/sbin/mariadbd');
  return existsSync(server) ? undefined : `there is no ${server}, which comes from Debian's packages`;
}

/** A server of MariaDB, for which there is no driver: its own client runs the statements. */
export async function openMariaDb(folder: string): Promise<SqlEngine & Pick<RunningEngine, 'create'>> {
  const data = path.join(folder, 'data');
  mkdirSync(data);
  const port = await freePort();
  const messages = cached(ROOT, 'usr/share/mysql');
  const libraries = ['usr/lib', 'lib'].map((name) => cached(ROOT, name, 'x86_64-linux-gnu')).join(':');
  const env = { ...process.env, LD_LIBRARY_PATH: libraries };
  const settings = [
    ...['--no-defaults', '--skip-grant-tables', '--bind-address=127.0.0.1', `--port=${String(port)}`],
    ...[`--datadir=${data}`, `--socket=${path.join(data, 'socket')}`, `--lc-messages-dir=${messages}`],
    ...[
      `--character-sets-dir=${path.join(messages, 'charsets')}`,
      ...(process.getuid?.() === 0 ? ['--user=root'] : []),
    ],
  ];
  const { child, log } = startServer(cached(ROOT, 'usr/sbin/mariadbd'), settings, folder, { asNobody: false, env });
  await untilOpen(port, child, log);

  const run = (statements: string, database: readonly string[] = ['rows']): Promise<string> =>
    new Promise((resolve, reject) => {
      const options = [
        '--no-defaults',
        '-h',
        '127.0.0.1',
        '-P',
        String(port),
        '--default-character-set=utf8mb4',
        '--xml',
      ];
      const client = execFile(
        cached(ROOT, 'usr/bin/mariadb'),
        [...options, ...database],
        { env, maxBuffer: 2 ** 28, timeout: 60_000 },
        (error, stdout) => {
          if (error === null) resolve(stdout);
          else reject(new Error(error.message));
        },
      );
      client.stdin?.end(statements);
    });
  // A collation that ignores case, as MySQL's own.
  await run('CREATE DATABASE `rows` CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci', []);

  return {
    name: 'MariaDB',
    dialect: 'mysql',
    async query(sql) {
      const rows = [...(await run(`${sql};`)).matchAll(/<row>([\s\S]*?)<\/row>/g)].map(([, row = '']) => readRow(row));
      return {
        columns: rows[0]?.map(({ name }) => name) ?? [],
        rows: rows.map((row) => row.map(({ value }) => value)),
      };
    },
    close: () => killServer(child),
    async create(table, columns, rows) {
      const types = { text: 'LONGTEXT', double: 'DOUBLE', integer: 'INTEGER' };
      const own = Object.entries(columns).map(([name, type]) => `${inBackticks(name)} ${types[type]}`);
      const values = rows.map((row) => `(${row.map(literal).join(', ')})`);
      await run(
        `CREATE TABLE ${inBackticks(table)} (${own.join(', ')}); INSERT INTO ${inBackticks(table)} VALUES ${values.join(', ')};`,
      );
    },
  };
}

interface Field {
  readonly name: string;
  readonly value: string | null;
}

function readRow(row: string): Field[] {
  const text = (escaped: string): string =>
    escaped.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&');
  return [...row.matchAll(/<field name="([^"]*)"(?: xsi:nil="true" \/>|>([\s\S]*?)<\/field>)/g)].map(
    ([, name = '', value]) => ({ name: text(name), value: value === undefined ? null : text(value) }),
  );
}
