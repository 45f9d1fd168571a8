import type { Table } from '../../../table/index.ts';
import type { HeldOutCalibration } from './calibrate-held-out.ts';
import type { CalibrationFallbacks } from './group-fairness-calibrator.ts';
import type { CalibrationQuality, CalibrationReport } from './measure-calibration.ts';
import type { ReliabilityComparison } from './plot-reliability.ts';
import type { ScoreTable } from './read-score-table.ts';

/** The rows that calibration was measured on. */
export type MeasuredRows = 'cross_fitted_rows' | 'held_out_rows' | 'fitted_rows';

/** The calibrated scores of a table, with measurements before and after. */
export interface TableCalibration extends Omit<HeldOutCalibration, 'foldOf' | 'rows' | 'calibrated'> {
  /** The measured rows in their order, with the columns score_raw, score_cal, y, g. */
  readonly table: Table;
  readonly measuredOn: MeasuredRows;
  /** Measurements of the same rows before and after calibration. */
  readonly before: CalibrationReport;
  readonly after: CalibrationReport;
  readonly fallbacks: CalibrationFallbacks;
  readonly columns: ScoreTable['columns'];
  readonly positiveLabel: string | null;
  /** Rows with a score, a label and a group. */
  readonly n: number;
  readonly nDropped: number;
  /** Curves of the measured rows, for `plotReliability`. */
  readonly curves: ReliabilityComparison;
}

/** Measurements of one set of scores. */
interface QualityJson {
  readonly mean_score: number;
  readonly ece: number;
  readonly brier_score: number;
  readonly log_loss: number;
}

/** Measurements of the same rows before and after calibration. */
interface ComparisonJson {
  readonly n: number;
  readonly positive_rate: number;
  readonly before: QualityJson;
  readonly after: QualityJson;
}

/** The JSON form of a table's calibration. */
export interface TableCalibrationJson {
  readonly method: string;
  readonly input: string | null;
  readonly min_samples: number;
  readonly score: string;
  readonly target: string;
  readonly positive_label: string | null;
  readonly group: readonly string[];
  readonly folds: number | null;
  readonly train_size: number | null;
  readonly seed: number;
  readonly measured_on: MeasuredRows;
  readonly n: number;
  readonly n_measured: number;
  readonly n_dropped: number;
  readonly overall: ComparisonJson;
  readonly groups: readonly (ComparisonJson & { readonly group: string; readonly calibrator: 'own' | 'pooled' })[];
  readonly fallbacks: CalibrationFallbacks;
  readonly warnings: readonly string[];
}

/** Converts a table's calibration to JSON in snake_case. */
export function tableCalibrationToJson(calibration: TableCalibration): TableCalibrationJson {
  const { calibrator, columns, before, after, fallbacks } = calibration;
  const { method, input, minSamples } = calibrator;
  return {
    method,
    input: method === 'platt' ? input : null,
    min_samples: minSamples,
    score: columns.score,
    target: columns.target,
    positive_label: calibration.positiveLabel,
    group: columns.group,
    folds: calibration.folds,
    train_size: calibration.trainSize,
    seed: calibration.seed,
    measured_on: calibration.measuredOn,
    n: calibration.n,
    n_measured: after.overall.n,
    n_dropped: calibration.nDropped,
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
  return {
    n: after.n,
    positive_rate: after.positiveRate,
    before: qualityToJson(before),
    after: qualityToJson(after),
  };
}

function qualityToJson({ meanScore, ece, brierScore, logLoss }: CalibrationQuality): QualityJson {
  return { mean_score: meanScore, ece, brier_score: brierScore, log_loss: logLoss };
}
