import type { Tensor, Tensor1D } from '@tensorflow/tfjs';

import { TrainingError } from '../../../exceptions/index.ts';
import {
  assertKnownOptions,
  type FilledOptions,
  fillOptions,
  invalidParameter,
  oneOf,
  type OptionNames,
} from '../../../internal/arguments.ts';
import { firstNames } from '../../../internal/format.ts';
import { getLogger } from '../../../internal/logger.ts';
import { requireInteger } from '../../../stats/parameters.ts';
import {
  type Column,
  type ColumnSource,
  isDeviceTensor,
  type SensitiveSource,
  Table,
  type TensorLike,
  toColumn,
} from '../../../table/index.ts';
import type { GroupedScores } from '../grouped-scores.ts';
import { applyOnDevice } from './apply-on-device.ts';
import {
  CALIBRATION_METHODS,
  type CalibrationMap,
  type CalibrationMethod,
  PLATT_INPUTS,
  type PlattInput,
} from './calibration-map.ts';
import {
  CALIBRATION_ROW_OPTION_NAMES,
  type CalibrationRowOptions,
  readCalibrationRows,
  readUnitScores,
} from './calibration-rows.ts';
import { calibratorFromJson, type CalibratorJson, calibratorToJson } from './calibrator-json.ts';
import { applyCalibrator, type CalibratorSettings, type CalibratorState, fitCalibrator } from './fit-calibrator.ts';
import { fitOnDevice } from './fit-on-device.ts';

/** For each kind of map, the columns that `describe` adds, with functions that read their values from the map. */
const NUMBERS: Readonly<Record<CalibrationMethod, Readonly<Record<string, (map: CalibrationMap) => number>>>> = {
  platt: {
    slope: (map) => (map.kind === 'platt' ? map.slope : NaN),
    intercept: (map) => (map.kind === 'platt' ? map.intercept : NaN),
  },
  isotonic: { points: (map) => (map.kind === 'isotonic' ? map.scores.length : NaN) },
  temperature: { temperature: (map) => (map.kind === 'temperature' ? map.temperature : NaN) },
};

/** Builds the table that `describe` returns: one row per group, and one row for all groups together. */
function describeCalibrator(state: CalibratorState, method: CalibrationMethod): Table {
  const all = { label: '(pooled)', n: state.n, positiveRate: state.positiveRate, map: null, reason: null };
  const rows = [...state.groups, all];
  const columns: [string, readonly unknown[]][] = [
    ['group', rows.map(({ label }) => label)],
    ['n', rows.map(({ n }) => n)],
    ['positive_rate', rows.map(({ positiveRate }) => positiveRate)],
    ['calibrator', rows.map(({ map }) => (map === null ? 'pooled' : 'own'))],
    ...Object.entries(NUMBERS[method]).map(([name, numberOf]): [string, readonly unknown[]] => [
      name,
      rows.map(({ map }) => numberOf(map ?? state.pooled)),
    ]),
    ['reason', rows.map(({ reason }) => reason ?? '')],
  ];
  return Table.ofColumns(columns.map(([name, values]): [string, Column] => [name, toColumn(values, name)]));
}

/** Options of {@link GroupFairnessCalibrator}. */
export interface GroupFairnessCalibratorOptions {
  /**
   * The method that maps scores to probabilities.
   * @defaultValue 'platt'
   */
  readonly method?: CalibrationMethod | undefined;
  /**
   * The minimum number of rows of a group. A smaller group uses the pooled calibrator, which is fitted on all rows.
   * @defaultValue 20
   */
  readonly minSamples?: number | undefined;
  /**
   * Whether the line of `platt` is fitted to the log-odds of the scores or to the scores themselves. Other methods do
   * not accept this option.
   * @defaultValue 'logit'
   */
  readonly input?: PlattInput | undefined;
}

/** Defaults of {@link GroupFairnessCalibratorOptions}. `input` is not included because it applies to `platt` only. */
export const CALIBRATOR_DEFAULTS: FilledOptions<GroupFairnessCalibratorOptions, 'input'> = {
  method: 'platt',
  minSamples: 20,
  input: undefined,
};

/** The groups that use the pooled calibrator, each with its number of rows and the reason. */
export type CalibrationFallbacks = Readonly<Record<string, { readonly n: number; readonly reason: string }>>;

/** Options of {@link GroupFairnessCalibrator.transform}. */
export interface CalibratorTransformOptions {
  readonly groups: SensitiveSource;
}

const CALIBRATOR_TRANSFORM_OPTION_NAMES: OptionNames<CalibratorTransformOptions> = { groups: true };

const UNSEEN = 'not among the groups fitted';

/** Scores that are not a tensor. */
type HostScores = Exclude<ColumnSource, TensorLike>;

/** The number of group names shown in a log line. */
const MAX_NAMES = 8;

/**
 * Calibrates scores separately for each group, so that a calibrated score has the same meaning in every group: among
 * the rows of a group with a calibrated score near p, the share of positives is about p. Each group gets its own map:
 *
 * - `platt`: p = sigmoid(a x + b), where x is logit(score) or the score itself. The targets are (N+ + 1) / (N+ + 2) and
 *   1 / (N- + 2), where N+ and N- are the total weights of the two labels (Platt 1999; Lin, Lin and Weng 2007). The
 *   smoothing therefore treats a row with weight 2 as two rows. The map has only two parameters per group, so it also
 *   works for groups with few rows.
 * - `isotonic`: the non-decreasing rates with the least squared error (pool adjacent violators), interpolated linearly
 *   between the fitted scores and constant beyond them. The map fits any increasing shape if a group has at least about
 *   a thousand rows. The map can return exactly 0 or 1, and it creates ties.
 * - `temperature`: p = sigmoid(logit(score) / T) with T from 0.01 to 100 (Guo et al. 2017). The map has one parameter
 *   per group. The map corrects overconfident and underconfident scores, but cannot move all scores of a group up or
 *   down.
 *
 * A group uses a pooled map of the same kind, fitted on all rows, if it has fewer than `minSamples` rows, has only one
 * label, or did not occur in `fit`. `fallbacks` lists these groups. If a method takes logits and the rows of `fit`
 * contain scores of exactly 0 or 1, these scores are moved away from 0 or 1 by half the distance of the nearest other
 * score from 0 or 1.
 *
 * Calibration per group has a cost. If groups with different base rates are each calibrated, their error rates differ
 * under any common threshold, unless prediction is perfect (Kleinberg, Mullainathan and Raghavan 2016; Chouldechova
 * 2017). Decisions depend on the group of each person, and the ranking between members of different groups changes.
 * @example
 * ```ts
 * import { GroupFairnessCalibrator } from 'evenhand/training';
 *
 * const scores = [0.2, 0.4, 0.6, 0.8, 0.2, 0.4, 0.6, 0.8];
 * const repaid = [0, 0, 1, 1, 0, 1, 1, 1];
 * const groups = ['a', 'a', 'a', 'a', 'b', 'b', 'b', 'b'];
 * const calibrator = new GroupFairnessCalibrator({ method: 'isotonic', minSamples: 4 });
 * await calibrator.fit(scores, repaid, { groups });
 * const calibrated = await calibrator.transform([0.4, 0.4, 0.4], { groups: ['a', 'b', 'c'] });
 * console.log([...calibrated], calibrator.fallbacks);
 * // [ 0, 1, 0.5 ] { c: { n: 1, reason: 'not among the groups fitted' } }
 * ```
 */
export class GroupFairnessCalibrator {
  readonly method: CalibrationMethod;
  readonly minSamples: number;
  /** Whether the line of `platt` is fitted to logits or to scores. Other methods ignore this value. */
  readonly input: PlattInput;
  #state: CalibratorState | undefined;
  #unseen: ReadonlyMap<string, number> = new Map();

  /**
   * @throws {ValueError} if the method or input is unknown, if an input is given for a method other than platt, or if
   * minSamples is not a whole number of at least 1
   */
  constructor(options: GroupFairnessCalibratorOptions = {}) {
    const { method, minSamples, input } = fillOptions('GroupFairnessCalibrator', options, CALIBRATOR_DEFAULTS);
    this.method = oneOf('method', method, CALIBRATION_METHODS);
    this.minSamples = requireInteger('minSamples', minSamples, 1);
    this.input = oneOf('input', input ?? 'logit', PLATT_INPUTS);
    if (input !== undefined && method !== 'platt') {
      throw invalidParameter('input', `be left out if the method is ${method}`, input);
    }
    Object.freeze(this);
  }

  /**
   * Fits a map for each group and replaces the maps of an earlier `fit`. If `fit` is called twice with the same rows,
   * both calls give the same maps.
   *
   * If the scores are a tensor, the fit runs on the device of the tensor, in float32. The host reads only sums per group
   * and, for `isotonic`, the fitted steps.
   * @param scores [rows], from 0 to 1
   * @param y [rows], 0 or 1
   * @throws {DataValidationError} if scores are outside [0, 1], labels are not 0 or 1, values are missing, lengths
   * differ, there are no rows, or there is only one label
   * @throws {TrainingError} if the steps of `platt` do not converge
   */
  async fit(scores: ColumnSource, y: ColumnSource, options: CalibrationRowOptions): Promise<this> {
    assertKnownOptions('GroupFairnessCalibrator.fit', options, CALIBRATION_ROW_OPTION_NAMES);
    this.#state = isDeviceTensor(scores)
      ? await fitOnDevice(scores, y, options, this)
      : fitCalibrator(await readCalibrationRows(scores, y, options), this);
    this.#unseen = new Map();
    return this;
  }

  /**
   * Calibrates each score with the map of its group.
   * @param scores [rows], from 0 to 1
   * @returns probabilities, [rows]. For a tensor of scores, a new float32 tensor on its device; dispose of it after use.
   * @throws {TrainingError} before `fit`
   * @throws {DataValidationError} if scores are outside [0, 1], values are missing, or lengths differ
   */
  async transform(scores: Tensor, options: CalibratorTransformOptions): Promise<Tensor1D>;
  async transform(scores: HostScores, options: CalibratorTransformOptions): Promise<Float64Array>;
  async transform(scores: ColumnSource, options: CalibratorTransformOptions): Promise<Float64Array | Tensor1D>;
  async transform(scores: ColumnSource, options: CalibratorTransformOptions): Promise<Float64Array | Tensor1D> {
    assertKnownOptions('GroupFairnessCalibrator.transform', options, CALIBRATOR_TRANSFORM_OPTION_NAMES);
    const state = this.#fitted();
    if (isDeviceTensor(scores)) {
      const { calibrated, unseen } = await applyOnDevice(state, scores, options.groups);
      this.#noteUnseen(unseen);
      return calibrated;
    }
    const rows = await readUnitScores(scores, options.groups);
    this.#noteUnseen(countUnseen(rows, state));
    return applyCalibrator(state, rows);
  }

  /**
   * Calls `fit`, then `transform` on the same rows. The result is better calibrated on these rows than on new rows.
   * Measure calibration on rows that were not used in `fit`, or use `calibrateHeldOut`.
   */
  async fitTransform(scores: Tensor, y: ColumnSource, options: CalibrationRowOptions): Promise<Tensor1D>;
  async fitTransform(scores: HostScores, y: ColumnSource, options: CalibrationRowOptions): Promise<Float64Array>;
  async fitTransform(
    scores: ColumnSource,
    y: ColumnSource,
    options: CalibrationRowOptions,
  ): Promise<Float64Array | Tensor1D>;
  async fitTransform(
    scores: ColumnSource,
    y: ColumnSource,
    options: CalibrationRowOptions,
  ): Promise<Float64Array | Tensor1D> {
    assertKnownOptions('GroupFairnessCalibrator.fitTransform', options, CALIBRATION_ROW_OPTION_NAMES);
    await this.fit(scores, y, options);
    return this.transform(scores, { groups: options.groups });
  }

  /**
   * The groups that use the pooled calibrator: groups that were too small or had only one label in `fit`, and groups
   * that occurred in the latest `transform` but not in `fit`. The result is empty before `fit`.
   */
  get fallbacks(): CalibrationFallbacks {
    const pooled = (this.#state?.groups ?? []).flatMap(({ label, n, reason }) =>
      reason === null ? [] : [[label, Object.freeze({ n, reason })] as const],
    );
    const unseen = Array.from(this.#unseen, ([label, n]) => [label, Object.freeze({ n, reason: UNSEEN })] as const);
    return Object.freeze(Object.fromEntries([...pooled, ...unseen]));
  }

  /** Warnings of the latest fit, for example if scores rank rows in reverse order. */
  get warnings(): readonly string[] {
    return this.#state?.warnings ?? [];
  }

  /**
   * Returns a table with one row per group and one row for all groups together, with the columns group, n,
   * positive_rate, calibrator (own or pooled), reason, and the parameters of the map. The parameters are slope and
   * intercept, temperature, or the number of points of the isotonic curve.
   * @throws {TrainingError} before `fit`
   */
  describe(): Table {
    return describeCalibrator(this.#fitted(), this.method);
  }

  toJSON(): CalibratorJson {
    return calibratorToJson({ settings: this, state: this.#state });
  }

  /**
   * Reads a calibrator that `toJSON` wrote.
   * @throws {DataValidationError} if a field is invalid; the error names the first invalid field
   */
  static fromJSON(json: unknown): GroupFairnessCalibrator {
    const { settings, state } = calibratorFromJson(json);
    return GroupFairnessCalibrator.ofState(settings, state);
  }

  /** Creates a calibrator with the given settings and learned state. */
  static ofState(settings: CalibratorSettings, state: CalibratorState | undefined): GroupFairnessCalibrator {
    const { method, minSamples, input } = settings;
    const calibrator = new GroupFairnessCalibrator({
      method,
      minSamples,
      input: method === 'platt' ? input : undefined,
    });
    calibrator.#state = state;
    return calibrator;
  }

  #fitted(): CalibratorState {
    if (this.#state !== undefined) return this.#state;
    throw new TrainingError('The calibrator has not been fitted.', {
      suggestion: 'Call fit(scores, y, { groups }) first.',
    });
  }

  #noteUnseen(counts: ReadonlyMap<string, number>): void {
    this.#unseen = counts;
    if (counts.size === 0) return;
    getLogger().warn(
      `groups unknown to the calibrator use the pooled calibrator: ${firstNames([...counts.keys()], MAX_NAMES)}`,
    );
  }
}

/** Counts the rows of each group that was not in `fit`. */
function countUnseen({ groups: { codes, labels } }: GroupedScores, state: CalibratorState): Map<string, number> {
  const known = new Set(state.groups.map(({ label }) => label));
  const counts = new Map<string, number>();
  for (const code of codes) {
    const label = labels[code] as string;
    if (!known.has(label)) counts.set(label, (counts.get(label) ?? 0) + 1);
  }
  return counts;
}
