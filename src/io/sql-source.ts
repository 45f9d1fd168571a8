import { ConfigValidationError, DataValidationError, FairnessToolkitError } from '../exceptions/index.ts';
import { assertKnownOptions, type OptionNames } from '../internal/arguments.ts';
import type { DataPaths, FileSource } from '../schemas/data-source.ts';
import { queryDataFile } from './data-file.ts';
import { type DuckDbEngine, type DuckDbSession, oneLine, withDuckDb } from './duckdb.ts';
import { withExactLabels } from './exact-labels.ts';
import { describe, type Relation, repeatedNames } from './relation.ts';
import { quoteIdentifier, quoteLiteral, type SqlEngine, type SqlSession, tableParts } from './sql-engine.ts';

/**
 * A source of rows: CSV or Parquet files (one or several paths, globs or folders), or a query on an engine. Give files
 * as a {@link FileSource} to set the decimal separator.
 */
export type SqlSource = DataPaths | FileSource | QuerySource;

/**
 * A table or a query on an engine: `table` or `query`. A query may run several times for one result, so it should return
 * the same rows each time.
 */
export interface QuerySource extends EngineRows {
  readonly engine: SqlEngine;
}

/** A table or a query. */
export interface EngineRows {
  /** The name of a table, such as `schema.table`. A part in double quotes may contain points. */
  readonly table?: string | undefined;
  /** One SELECT statement. */
  readonly query?: string | undefined;
  /** Stops the work, also in the engine. */
  readonly signal?: AbortSignal | undefined;
}

const ENGINE_ROWS_NAMES: OptionNames<EngineRows> = { table: true, query: true, signal: true };

/**
 * Returns the source of a query (as text), or of a table or a query.
 * @throws {ConfigValidationError} if there is neither a table nor a query, or both
 */
export function querySource(caller: string, engine: SqlEngine, source: string | EngineRows): QuerySource {
  if (typeof source === 'string') return { engine, query: source };
  assertKnownOptions(caller, source, ENGINE_ROWS_NAMES);
  if ((source.table === undefined) !== (source.query === undefined)) return { ...source, engine };
  throw new ConfigValidationError(`${caller} needs either a table or a query.`, {
    context: { parameter: 'source' },
    suggestion: "Give a SELECT statement, { table: 'schema.table' } or { query: 'SELECT …' }.",
  });
}

/**
 * Opens a source and runs queries over it. The source is files, or a query on a {@link DuckDbEngine}.
 * @param work builds and runs the queries from the columns of the source; this function may be called twice
 * @param labels columns whose values are group names and must not be rounded
 * @throws {DataValidationError} if a file cannot be read, or a query cannot be run
 */
export async function withRelation<T>(
  source: SqlSource,
  work: (session: SqlSession, relation: Relation) => Promise<T>,
  labels: readonly string[] = [],
): Promise<T> {
  return withDuckDbRelation(source, async (session, relation) =>
    work(session, isQuery(source) ? relation : await withExactLabels(session, relation, [...new Set(labels)])),
  );
}

/**
 * Opens a source, like {@link withRelation}, with the types that DuckDB finds in files.
 * @param work reads the source; this function may be called twice
 */
export async function withDuckDbRelation<T>(
  source: SqlSource,
  work: (session: DuckDbSession, relation: Relation) => Promise<T>,
): Promise<T> {
  if (!isQuery(source)) {
    return withDuckDb((session) => queryDataFile(session, source, undefined, (file) => work(session, file)));
  }
  const { engine, signal, table = '' } = source;
  const { query = `SELECT * FROM ${tableParts(table).map(quoteIdentifier).join('.')}` } = source;
  return (engine as DuckDbEngine).run(
    async (session) => {
      try {
        return await work(session, await openQuery(session, query));
      } catch (cause) {
        throw FairnessToolkitError.isInstance(cause) ? cause : cannotRun(query, cause);
      }
    },
    { signal },
  );
}

/** Returns whether a source is a query, and not files. */
export function isQuery(source: SqlSource): source is QuerySource {
  return typeof source === 'object' && 'engine' in source;
}

/** Returns whether a source is counted by statements, and not by queries in DuckDB. */
export function isOnEngine(source: SqlSource): source is QuerySource {
  return isQuery(source) && !('run' in source.engine);
}

/**
 * Opens a query. The engine receives the text of the query as a value. Therefore, the text cannot end the surrounding
 * statement. Several statements are rejected, and a trailing semicolon or comment has no effect.
 */
async function openQuery(session: SqlSession, query: string): Promise<Relation> {
  const relation = `query(${quoteLiteral(query)})`;
  const columns = await describe(session, relation);
  return {
    title: 'the query',
    relation,
    columns,
    ambiguous: await findRepeated(session, query, columns),
    csv: undefined,
  };
}

/**
 * Returns repeated column names. A subquery would hide repeated names, because it renames a second column `a` to `a_1`.
 */
async function findRepeated(
  session: SqlSession,
  query: string,
  columns: ReadonlyMap<string, unknown>,
): Promise<string[]> {
  const mayRepeat = [...columns.keys()].some((name) => /_\d+$/.test(name));
  if (!mayRepeat) return [];
  const own = await session.rows(`DESCRIBE ${query}`);
  return repeatedNames(own.map(([name]) => String(name)));
}

function cannotRun(query: string, cause: unknown): DataValidationError {
  return new DataValidationError(`The query cannot be run: ${oneLine(cause)}`, {
    context: { query },
    suggestion: 'Use one SELECT statement over tables of the engine.',
    cause,
  });
}
