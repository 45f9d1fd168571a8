import { DataValidationError, FairnessToolkitError } from '../exceptions/index.ts';
import type { DataPaths, FileSource } from '../schemas/data-source.ts';
import { queryDataFile } from './data-file.ts';
import { oneLine, withDuckDb } from './duckdb.ts';
import { withExactLabels } from './exact-labels.ts';
import { describe, type Relation, repeatedNames } from './relation.ts';
import { quoteLiteral, type SqlEngine, type SqlSession } from './sql-engine.ts';

/**
 * A source of rows: CSV or Parquet files (one or several paths, globs or folders), or a query on an engine. Give files
 * as a {@link FileSource} to set the decimal separator.
 */
export type SqlSource = DataPaths | FileSource | QuerySource;

/** A query on an engine. The query runs several times for one result, so it should return the same rows each time. */
export interface QuerySource {
  readonly engine: SqlEngine;
  /** One SELECT statement. */
  readonly query: string;
}

/**
 * Opens a source and runs queries over it.
 * @param work builds and runs the queries from the columns of the source; this function may be called twice
 * @param labels columns whose values are group names and must not be rounded
 * @throws {DataValidationError} if a file cannot be read, or a query cannot be run
 */
export async function withRelation<T>(
  source: SqlSource,
  work: (session: SqlSession, relation: Relation) => Promise<T>,
  labels: readonly string[] = [],
): Promise<T> {
  if (!isQuery(source)) {
    return withDuckDb((session) =>
      queryDataFile(session, source, undefined, async (file) =>
        work(session, await withExactLabels(session, file, [...new Set(labels)])),
      ),
    );
  }
  return source.engine.run(async (session) => {
    try {
      return await work(session, await openQuery(session, source.query));
    } catch (cause) {
      throw FairnessToolkitError.isInstance(cause) ? cause : cannotRun(source.query, cause);
    }
  });
}

function isQuery(source: SqlSource): source is QuerySource {
  return typeof source === 'object' && 'engine' in source;
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
