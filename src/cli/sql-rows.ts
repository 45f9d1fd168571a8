import type { QuerySource } from '../io/sql-source.ts';
import { INTERRUPTED } from './exit-codes.ts';
import { warn } from './output.ts';
import { describeInterrupt, onInterrupt } from './progress-bar.ts';

/** The options of rows in a database. */
export interface SqlOptions {
  readonly sql?: string;
  readonly table?: string;
  readonly query?: string;
  readonly sqlTimeout?: number;
}

/** The lines that define {@link SqlOptions}. */
export const SQL_OPTIONS = `--sql <url>  a database that counts the rows of --table or --query: postgres://user@host/database, clickhouse://user@host/database, trino://user@host/catalog/schema, spark://user@host/database or duckdb:file; the password is read from EVENHAND_SQL_PASSWORD, or from the file that EVENHAND_SQL_PASSWORD_FILE names
--table <table>  with --sql: table with the rows, for example schema.table
--query <sql>  with --sql: SELECT statement that returns the rows, instead of --table
--sql-timeout <n>  with --sql: time limit of a statement, in seconds (default: 600)`;

/** Opens the database of --sql, and returns the rows of --table or --query. */
export async function openSql(url: string, { table, query, sqlTimeout }: SqlOptions): Promise<QuerySource> {
  const [{ createSqlEngine, hasPassword }, { querySource }, { ConfigValidationError }] = await Promise.all([
    import('../io/engines/create-engine.ts'),
    import('../io/sql-source.ts'),
    import('../exceptions/index.ts'),
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
  const controller = new AbortController();
  const { signal } = controller;
  const usual = process.listeners('SIGINT');
  const remove = onInterrupt(() => {
    release();
    controller.abort();
  });
  // The second Ctrl-C ends the process at once.
  const release = (): void => {
    remove();
    for (const listener of usual) process.on('SIGINT', listener);
  };
  try {
    const result = await work({ ...source, signal }, signal);
    signal.throwIfAborted();
    return result;
  } catch (error) {
    if (!signal.aborted) throw error;
    await source.engine.close();
    warn(describeInterrupt([]));
    process.exit(INTERRUPTED);
  } finally {
    release();
    await source.engine.close();
  }
}
