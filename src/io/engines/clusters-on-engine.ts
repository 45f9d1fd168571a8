import { type DataValidationError, ValueError } from '../../exceptions/index.ts';
import { formatCount } from '../../internal/format.ts';
import { canonicalLabel } from '../../internal/label-text.ts';
import type { StratumSums } from '../../stats/stratum-sums.ts';
import { missingCluster } from '../../table/cluster-columns.ts';
import { stratumSums } from '../count-clusters.ts';
import { type ClusterStatements, clusterStatements } from '../counting-sql.ts';
import type { SourceGroup } from '../group-by.ts';
import type { DecisionRequest, EngineValue } from '../sql-engine.ts';
import type { QuerySource } from '../sql-source.ts';
import { numberOf, titleOf } from './count-on-engine.ts';

/** The number of cells of a group. */
const CELLS = 6;

/**
 * Sums decisions by cluster on an engine. Only sums over clusters leave it.
 * @param groups the groups of the attribute, as they were counted
 * @throws {DataValidationError} if a row has no cluster, or the engine does not return a result
 * @throws {ValueError} if the request cannot be sent to an engine
 */
export async function sumClustersOnEngine(
  source: QuerySource,
  request: DecisionRequest,
  attribute: readonly string[],
  groups: readonly SourceGroup[],
): Promise<readonly StratumSums[]> {
  const { engine, table, query, signal } = source;
  const { cluster, strata, yPred, yTrue, scoreThreshold, sampleWeight, nanPolicy } = request;
  if (cluster === undefined) throw notOnEngine('strata without clusters');
  if (nanPolicy === 'include') throw notOnEngine("clusters with nanPolicy 'include'");
  const { positiveLabel, yTruePositiveLabel, naValues } = request;
  const statementsOf = (spellings?: Spellings): ClusterStatements =>
    clusterStatements({
      ...{ dialect: engine.dialect, table, query, attribute, cluster, strata, yTrue, sampleWeight, spellings },
      ...(scoreThreshold === undefined ? { yPred } : { score: yPred, scoreThreshold }),
      ...{ positiveLabel, yTruePositiveLabel, naValues: naValues && [...naValues] },
      ...{ exactScores: false, decisionsOnly: scoreThreshold !== undefined },
    });
  let statements = statementsOf();
  const run = async (statement: string): Promise<readonly (readonly EngineValue[])[]> =>
    (await engine.query(statement, { signal })).rows;
  const [[missing] = []] = await run(statements.missing);
  if (number(engine.name, missing) > 0) throw missingClusters(source, [cluster, strata], number(engine.name, missing));
  const indexOf = new Map(groups.map(({ parts }, index) => [JSON.stringify(parts), index]));
  const find = (parts: readonly EngineValue[]): number =>
    indexOf.get(JSON.stringify(parts.map((part) => canonicalLabel(String(part))))) ?? -1;
  const width = attribute.length;
  const numbers = (row: readonly EngineValue[], from: number): number[] =>
    row.slice(from).map((value) => number(engine.name, value));
  let own = await run(statements.groups);
  const spellings = findSpellings(own, width);
  if (spellings.some(({ size }) => size > 0)) {
    // A cluster that has several spellings of a group must count once, which only a further grouping can do.
    statements = statementsOf(spellings);
    own = await run(statements.groups);
  }
  const [pairs, counts] = [await run(statements.pairs), await run(statements.strata)];
  return stratumSums({
    size: CELLS,
    groupCount: groups.length,
    strata: counts.map(([stratum, count]) => ({ stratum: String(stratum), clusters: number(engine.name, count) })),
    groups: own.map((row) => {
      const [clusters = 0, ...sums] = numbers(row, width + 1);
      return { group: find(row.slice(0, width)), stratum: String(row[width]), clusters, sums };
    }),
    pairs: pairs.map((row) => {
      const [clusters = 0, ...products] = numbers(row, 2 * width + 1);
      const [first, second] = [find(row.slice(0, width)), find(row.slice(width, 2 * width))];
      return { first, second, stratum: String(row[2 * width]), clusters, products };
    }),
  });
}

/** For each column of an attribute, the texts of a number (1.0, 1.00) with the text that was found first (1). */
type Spellings = readonly ReadonlyMap<string, string>[];

function findSpellings(rows: readonly (readonly EngineValue[])[], width: number): Spellings {
  return Array.from({ length: width }, (_, column) => {
    const firsts = new Map<string, string>();
    const spellings = new Map<string, string>();
    for (const row of rows) {
      const text = String(row[column]);
      const label = canonicalLabel(text);
      const first = firsts.get(label);
      if (first === undefined) firsts.set(label, text);
      else if (first !== text) spellings.set(text, first);
    }
    return spellings;
  });
}

function number(engine: string, value: EngineValue | undefined): number {
  return numberOf(engine, 'clusters', value) ?? 0;
}

function notOnEngine(what: string): ValueError {
  return new ValueError(`Databases other than DuckDB do not count ${what}.`, {
    context: { parameter: 'cluster' },
    suggestion: 'Read the rows from files (CSV or Parquet), or from DuckDB.',
  });
}

function missingClusters(
  source: QuerySource,
  names: readonly (string | undefined)[],
  count: number,
): DataValidationError {
  const columns = names.filter((name) => name !== undefined);
  return missingCluster(
    `Columns '${columns.join("' and '")}' must hold a value in every row, but ${formatCount(count)} rows of ${titleOf(source)} have none.`,
    { columns, received: count },
  );
}
