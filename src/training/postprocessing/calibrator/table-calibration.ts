import { snakeFields, type SnakeFields } from '../../../internal/arguments.ts';
import type { Table } from '../../../table/index.ts';
import type { HeldOutCalibration } from './calibrate-held-out.ts';
import type { CalibrationFallbacks } from './group-fairness-calibrator.ts';
import type { CalibrationQuality, CalibrationReport } from './measure-calibration.ts';
import type { ReliabilityComparison } from './reliability-curve.ts';
import type { ScoreTable } from './read-score-table.ts';

/** The rows on which calibration was measured. */
export type MeasuredRows = 'cross_fitted_rows' | 'held_out_rows' | 'fitted_rows';

/** The calibrated scores of a table, with measurements before and after. */
export interface TableCalibration extends MeasuredCalibration {
  /** The measured rows in their order, with the columns score_raw, score_cal, y, g. */
  readonly table: Table;
}

/** A fitted calibrator, with measurements before and after calibration. */
export interface MeasuredCalibration extends Omit<HeldOutCalibration, 'foldOf' | 'rows' | 'calibrated'> {
  readonly measuredOn: MeasuredRows;
  /** Measurements of the same rows before and after calibration. */
  readonly before: CalibrationReport;
  readonly after: CalibrationReport;
  readonly fallbacks: CalibrationFallbacks;
  readonly columns: ScoreTable['columns'];
  readonly positiveLabel: string | null;
  /** The number of rows with a score, a label and a group. */
  readonly n: number;
  readonly nDropped: number;
  /** The curves of the measured rows, for `plotReliability`. */
  readonly curves: ReliabilityComparison;
}

/** The measured calibration of one set of scores. */
type QualityJson = SnakeFields<Omit<CalibrationQuality, 'n' | 'positiveRate'>>;

/** Measurements of the same rows before and after calibration. */
interface ComparisonJson {
  readonly n: number;
  readonly positive_rate: number;
  readonly before: QualityJson;
  readonly after: QualityJson;
}

/** The JSON form of a table's calibration. */
export interface TableCalibrationJson extends SnakeFields<
  Pick<
    MeasuredCalibration,
    'positiveLabel' | 'folds' | 'trainSize' | 'seed' | 'measuredOn' | 'n' | 'nDropped' | 'fallbacks' | 'warnings'
  >
> {
  readonly method: string;
  readonly input: string | null;
  readonly min_samples: number;
  readonly score: string;
  readonly target: string;
  readonly group: readonly string[];
  readonly n_measured: number;
  readonly overall: ComparisonJson;
  readonly groups: readonly (ComparisonJson & { readonly group: string; readonly calibrator: 'own' | 'pooled' })[];
}

/** Converts a table's calibration to JSON in snake_case. */
export function tableCalibrationToJson(calibration: MeasuredCalibration): TableCalibrationJson {
  const { calibrator, before, after, fallbacks, positiveLabel, folds, trainSize, seed, measuredOn, n } = calibration;
  const { score, target, group } = calibration.columns;
  const { method, minSamples } = calibrator;
  const input = method === 'platt' ? calibrator.input : null;
  return {
    ...snakeFields({ method, input, minSamples, score, target, positiveLabel, group, folds, trainSize, seed }),
    ...snakeFields({ measuredOn, n, nMeasured: after.overall.n, nDropped: calibration.nDropped }),
    overall: compare(before.overall, after.overall),
    groups: after.groups.map((quality, index) => ({
      group: quality.group,
      calibrator: Object.hasOwn(fallbacks, quality.group) ? 'pooled' : 'own',
      ...compare(before.groups[index] as CalibrationQuality, quality),
    })),
    fallbacks,
    warnings: calibration.warnings,
  };
}

function compare(before: CalibrationQuality, after: CalibrationQuality): ComparisonJson {
  const { n, positiveRate } = after;
  return { n, positive_rate: positiveRate, before: qualityToJson(before), after: qualityToJson(after) };
}

function qualityToJson({ meanScore, ece, brierScore, logLoss }: CalibrationQuality): QualityJson {
  return snakeFields({ meanScore, ece, brierScore, logLoss });
}

/** Returns which rows were measured. */
export function measuredOn(folds: number | null): MeasuredRows {
  if (folds === null) return 'held_out_rows';
  return folds === 1 ? 'fitted_rows' : 'cross_fitted_rows';
}
