import { countArrays, countArrayScores, sumArrayMoments } from '../../io/reduce-arrays.ts';
import { onHost } from '../../table/column-source.ts';
import { type ClassificationRows, finishClassification, prepareDecisions } from '../reduce/reduce-classification.ts';
import { prepareNumbers, type RegressionRows } from '../reduce/reduce-regression.ts';
import { prepareScores, type ScoreRows } from '../reduce/reduce-scores.ts';
import { lostRows } from '../reduce/reduce-scores.ts';
import { knownWeights, lossesOfCells, rawCellCodes, rawCellsOf, regressionOfSums } from '../reduce/stats-of-sums.ts';
import {
  type ClassificationStats,
  MAX_DISTINCT_SCORES,
  type RegressionStats,
  type ScoreStats,
} from '../statistics/group-stats.ts';
import { collectScores, gridStep } from '../statistics/score-grid.ts';

/** The backend that groups rows with SQL in an in-memory DuckDB. */
export const duckDbBackend = {
  name: 'duckdb',

  async classification(rows: ClassificationRows): Promise<ClassificationStats> {
    const prepared = prepareDecisions(await onHost(rows));
    const { labels } = prepared.groups;
    const sums = await countArrays({ group: rawCellCodes(prepared), weight: knownWeights(prepared) });
    return finishClassification(labels, rawCellsOf(sums, labels.length), prepared);
  },

  async regression(rows: RegressionRows): Promise<RegressionStats> {
    const { labels, codes, dropped, yPred, yTrue, weights } = prepareNumbers(await onHost(rows));
    const sums = await sumArrayMoments({ group: codes, p: yPred, t: yTrue, weight: weights });
    return regressionOfSums(labels, sums, { hasTruth: yTrue !== undefined, dropped, rowCount: yPred.length });
  },

  async scores(rows: ScoreRows): Promise<ScoreStats> {
    const { labels, codes, dropped, yScore, yTrue, weights } = prepareScores(await onHost(rows));
    const { cells, step } = await countArrayScores(
      { group: codes, score: yScore, truth: Int32Array.from(yTrue), weight: weights },
      { maxDistinct: MAX_DISTINCT_SCORES, stepFor: gridStep },
    );
    const lost = lostRows(cells, dropped, yScore.length);
    return collectScores(labels, cells, lost, step, lossesOfCells(cells, labels.length));
  },
};
