import { countDecisions, type DecisionCell, type DecisionReduction } from '../../io/count-decisions.ts';
import type { ClusterCell } from '../../io/count-clusters.ts';
import type { StratumSums } from '../../stats/stratum-sums.ts';
import { hasClusters } from '../../table/cluster-columns.ts';
import { ValueError } from '../../exceptions/index.ts';
import { countScores } from '../../io/count-scores.ts';
import {
  assertOneAttribute,
  countedDecisions,
  countedLabels,
  countedMoments,
  type CountedRows,
  countedScores,
  isCounted,
} from '../../io/counted-rows.ts';
import { countOnEngine, type EngineRequest, labelsOnEngine } from '../../io/engines/count-on-engine.ts';
import type { SourceGroup } from '../../io/group-by.ts';
import type { DecisionRequest, NumberRequest, ScoreRequest, SourceRequest } from '../../io/sql-engine.ts';
import { classLabels } from '../../io/positive-label.ts';
import { isOnEngine, type SqlSource } from '../../io/sql-source.ts';
import { sumMoments } from '../../io/sum-moments.ts';
import {
  cellIndex,
  CELLS_PER_GROUP,
  type CellTables,
  type ClassificationStats,
  type GroupStats,
  MAX_DISTINCT_SCORES,
  REGRESSION_QUANTITIES,
  type RegressionStats,
  type ScoreStats,
  UNDECIDED_PER_GROUP,
} from '../statistics/group-stats.ts';
import { collectScores, gridStep, scorePosition } from '../statistics/score-grid.ts';
import { type ClusterStats, clusterEntries, finishClusters, withShifts } from '../statistics/cluster-stats.ts';
import { withoutSmallCells } from '../statistics/small-cells.ts';
import { lostRows } from './reduce-scores.ts';
import { countDropped } from './row-arguments.ts';
import { fillTables, lossesOfCells, regressionOfSums } from './stats-of-sums.ts';

/** Rows in files, rows of a table or a query on an engine, or rows that somebody has counted already. */
export type CountableSource = SqlSource | CountedRows;

/** Returns the distinct labels of several columns together. */
export async function sourceLabels(source: CountableSource, columns: readonly string[]): Promise<readonly string[]> {
  if (isCounted(source)) return countedLabels(source, columns);
  if (!isOnEngine(source)) return classLabels(source, columns);
  const counted = await labelsOnEngine(source, columns);
  return [...new Set(counted.flatMap((counts) => countedLabels(counts, ['decision'])))].sort();
}

/** The ways to reduce a source. */
interface Reducers<Request, Reduction> {
  /** Returns what an engine counts for a request. */
  readonly onEngine: (request: Request) => Omit<EngineRequest, 'attributes'>;
  readonly ofCounts: (counts: CountedRows, request: Request) => readonly Reduction[];
  readonly ofRows: (source: SqlSource, request: Request) => Promise<readonly Reduction[]>;
  /**
   * Whether engines sum clusters too.
   * @defaultValue false
   */
  readonly sumsClusters?: boolean;
}

/** Reduces counts as they are, the rows of files and of DuckDB with queries, and the rows of other engines by counts. */
async function reduceCountable<Request extends SourceRequest, Reduction>(
  source: CountableSource,
  request: Request,
  { onEngine, ofCounts, ofRows, sumsClusters = false }: Reducers<Request, Reduction>,
): Promise<readonly Reduction[]> {
  if (isCounted(source)) {
    if (hasClusters(request)) throw clustersNotCounted(true);
    for (const attribute of request.attributes) assertOneAttribute(source, attribute);
    return ofCounts(source, request);
  }
  if (!isOnEngine(source)) return ofRows(source, request);
  if (hasClusters(request) && !sumsClusters) throw clustersNotCounted(false);
  const { attributes, sampleWeight, minCell } = request;
  const counted = await countOnEngine(source, { attributes, sampleWeight, ...onEngine(request), minCell });
  // If small counts are left out, the engine has read the labels.
  const read =
    minCell === undefined ? request : { ...request, positiveLabel: undefined, yTruePositiveLabel: undefined };
  return counted.flatMap((part) => ofCounts(part.counts, { ...read, attributes: part.attributes }));
}

/** Sums the clusters of each attribute on an engine; undefined if the source is no engine, or there are no clusters. */
async function clustersOnEngine(
  source: CountableSource,
  request: DecisionRequest,
  reductions: readonly DecisionReduction[],
): Promise<readonly (readonly StratumSums[])[] | undefined> {
  if (!hasClusters(request) || isCounted(source) || !isOnEngine(source)) return undefined;
  const { sumClustersOnEngine } = await import('../../io/engines/clusters-on-engine.ts');
  const summed: (readonly StratumSums[])[] = [];
  for (const [index, { groups }] of reductions.entries())
    summed.push(await sumClustersOnEngine(source, request, request.attributes[index] as readonly string[], groups));
  return summed;
}

function clustersNotCounted(areCounts: boolean): ValueError {
  return new ValueError(
    areCounts
      ? 'Counts hold no clusters: which rows belong together cannot be seen in them any more.'
      : 'Clusters of numbers and of scores are counted in files and in DuckDB, but not in other databases.',
    {
      context: { parameter: 'cluster' },
      suggestion: 'Read the rows from files (CSV or Parquet), or from DuckDB.',
    },
  );
}

/**
 * Returns a request that includes the true labels by which counts were divided before small ones were left out: what was
 * left out of their sums has no bounds.
 */
function withCountedTruth(source: CountableSource, request: DecisionRequest): DecisionRequest {
  const isDivided = isCounted(source) && source.minCell !== undefined && source.counted.has('truth');
  return isDivided ? { ...request, yTrue: 'truth' } : request;
}

/** Returns the number below which counts were left out, of a source and of a request for an engine. */
function minCellOf(source: CountableSource, { minCell }: SourceRequest): number | undefined {
  return isCounted(source) ? source.minCell : minCell;
}

/** The statistics of one attribute of a source. */
export interface SourceStats<Stats extends GroupStats> {
  readonly stats: Stats;
  /** For each group, in the order of the labels, the values of the attribute's columns that define the group. */
  readonly parts: readonly (readonly string[])[];
}

/**
 * Computes the {@link ClassificationStats} of each requested attribute from a source. For a file or a query, one scan
 * counts the rows without loading them into memory. Other engines than DuckDB count the rows themselves.
 * @throws {DataValidationError} if the source is unreadable, a column is unknown, a value is not 0 or 1, or no row can
 *   be used
 */
export async function reduceClassificationSource(
  source: CountableSource,
  given: DecisionRequest,
): Promise<readonly SourceStats<ClassificationStats>[]> {
  const request = withCountedTruth(source, given);
  const reductions = await reduceCountable<DecisionRequest, DecisionReduction>(source, request, {
    onEngine: ({ yPred, yTrue, scoreThreshold, minCell, positiveLabel, yTruePositiveLabel, naValues }) => ({
      ...(scoreThreshold === undefined
        ? { yPred, yTrue }
        : { score: yPred, scoreThreshold, decisionsOnly: true, yTrue }),
      ...(minCell === undefined ? {} : { positiveLabel, yTruePositiveLabel, naValues: naValues && [...naValues] }),
    }),
    ofCounts: countedDecisions,
    ofRows: countDecisions,
    sumsClusters: true,
  });
  const summed = await clustersOnEngine(source, request, reductions);
  return reductions.map(({ groups, parts: cells, rowCount, readings, clusters: own }, index) => {
    const clusters = own ?? summed?.[index];
    const fill = (inGroups: boolean): CellTables => {
      return fillTables(
        cells.filter((cell) => isDecided(cell) && cell.group >= 0 === inGroups),
        ({ group, truth, decision }) => Math.max(0, group) * CELLS_PER_GROUP + cellIndex(truth, decision as 0 | 1),
        (inGroups ? groups.length : 1) * CELLS_PER_GROUP,
      );
    };
    const undecided = cells.filter((cell) => !isDecided(cell) && cell.group >= 0);
    const tables = fill(true);
    const stats: ClassificationStats = {
      kind: 'classification',
      labels: labelsOf(groups),
      ...tables,
      ungrouped: fill(false),
      undecided: fillTables(
        undecided,
        ({ group, truth }) => group * UNDECIDED_PER_GROUP + truth,
        groups.length * UNDECIDED_PER_GROUP,
      ),
      lacksWeights: undecided.some(({ hasWeight }) => !hasWeight),
      hasTruth: request.yTrue !== undefined,
      nDropped: countDropped(tables.counts, rowCount, groups.length === 0 ? lackingGroup(request.attributes[index]) : undefined), // prettier-ignore
      readings,
      ...(clusters && { clusters: clustersOfSums(clusters, groups.length, CELLS_PER_GROUP, request) }),
    };
    const minCell = minCellOf(source, request);
    if (minCell === undefined) return { stats, parts: partsOf(groups) };
    const kept = withoutSmallCells(stats, minCell);
    return { stats: kept, parts: partsOf(groups.filter(({ label }) => kept.labels.includes(label))) };
  });
}

/** Names the columns of groups of which no row has a value. */
function lackingGroup(attribute: readonly string[] = []): string {
  const names = attribute.map((name) => `'${name}'`).join(' and ');
  return `a group in ${attribute.length === 1 ? 'column' : 'columns'} ${names}`;
}

/**
 * Computes the {@link RegressionStats} of each requested attribute from a source. A file or a query is scanned twice
 * for each attribute.
 * @throws {DataValidationError} if the source is unreadable, a column is unknown, a value is text or infinite, or no
 *   row can be used
 */
export async function reduceRegressionSource(
  source: CountableSource,
  request: NumberRequest,
): Promise<readonly SourceStats<RegressionStats>[]> {
  const reductions = await reduceCountable(source, request, {
    onEngine: ({ yPred, yTrue }) => ({ yPred, yTrue, regression: true }),
    ofCounts: countedMoments,
    ofRows: sumMoments,
  });
  return reductions.map(({ groups, parts: sums, dropped, rowCount, readings, clusters }) => {
    const rest = { hasTruth: request.yTrue !== undefined, dropped, rowCount };
    const stats = { ...regressionOfSums(labelsOf(groups), sums, rest), readings };
    const size = 1 + REGRESSION_QUANTITIES.length;
    const own = clusters && clustersOfSums(clusters.strata, groups.length, size, request);
    return {
      stats: own === undefined ? stats : { ...stats, clusters: withShifts(own, clusters?.shifts ?? []) },
      parts: partsOf(groups),
    };
  });
}

/**
 * Computes the {@link ScoreStats} of each requested attribute from a source. A file or a query is scanned once for all
 * attributes together, and once more for each attribute.
 * @throws {DataValidationError} if the source is unreadable, a column is unknown, a score is text or infinite, a label
 *   is not 0 or 1, or no row can be used
 */
export async function reduceScoreSource(
  source: CountableSource,
  request: ScoreRequest,
): Promise<readonly SourceStats<ScoreStats>[]> {
  const reductions = await reduceCountable(source, request, {
    onEngine: ({ yScore, yTrue }) => ({ score: yScore, yTrue }),
    ofCounts: countedScores,
    ofRows: (rows, own) => countScores(rows, own, { maxDistinct: MAX_DISTINCT_SCORES, stepFor: gridStep }),
  });
  return reductions.map(({ groups, parts: cells, dropped, rowCount, step, readings, clusters }) => {
    const lost = lostRows(cells, dropped, rowCount);
    const losses = lossesOfCells(cells, groups.length);
    const stats = { ...collectScores(labelsOf(groups), cells, lost, step, losses), readings };
    return {
      stats: clusters === undefined ? stats : { ...stats, clusters: clustersOfCells(clusters, stats, request) },
      parts: partsOf(groups),
    };
  });
}

function clustersOfSums(
  strata: readonly StratumSums[],
  groupCount: number,
  size: number,
  request: SourceRequest,
): ClusterStats {
  return finishClusters(strata, { groupCount, size, isStratified: request.strata !== undefined });
}

/** Numbers the clusters and strata of cells, and finds their scores in the statistics. */
function clustersOfCells(cells: readonly ClusterCell[], stats: ScoreStats, { strata }: SourceRequest): ClusterStats {
  const positionOf = new Map<string, number>();
  const stratumOf = new Map<unknown, number>();
  const strataOfClusters: number[] = [];
  const clusters = Int32Array.from(cells, ({ cluster, stratum }) => {
    const key = JSON.stringify([cluster, stratum]);
    const known = positionOf.get(key);
    if (known !== undefined) return known;
    const position = positionOf.size;
    positionOf.set(key, position);
    stratumOf.set(stratum, stratumOf.get(stratum) ?? stratumOf.size);
    strataOfClusters.push(stratumOf.get(stratum) as number);
    return position;
  });
  return clusterEntries({
    clusters,
    groups: Int32Array.from(cells, ({ group }) => group),
    clusterCount: positionOf.size,
    groupCount: stats.labels.length,
    strata: strata === undefined ? undefined : Int32Array.from(strataOfClusters),
    cells: Int32Array.from(
      cells,
      ({ group, values: [score = 0, truth = 0] }) => 2 * scorePosition(stats, group, score) + truth,
    ),
    weights: Float64Array.from(cells, ({ weight }) => weight),
  });
}

function isDecided({ decision }: DecisionCell): boolean {
  return decision !== null;
}

function labelsOf(groups: readonly SourceGroup[]): readonly string[] {
  return Object.freeze(groups.map(({ label }) => label));
}

function partsOf(groups: readonly SourceGroup[]): readonly (readonly string[])[] {
  return groups.map(({ parts }) => parts);
}
