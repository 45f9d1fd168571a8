import { DataValidationError } from '../../../exceptions/index.ts';
import { invalidParameter } from '../../../internal/arguments.ts';
import type { OnProgress } from '../../../internal/progress.ts';
import { requireInteger, requireLevel } from '../../../stats/parameters.ts';
import { stratifiedSplit } from '../../data/row-splits.ts';
import type { CalibratorSettings, CalibratorState } from './fit-calibrator.ts';

/** Options for splitting the data into rows for fitting and rows to calibrate. */
export interface PartOptions {
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

/** How rows are split: into folds, or once. */
export interface HeldOutPlan {
  readonly folds: number | null;
  readonly trainSize: number | null;
  readonly seed: number;
}

/**
 * Fills in the defaults of the split.
 * @throws {ValueError} if folds or trainSize is out of range, or if both are given
 */
export function resolveParts(options: PartOptions): Omit<HeldOutPlan, 'seed'> {
  const { folds, trainSize } = options;
  if (trainSize === undefined) return { folds: requireInteger('folds', folds ?? 5, 1), trainSize: null };
  if (folds !== undefined) throw invalidParameter('folds', 'be left out if trainSize is given', folds);
  return { folds: null, trainSize: requireLevel('trainSize', trainSize) };
}

/**
 * Splits rows into parts within each stratum.
 * @param strata the stratum of each row: its group and label
 * @returns the rows that each part calibrates, ascending. Its calibrator is fitted on the other rows, or for a single
 *   fold on the same rows.
 * @throws {DataValidationError} if no rows would be calibrated or fitted on
 */
export function dealOut(strata: Int32Array, { folds, trainSize, seed }: HeldOutPlan): Int32Array[] {
  const { length } = strata;
  if (folds === 1) return [Int32Array.from(strata.keys())];
  if (trainSize !== null) {
    const [train, test] = stratifiedSplit(strata, [trainSize, 1 - trainSize], seed) as [Int32Array, Int32Array];
    if (train.length > 0 && test.length > 0) return [test];
    throw emptyPart(length, trainSize, train.length === 0 ? 'fit on' : 'calibrate');
  }
  assertFolds(folds, length);
  return stratifiedSplit(strata, Array<number>(folds).fill(1 / folds), seed);
}

/** @throws {DataValidationError} if there are more folds than rows */
export function assertFolds(folds: number | null, length: number): asserts folds is number {
  if (folds !== null && folds <= length) return;
  throw new DataValidationError(
    `${String(folds)} folds need at least ${String(folds)} rows; there are ${String(length)}.`,
    {
      code: 'too-few-rows',
      context: { rows: length, folds },
      suggestion: 'Provide more rows, or fit and measure on the same rows with one fold.',
    },
  );
}

/**
 * Returns the error for an empty part. The number of rows of a part is rounded to an integer, so a part is not empty if
 * rows x share is above one half. A small offset compensates for the rounding error of the share.
 */
export function emptyPart(rows: number, trainSize: number, purpose: string): DataValidationError {
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

/** The rows that `calibrateHeldOut` calibrated with calibrators fitted on other rows. */
export interface HeldOutRows<Indices, Scores> {
  /**
   * The indices of the calibrated rows, in ascending order: all rows if `folds` is used, or the held-out rows if
   * `trainSize` is used.
   */
  readonly rows: Indices;
  /** The calibrated scores of the rows in `rows`, in the same order. */
  readonly calibrated: Scores;
  /** The fold of each row; null if `trainSize` is used. */
  readonly foldOf: Indices | null;
}

/** Calibrated rows, with the states of the calibrators. */
export interface HeldOutResult<Indices, Scores> extends HeldOutRows<Indices, Scores> {
  /** The calibrator of each part. */
  readonly states: readonly CalibratorState[];
  /** The calibrator for new rows. */
  readonly state: CalibratorState;
}

/** How to calibrate rows: the settings of the calibrators, and the split. */
export interface HeldOutTask extends HeldOutPlan {
  readonly settings: CalibratorSettings;
  readonly onProgress: OnProgress | undefined;
}

/** Returns the error for a part whose training rows have only one label. */
export function oneLabelWithout(part: number, parts: number): DataValidationError {
  return new DataValidationError(
    `Without fold ${String(part + 1)} of ${String(parts)}, the rows have only one label, so no calibrator can be fitted.`,
    {
      code: 'empty-data',
      context: { folds: parts, fold: part },
      suggestion: 'Provide more rows of the less frequent label, or fit and measure on the same rows with one fold.',
    },
  );
}

/** Reports that the calibrators of some parts are fitted; the calibrator for new rows counts as one more part. */
export function reportPart({ onProgress }: HeldOutTask, done: number, parts: number): void {
  onProgress?.({ stage: 'calibrating', done, total: parts + 1 });
}
