import type { Tensor, Tensor1D } from '@tensorflow/tfjs';

import { assertKnownOptions } from '../../../internal/arguments.ts';
import type { OnProgress } from '../../../internal/progress.ts';
import { TRAINING_DEFAULTS } from '../../../schemas/training-job.ts';
import { requireSeed } from '../../../stats/parameters.ts';
import { type ColumnSource, isDeviceTensor, type TensorLike } from '../../../table/index.ts';
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
  type CalibratorSettings,
  type CalibratorState,
  countLabels,
  fitCalibrator,
} from './fit-calibrator.ts';
import {
  CALIBRATOR_DEFAULTS,
  GroupFairnessCalibrator,
  type GroupFairnessCalibratorOptions,
} from './group-fairness-calibrator.ts';
import {
  dealOut,
  type HeldOutPlan,
  type HeldOutResult,
  type HeldOutRows,
  type HeldOutTask,
  oneLabelWithout,
  type PartOptions,
  reportPart,
  resolveParts,
} from './held-out-parts.ts';
import { holdOutOnDevice } from './hold-out-on-device.ts';

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

/** The calibrator and the split of a {@link calibrateHeldOut}. */
interface HeldOutFit extends HeldOutPlan {
  /**
   * The calibrator for new rows. If `folds` is used, it is fitted on all rows. If `trainSize` is used, it is fitted on
   * the training rows.
   */
  readonly calibrator: GroupFairnessCalibrator;
  readonly warnings: readonly string[];
}

/** The result of {@link calibrateHeldOut}. */
export interface HeldOutCalibration extends HeldOutFit, HeldOutRows<Int32Array, Float64Array> {}

/**
 * The result of {@link calibrateHeldOut} for scores that are a tensor. `rows` and `foldOf` are int32 tensors and
 * `calibrated` is a float32 tensor, all 1-D and on the device of the scores. Dispose of them after use.
 */
export interface HeldOutTensors extends HeldOutFit, HeldOutRows<Tensor1D, Tensor1D> {}

/** Scores that are not a tensor. */
type HostScores = Exclude<ColumnSource, TensorLike>;

/**
 * Calibrates rows with calibrators that were fitted on other rows. The quality measured on the calibrated rows is
 * therefore an estimate of the quality on new rows.
 *
 * A calibrator fits its own training rows better than other rows. This effect is largest for the isotonic method. With
 * `folds`, the rows are split into parts, stratified by group and label. Each part is calibrated by a calibrator fitted
 * on the other parts. The returned calibrator is fitted on all rows. The maps of different folds differ slightly.
 * Within a group, a row may therefore get a lower calibrated score than a row of another fold that has a lower score.
 *
 * If the scores are a tensor, the split, the fits and the calibration run on its device, and the results are tensors.
 * The folds are the same as for arrays. The host reads the number of rows of each group and label, and what the fits
 * read (see `GroupFairnessCalibrator.fit`). The fit and the calibration of each fold pass over
 * all rows.
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
  scores: Tensor,
  y: ColumnSource,
  options: CalibrateHeldOutOptions,
): Promise<HeldOutTensors>;
export async function calibrateHeldOut(
  scores: HostScores,
  y: ColumnSource,
  options: CalibrateHeldOutOptions,
): Promise<HeldOutCalibration>;
export async function calibrateHeldOut(
  scores: ColumnSource,
  y: ColumnSource,
  options: CalibrateHeldOutOptions,
): Promise<HeldOutCalibration | HeldOutTensors>;
export async function calibrateHeldOut(
  scores: ColumnSource,
  y: ColumnSource,
  options: CalibrateHeldOutOptions,
): Promise<HeldOutCalibration | HeldOutTensors> {
  assertKnownOptions('calibrateHeldOut', options, HELD_OUT_OPTION_NAMES);
  const { method, minSamples, input } = options;
  const settings = new GroupFairnessCalibrator({ method, minSamples, input });
  const plan = { ...resolveParts(options), seed: requireSeed(options.seed ?? HELD_OUT_DEFAULTS.seed) };
  const task = { ...plan, settings, onProgress: options.onProgress };
  const { state, states, ...held } = isDeviceTensor(scores)
    ? await holdOutOnDevice(scores, y, options, task)
    : holdOut(await readCalibrationRows(scores, y, options), task);
  return Object.freeze({
    ...held,
    calibrator: GroupFairnessCalibrator.ofState(settings, state),
    ...plan,
    warnings: Object.freeze(holdOutWarnings(state, states, plan.folds)),
  });
}

/** Calibrates held-out rows on the host. */
function holdOut(rows: CalibrationRows, task: HeldOutTask): HeldOutResult<Int32Array, Float64Array> {
  assertBothLabels(countLabels(rows));
  const strata = Int32Array.from(rows.y, (label, row) => label + 2 * (rows.groups.codes[row] as number));
  const parts = dealOut(strata, task);
  const calibrated = new Float64Array(strata.length);
  const foldOf = new Int32Array(strata.length);
  const states = parts.map((test, part) => {
    const train = task.folds === 1 ? test : complement(strata.length, test);
    const state = fitPart(takeCalibrationRows(rows, train), task.settings, parts.length, part);
    applyCalibrator(state, takeCalibrationRows(rows, test)).forEach((value, index) => {
      const row = test[index] as number;
      calibrated[row] = value;
      foldOf[row] = part;
    });
    reportPart(task, part + 1, parts.length);
    return state;
  });
  const state = parts.length === 1 ? (states[0] as CalibratorState) : fitCalibrator(rows, task.settings);
  reportPart(task, parts.length + 1, parts.length);
  const held = task.folds === null ? (parts[0] as Int32Array) : Int32Array.from(strata.keys());
  return {
    rows: held,
    calibrated: Float64Array.from(held, (row) => calibrated[row] as number),
    foldOf: task.folds === null ? null : foldOf,
    states,
    state,
  };
}

/** Returns the other rows, ascending. */
function complement(count: number, rows: Int32Array): Int32Array {
  const taken = new Uint8Array(count);
  for (const row of rows) taken[row] = 1;
  const others = new Int32Array(count - rows.length);
  for (let row = 0, index = 0; row < count; row++) if (taken[row] === 0) others[index++] = row;
  return others;
}

/**
 * Fits the calibrator of a part to its training rows.
 * @throws {DataValidationError} if they have only one label
 */
export function fitPart(
  rows: CalibrationRows,
  settings: CalibratorSettings,
  parts: number,
  part: number,
): CalibratorState {
  const isMixed = [0, 1].every((label) =>
    rows.y.some((own, row) => own === label && (rows.weights[row] as number) > 0),
  );
  if (isMixed || parts === 1) return fitCalibrator(rows, settings);
  throw oneLabelWithout(part, parts);
}

/** Returns the warnings of the calibrator and warnings about the calibrated rows. */
export function holdOutWarnings(
  final: CalibratorState,
  states: readonly CalibratorState[],
  folds: number | null,
): string[] {
  return [...final.warnings, ...remarks(final, states, folds)];
}

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
