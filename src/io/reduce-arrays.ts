import { type ScoreCell, type ScoreGrid, readScore, scoresSql } from './count-scores.ts';
import { withDuckDb } from './duckdb.ts';
import { toNumbers } from './group-by.ts';
import type { SqlSession } from './sql-engine.ts';
import { momentsSql, type NumberSums, readMoments } from './sum-moments.ts';
import { readWeights, type WeightSums, weightSums } from './value-sql.ts';

/**
 * Arrays of equal length, one for each column. `group` contains the group code of each row. The code is negative for
 * excluded rows.
 */
type ArrayColumns<Name extends string> = { readonly group: Int32Array; readonly weight?: Float64Array | undefined } & {
  readonly [Column in Name]: Int32Array | Float64Array;
};

/** Counts the rows of arrays per group in DuckDB. */
export async function countArrays(columns: ArrayColumns<never>): Promise<(WeightSums & { readonly group: number })[]> {
  const sums = weightSums(columns.weight === undefined ? undefined : 'weight').map((sum) => `CAST(${sum} AS DOUBLE)`);
  return withArrays(columns, async (session) => {
    const rows = await session.rows(`SELECT ${['g0', ...sums].join(', ')} FROM (${ARRAY_ROWS}) GROUP BY g0`, ORDERED);
    return rows.map((row) => ({ group: Number(row[0]), ...readWeights(toNumbers(row.slice(1))) }));
  });
}

/**
 * Computes moments for each group in DuckDB: of the predictions p and, if true values t are given, also of t and of the
 * errors.
 */
export async function sumArrayMoments(
  columns: ArrayColumns<'p'> & { readonly t?: Float64Array | undefined },
): Promise<NumberSums[]> {
  const given = { hasTruth: columns.t !== undefined, isWeighted: columns.weight !== undefined };
  return withArrays(columns, async (session) => {
    const rows = given.isWeighted ? `SELECT * RENAME (weight AS w) FROM (${ARRAY_ROWS})` : ARRAY_ROWS;
    const result = await session.rows(momentsSql(rows, { outputs: ['g0'], ...given }), ORDERED);
    // The column after the group says whether the rows are complete. Here, all rows are complete.
    return result.map((row) => ({ group: Number(row[0]), ...readMoments(toNumbers(row.slice(2)), given) }));
  });
}

/**
 * Counts the distinct scores of each group in DuckDB. Also returns the step of the grid to which the scores were
 * rounded.
 */
export async function countArrayScores(
  columns: ArrayColumns<'score' | 'truth'>,
  { maxDistinct: mostDistinct, stepFor }: ScoreGrid,
): Promise<{ readonly cells: ScoreCell[]; readonly step: number }> {
  return withArrays(columns, async (session) => {
    const [check] = await session.rows(
      `SELECT CAST(count(*) AS DOUBLE), max(abs(score)) FROM (SELECT DISTINCT g0, score FROM (${ARRAY_ROWS}))`,
    );
    const [distinct = 0, largest = 0] = toNumbers(check ?? []);
    const step = distinct > mostDistinct ? stepFor(largest) : 0;
    const result = await session.rows(
      scoresSql(ARRAY_ROWS, { outputs: ['g0'], step, isWeighted: columns.weight !== undefined }),
      ORDERED,
    );
    return { cells: result.map((row) => ({ group: Number(row[0]), ...readScore(row.slice(1), step) })), step };
  });
}

/** Selects the rows that have a group. */
const ARRAY_ROWS = 'SELECT * RENAME ("group" AS g0) FROM arrays WHERE "group" >= 0';

const ORDERED = { ordered: true } as const;

async function withArrays<T>(
  columns: Readonly<Record<string, Int32Array | Float64Array | undefined>>,
  work: (session: SqlSession) => Promise<T>,
): Promise<T> {
  const given = Object.entries(columns).filter(
    (entry): entry is [string, Int32Array | Float64Array] => entry[1] !== undefined,
  );
  return withDuckDb(async (session) => {
    await session.createTable('arrays', Object.fromEntries(given));
    return work(session);
  });
}
