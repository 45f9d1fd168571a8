import { sumOf } from '../../internal/values.ts';
import type { NumberSums } from '../../io/sum-moments.ts';
import type { WeightSums } from '../../io/value-sql.ts';
import { groupMoments } from '../../stats/moments.ts';
import { onHost } from '../../table/column-source.ts';
import { type DanfoGroup, groupWithDanfo } from '../../table/index.ts';
import { type ClassificationRows, finishClassification, prepareDecisions } from '../reduce/reduce-classification.ts';
import { prepareNumbers, QUANTITY_OF, type RegressionRows } from '../reduce/reduce-regression.ts';
import { lostRows, type PreparedScores, prepareScores, type ScoreRows, sumLosses } from '../reduce/reduce-scores.ts';
import { knownWeights, rawCellCodes, rawCellsOf, regressionOfSums } from '../reduce/stats-of-sums.ts';
import {
  type ClassificationStats,
  makeTables,
  MAX_DISTINCT_SCORES,
  REGRESSION_QUANTITIES,
  type RegressionStats,
  type ScoreStats,
} from '../statistics/group-stats.ts';
import { collectScores, gridStep, type ScoreEntry, toGrid } from '../statistics/score-grid.ts';

/** The backend that groups rows with danfojs' `groupby` and sums each group. */
export const danfoBackend = {
  name: 'danfo',

  async classification(rows: ClassificationRows): Promise<ClassificationStats> {
    const prepared = prepareDecisions(await onHost(rows));
    const { labels } = prepared.groups;
    const groups = await groupRows(rawCellCodes(prepared), { weight: knownWeights(prepared) }, ['group']);
    const sums = groups.map((group) => ({ group: first(group, 'group'), ...sumWeights(group) }));
    return finishClassification(labels, rawCellsOf(sums, labels.length), prepared);
  },

  async regression(rows: RegressionRows): Promise<RegressionStats> {
    const { labels, codes, dropped, yPred, yTrue, weights } = prepareNumbers(await onHost(rows));
    const groups = await groupRows(codes, { p: yPred, t: yTrue, weight: weights }, ['group']);
    const sums = groups.map((group) => ({
      group: first(group, 'group'),
      ...sumWeights(group),
      moments: momentsOf(group),
    }));
    return regressionOfSums(labels, sums, { hasTruth: yTrue !== undefined, dropped, rowCount: yPred.length });
  },

  async scores(rows: ScoreRows): Promise<ScoreStats> {
    const prepared = prepareScores(await onHost(rows));
    const { labels, codes, dropped, yScore, yTrue, weights } = prepared;
    const step = stepOf(prepared);
    const score = yScore.map((value) => toGrid(value, step));
    const groups = await groupRows(codes, { score, truth: yTrue, weight: weights }, ['group', 'score']);
    const entries = groups.map((group) => ({
      group: first(group, 'group'),
      score: first(group, 'score'),
      ...sumByLabel(group),
    }));
    const losses = step === 0 ? null : sumLosses(prepared);
    return collectScores(labels, entries, lostRows(entries, dropped, yScore.length), step, losses);
  },
};

/** Groups the rows whose code is not negative. */
async function groupRows(
  codes: Int32Array,
  columns: Readonly<Record<string, ArrayLike<number> | undefined>>,
  keys: readonly string[],
): Promise<DanfoGroup[]> {
  const kept: number[] = [];
  codes.forEach((code, row) => {
    if (code >= 0) kept.push(row);
  });
  const given: Record<string, readonly number[]> = { group: kept.map((row) => codes[row] as number) };
  for (const [name, values] of Object.entries(columns)) {
    if (values !== undefined) given[name] = kept.map((row) => values[row] as number);
  }
  return groupWithDanfo(given, keys);
}

function first(group: DanfoGroup, column: string): number {
  return group[column]?.[0] as number;
}

function sumWeights(group: DanfoGroup): WeightSums {
  const count = group['group']?.length ?? 0;
  const weights = group['weight'];
  if (weights === undefined) return { count, weight: count, squaredWeight: count };
  return { count, weight: sumOf(weights), squaredWeight: sumOf(weights.map((weight) => weight * weight)) };
}

function sumByLabel({ truth = [], weight }: DanfoGroup): Omit<ScoreEntry, 'group' | 'score'> {
  const sums = makeTables((): [number, number] => [0, 0]);
  truth.forEach((label, row) => {
    const own = weight?.[row] ?? 1;
    sums.counts[label as 0 | 1] += 1;
    sums.weights[label as 0 | 1] += own;
    sums.squaredWeights[label as 0 | 1] += own * own;
  });
  return sums;
}

function momentsOf({ p = [], t, weight }: DanfoGroup): NumberSums['moments'] {
  const codes = new Int32Array(p.length);
  const quantities = t === undefined ? (['prediction'] as const) : REGRESSION_QUANTITIES;
  const moments = quantities.map((quantity) => {
    const values = p.map((prediction, row) => QUANTITY_OF[quantity](prediction, t?.[row] as number));
    const { mean, m2, m3 } = groupMoments(values, codes, weight, 1);
    return [quantity, { mean: mean[0] as number, m2: m2[0] as number, m3: m3[0] as number }] as const;
  });
  return Object.fromEntries(moments);
}

/**
 * Returns the grid step to which scores are rounded, or 0 if there are few enough distinct scores to store them
 * exactly. The step is computed before danfojs creates a group for each distinct score.
 */
function stepOf({ labels, codes, yScore }: PreparedScores): number {
  const distinct = labels.map(() => new Set<number>());
  let [pairs, largest] = [0, 0];
  for (let row = 0; row < codes.length; row++) {
    const own = distinct[codes[row] as number];
    if (own === undefined) continue;
    const score = yScore[row] as number;
    largest = Math.max(largest, Math.abs(score));
    if (pairs > MAX_DISTINCT_SCORES || own.has(score)) continue;
    own.add(score);
    pairs++;
  }
  return pairs > MAX_DISTINCT_SCORES ? gridStep(largest) : 0;
}
