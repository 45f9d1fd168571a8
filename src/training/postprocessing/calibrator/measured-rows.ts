import type { OptionNames } from '../../../internal/arguments.ts';
import { type PreparedScores, prepareScores, reduceScores } from '../../../metrics/reduce/reduce-scores.ts';
import type { ScoreStats } from '../../../metrics/statistics/group-stats.ts';
import { type ColumnSource, onHost, type SensitiveSource } from '../../../table/index.ts';
import { assertGroupsGiven, outsideRange } from './calibration-rows.ts';

/** Options of what measures calibration. */
export interface MeasureCalibrationOptions {
  /** One weight per row, 0 or more. */
  readonly sampleWeight?: ColumnSource | undefined;
  /** The label of `y` that counts as 1, where labels are not 0 and 1. */
  readonly positiveLabel?: string | undefined;
}

/** Lists the options of {@link MeasureCalibrationOptions}. */
export const MEASURE_CALIBRATION_OPTION_NAMES: OptionNames<MeasureCalibrationOptions> = {
  sampleWeight: true,
  positiveLabel: true,
};

/**
 * Reads probabilities, labels and groups; -1 is the code of a row that lacks something.
 * @throws {DataValidationError} for scores outside [0, 1], labels that are not 0 or 1, or lengths that differ
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
 * Score statistics of rows that were read already.
 * @throws {DataValidationError} where no row has all values
 */
export function scoreStatsOf({ labels, codes, yScore, yTrue, weights }: PreparedScores): ScoreStats {
  return reduceScores({
    yScore,
    yTrue: Array.from(yTrue, (label) => (label < 0 ? null : label)),
    sensitive: { kind: 'categorical', codes, labels },
    sampleWeight: weights,
  });
}
