import { DuckDBInstance } from '@duckdb/node-api';

import { createRandom } from '../../src/internal/random.ts';

/** The number of rows of the large cases. */
export const ROWS = 10_000_000;

/** Creates rows in memory: labels, decisions, and group codes. */
export function makeRows(rows: number, groups = 8) {
  const random = createRandom(7);
  const labels = Array.from({ length: groups }, (_, group) => `group_${String(group)}`);
  const codes = new Int32Array(rows);
  const yTrue = new Uint8Array(rows);
  const yPred = new Uint8Array(rows);
  for (let row = 0; row < rows; row++) {
    codes[row] = random.integer(groups);
    yTrue[row] = random.integer(2);
    yPred[row] = random.integer(2);
  }
  return { labels, codes, yTrue, yPred };
}

/** Writes similar rows as CSV, about 505 MB for ten million, with two more columns, and as Parquet. */
export async function writeRows(csv: string, parquet: string, rows: number): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  await connection.run('SELECT setseed(0.7)');
  await connection.run(
    `COPY (SELECT floor(random() * 2)::INT AS y, floor(random() * 2)::INT AS p,
       'group_' || floor(random() * 8)::INT AS s, random() AS x1, random() AS x2
     FROM range(${String(rows)})) TO '${csv}' (HEADER)`,
  );
  await connection.run(`COPY (SELECT * FROM read_csv('${csv}')) TO '${parquet}'`);
  connection.closeSync();
  instance.closeSync();
}

/**
 * Writes labels, decisions and eight groups as Parquet, in the order in which they are generated.
 * @returns the equalized odds difference of the rows, computed with a separate GROUP BY
 */
export async function writeManyRows(parquet: string, rows: number): Promise<number> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  await connection.run('SELECT setseed(0.7)');
  await connection.run(
    `COPY (SELECT floor(random() * 2)::TINYINT AS y, floor(random() * 2)::TINYINT AS p,
       'group_' || floor(random() * 8)::INT AS s FROM range(${String(rows)})) TO '${parquet}'`,
  );
  const found = await connection.runAndReadAll(
    `SELECT max(gap) FROM (SELECT max(rate) - min(rate) AS gap FROM
       (SELECT y, s, avg(p) AS rate FROM read_parquet('${parquet}') GROUP BY ALL) GROUP BY y)`,
  );
  connection.closeSync();
  instance.closeSync();
  return Number(found.getRows()[0]?.[0]);
}

/** The number of columns of the rows for the search for subgroups: 8 with labels, 4 with numbers. */
const [LABELLED, NUMBERED] = [8, 4];

/**
 * Writes rows for the search for subgroups as CSV. The rate is 0.3, and 0.45 where the first three columns are `v0`.
 * @returns the names of the columns
 */
export async function writeSubgroupRows(csv: string, rows: number): Promise<string[]> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  await connection.run('SELECT setseed(0.7)');
  const columns = [
    ...Array.from({ length: LABELLED }, (_, column) => `'v' || least(4, floor(6 * random() ^ 1.5))::INT AS c${String(column)}`), // prettier-ignore
    ...Array.from({ length: NUMBERED }, (_, column) => `round(100 * random(), 2) AS x${String(column)}`),
  ];
  await connection.run(
    `COPY (SELECT *, (random() < 0.3 + CASE WHEN c0 = 'v0' AND c1 = 'v0' AND c2 = 'v0' THEN 0.15 ELSE 0 END)::INT AS hired
     FROM (SELECT ${columns.join(', ')} FROM range(${String(rows)}))) TO '${csv}' (HEADER)`,
  );
  connection.closeSync();
  instance.closeSync();
  return columns.map((column) => column.split(' AS ').at(-1) ?? '');
}
