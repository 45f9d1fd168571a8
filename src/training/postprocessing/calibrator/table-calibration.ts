import type { Table } from '../../../table/index.ts';
import type { HeldOutCalibration } from './calibrate-held-out.ts';
import type { CalibrationFallbacks } from './group-fairness-calibrator.ts';
import type { CalibrationReport } from './measure-calibration.ts';
import type { ReliabilityComparison } from './plot-reliability.ts';
import type { ScoreTable } from './read-score-table.ts';

/** Which rows calibration was measured on. */
export type MeasuredRows = 'cross_fitted_rows' | 'held_out_rows' | 'fitted_rows';

/** A table's scores, calibrated and measured. */
export interface TableCalibration extends Omit<HeldOutCalibration, 'foldOf' | 'rows' | 'calibrated'> {
  /** The rows measured, in their order: score_raw, score_cal, y, g. */
  readonly table: Table;
  readonly measuredOn: MeasuredRows;
  /** The same rows before and after. */
  readonly before: CalibrationReport;
  readonly after: CalibrationReport;
  readonly fallbacks: CalibrationFallbacks;
  readonly columns: ScoreTable['columns'];
  readonly positiveLabel: string | null;
  /** Rows with a score, a label and a group. */
  readonly n: number;
  readonly nDropped: number;
  /** The curves of the rows measured, for `plotReliability`. */
  readonly curves: ReliabilityComparison;
}
