import { assertKnownOptions } from '../../../internal/arguments.ts';
import { type CategoricalColumn, onHost, Table } from '../../../table/index.ts';
import { calibrateHeldOut, type CalibrateHeldOutOptions, HELD_OUT_DEFAULTS } from './calibrate-held-out.ts';
import { measureCalibration } from './measure-calibration.ts';
import { readScoreTable, type ScoreTableSource } from './read-score-table.ts';
import { reliabilityCurve } from './reliability-curve.ts';
import { measuredOn, type TableCalibration } from './table-calibration.ts';

/** Options of {@link calibrateTable}. */
export type CalibrateTableOptions = Omit<CalibrateHeldOutOptions, 'groups' | 'sampleWeight' | 'positiveLabel'>;

/**
 * The options of the reliability curves. Bins should have at least 20 rows, because the share of positives in fewer
 * rows is mostly noise.
 */
export const CURVES = { minBinSize: 20 };

/**
 * Calibrates the scores of a table per group and measures calibration before and after. The measured rows were not used
 * to fit the calibrators, except with `folds: 1`. Rows without a score, a label or a group are excluded and counted.
 * @throws {DataValidationError} if columns are unknown, if scores are text or outside [0, 1], if labels are not 0 or 1,
 *   or if there is only one label
 * @throws {ValueError} if an option is out of range
 * @example
 * ```ts
 * import { calibrateTable } from 'evenhand/training';
 *
 * const score = Array.from({ length: 1000 }, (_, row) => ((row * 617) % 997) / 1000);
 * const y = score.map((p, row) => Number(((row * 271) % 1000) / 1000 < p ** 2));
 * const g = score.map((_, row) => (row % 2 === 0 ? 'a' : 'b'));
 *
 * const { before, after, table } = await calibrateTable({ table: { score, y, g } }, { method: 'isotonic' });
 * console.log(before.overall.ece.toFixed(2), after.overall.ece < 0.04, table.columnNames);
 * // 0.17 true [ 'score_raw', 'score_cal', 'y', 'g' ]
 * ```
 */
export async function calibrateTable(
  source: ScoreTableSource,
  options: CalibrateTableOptions = {},
): Promise<TableCalibration> {
  assertKnownOptions('calibrateTable', options, HELD_OUT_DEFAULTS);
  const { scores, y, groups, nDropped, columns, warnings } = readScoreTable(await onHost(source));
  const { rows, calibrated, foldOf: _, ...held } = await calibrateHeldOut(scores, y, { ...options, groups });
  const raw = Float64Array.from(rows, (row) => scores[row] as number);
  const labels = Uint8Array.from(rows, (row) => y[row] as number);
  const own: CategoricalColumn = { ...groups, codes: Int32Array.from(rows, (row) => groups.codes[row] as number) };
  return Object.freeze({
    ...held,
    table: Table.ofColumns([
      ['score_raw', { kind: 'numeric', values: raw }],
      ['score_cal', { kind: 'numeric', values: calibrated }],
      ['y', { kind: 'numeric', values: Float64Array.from(labels) }],
      ['g', own],
    ]),
    measuredOn: measuredOn(held.folds),
    before: await measureCalibration(raw, labels, own),
    after: await measureCalibration(calibrated, labels, own),
    curves: Object.freeze({
      before: await reliabilityCurve(raw, labels, own, CURVES),
      after: await reliabilityCurve(calibrated, labels, own, CURVES),
    }),
    fallbacks: held.calibrator.fallbacks,
    columns,
    positiveLabel: source.positiveLabel ?? null,
    n: scores.length,
    nDropped,
    warnings: Object.freeze([...warnings, ...decisionNotes(scores, columns.score), ...held.warnings]),
  });
}

/** Notes scores that are all 0 or 1: a decision has no probability to calibrate. */
function decisionNotes(scores: ArrayLike<number>, name: string): string[] {
  const areDecisions = Array.prototype.every.call(scores, (score: number) => score === 0 || score === 1);
  return areDecisions
    ? [`all scores in '${name}' are 0 or 1, as decisions are: calibrate the probabilities instead`]
    : [];
}
