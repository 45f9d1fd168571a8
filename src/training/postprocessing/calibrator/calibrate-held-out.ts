import { DataValidationError } from '../../../exceptions/index.ts';
import { assertKnownOptions, invalidParameter } from '../../../internal/arguments.ts';
import type { OnProgress } from '../../../internal/progress.ts';
import { TRAINING_DEFAULTS } from '../../../schemas/training-job.ts';
import { requireInteger, requireLevel, requireSeed } from '../../../stats/parameters.ts';
import type { ColumnSource } from '../../../table/index.ts';
import { stratifiedSplit } from '../../data/row-splits.ts';
import {
  CALIBRATION_ROW_OPTION_NAMES,
  type CalibrationRowOptions,
  type CalibrationRows,
  readCalibrationRows,
  takeCalibrationRows,
} from './calibration-rows.ts';
import {
  applyCalibrator,
  assertBothLabels,
  type CalibratorState,
  countLabels,
  fitCalibrator,
} from './fit-calibrator.ts';
import {
  CALIBRATOR_DEFAULTS,
  GroupFairnessCalibrator,
  type GroupFairnessCalibratorOptions,
} from './group-fairness-calibrator.ts';

/** Options for splitting the data into rows for fitting and rows to calibrate. */
interface PartOptions {
  /**
   * The number of folds. Each fold is calibrated by a calibrator that was fitted on the other folds. With 1 fold, the
   * calibrator is fitted on the same rows that it calibrates.
   * @defaultValue 5, if trainSize is not given
   */
  readonly folds?: number | undefined;
  /**
   * The share of rows on which the calibrator is fitted; only the other rows are calibrated. Use either this option or
   * `folds`.
   */
  readonly trainSize?: number | undefined;
}

/** The rows on which a calibrator is fitted, and the rows that it calibrates. */
interface HeldOutPart {
  readonly train: Int32Array;
  readonly test: Int32Array;
}

/**
 * Fills in the defaults of the split.
 * @throws {ValueError} if folds or trainSize is out of range, or if both are given
 */
function resolveParts(options: PartOptions): { folds: number | null; trainSize: number | null } {
  const { folds, trainSize } = options;
  if (trainSize === undefined) return { folds: requireInteger('folds', folds ?? 5, 1), trainSize: null };
  if (folds !== undefined) throw invalidParameter('folds', 'be left out if trainSize is given', folds);
  return { folds: null, trainSize: requireLevel('trainSize', trainSize) };
}

/**
 * Splits rows into parts, stratified by group and label.
 * @throws {DataValidationError} if a part would be empty
 */
function dealOut(rows: CalibrationRows, folds: number | null, trainSize: number | null, seed: number): HeldOutPart[] {
  const all = Int32Array.from(rows.y.keys());
  if (folds === 1) return [{ train: all, test: all }];
  const strata = Int32Array.from(rows.y, (label, row) => label + 2 * (rows.groups.codes[row] as number));
  if (trainSize !== null) {
    const [train, test] = stratifiedSplit(strata, [trainSize, 1 - trainSize], seed) as [Int32Array, Int32Array];
    if (train.length > 0 && test.length > 0) return [{ train, test }];
    throw emptyPart(all.length, trainSize, train.length === 0 ? 'fit on' : 'calibrate');
  }
  if (folds !== null && folds <= all.length) {
    const tests = stratifiedSplit(strata, Array<number>(folds).fill(1 / folds), seed);
    return tests.map((test) => ({ train: complement(all, test), test }));
  }
  throw new DataValidationError(
    `${String(folds)} folds need at least ${String(folds)} rows; there are ${String(all.length)}.`,
    {
      code: 'too-few-rows',
      context: { rows: all.length, folds },
      suggestion: 'Provide more rows, or fit and measure on the same rows with one fold.',
    },
  );
}

/**
 * Returns the error for an empty part. The number of rows of a part is rounded to an integer, so a part is not empty if
 * rows x share is above one half. A small offset compensates for the rounding error of the share.
 */
function emptyPart(rows: number, trainSize: number, purpose: string): DataValidationError {
  const smaller = Math.min(trainSize, 1 - trainSize);
  const enough = Math.floor(0.5 / smaller + 1e-9) + 1;
  return new DataValidationError(
    `A train size of ${String(trainSize)} leaves no rows to ${purpose}: there are ${String(rows)} rows, but ${String(enough)} are needed.`,
    {
      code: 'too-few-rows',
      context: { rows, trainSize, rowsNeeded: enough },
      suggestion: 'Provide more rows, or use a train size closer to one half.',
    },
  );
}

function complement(all: Int32Array, rows: Int32Array): Int32Array {
  const taken = new Uint8Array(all.length);
  for (const row of rows) taken[row] = 1;
  return all.filter((row) => taken[row] === 0);
}

/** Options of {@link calibrateHeldOut}. */
export interface CalibrateHeldOutOptions extends CalibrationRowOptions, GroupFairnessCalibratorOptions, PartOptions {
  /**
   * The seed of the split.
   * @defaultValue 42
   */
  readonly seed?: number | undefined;
  readonly onProgress?: OnProgress | undefined;
}

/** Defaults of {@link CalibrateHeldOutOptions}, without the row options. */
export const HELD_OUT_DEFAULTS = {
  folds: undefined,
  trainSize: undefined,
  seed: TRAINING_DEFAULTS.seed,
  onProgress: undefined,
  ...CALIBRATOR_DEFAULTS,
};

const HELD_OUT_OPTION_NAMES = { ...CALIBRATION_ROW_OPTION_NAMES, ...HELD_OUT_DEFAULTS };

/** The result of {@link calibrateHeldOut}: rows that were calibrated by calibrators fitted on other rows. */
export interface HeldOutCalibration {
  /**
   * The indexes of the calibrated rows, in ascending order: all rows if `folds` is used, or the held-out rows if
   * `trainSize` is used.
   */
  readonly rows: Int32Array;
  /** The calibrated scores of the rows in `rows`, in the same order. */
  readonly calibrated: Float64Array;
  /** The fold of each row; null if `trainSize` is used. */
  readonly foldOf: Int32Array | null;
  /**
   * The calibrator for new rows. If `folds` is used, it is fitted on all rows. If `trainSize` is used, it is fitted on
   * the training rows.
   */
  readonly calibrator: GroupFairnessCalibrator;
  readonly folds: number | null;
  readonly trainSize: number | null;
  readonly seed: number;
  readonly warnings: readonly string[];
}

/**
 * Calibrates rows with calibrators that were fitted on other rows. The quality measured on the calibrated rows is
 * therefore an estimate of the quality on new rows.
 *
 * A calibrator fits its own training rows better than other rows. This effect is largest for the isotonic method. With
 * `folds`, the rows are split into parts, stratified by group and label. Each part is calibrated by a calibrator fitted
 * on the other parts. The returned calibrator is fitted on all rows. The maps of different folds differ slightly.
 * Within a group, a row may therefore get a lower calibrated score than a row of another fold that has a lower score.
 * @param scores [rows], from 0 to 1
 * @param y [rows], 0 or 1
 * @throws {ValueError} if folds or trainSize is out of range, if both are given, or if the seed is not a whole number
 * @throws {DataValidationError} under the conditions of `GroupFairnessCalibrator.fit`, if there are more folds than
 *   rows, or if a part has only one label
 * @example
 * ```ts
 * import { calibrateHeldOut, measureCalibration } from 'evenhand/training';
 *
 * const scores = Array.from({ length: 1000 }, (_, row) => ((row * 617) % 997) / 1000);
 * const y = scores.map((score, row) => Number(((row * 271) % 1000) / 1000 < score ** 2));
 * const groups = scores.map((_, row) => (row % 2 === 0 ? 'a' : 'b'));
 *
 * const { calibrated } = await calibrateHeldOut(scores, y, { groups, folds: 5 });
 * const before = await measureCalibration(scores, y, groups);
 * const after = await measureCalibration(calibrated, y, groups);
 * console.log(before.overall.ece.toFixed(2), after.overall.ece < before.overall.ece / 2);
 * // 0.17 true
 * ```
 */
export async function calibrateHeldOut(
  scores: ColumnSource,
  y: ColumnSource,
  options: CalibrateHeldOutOptions,
): Promise<HeldOutCalibration> {
  assertKnownOptions('calibrateHeldOut', options, HELD_OUT_OPTION_NAMES);
  const { method, minSamples, input } = options;
  const settings = new GroupFairnessCalibrator({ method, minSamples, input });
  const { folds, trainSize } = resolveParts(options);
  const seed = requireSeed(options.seed ?? HELD_OUT_DEFAULTS.seed);
  const rows = await readCalibrationRows(scores, y, options);
  assertBothLabels(countLabels(rows));
  const parts = dealOut(rows, folds, trainSize, seed);
  const calibrated = new Float64Array(rows.y.length);
  const foldOf = new Int32Array(rows.y.length);
  const states: CalibratorState[] = [];
  for (const [fold, { train, test }] of parts.entries()) {
    const state = fitPart(takeCalibrationRows(rows, train), settings, parts.length, fold);
    applyCalibrator(state, takeCalibrationRows(rows, test)).forEach((value, index) => {
      const row = test[index] as number;
      calibrated[row] = value;
      foldOf[row] = fold;
    });
    states.push(state);
    options.onProgress?.({ stage: 'calibrating', done: fold + 1, total: parts.length + 1 });
  }
  const state = folds === null ? (states[0] as CalibratorState) : fitCalibrator(rows, settings);
  options.onProgress?.({ stage: 'calibrating', done: parts.length + 1, total: parts.length + 1 });
  const held = folds === null ? (parts[0] as HeldOutPart).test : Int32Array.from(rows.y.keys());
  return Object.freeze({
    rows: held,
    calibrated: Float64Array.from(held, (row) => calibrated[row] as number),
    foldOf: folds === null ? null : foldOf,
    calibrator: GroupFairnessCalibrator.ofState(settings, state),
    folds,
    trainSize,
    seed,
    warnings: Object.freeze([...state.warnings, ...remarks(state, states, folds)]),
  });
}

function fitPart(
  rows: CalibrationRows,
  settings: GroupFairnessCalibrator,
  parts: number,
  part: number,
): CalibratorState {
  const isMixed = [0, 1].every((label) =>
    rows.y.some((own, row) => own === label && (rows.weights[row] as number) > 0),
  );
  if (isMixed || parts === 1) return fitCalibrator(rows, settings);
  throw new DataValidationError(
    `Without fold ${String(part + 1)} of ${String(parts)}, the rows have only one label, so no calibrator can be fitted.`,
    {
      code: 'empty-data',
      context: { folds: parts, fold: part },
      suggestion: 'Provide more rows of the less frequent label, or fit and measure on the same rows with one fold.',
    },
  );
}

/** Returns warnings about the calibrated rows. The warnings of the calibrator are not included. */
function remarks(final: CalibratorState, states: readonly CalibratorState[], folds: number | null): string[] {
  if (folds === 1)
    return ['calibration is measured on the rows that it was fitted on, which makes it look better than it is'];
  const ownIn = states.map(({ groups }) => new Set(groups.flatMap(({ label, map }) => (map === null ? [] : [label]))));
  return final.groups.flatMap(({ label, map }) => {
    const pooled = map === null ? 0 : ownIn.filter((own) => !own.has(label)).length;
    if (pooled === 0) return [];
    return [
      `group '${label}' has its own calibrator when fitted on all rows, but used the pooled one in ${String(pooled)} of ${String(states.length)} folds`,
    ];
  });
}
