import { DataValidationError } from '../../../exceptions/index.ts';
import { invalidParameter } from '../../../internal/invalid-parameter.ts';
import type { OptionNames } from '../../../internal/known-options.ts';
import { requireLevel, requireWhole } from '../../../stats/parameters.ts';
import { stratifiedSplit } from '../../data/stratified-split.ts';
import type { CalibrationRows } from './calibration-rows.ts';

/** How rows are dealt into parts to fit on and parts to calibrate. */
export interface PartOptions {
  /**
   * The parts that rows are dealt into, each calibrated by the others. 1 calibrates the rows that are fitted.
   * @defaultValue 5, where trainSize is not given
   */
  readonly folds?: number | undefined;
  /** Instead of folds: the share of rows to fit on; only the others are calibrated. */
  readonly trainSize?: number | undefined;
}

/** Lists the options of {@link PartOptions}. */
export const PART_OPTION_NAMES: OptionNames<PartOptions> = { folds: true, trainSize: true };

/** The rows that one calibrator is fitted on, and those that it calibrates. */
export interface HeldOutPart {
  readonly train: Int32Array;
  readonly test: Int32Array;
}

/**
 * Fills in how rows are dealt out.
 * @throws {ValueError} for folds or a trainSize out of range, or both at once
 */
export function resolveParts(options: PartOptions): { folds: number | null; trainSize: number | null } {
  const { folds, trainSize } = options;
  if (trainSize === undefined) return { folds: requireWhole('folds', folds ?? 5, 1), trainSize: null };
  if (folds !== undefined) throw invalidParameter('folds', 'be left out where trainSize is given', folds);
  return { folds: null, trainSize: requireLevel('trainSize', trainSize) };
}

/**
 * Deals rows out, each group and label shared out evenly.
 * @throws {DataValidationError} where a part would be empty
 */
export function dealOut(
  rows: CalibrationRows,
  folds: number | null,
  trainSize: number | null,
  seed: number,
): HeldOutPart[] {
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
  throw new DataValidationError(`${String(folds)} folds need as many rows and more; there are ${String(all.length)}.`, {
    context: { rows: all.length, folds },
    suggestion: 'Give more rows, or fit and measure on the same rows with one fold.',
  });
}

/** A part gets its share of rows, rounded: one where that is above one half, which rounding of the share may blur. */
function emptyPart(rows: number, trainSize: number, purpose: string): DataValidationError {
  const smaller = Math.min(trainSize, 1 - trainSize);
  const enough = Math.floor(0.5 / smaller + 1e-9) + 1;
  return new DataValidationError(
    `A train size of ${String(trainSize)} leaves none of ${String(rows)} rows to ${purpose}; ${String(enough)} rows are enough.`,
    {
      context: { rows, trainSize, rowsNeeded: enough },
      suggestion: 'Give more rows, or a train size nearer to one half.',
    },
  );
}

function complement(all: Int32Array, rows: Int32Array): Int32Array {
  const taken = new Uint8Array(all.length);
  for (const row of rows) taken[row] = 1;
  return all.filter((row) => taken[row] === 0);
}
