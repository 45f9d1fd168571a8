import { ConfigValidationError } from '../exceptions/index.ts';
import type { QuerySource } from '../io/sql-source.ts';
import { flagName } from './option-parsers.ts';
import { runStoppable } from './stoppable.ts';

/** The options of rows in a database. */
export interface SqlOptions {
  readonly sql?: string;
  readonly table?: string;
  readonly query?: string;
  readonly sqlTimeout?: number;
}

/** The lines that define {@link SqlOptions}. */
export const SQL_OPTIONS = `--sql <url>  a database with the rows of --table or --query: postgres://user@host/database, clickhouse://user@host/database, trino://user@host/catalog/schema, spark://user@host/database or duckdb:file; the password is read from EVENHAND_SQL_PASSWORD, or from the file that EVENHAND_SQL_PASSWORD_FILE names
--table <table>  with --sql: table with the rows, for example schema.table
--query <sql>  with --sql: SELECT statement that returns the rows, instead of --table
--sql-timeout <n>  with --sql: time limit of a statement, in seconds (default: 600)`;

/** The options that need --sql. */
const WITH_SQL = ['table', 'query', 'sqlTimeout'] as const;

/**
 * Checks that there is one source of rows, and no option of a database without a database.
 * @param sources the options that name a source
 * @param withSql the options that need --sql
 */
export function assertOneSource<Options extends SqlOptions>(
  options: Options,
  sources: readonly (keyof Options & string)[],
  withSql: readonly (keyof Options & string)[] = WITH_SQL,
): void {
  const given = (names: readonly (keyof Options & string)[]): string[] =>
    names.filter((name) => options[name] !== undefined).map(flagName);
  const named = given(sources);
  const alone = options.sql === undefined ? given(withSql) : [];
  if (named.length <= 1 && alone.length === 0) return;
  const problem =
    named.length > 1
      ? `${named.join(' and ')} are given, but only one of them is read.`
      : `${alone.join(' and ')} needs a database: add --sql.`;
  throw new ConfigValidationError(problem, {
    context: { parameter: 'sql' },
    suggestion: `Give one of ${sources.map(flagName).join(', ')}. --sql needs --table or --query.`,
  });
}

/** Opens the database of --sql, and returns the rows of --table or --query. */
export async function openSql(url: string, { table, query, sqlTimeout }: SqlOptions): Promise<QuerySource> {
  const [{ createSqlEngine, hasPassword }, { querySource }] = await Promise.all([
    import('../io/engines/create-engine.ts'),
    import('../io/sql-source.ts'),
  ]);
  if (hasPassword(url)) {
    throw new ConfigValidationError(
      'The URL of --sql contains a password, which other users of this computer can read.',
      {
        context: { parameter: 'sql' },
        suggestion:
          'Remove it from the URL. Set the environment variable EVENHAND_SQL_PASSWORD, or EVENHAND_SQL_PASSWORD_FILE to the path of a file.',
      },
    );
  }
  if ((table === undefined) === (query === undefined)) {
    throw new ConfigValidationError('--sql needs either --table or --query.', {
      context: { parameter: 'table' },
      suggestion: 'Name a table (--table schema.table), or give a SELECT statement (--query).',
    });
  }
  return querySource('--sql', createSqlEngine(url, { timeoutSeconds: sqlTimeout }), { table, query });
}

/**
 * Runs work on a database, and closes the database. Ctrl-C stops the statement in the database before the process ends.
 */
export async function onDatabase<T>(
  source: QuerySource,
  work: (source: QuerySource, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return runStoppable(
    (signal) => work({ ...source, signal }, signal),
    () => source.engine.close(),
  );
}
