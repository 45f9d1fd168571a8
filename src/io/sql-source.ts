import { DataValidationError, FairnessToolkitError } from '../exceptions/index.ts';
import { queryDataFile } from './data-file.ts';
import { oneLine } from './duckdb-session.ts';
import { withDuckDb } from './duckdb.ts';
import { withExactLabels } from './exact-labels.ts';
import { describe, type Relation, repeatedNames } from './relation.ts';
import { quoteLiteral, type SqlEngine, type SqlSession } from './sql-engine.ts';

/** Rows that SQL can count: a CSV or Parquet file by its path, or a query on an engine. */
export type SqlSource = string | QuerySource;

/**
 * A query on an engine. It is run a few times for one result, so that it
 * should give the same rows each time.
 */
export interface QuerySource {
  readonly engine: SqlEngine;
  /** One SELECT statement. */
  readonly query: string;
}

/**
 * Opens a source and runs queries over it.
 * @param work makes and runs the queries from the source's columns; it may be called twice
 * @param labels columns whose values name groups, and must not be rounded
 * @throws {DataValidationError} for a file that cannot be read, or a query that cannot be run
 */
export async function withRelation<T>(
  source: SqlSource,
  work: (session: SqlSession, relation: Relation) => Promise<T>,
  labels: readonly string[] = [],
): Promise<T> {
  if (typeof source === 'string') {
    return withDuckDb((session) =>
      queryDataFile(session, source, undefined, async (file) =>
        work(session, await withExactLabels(session, file, labels)),
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

/**
 * The engine itself reads the text of the query, as a value: nothing in it can
 * end the statement around it, several statements are refused, and a trailing
 * semicolon or comment does no harm.
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

/** Inside another query the second of two columns `a` is called `a_1`, which hides that there are two. */
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
    suggestion: 'Give one SELECT statement over tables that the engine has.',
    cause,
  });
}
