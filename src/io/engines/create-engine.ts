import { ConfigValidationError } from '../../exceptions/index.ts';
import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import { openDuckDb } from '../duckdb.ts';
import { readSecret } from '../read-secret.ts';
import type { SqlEngine } from '../sql-engine.ts';
import { clickhouseDriver } from './clickhouse.ts';
import { type Driver, type EngineSettings, openEngine } from './open-engine.ts';
import { postgresDriver } from './postgres.ts';
import { sparkDriver } from './spark.ts';
import { trinoDriver } from './trino.ts';

/** Options of {@link createSqlEngine}. */
export interface SqlEngineOptions {
  /**
   * The password of the user.
   * @defaultValue the password in the URL, else EVENHAND_SQL_PASSWORD, else the text of the file that
   *   EVENHAND_SQL_PASSWORD_FILE names
   */
  readonly password?: string | undefined;
  /**
   * The time limit of one statement, in seconds. The engine stops the statement then.
   * @defaultValue 600
   */
  readonly timeoutSeconds?: number | undefined;
  /**
   * The environment variables.
   * @defaultValue process.env
   */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

const SQL_ENGINE_OPTION_NAMES: OptionNames<SqlEngineOptions> = { password: true, timeoutSeconds: true, env: true };

/** The time limit of one statement, in seconds. */
const STATEMENT_SECONDS = 600;

/** The engines by the protocol of their URL. */
const ENGINES: Readonly<
  Record<
    string,
    { readonly title: string; readonly open: (url: URL, name: string, settings: EngineSettings) => Driver }
  >
> = {
  'postgres:': { title: 'PostgreSQL', open: postgresDriver },
  'postgresql:': { title: 'PostgreSQL', open: postgresDriver },
  'clickhouse:': { title: 'ClickHouse', open: clickhouseDriver },
  'clickhouses:': { title: 'ClickHouse', open: clickhouseDriver },
  'trino:': { title: 'Trino', open: trinoDriver },
  'trinos:': { title: 'Trino', open: trinoDriver },
  'spark:': { title: 'Spark', open: sparkDriver },
  'sparks:': { title: 'Spark', open: sparkDriver },
};

/**
 * Opens a database that counts rows for `FairnessAnalyzer.fromSql` and `validateSql`. Only counts and sums leave the
 * database, never rows. A connection is opened for each statement. All statements only read; a statement whose
 * connection is lost is repeated once.
 *
 * | URL | engine | package |
 * | --- | --- | --- |
 * | `duckdb:file.duckdb` | DuckDB | none |
 * | `postgres://user@host:5432/database` | PostgreSQL | pg |
 * | `clickhouse://user@host:8123/database`, `clickhouses://` with TLS | ClickHouse | `@clickhouse/client` |
 * | `trino://user@host:8080/catalog/schema`, `trinos://` with TLS | Trino | `trino-client` |
 * | `spark://user@host:10000/database`, `sparks://` with TLS | Spark's Thrift server | `hive-driver` |
 * @param url the address. Do not write passwords into programs: use EVENHAND_SQL_PASSWORD
 * @throws {ConfigValidationError} if the URL is not valid, or the engine is not known
 * @throws {DependencyError} with the first statement, if the package of the engine is not installed
 * @example
 * ```ts
 * import { createSqlEngine } from 'evenhand/io';
 *
 * const engine = createSqlEngine('duckdb:');
 * console.log(engine.name, engine.dialect);
 * // DuckDB duckdb
 * await engine.close();
 * ```
 */
export function createSqlEngine(url: string, options: SqlEngineOptions = {}): SqlEngine {
  assertKnownOptions('createSqlEngine', options, SQL_ENGINE_OPTION_NAMES);
  const { timeoutSeconds = STATEMENT_SECONDS, env = process.env } = options;
  if (!(timeoutSeconds > 0 && timeoutSeconds <= MAX_SECONDS)) {
    throw new ConfigValidationError(
      `timeoutSeconds must be above 0 and at most ${String(MAX_SECONDS)}. Got ${String(timeoutSeconds)} instead.`,
      { context: { parameter: 'timeoutSeconds', received: timeoutSeconds } },
    );
  }
  if (url.startsWith('duckdb:')) return openDuckDb(url.slice('duckdb:'.length) || undefined);
  const address = parseAddress(url);
  const engine = ENGINES[address.protocol];
  if (engine === undefined) throw invalidUrl(`its protocol '${address.protocol.slice(0, -1)}' is not known`);
  if (address.hostname === '') throw invalidUrl('it has no host');
  assertParameters(address);
  const { title, open } = engine;
  const settings = {
    timeoutSeconds,
    user: address.username === '' ? undefined : decoded(address.username),
    password: passwordOf(address, options.password, env),
  };
  const name = `${title} at ${address.host}${decoded(address.pathname === '/' ? '' : address.pathname)}`;
  return openEngine(open(address, name, settings), settings);
}

/** Timers of Node.js have at most 2^31 - 1 milliseconds. */
const MAX_SECONDS = 2_000_000;

/**
 * Returns whether a URL contains a password. On a command line, other users of the computer could read it.
 * @throws {ConfigValidationError} if the URL is not valid
 */
export function hasPassword(url: string): boolean {
  if (url.startsWith('duckdb:')) return /\?.*(pass|pwd|secret|token)/i.test(url);
  const { password, searchParams } = parseAddress(url);
  return password !== '' || [...searchParams.keys()].some((name) => /pass|pwd|secret|token/i.test(name));
}

function parseAddress(url: string): URL {
  let address: URL;
  try {
    address = new URL(url);
  } catch {
    throw invalidUrl('it cannot be parsed');
  }
  // A password with an unescaped / or # ends the host too early, and would become part of the engine's name.
  if (/@/.test(address.pathname + address.search + address.hash))
    throw invalidUrl('a character must be percent-encoded');
  return address;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw invalidUrl('a percent sign must be percent-encoded');
  }
}

/** @throws {ConfigValidationError} if a URL has parameters that its engine does not know */
function assertParameters({ searchParams, protocol }: URL): void {
  const isPostgres = protocol.startsWith('postgres');
  const odd = [...searchParams.keys()].find((name) => !isPostgres || IN_ADDRESS.has(name));
  if (odd === undefined) return;
  const more = isPostgres ? ', because the URL names it already' : `; ${protocol.replace(/s?:$/, 's:')}// uses TLS`;
  throw invalidUrl(`the parameter '${odd}' is not supported${more}`);
}

/** Parameters of pg that would change the address after it was shown. */
const IN_ADDRESS = new Set(['host', 'port', 'user', 'password', 'dbname', 'database']);

/** The message does not show the URL, which may contain a password. */
function invalidUrl(problem: string): ConfigValidationError {
  return new ConfigValidationError(`The URL of the SQL engine is not valid: ${problem}.`, {
    context: { parameter: 'url', expected: ['duckdb:', ...Object.keys(ENGINES)] },
    suggestion:
      'Write postgres://user@host:5432/database, clickhouse://user@host:8123/database, trino://user@host:8080/catalog/schema, spark://user@host:10000/database or duckdb:file.duckdb. Characters such as @ and # in names are percent-encoded.',
  });
}

function passwordOf(
  { password }: URL,
  given: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  if (given !== undefined) return given;
  if (password !== '') return decoded(password);
  return readSecret(env, 'EVENHAND_SQL_PASSWORD');
}
