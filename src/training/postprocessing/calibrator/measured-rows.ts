import type { OptionNames } from '../../../internal/arguments.ts';
import { type PreparedScores, prepareScores, reduceScores } from '../../../metrics/reduce/reduce-scores.ts';
import type { ScoreStats } from '../../../metrics/statistics/group-stats.ts';
import { type ColumnSource, onHost, type SensitiveSource } from '../../../table/index.ts';
import { assertGroupsGiven, outsideRange } from './calibration-rows.ts';

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
 * Reads probabilities, labels and groups; a row with a missing value gets the code -1.
 * @throws {DataValidationError} if scores are outside [0, 1], labels are not 0 or 1, or lengths differ
 */
export async function readMeasuredRows(
  scores: ColumnSource,
  y: ColumnSource,
  groups: SensitiveSource,
  { sampleWeight, positiveLabel }: MeasureCalibrationOptions,
): Promise<PreparedScores> {
  assertGroupsGiven(groups);
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
export function scoreStatsOf({ labels, codes, yScore, yTrue, weights }: PreparedScores): ScoreStats {
  return reduceScores({
    yScore,
    yTrue: Array.from(yTrue, (label) => (label < 0 ? null : label)),
    sensitive: { kind: 'categorical', codes, labels },
    sampleWeight: weights,
  });
}
