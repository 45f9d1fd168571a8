import { DataValidationError } from '../exceptions/index.ts';
import { addInto, emptyStratum, groupOf, pairOf, type StratumSums } from '../stats/stratum-sums.ts';
import { missingClusterInRow } from '../table/cluster-columns.ts';
import { type Check } from './checks.ts';
import { rowsSql, toNumbers } from './group-by.ts';
import type { Relation } from './relation.ts';
import { quoteLiteral, type SourceRequest, type SqlSession } from './sql-engine.ts';
import { groupExpression, groupLabelOf, groupOutputs } from './value-sql.ts';

/** Rows by cluster: the columns of a request, and what to sum. */
export interface ClusterQuery extends Pick<SourceRequest, 'cluster' | 'strata' | 'nanPolicy'> {
  readonly attribute: readonly string[];
  /** The number of groups of the attribute. */
  readonly groupCount: number;
  /** Returns the index of a group from the labels of its parts; -1 if its rows are not used. */
  readonly find: (parts: readonly (string | undefined)[]) => number;
  /** The SQL expressions for the values of a row, by name. */
  readonly select: Readonly<Record<string, string>>;
  /** The SQL condition of a complete row. It uses the selected values. */
  readonly isComplete: string;
}

/** Returns checks that every row has a cluster and a stratum. */
export function clusterChecks(
  relation: Relation,
  { cluster, strata }: Pick<SourceRequest, 'cluster' | 'strata'>,
): Check[] {
  return [cluster, strata]
    .filter((name) => name !== undefined)
    .map((column) => ({
      column,
      condition: `${groupExpression(relation, column)} IS NULL`,
      errorFor: ({ row }) => missingClusterInRow(column, row),
    }));
}

/**
 * Sums the totals of cells over clusters: rows are first added within each cluster and group, and their totals and
 * products are then added over clusters, so that the result does not grow with the number of rows or clusters.
 * @param cells the SQL expressions of the value of a row in each cell, such as its weight or 0
 */
export async function sumClusters(
  session: SqlSession,
  relation: Relation,
  query: ClusterQuery,
  cells: readonly string[],
): Promise<readonly StratumSums[]> {
  const { attribute, groupCount } = query;
  const totals = cells.map((cell, index) => `coalesce(sum(${cell}), 0) AS t${String(index)}`);
  await session.rows(
    `CREATE OR REPLACE TEMP TABLE eh_clusters AS SELECT *, ${keySql(attribute)} AS key FROM (
      SELECT ${[...groupNames(attribute), 'c', 's', ...totals].join(', ')} FROM (${clusterRows(relation, query)})
      WHERE ${used(query)} GROUP BY ALL)`,
    // Fractions are added in the same order on every run.
    { ordered: true },
  );
  const groupOf = await mergeSpellings(session, relation, query, cells.length);
  const own = await session.rows(
    `SELECT ${['key', 'CAST(s AS VARCHAR)', 'count(*)', ...cells.map((_, i) => `sum(t${String(i)})`), ...productSums(cells.length, 't', 't', true)].join(', ')}
      FROM eh_clusters GROUP BY ALL`,
    { ordered: true },
  );
  const crossed = await session.rows(
    `SELECT a.key, b.key, CAST(a.s AS VARCHAR), count(*), ${productSums(cells.length, 'a.t', 'b.t', false).join(', ')}
      FROM eh_clusters a JOIN eh_clusters b ON a.c = b.c AND a.s = b.s AND a.key < b.key GROUP BY ALL`,
    { ordered: true },
  );
  const inStrata = await session.rows('SELECT CAST(s AS VARCHAR), count(DISTINCT c) FROM eh_clusters GROUP BY ALL');
  await session.rows('DROP TABLE eh_clusters');
  return stratumSums({
    size: cells.length,
    groupCount,
    strata: inStrata.map(([stratum, count]) => ({ stratum: String(stratum), clusters: Number(count) })),
    groups: own.map(([key, stratum, ...values]) => {
      const [clusters = 0, ...sums] = toNumbers(values);
      return { group: groupOf.get(key) ?? -1, stratum: String(stratum), clusters, sums };
    }),
    pairs: crossed.map(([a, b, stratum, count, ...values]) => ({
      ...{ first: groupOf.get(a) ?? -1, second: groupOf.get(b) ?? -1, stratum: String(stratum) },
      ...{ clusters: Number(count), products: toNumbers(values) },
    })),
  });
}

/**
 * Adds the totals of a group's spellings (1, 1.0, 1.00) within each cluster, so that a cluster counts once for a group.
 * @returns the index of the group of each key
 */
async function mergeSpellings(
  session: SqlSession,
  relation: Relation,
  { attribute, find }: ClusterQuery,
  size: number,
): Promise<ReadonlyMap<unknown, number>> {
  const rows = await session.rows(`SELECT DISTINCT key, ${groupOutputs(relation, attribute).join(', ')} FROM eh_clusters ORDER BY key`); // prettier-ignore
  const groupOf = new Map(
    rows.map(([key, ...parts]) => [String(key), find(parts.map((value) => groupLabelOf(relation, value)))]),
  );
  const firstOf = new Map<number, string>();
  const spellings: string[] = [];
  for (const [key, group] of groupOf) {
    const first = firstOf.get(group) ?? key;
    firstOf.set(group, first);
    if (group >= 0 && first !== key) spellings.push(`(${quoteLiteral(key)}, ${quoteLiteral(first)})`);
  }
  if (spellings.length > 0) {
    const sums = Array.from({ length: size }, (_, index) => `sum(t${String(index)}) AS t${String(index)}`);
    await session.rows(
      `CREATE OR REPLACE TEMP TABLE eh_clusters AS SELECT ${['coalesce(first, key) AS key', 'c', 's', ...sums].join(', ')}
        FROM eh_clusters LEFT JOIN (VALUES ${spellings.join(', ')}) AS same(spelling, first) ON key = spelling GROUP BY ALL`,
      { ordered: true },
    );
  }
  return groupOf;
}

/** What the second level of GROUP BY returns. A negative group is not used. */
interface ClusterRows {
  /** The number of cells of a group. */
  readonly size: number;
  readonly groupCount: number;
  readonly strata: readonly { readonly stratum: string; readonly clusters: number }[];
  /** The totals of the cells, followed by the products of two cells, in the upper half of their matrix. */
  readonly groups: readonly {
    readonly group: number;
    readonly stratum: string;
    readonly clusters: number;
    readonly sums: readonly number[];
  }[];
  readonly pairs: readonly {
    readonly first: number;
    readonly second: number;
    readonly stratum: string;
    readonly clusters: number;
    readonly products: readonly number[];
  }[];
}

/** Adds what the second level returned by stratum. Each group has one text. */
export function stratumSums({ size, groupCount, strata, groups, pairs }: ClusterRows): readonly StratumSums[] {
  const byStratum = new Map(strata.map(({ stratum, clusters }) => [stratum, emptyStratum(clusters)]));
  for (const { group, stratum, clusters, sums } of groups) {
    if (group < 0) continue;
    const own = byStratum.get(stratum) as StratumSums;
    const totals = groupOf(own, group, size);
    totals.clusters += clusters;
    addInto(totals.sums, 0, sums.slice(0, size));
    addPair(own, groupCount, [group, group], clusters, fromUpper(sums.slice(size), size));
  }
  for (const { first, second, stratum, clusters, ...given } of pairs) {
    if (first < 0 || second < 0) continue;
    const products = Float64Array.from(given.products);
    const own = byStratum.get(stratum) as StratumSums;
    if (first < second) addPair(own, groupCount, [first, second], clusters, products);
    else addPair(own, groupCount, [second, first], clusters, transposed(products, size));
  }
  return [...byStratum.values()];
}

/** A row of {@link readClusterCells}: the weight of a value in a cluster. */
export interface ClusterCell {
  readonly group: number;
  readonly cluster: unknown;
  readonly stratum: unknown;
  /** The values of the row, by the order of their names. */
  readonly values: readonly number[];
  readonly weight: number;
}

/** The largest number of {@link ClusterCell}s. */
const MAX_CLUSTER_CELLS = 4_000_000;

/**
 * Returns the weight of each combination of a cluster, a group and values, such as scores.
 * @param names the SQL expressions of the values
 * @throws {DataValidationError} if there are more combinations than fit in memory
 */
export async function readClusterCells(
  session: SqlSession,
  relation: Relation,
  query: ClusterQuery,
  names: readonly string[],
  weight: string,
): Promise<readonly ClusterCell[]> {
  const { attribute, cluster, find } = query;
  const values = names.map((name, index) => `${name} AS v${String(index)}`);
  const rows = await session.rows(
    `SELECT ${[...groupOutputs(relation, attribute), 'CAST(c AS VARCHAR)', 'CAST(s AS VARCHAR)', ...names.map((_, index) => `v${String(index)}`), 'w'].join(', ')} FROM (
      SELECT ${[...groupNames(attribute), 'c', 's', ...values, `sum(${weight}) AS w`].join(', ')}
      FROM (${clusterRows(relation, query)}) WHERE ${used(query)} GROUP BY ALL LIMIT ${String(MAX_CLUSTER_CELLS + 1)})`,
    { ordered: true },
  );
  if (rows.length > MAX_CLUSTER_CELLS) {
    throw new DataValidationError(
      `${cluster === undefined ? 'The rows' : `Column '${cluster}'`} and the scores have more than ${String(MAX_CLUSTER_CELLS)} combinations.`,
      { code: 'too-many-groups', context: { column: cluster }, suggestion: 'Round the scores first, or take a sample of the clusters.' }, // prettier-ignore
    );
  }
  const width = attribute.length;
  return rows.flatMap((row): ClusterCell[] => {
    const group = find(row.slice(0, width).map((value) => groupLabelOf(relation, value)));
    if (group < 0) return [];
    const numbers = toNumbers(row.slice(width + 2));
    const [values, weight = 0] = [numbers.slice(0, -1), numbers.at(-1)];
    return [{ group, cluster: row[width], stratum: row[width + 1], values, weight }];
  });
}

/** Returns the SQL condition of a row that is complete and has a group. */
function used({ attribute, nanPolicy, isComplete }: ClusterQuery): string {
  const known = nanPolicy === 'include' ? [] : groupNames(attribute).map((name) => `${name} IS NOT NULL`);
  return [`(${isComplete})`, ...known].join(' AND ');
}

function groupNames(attribute: readonly string[]): string[] {
  return attribute.map((_, index) => `g${String(index)}`);
}

/** Returns SQL that selects rows with their groups, their cluster `c` and their stratum `s`. */
function clusterRows(relation: Relation, { attribute, cluster, strata, select }: ClusterQuery): string {
  const names = [...attribute, ...[cluster, strata].filter((name) => name !== undefined)];
  const rows = rowsSql(relation, { names, select, checks: [] });
  const column = (position: number): string => `g${String(attribute.length + position)}`;
  const own = cluster === undefined ? 'row_number() OVER ()' : column(0);
  const stratum = strata === undefined ? '0' : column(cluster === undefined ? 0 : 1);
  return `SELECT *, ${own} AS c, ${stratum} AS s FROM (${rows})`;
}

/** Returns SQL for a text that is different for each group of an attribute, also for a missing value. */
function keySql(attribute: readonly string[]): string {
  return `CAST(to_json([${groupNames(attribute)
    .map((name) => `CAST(${name} AS VARCHAR)`)
    .join(', ')}]) AS VARCHAR)`;
}

function productSums(size: number, left: string, right: string, isUpper: boolean): string[] {
  const indexes = [...Array(size).keys()];
  return indexes.flatMap((i) =>
    indexes
      .filter((j) => !isUpper || j >= i)
      .map((j) => `sum(CAST(${left}${String(i)} AS DOUBLE) * ${right}${String(j)})`),
  );
}

function addPair(
  into: StratumSums,
  groupCount: number,
  [first, second]: readonly [number, number],
  clusters: number,
  products: Float64Array,
): void {
  const own = pairOf(into, groupCount, first, second, Math.sqrt(products.length));
  own.clusters += clusters;
  addInto(own.products, 0, products);
}

function transposed(matrix: Float64Array, size: number): Float64Array {
  return matrix.map((_, cell) => matrix[(cell % size) * size + Math.floor(cell / size)] as number);
}

function fromUpper(upper: readonly number[], size: number): Float64Array {
  const matrix = new Float64Array(size * size);
  let next = 0;
  for (let i = 0; i < size; i++) {
    for (let j = i; j < size; j++) {
      matrix[i * size + j] = upper[next] as number;
      matrix[j * size + i] = upper[next++] as number;
    }
  }
  return matrix;
}
