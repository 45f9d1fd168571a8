import { assertKnownOptions, type OptionNames } from '../../../internal/arguments.ts';
import { sumOf } from '../../../internal/values.ts';
import { SCORE_MEASURES } from '../../../metrics/measures/score-measures.ts';
import { type PreparedScores, prepareScores, reduceScores } from '../../../metrics/reduce/reduce-scores.ts';
import { countDropped } from '../../../metrics/reduce/row-arguments.ts';
import type { ScoreStats } from '../../../metrics/statistics/group-stats.ts';
import { logLoss, type ScoreEntry } from '../../../metrics/statistics/score-grid.ts';
import { type ColumnSource, isDeviceTensor, onHost, type SensitiveSource } from '../../../table/index.ts';
import { assertGroupsGiven, outsideRange } from './calibration-rows.ts';
import { asOneGroupOfScores, measureOnDevice, type QualitySums } from './measure-on-device.ts';

/** Options of the functions that measure calibration. */
export interface MeasureCalibrationOptions {
  /** One weight per row, 0 or more. */
  readonly sampleWeight?: ColumnSource | undefined;
  /** The label of `y` that is treated as 1. Required if labels are not 0 and 1. */
  readonly positiveLabel?: string | undefined;
}

/** Lists the options of {@link MeasureCalibrationOptions}. */
export const MEASURE_CALIBRATION_OPTION_NAMES: OptionNames<MeasureCalibrationOptions> = {
  sampleWeight: true,
  positiveLabel: true,
};

/**
 * Reads probabilities, labels and groups. If a value of a row is missing, its group code is -1.
 * @throws {DataValidationError} if scores are outside [0, 1], labels are not 0 or 1, or lengths differ
 */
async function readMeasuredRows(
  scores: ColumnSource,
  y: ColumnSource,
  groups: SensitiveSource,
  { sampleWeight, positiveLabel }: MeasureCalibrationOptions,
): Promise<PreparedScores> {
  const host = await onHost({ scores, y, groups, sampleWeight });
  const rows = prepareScores({
    yScore: host.scores,
    yTrue: host.y,
    sensitive: host.groups,
    sampleWeight: host.sampleWeight,
    positiveLabel,
  });
  const outside = rows.yScore.findIndex((score) => score < 0 || score > 1);
  if (outside < 0) return rows;
  throw outsideRange('scores', rows.yScore[outside] as number, `at index ${String(outside)}`, outside);
}

/**
 * Computes score statistics of rows that were already read.
 * @throws {DataValidationError} if no row has all values
 */
function scoreStatsOf({ labels, codes, yScore, yTrue, weights }: PreparedScores): ScoreStats {
  return reduceScores({
    yScore,
    yTrue: Array.from(yTrue, (label) => (label < 0 ? null : label)),
    sensitive: { kind: 'categorical', codes, labels },
    sampleWeight: weights,
  });
}

/**
 * Computes score statistics of probabilities, labels and groups. Tensors of scores are reduced on their device.
 * @throws {DataValidationError} if scores are outside [0, 1], labels are not 0 or 1, lengths differ, or no row has all
 *   values
 */
export async function readScoreStats(
  scores: ColumnSource,
  y: ColumnSource,
  groups: SensitiveSource,
  options: MeasureCalibrationOptions,
): Promise<ScoreStats> {
  assertGroupsGiven(groups);
  if (isDeviceTensor(scores)) return (await measureOnDevice(scores, y, groups, options)).stats;
  return scoreStatsOf(await readMeasuredRows(scores, y, groups, options));
}

/** Measures of how well the scores of a set of rows are calibrated. */
export interface CalibrationQuality {
  readonly n: number;
  /** The weighted share of positives. */
  readonly positiveRate: number;
  /** The weighted mean of scores. */
  readonly meanScore: number;
  /** The expected calibration error over ten bins with about equal weight. */
  readonly ece: number;
  /** The mean of (score - y)^2. */
  readonly brierScore: number;
  /**
   * The mean of -log(score) over positives and -log(1 - score) over negatives. Scores are clipped to a distance of
   * 2.2e-16 from 0 and 1.
   */
  readonly logLoss: number;
}

/** {@link CalibrationQuality} of one group. */
export interface GroupCalibrationQuality extends CalibrationQuality {
  readonly group: string;
}

/** {@link CalibrationQuality} over all rows and per group. */
export interface CalibrationReport {
  readonly overall: CalibrationQuality;
  /** The groups that have rows, in the order of their labels. */
  readonly groups: readonly GroupCalibrationQuality[];
  /** The number of excluded rows, which lack a score, a label, a group or a weight. */
  readonly nDropped: number;
}

/**
 * Measures how well scores are calibrated, overall and per group. The function computes the Brier score, the log loss
 * and the expected calibration error. The calibration error is the sum over ten bins of equal mass of the share of rows
 * x |rate of positives - mean score|.
 *
 * With few rows, noise inflates the expected calibration error, so a small group looks worse than a large group. The
 * Brier score and the log loss are not inflated, but depend on how hard a group is to predict. Compare the values of a
 * group before and after calibration, not the values of different groups.
 *
 * If the scores are a tensor, they are measured on its device. Only sums and a histogram per group are read. For the
 * expected calibration error, scores are rounded to multiples of 2^-14.
 * @param scores [rows], from 0 to 1
 * @param y [rows], 0 or 1
 * @throws {DataValidationError} if scores are outside [0, 1], labels are not 0 or 1, lengths differ, or no row has
 * all values
 * @example
 * ```ts
 * import { measureCalibration } from 'evenhand/training';
 *
 * const { overall } = await measureCalibration([0.25, 0.25, 0.5, 1], [0, 1, 1, 1], ['a', 'a', 'b', 'b']);
 * console.log(overall.positiveRate, overall.meanScore, overall.ece, overall.brierScore);
 * // 0.75 0.5 0.25 0.21875
 * ```
 */
export async function measureCalibration(
  scores: ColumnSource,
  y: ColumnSource,
  groups: SensitiveSource,
  options: MeasureCalibrationOptions = {},
): Promise<CalibrationReport> {
  assertKnownOptions('measureCalibration', options, MEASURE_CALIBRATION_OPTION_NAMES);
  assertGroupsGiven(groups);
  if (isDeviceTensor(scores)) {
    const { stats, sums } = await measureOnDevice(scores, y, groups, options);
    const total = (name: keyof QualitySums): number => sumOf(sums.map((own) => own[name]));
    const all = { n: total('n'), weight: total('weight'), yes: total('yes'), score: total('score'), squares: total('squares'), logs: total('logs') }; // prettier-ignore
    const [overall] = qualityOf([all], asOneGroupOfScores(stats));
    return reportOf(overall, stats.labels, qualityOf(sums, stats), countDropped([all.n], scores.shape[0] ?? 0));
  }
  const rows = await readMeasuredRows(scores, y, groups, options);
  const together = { ...rows, codes: rows.codes.map((code) => Math.min(code, 0)), labels: ['all'] };
  const [overall] = qualityOf(sumGroups(together), scoreStatsOf(together));
  const nDropped = countDropped([overall?.n ?? 0], rows.codes.length);
  return reportOf(overall, rows.labels, qualityOf(sumGroups(rows), scoreStatsOf(rows)), nDropped);
}

function reportOf(
  overall: CalibrationQuality | undefined,
  labels: readonly string[],
  groups: readonly CalibrationQuality[],
  nDropped: number,
): CalibrationReport {
  const perGroup = groups.flatMap((quality, code) =>
    quality.n === 0 ? [] : [Object.freeze({ group: labels[code] as string, ...quality })],
  );
  return Object.freeze({
    overall: Object.freeze(overall as CalibrationQuality),
    groups: Object.freeze(perGroup),
    nDropped,
  });
}

/** Measures the scores of entries as {@link measureCalibration} measures rows. */
export function measureEntries(stats: ScoreStats, entries: readonly ScoreEntry[]): CalibrationReport {
  const sums = sumEntries(entries, stats.labels.length);
  const together = entries.map((entry) => ({ ...entry, group: 0 }));
  const [overall] = qualityOf(sumEntries(together, 1), asOneGroupOfScores(stats));
  return reportOf(overall, stats.labels, qualityOf(sums, stats), stats.nDropped);
}

function sumEntries(entries: readonly ScoreEntry[], groups: number): QualitySums[] {
  const sums = Array.from({ length: groups }, noSums);
  for (const { group, score, counts, weights } of entries) {
    for (const label of [0, 1] as const) addRows(sums[group] as OwnSums, score, label, weights[label], counts[label]);
  }
  return sums;
}

/**
 * Sums over the rows of each group, indexed by its code. Losses are summed per row, because the grid that is used for
 * many distinct scores would round small scores to 0.
 */
function sumGroups({ labels, codes, yScore, yTrue, weights }: PreparedScores): QualitySums[] {
  const sums = labels.map(noSums);
  for (let row = 0; row < codes.length; row++) {
    const own = sums[codes[row] as number];
    if (own !== undefined) addRows(own, yScore[row] as number, yTrue[row] as 0 | 1, weights?.[row] ?? 1);
  }
  return sums;
}

type OwnSums = { -readonly [Name in keyof QualitySums]: number };

function noSums(): OwnSums {
  return { n: 0, weight: 0, yes: 0, score: 0, squares: 0, logs: 0 };
}

/** Adds rows with the same score and label to sums. */
function addRows(sums: OwnSums, score: number, label: 0 | 1, weight: number, count = 1): void {
  if (weight === 0) return;
  sums.n += count;
  sums.weight += weight;
  sums.yes += weight * label;
  sums.score += weight * score;
  sums.squares += weight * (score - label) ** 2;
  sums.logs += weight * logLoss(score, label);
}

/** Computes the measures of each group from its sums and score statistics. */
function qualityOf(sums: readonly QualitySums[], stats: ScoreStats): CalibrationQuality[] {
  const errors = SCORE_MEASURES.expected_calibration_error.measure(stats).values;
  return sums.map(({ n, weight, yes, score, squares, logs }, code) => ({
    n,
    positiveRate: yes / weight,
    meanScore: score / weight,
    ece: errors[code] as number,
    brierScore: squares / weight,
    logLoss: logs / weight,
  }));
}
