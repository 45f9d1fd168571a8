import { assertKnownOptions } from '../../../internal/arguments.ts';
import { createRandom } from '../../../internal/random.ts';
import type { SqlSource } from '../../../io/sql-source.ts';
import { reduceScoreSource } from '../../../metrics/reduce/reduce-source.ts';
import type { ScoreStats } from '../../../metrics/statistics/group-stats.ts';
import { collectScores, scoreEntries, type ScoreEntry } from '../../../metrics/statistics/score-grid.ts';
import { drawBinomial } from '../../../stats/draw-binomial.ts';
import { requireSeed } from '../../../stats/parameters.ts';
import { readingWarnings } from '../../../table/index.ts';
import { fitPart, HELD_OUT_DEFAULTS, holdOutWarnings } from './calibrate-held-out.ts';
import { type CalibrateTableOptions, CURVES } from './calibrate-table.ts';
import { type CalibrationRows, outsideRange } from './calibration-rows.ts';
import {
  applyCalibrator,
  assertBothLabels,
  type CalibratorState,
  countLabels,
  fitCalibrator,
} from './fit-calibrator.ts';
import { GroupFairnessCalibrator } from './group-fairness-calibrator.ts';
import {
  assertFolds,
  emptyPart,
  type HeldOutPlan,
  type HeldOutTask,
  reportPart,
  resolveParts,
} from './held-out-parts.ts';
import { measureEntries } from './measure-calibration.ts';
import { namesOf, SCORE_COLUMN_NAMES, type ScoreColumns } from './read-score-table.ts';
import { curvesOf } from './reliability-curve.ts';
import { measuredOn, type MeasuredCalibration } from './table-calibration.ts';

/** The stream of random numbers that divides equal rows into folds. */
const FOLD_STREAM = 4;

/**
 * Calibrates scores by group where the rows are: in files, in a table of a database or in a query. The rows are
 * counted by group, label and score, so that memory does not grow with their number, and only counts leave a database.
 * The calibrator is fitted on the counts, and calibration is measured before and after, as by {@link calibrateTable}.
 *
 * Databases other than DuckDB count scores rounded to multiples of 2^-14; so does DuckDB, if there are more than 65,536
 * distinct pairs of a group and a score. A score that is rounded to 0 or 1 is then read as a quarter of this step away
 * from it. Each row is drawn for a fold (or with `trainSize` for the training rows) by itself, so that the sizes of the
 * folds are equal only on average.
 * @param source files, or `{ engine, table }` or `{ engine, query }`
 * @param columns the names of the columns
 * @throws {DataValidationError} if the source cannot be read, columns are unknown, scores are text or outside [0, 1],
 *   labels are not 0 or 1, or there is only one label
 * @throws {ValueError} if an option is out of range
 * @example
 * ```ts
 * import { openDuckDb } from 'evenhand/io';
 * import { calibrateSql } from 'evenhand/training';
 *
 * const engine = openDuckDb();
 * const query = `SELECT i % 100 / 100 AS score, CAST(i * 7919 % 10007 / 10007 < (i % 100 / 100) ** 2 AS INT) AS y,
 *   CASE WHEN i % 3 = 0 THEN 'a' ELSE 'b' END AS g FROM range(100000) AS t(i)`;
 * const { before, after, n } = await calibrateSql({ engine, query }, {}, { method: 'isotonic' });
 * console.log(n, before.overall.ece.toFixed(2), after.overall.ece < 0.02);
 * // 100000 0.17 true
 * await engine.close();
 * ```
 */
export async function calibrateSql(
  source: SqlSource,
  columns: ScoreColumns,
  options: CalibrateTableOptions = {},
): Promise<MeasuredCalibration> {
  assertKnownOptions('calibrateSql', options, HELD_OUT_DEFAULTS);
  assertKnownOptions('calibrateSql', columns, SCORE_COLUMN_NAMES);
  const { method, minSamples, input, seed, onProgress } = options;
  const settings = new GroupFairnessCalibrator({ method, minSamples, input });
  const plan: HeldOutPlan = { ...resolveParts(options), seed: requireSeed(seed ?? HELD_OUT_DEFAULTS.seed) };
  const names = namesOf(columns);
  const stats = await readStats(source, names, columns);
  const rows = rowsOf(stats);
  const { state, states, before, after } = holdOut(rows, { ...plan, settings, onProgress });
  const calibrator = GroupFairnessCalibrator.ofState(settings, state);
  const lost = { nDropped: 0, dropped: new Float64Array(stats.labels.length) };
  const statsBefore = collectScores(stats.labels, before, lost);
  const statsAfter = collectScores(stats.labels, after, lost);
  return Object.freeze({
    ...plan,
    calibrator,
    measuredOn: measuredOn(plan.folds),
    before: measureEntries(statsBefore, before),
    after: measureEntries(statsAfter, after),
    curves: Object.freeze({
      before: curvesOf(statsBefore, CURVES),
      after: curvesOf(statsAfter, CURVES),
    }),
    fallbacks: calibrator.fallbacks,
    columns: names,
    positiveLabel: columns.positiveLabel ?? null,
    n: countLabels(rows).n,
    nDropped: stats.nDropped,
    warnings: Object.freeze([
      ...readingWarnings(stats.readings ?? []),
      ...(stats.step === 0 ? [] : [roundingWarning(stats.step)]),
      ...holdOutWarnings(state, states, plan.folds),
    ]),
  });
}

async function readStats(
  source: SqlSource,
  { score, target, group }: ReturnType<typeof namesOf>,
  { positiveLabel, naValues }: ScoreColumns,
): Promise<ScoreStats> {
  const [found] = await reduceScoreSource(source, {
    ...{ yScore: score, yTrue: target, attributes: [group], positiveLabel, naValues },
    nanPolicy: 'exclude',
  });
  const { stats } = found as NonNullable<typeof found>;
  const outside = stats.scores.find((value) => value < 0 || value > 1);
  if (outside !== undefined) throw outsideRange(`Column '${score}'`, outside);
  return stats;
}

function roundingWarning(step: number): string {
  return `scores were counted in steps of 1/${String(1 / step)}, so that results differ slightly from those of single rows`;
}

/** Returns the counts of a score, label and group as rows that stand for many. */
function rowsOf(stats: ScoreStats): CalibrationRows {
  const entries = scoreEntries(stats).flatMap(({ group, score, counts }) =>
    counts.flatMap((count, label) => (count > 0 ? [{ group, score: inside(score, stats.step), count, label }] : [])),
  );
  return {
    scores: Float64Array.from(entries, ({ score }) => score),
    y: Uint8Array.from(entries, ({ label }) => label),
    weights: Float64Array.from(entries, ({ count }) => count),
    areCounts: true,
    groups: { kind: 'categorical', labels: stats.labels, codes: Int32Array.from(entries, ({ group }) => group) },
  };
}

/** Scores near 0 and 1 are rounded to them, and their logit would be infinite. */
function inside(score: number, step: number): number {
  return Math.min(1 - step / 4, Math.max(step / 4, score));
}

/** Fitted calibrators, with the scores of held-out rows before and after calibration. */
interface HeldOutEntries {
  readonly state: CalibratorState;
  readonly states: readonly CalibratorState[];
  readonly before: readonly ScoreEntry[];
  readonly after: readonly ScoreEntry[];
}

/** Calibrates each part with a calibrator that was fitted on the other parts, as `calibrateHeldOut` does for rows. */
function holdOut(rows: CalibrationRows, task: HeldOutTask): HeldOutEntries {
  assertBothLabels(countLabels(rows));
  const parts = divide(rows.weights, task);
  const calibrated = parts.map((held, part) => {
    const train = task.folds === 1 ? rows.weights : rows.weights.map((count, row) => count - (held[row] as number));
    const state = fitPart({ ...rows, weights: train }, task.settings, parts.length, part);
    reportPart(task, part + 1, parts.length);
    const after = entriesOf(rows, applyCalibrator(state, rows), held);
    return { state, before: entriesOf(rows, rows.scores, held), after };
  });
  const states = calibrated.map((part) => part.state);
  const state = parts.length === 1 ? (states[0] as CalibratorState) : fitCalibrator(rows, task.settings);
  reportPart(task, parts.length + 1, parts.length);
  return {
    ...{ state, states },
    before: calibrated.flatMap((part) => part.before),
    after: calibrated.flatMap((part) => part.after),
  };
}

/**
 * Draws a part for each of the counted rows.
 * @returns for each part, the number of its rows of each count
 */
function divide(counts: Float64Array, { folds, trainSize, seed }: HeldOutPlan): Float64Array[] {
  if (folds === 1) return [counts];
  const random = createRandom(seed, FOLD_STREAM);
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (trainSize !== null) {
    const test = counts.map((count) => drawBinomial(count, 1 - trainSize, random));
    const tested = test.reduce((sum, count) => sum + count, 0);
    if (tested === 0 || tested === total) throw emptyPart(total, trainSize, tested === 0 ? 'calibrate' : 'fit on');
    return [test];
  }
  assertFolds(folds, total);
  const left = counts.slice();
  return Array.from({ length: folds }, (_, part) =>
    left.map((count, row) => {
      const own = drawBinomial(count, 1 / (folds - part), random);
      left[row] = count - own;
      return own;
    }),
  );
}

/** Returns the counted rows of a part, with the given scores. */
function entriesOf({ y, groups }: CalibrationRows, scores: Float64Array, held: Float64Array): ScoreEntry[] {
  return Array.from(held, (count, row): ScoreEntry => {
    const pair: [number, number] = y[row] === 1 ? [0, count] : [count, 0];
    return {
      group: groups.codes[row] as number,
      score: scores[row] as number,
      ...{ counts: pair, weights: pair, squaredWeights: pair },
    };
  }).filter(({ counts }) => counts[0] + counts[1] > 0);
}
