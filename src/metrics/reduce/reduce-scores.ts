import { type BinaryValues, type ColumnSource, type PositiveLabelOptions, toBinary } from '../../table/index.ts';
import { assertLabelsOccur } from './assert-positive-label.ts';
import { type LossSums, makeTables, MAX_DISTINCT_SCORES, type ScoreStats } from '../statistics/group-stats.ts';
import { clusterEntries, type ClusterStats, rowsByCode } from '../statistics/cluster-stats.ts';
import {
  countDropped,
  type GroupedRows,
  type PreparedRows,
  prepareRows,
  readClusters,
  type ReadClusters,
  toFiniteNumbers,
} from './row-arguments.ts';
import {
  addLoss,
  collectScores,
  gridStep,
  logLoss,
  type LostRows,
  noLosses,
  pairsAt,
  type ScoreEntry,
  scorePosition,
  toGrid,
} from '../statistics/score-grid.ts';

/** Scores, true labels and groups, on the host. */
export interface ScoreRows extends GroupedRows, PositiveLabelOptions {
  readonly yScore: ColumnSource;
  readonly yTrue: ColumnSource;
}

/** The scores, true labels and group codes of rows. */
export interface PreparedScores extends PreparedRows {
  readonly yScore: Float64Array;
  readonly yTrue: BinaryValues;
}

/**
 * Computes the {@link ScoreStats} of scores in O(rows) time. Up to {@link MAX_DISTINCT_SCORES} distinct scores are
 * stored exactly; if there are more, scores are rounded to a grid.
 * @throws {DataValidationError} if lengths differ, a label is not 0 or 1, a score is text or infinite, or no row can be
 *   used
 */
export function reduceScores(rows: ScoreRows): ScoreStats {
  const prepared = prepareScores(rows);
  const stats = tally(prepared);
  const clusters = readClusters(rows, prepared.yScore.length);
  return clusters === undefined ? stats : { ...stats, clusters: clusterScores(prepared, stats, clusters) };
}

/** Lists the cell of each row in score statistics: twice the index of its score, plus its true label. */
function clusterScores(
  { codes, yScore, yTrue, weights }: PreparedScores,
  stats: ScoreStats,
  clusters: ReadClusters,
): ClusterStats {
  return clusterEntries({
    ...clusters,
    groups: codes,
    groupCount: stats.labels.length,
    cells: codes.map((code, row) =>
      code < 0 ? -1 : 2 * scorePosition(stats, code, yScore[row] as number) + (yTrue[row] as 0 | 1),
    ),
    weights: weights ?? new Float64Array(codes.length).fill(1),
  });
}

function tally(prepared: PreparedScores): ScoreStats {
  const exact = tallyScores(prepared, 0, MAX_DISTINCT_SCORES);
  if (exact !== undefined) return finish(prepared, exact, 0);
  const step = gridStep(
    prepared.yScore.reduce(
      (most, score, row) => ((prepared.codes[row] as number) < 0 ? most : Math.max(most, Math.abs(score))),
      0,
    ),
  );
  return finish(prepared, tallyScores(prepared, step, Infinity) as ScoreEntry[], step);
}

/**
 * Reads rows as scores and labels, and gives incomplete rows the code -1.
 * @throws {DataValidationError} if lengths differ, or a value is invalid
 */
export function prepareScores(rows: ScoreRows): PreparedScores {
  return prepareRows(
    rows,
    () => ({ yScore: toFiniteNumbers(rows.yScore, 'yScore', rows.naValues), yTrue: readTruth(rows.yTrue, rows) }),
    ({ yScore, yTrue }, row) => !Number.isNaN(yScore[row]) && (yTrue[row] as number) >= 0,
  );
}

/**
 * Reads true labels for which there are scores but no predictions.
 * @throws {DataValidationError} if a label is neither 0 nor 1, or the positive label does not occur
 */
export function readTruth(
  yTrue: ColumnSource,
  { positiveLabel, yTruePositiveLabel, naValues }: Pick<ScoreRows, 'positiveLabel' | 'yTruePositiveLabel' | 'naValues'>,
): BinaryValues {
  const positive = yTruePositiveLabel ?? positiveLabel;
  const values = toBinary(yTrue, 'yTrue', positive, naValues);
  assertLabelsOccur({ yPred: yTrue, yTrue, positiveLabel: positive, naValues }, values, values);
  return values;
}

function finish(prepared: PreparedScores, entries: readonly ScoreEntry[], step: number): ScoreStats {
  const losses = step === 0 ? null : sumLosses(prepared);
  const lost = lostRows(entries, prepared.dropped, prepared.yScore.length);
  return collectScores(prepared.labels, entries, lost, step, losses);
}

/**
 * Counts the rows that are excluded because they belong to no entry.
 * @throws {DataValidationError} if the entries have no rows
 */
export function lostRows(
  entries: readonly Pick<ScoreEntry, 'counts'>[],
  dropped: Float64Array,
  rowCount: number,
): LostRows {
  const counts = entries.map(({ counts: [no, yes] }) => no + yes);
  return { nDropped: countDropped(counts, rowCount), dropped };
}

/** Sums the exact log losses by group, since rounding to the grid would turn small scores into 0. */
export function sumLosses({ labels, codes, yScore, yTrue, weights }: PreparedScores): LossSums {
  const losses = noLosses(labels.length);
  for (let row = 0; row < codes.length; row++) {
    const group = codes[row] as number;
    if (group < 0) continue;
    addLoss(losses, group, logLoss(yScore[row] as number, yTrue[row] as 0 | 1), weights?.[row] ?? 1);
  }
  return losses;
}

/** Counts the distinct scores of each group. Returns undefined if there are more than `most` distinct scores. */
function tallyScores(
  { labels, codes, yScore, yTrue, weights }: PreparedScores,
  step: number,
  most: number,
): ScoreEntry[] | undefined {
  const entries: ScoreEntry[] = [];
  // The counts of one group at a time, since a search in small tables is several times faster than in those of all groups.
  const order = rowsByCode(codes, labels.length, codes);
  // A grid has fewer scores than MAX_DISTINCT_SCORES.
  const size = 2 * Math.min(order.length, MAX_DISTINCT_SCORES);
  const tables = makeTables(() => new Float64Array(size));
  const { counts, weights: sums, squaredWeights } = tables;
  for (let at = 0; at < order.length;) {
    const group = codes[order[at] as number] as number;
    const indexOf = new Map<number, number>();
    for (; at < order.length && codes[order[at] as number] === group; at++) {
      const row = order[at] as number;
      const score = toGrid(yScore[row] as number, step);
      let index = indexOf.get(score);
      if (index === undefined) {
        index = indexOf.size;
        if (entries.length + index === most) return undefined;
        indexOf.set(score, index);
      }
      const cell = 2 * index + (yTrue[row] as 0 | 1);
      const weight = weights === undefined ? 1 : (weights[row] as number);
      counts[cell] = (counts[cell] as number) + 1;
      sums[cell] = (sums[cell] as number) + weight;
      squaredWeights[cell] = (squaredWeights[cell] as number) + weight * weight;
    }
    for (const [score, index] of indexOf) entries.push({ group, score, ...pairsAt(tables, index) });
    for (const table of Object.values(tables)) table.fill(0, 0, 2 * indexOf.size);
  }
  return entries;
}
