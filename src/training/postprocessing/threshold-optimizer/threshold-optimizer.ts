import type { Tensor, Tensor1D } from '@tensorflow/tfjs';

import { ValueError } from '../../../exceptions/index.ts';
import { assertKnownOptions, oneOf, type OptionNames } from '../../../internal/arguments.ts';
import { counted, firstNames } from '../../../internal/format.ts';
import { getLogger } from '../../../internal/logger.ts';
import { escapeMarkdown, markdownTable } from '../../../metrics/metric-markdown.ts';
import { DEFAULT_MIN_GROUP_SIZE } from '../../../schemas/min-group-size.ts';
import { requireSeed } from '../../../stats/parameters.ts';
import { type ColumnSource, isDeviceTensor, type SensitiveSource, type TensorLike } from '../../../table/index.ts';
import type { MatrixSource } from '../../data/read-matrix.ts';
import type { Estimator } from '../../estimators/estimator.ts';
import type { GroupedScores } from '../grouped-scores.ts';
import type { ThresholdConstraintName, ThresholdObjectiveName } from './constraints.ts';
import { deviceCurves } from './device-curves.ts';
import { assertDrawnOnDevice, deviceChances, drawOnDevice, type TensorThresholdDecisions } from './device-decisions.ts';
import { DRAWS } from './draw-uniforms.ts';
import { fitRules } from './fit-rules.ts';
import { optimizerParams, readOptimizerJson, rulesToJson, type ThresholdOptimizerJson } from './optimizer-json.ts';
import {
  type OptimizerSettings,
  readOptimizerOptions,
  type ThresholdOptimizerOptions,
  type UnseenGroupsName,
} from './optimizer-options.ts';
import { scoreCurves } from './score-curve.ts';
import { readGroupedScores, readScoredRows } from './scored-rows.ts';
import {
  type DecisionChances,
  decisionChances,
  drawDecisions,
  THRESHOLD_DRAW_OPTION_NAMES,
  THRESHOLD_ROW_OPTION_NAMES,
  type ThresholdDecisions,
  type ThresholdDrawOptions,
  type ThresholdRowOptions,
} from './threshold-decisions.ts';
import {
  mixDecisions,
  type ThresholdInterpolation,
  type ThresholdOperation,
  type ThresholdRules,
} from './threshold-rules.ts';

/** Options of {@link ThresholdOptimizer.fit}. */
export interface ThresholdFitOptions {
  /** The group of each row: one attribute, or several attributes whose combinations form the groups. */
  readonly sensitive: SensitiveSource;
  /**
   * One weight per row, 0 or at least 2^-969, with a finite sum. All rates and the objective are weighted. A row with
   * weight 0 is ignored.
   * @defaultValue a weight of 1 for each row
   */
  readonly sampleWeight?: ColumnSource | undefined;
}

const THRESHOLD_FIT_OPTION_NAMES: OptionNames<ThresholdFitOptions> = { sensitive: true, sampleWeight: true };

/** Options of {@link ThresholdOptimizer.fromJSON}. */
export interface ThresholdFromJsonOptions {
  /**
   * The fitted estimator of the saved optimizer, which you restore from the field `estimator` of the JSON.
   * @defaultValue none
   */
  readonly estimator?: Estimator | undefined;
}

const THRESHOLD_FROM_JSON_OPTION_NAMES: OptionNames<ThresholdFromJsonOptions> = { estimator: true };

/** The largest number of groups that a warning names. */
const MAX_NAMES = 8;

/** The source of scores: the scores themselves, or the features if there is an estimator. */
export type ScoreSource = ColumnSource | MatrixSource;

/** Scores or features that are not a tensor. */
type HostSource = Exclude<ScoreSource, TensorLike>;

/**
 * Converts scores to decisions with a randomised threshold per group. The constraint requires a rate to be equal in all
 * groups, and the objective is maximised under this constraint (Hardt, Price and Srebro 2016, "Equality of Opportunity
 * in Supervised Learning"). On the same data, fairlearn's `ThresholdOptimizer` finds the same rules.
 *
 * For each group, every threshold gives a point (constrained rate, objective). Mixtures of two thresholds reach every
 * point on the upper convex hull of these points. For a simple constraint, `fit` selects the common rate x on a grid
 * that maximises sum_g share_g hull_g(x), where share_g is the group's share of the weight. For `equalized_odds`, it
 * selects the best point (FPR, TPR) that every group's ROC hull reaches: x on the grid, y = min_g hull_g(x). A group
 * with a higher hull ignores the score with probability `pIgnore`, and then decides 1 with probability x. If
 * `tolerance` is above 0, rates may differ by at most this value. In that case, the solution uses a window over the
 * grid or, for equalized odds, a linear program over the hulls.
 *
 * The constraint holds on the rows of `fit`, in expectation over the random draws. On other rows, rates differ by
 * chance. The method reduces accuracy, treats people with equal scores differently by group, and decides some cases at
 * random. The method needs the group for every decision, which some laws forbid.
 *
 * Scores may have any unit. A larger score means that 1 is more likely. Rates and probabilities lie in [0, 1]. If there
 * is only one group, the result is the best mixture of thresholds on the grid. If a group lacks a label that the
 * constraint or the objective needs, `fit` throws. With `demographic_parity` and `accuracy_score`, groups need not have
 * both labels. `fit` takes O(rows log rows + groups x gridSize) time.
 * @example
 * ```ts
 * import { ThresholdOptimizer } from 'evenhand/training';
 *
 * const scores = [0.9, 0.7, 0.4, 0.2, 0.8, 0.5, 0.3, 0.1];
 * const y = [1, 1, 0, 0, 1, 0, 1, 0];
 * const sensitive = ['a', 'a', 'a', 'a', 'b', 'b', 'b', 'b'];
 * const optimizer = new ThresholdOptimizer({ constraint: 'equalized_odds' });
 * await optimizer.fit(scores, y, { sensitive });
 * const probabilities = await optimizer.predictProba([0.6, 0.6], { sensitive: ['a', 'b'] });
 * console.log([...probabilities], optimizer.describe().objectiveValue);
 * // [ 0.5, 0 ] 0.75
 * ```
 */
export class ThresholdOptimizer {
  readonly constraint: ThresholdConstraintName;
  readonly objective: ThresholdObjectiveName;
  readonly gridSize: number;
  readonly flip: boolean;
  readonly tolerance: number;
  readonly unseenGroups: UnseenGroupsName;
  readonly prefit: boolean;
  readonly seed: number;
  readonly #settings: OptimizerSettings;
  #estimator: Estimator | undefined;
  #rules: ThresholdRules | undefined;

  /**
   * @throws {ValueError} if a name is unknown, if the constraint does not support the objective, or if a number is out
   *   of range
   */
  constructor(options: ThresholdOptimizerOptions = {}) {
    const settings = readOptimizerOptions(options);
    this.#settings = settings;
    this.constraint = settings.constraint;
    this.objective = settings.objective;
    this.gridSize = settings.gridSize;
    this.flip = settings.flip;
    this.tolerance = settings.tolerance;
    this.unseenGroups = settings.unseenGroups;
    this.prefit = settings.prefit;
    this.seed = settings.seed;
    this.#estimator = settings.estimator;
    Object.freeze(this);
  }

  /**
   * Reads the JSON that `toJSON` wrote.
   * @throws {DataValidationError} if a field is invalid; the error names the field
   * @throws {ValueError} if the estimator of the saved optimizer is missing or of another kind
   */
  static fromJSON(json: unknown, options: ThresholdFromJsonOptions = {}): ThresholdOptimizer {
    assertKnownOptions('ThresholdOptimizer.fromJSON', options, THRESHOLD_FROM_JSON_OPTION_NAMES);
    const { params, rules } = readOptimizerJson(json, options.estimator);
    const optimizer = new ThresholdOptimizer({ ...params, estimator: options.estimator });
    optimizer.#rules = rules;
    return optimizer;
  }

  /**
   * Chooses the rules and replaces the rules of an earlier `fit`. Use rows that were not used to train the scores, so
   * that the constraint holds better on new rows.
   *
   * If the scores are a tensor, the curves are computed on the device of the tensor. The host reads only the thresholds
   * on the convex hull of each group's curve.
   * @param scores the scores, [rows], finite; if there is an estimator, its features, [rows, features]
   * @param y [rows], 0 or 1
   * @throws {DataValidationError} if lengths differ, values are missing or infinite, labels are not 0 or 1, weights
   * are out of range, there are no rows, or a group lacks a label that the constraint or the objective needs
   * @throws {ValueError} if a tolerance for equalized odds is given with more groups than the linear program supports
   * @throws {TrainingError} if the estimator or the linear program fails
   */
  async fit(scores: ScoreSource, y: ColumnSource, options: ThresholdFitOptions): Promise<this> {
    assertKnownOptions('ThresholdOptimizer.fit', options, THRESHOLD_FIT_OPTION_NAMES);
    const { sensitive, sampleWeight } = options;
    const { estimator, prefit } = this.#settings;
    const fitted =
      prefit || estimator === undefined
        ? estimator
        : await estimator.clone().fit(scores as MatrixSource, y, { sampleWeight });
    const { constraint, objective, gridSize, flip, tolerance } = this.#settings;
    const own = await scoresOf(fitted, scores);
    try {
      const curves = isDeviceTensor(own)
        ? await deviceCurves(own, y, sensitive, sampleWeight, flip)
        : scoreCurves(await readScoredRows(own, y, sensitive, sampleWeight));
      this.#rules = await fitRules(curves, { constraint, objective, gridSize, flip, tolerance });
    } finally {
      disposeOwn(own, scores);
    }
    this.#estimator = fitted;
    for (const warning of this.warnings) getLogger().warn(warning);
    return this;
  }

  /**
   * Returns the exact probability that the group's rule decides 1 for the score of each row, [rows]. The result is not
   * the probability that y is 1.
   * @param scores the scores, [rows]; if there is an estimator, its features
   * @returns for a tensor of scores, a new float32 tensor on its device
   * @throws {DataValidationError} if values are missing or infinite, lengths differ, or, with `unseenGroups:
   * 'raise'`, a group was not in the rows of `fit`
   * @throws {ValueError} before `fit`
   */
  async predictProba(scores: Tensor, options: ThresholdRowOptions): Promise<Tensor1D>;
  async predictProba(scores: HostSource, options: ThresholdRowOptions): Promise<Float64Array>;
  async predictProba(scores: ScoreSource, options: ThresholdRowOptions): Promise<Float64Array | Tensor1D>;
  async predictProba(scores: ScoreSource, options: ThresholdRowOptions): Promise<Float64Array | Tensor1D> {
    assertKnownOptions('ThresholdOptimizer.predictProba', options, THRESHOLD_ROW_OPTION_NAMES);
    const rules = this.describe();
    const own = await scoresOf(this.#estimator, scores);
    if (!isDeviceTensor(own)) return (await this.#chances(own, options)).chances.probabilities;
    try {
      const { probabilities, rejected } = await deviceChances(own, options.sensitive, rules, this.unseenGroups);
      rejected.dispose();
      return probabilities;
    } finally {
      disposeOwn(own, scores);
    }
  }

  /**
   * Returns decisions 0 or 1, [rows], drawn with a seed. The same call returns the same decisions. With `unseenGroups:
   * 'reject'`, rows of unseen groups get 0. The result of `decide` lists these rows.
   * @param scores the scores, [rows]; if there is an estimator, its features
   * @returns for a tensor of scores, a new int32 tensor on its device
   * @throws {DataValidationError} under the conditions of `predictProba`
   * @throws {ValueError} before `fit`, if `draw` is unknown, or if it is `stable` and the scores are a tensor
   */
  async predict(scores: Tensor, options: ThresholdDrawOptions): Promise<Tensor1D>;
  async predict(scores: HostSource, options: ThresholdDrawOptions): Promise<Uint8Array>;
  async predict(scores: ScoreSource, options: ThresholdDrawOptions): Promise<Uint8Array | Tensor1D>;
  async predict(scores: ScoreSource, options: ThresholdDrawOptions): Promise<Uint8Array | Tensor1D> {
    assertKnownOptions('ThresholdOptimizer.predict', options, THRESHOLD_DRAW_OPTION_NAMES);
    const decided = await this.#decide(scores, options);
    if (!('dispose' in decided.decisions)) return decided.decisions;
    const { probabilities, rejected } = decided as TensorThresholdDecisions;
    probabilities.dispose();
    rejected.dispose();
    return decided.decisions;
  }

  /**
   * Returns decisions with their probabilities, the rejected rows, the groups that were not in the rows of `fit`, and
   * the seed.
   * @param scores the scores, [rows]; if there is an estimator, its features
   * @returns for a tensor of scores, tensors on its device; dispose of them after use
   * @throws {DataValidationError} under the conditions of `predictProba`
   * @throws {ValueError} before `fit`, if `draw` is unknown, or if it is `stable` and the scores are a tensor
   */
  async decide(scores: Tensor, options: ThresholdDrawOptions): Promise<TensorThresholdDecisions>;
  async decide(scores: HostSource, options: ThresholdDrawOptions): Promise<ThresholdDecisions>;
  async decide(
    scores: ScoreSource,
    options: ThresholdDrawOptions,
  ): Promise<ThresholdDecisions | TensorThresholdDecisions>;
  async decide(
    scores: ScoreSource,
    options: ThresholdDrawOptions,
  ): Promise<ThresholdDecisions | TensorThresholdDecisions> {
    assertKnownOptions('ThresholdOptimizer.decide', options, THRESHOLD_DRAW_OPTION_NAMES);
    return this.#decide(scores, options);
  }

  /**
   * Returns the rule of each group, by its label.
   * @throws {ValueError} before `fit`
   */
  get interpolation(): Readonly<Record<string, ThresholdInterpolation>> {
    const { groups } = this.describe();
    return Object.freeze(Object.fromEntries(groups.map(({ group, interpolation }) => [group, interpolation])));
  }

  /**
   * Returns a warning about the groups with fewer than 30 rows in `fit`, if there are any. Their rules are those of the
   * other groups, but their rates on other rows may be far from the constraint.
   * @throws {ValueError} before `fit`
   */
  get warnings(): readonly string[] {
    return smallGroupWarnings(this.describe());
  }

  /**
   * Returns the rules as frozen data, with the settings with which they were chosen and their expected rates on the
   * rows of `fit`.
   * @throws {ValueError} before `fit`
   */
  describe(): ThresholdRules {
    if (this.#rules !== undefined) return this.#rules;
    throw new ValueError('This ThresholdOptimizer instance is not fitted yet.', {
      suggestion: 'Call fit(scores, y, { sensitive }) first, and await it.',
    });
  }

  /**
   * Returns a Markdown table for human review. The table shows, for each group, the ranges of scores and the
   * probability of a positive decision in each range.
   * @throws {ValueError} before `fit`
   */
  toMarkdown(): string {
    return rulesToMarkdown(this.describe());
  }

  /** Returns plain data for `JSON.stringify`. Infinite thresholds are the texts "Infinity" and "-Infinity". */
  toJSON(): ThresholdOptimizerJson {
    return {
      kind: 'threshold_optimizer',
      params: optimizerParams(this.#settings),
      estimator: this.#estimator?.toJSON() ?? null,
      state: this.#rules === undefined ? null : rulesToJson(this.#rules),
    };
  }

  async #decide(
    scores: ScoreSource,
    options: ThresholdDrawOptions,
  ): Promise<ThresholdDecisions | TensorThresholdDecisions> {
    const rules = this.describe();
    const draw = oneOf('draw', options.draw ?? 'sequence', DRAWS);
    const seed = requireSeed(options.seed ?? this.seed);
    const own = await scoresOf(this.#estimator, scores);
    if (isDeviceTensor(own)) {
      try {
        assertDrawnOnDevice(draw);
        return drawOnDevice(await deviceChances(own, options.sensitive, rules, this.unseenGroups), seed);
      } finally {
        disposeOwn(own, scores);
      }
    }
    const { chances, rows } = await this.#chances(own, options);
    return drawDecisions(chances, rows, { seed, draw, rowIds: options.rowIds });
  }

  async #chances(
    scores: ColumnSource,
    { sensitive }: ThresholdRowOptions,
  ): Promise<{ chances: DecisionChances; rows: GroupedScores }> {
    const rows = await readGroupedScores(scores, sensitive);
    return { chances: decisionChances(rows, this.describe(), this.unseenGroups), rows };
  }
}

async function scoresOf(estimator: Estimator | undefined, source: ScoreSource): Promise<ColumnSource> {
  return estimator === undefined ? (source as ColumnSource) : estimator.predictProba(source as MatrixSource);
}

/** Disposes of scores that the estimator computed. The caller's own scores are kept. */
function disposeOwn(own: ColumnSource, given: ScoreSource): void {
  if (own !== given && isDeviceTensor(own)) (own as unknown as Tensor).dispose();
}

/** A range of scores between two thresholds, for which a rule decides 1 with the same probability. */
interface ScoreBand {
  /** The upper end of the range; undefined if the range has no upper end. */
  readonly upper: Cut | undefined;
  readonly lower: Cut | undefined;
  /** The probability, rounded and formatted as text. */
  readonly probability: string;
}

/** A point on the score axis where the decision changes: just above the threshold for '>', just below it for '<'. */
interface Cut {
  readonly threshold: number;
  readonly isBehind: boolean;
}

/** Renders the rules as a Markdown table: for each group, the scores and the probability of a positive decision. */
function rulesToMarkdown(rules: ThresholdRules): string {
  const rows = rules.groups.flatMap(({ group, n, interpolation }) =>
    scoreBands(interpolation).map(({ upper, lower, probability }, index) => [
      index === 0 ? escapeMarkdown(group) : '',
      index === 0 ? String(n) : '',
      describeScores(upper, lower),
      probability,
    ]),
  );
  return [
    `### Thresholds: ${rules.constraint}, ${rules.objective}`,
    '',
    markdownTable(['Group', 'Rows', 'Score', 'Probability of a positive decision'], rows),
    '',
    `The largest difference between groups in a constrained rate is ${formatRate(rules.gap)} on these rows, in ` +
      `expectation; ${rules.objective} is ${formatRate(rules.objectiveValue)}. Thresholds and probabilities are ` +
      'rounded to six digits here. Every decision needs the group.',
    ...smallGroupWarnings(rules).flatMap((text) => ['', `Warning: ${escapeMarkdown(text)}.`]),
  ].join('\n');
}

function smallGroupWarnings({ groups }: ThresholdRules): readonly string[] {
  const small = groups.filter(({ n }) => n < DEFAULT_MIN_GROUP_SIZE);
  if (small.length === 0) return [];
  const named = small.map(({ group, n }) => `${group} (${counted(n, 'row')})`);
  const each = small.length === 1 ? '' : ' each';
  return Object.freeze([
    `the thresholds of ${counted(small.length, 'group')} come from fewer than ${String(DEFAULT_MIN_GROUP_SIZE)} ` +
      `rows${each}: ${firstNames(named, MAX_NAMES)}; on other rows, their rates may be far from the constraint`,
  ]);
}

/**
 * Splits the scores of a rule into bands, from high to low scores. Neighbouring bands with equal probability are
 * merged.
 */
function scoreBands(rule: ThresholdInterpolation): ScoreBand[] {
  const cuts = [rule.operation0, rule.operation1]
    .filter(({ threshold }) => Number.isFinite(threshold))
    .map(cutOf)
    .sort((a, b) => b.threshold - a.threshold || Number(b.isBehind) - Number(a.isBehind))
    .filter((cut, index, all) => index === 0 || !isSame(cut, all[index - 1] as Cut));
  const merged: ScoreBand[] = [];
  for (let band = 0; band <= cuts.length; band++) {
    const mixed = mixDecisions(rule, decisionIn(rule.operation0, band), decisionIn(rule.operation1, band));
    const probability = formatRate(Math.min(1, mixed));
    const isSameAsBefore = merged.at(-1)?.probability === probability;
    const upper = isSameAsBefore ? merged.pop()?.upper : cuts[band - 1];
    merged.push({ upper, lower: cuts[band], probability });
  }
  return merged;

  /** Returns the decision of an operation for the scores of a band. Bands 0 to k lie above cut k. */
  function decisionIn(operation: ThresholdOperation, band: number): number {
    const { operator, threshold } = operation;
    const cut = cutOf(operation);
    const isAbove = Number.isFinite(threshold)
      ? band <= cuts.findIndex((other) => isSame(other, cut))
      : threshold === -Infinity;
    return Number(isAbove === (operator === '>'));
  }
}

function cutOf({ operator, threshold }: ThresholdOperation): Cut {
  return { threshold, isBehind: operator === '>' };
}

function isSame(a: Cut, b: Cut): boolean {
  return a.threshold === b.threshold && a.isBehind === b.isBehind;
}

function describeScores(upper: Cut | undefined, lower: Cut | undefined): string {
  const ends = [
    ...(lower === undefined ? [] : [`${lower.isBehind ? 'above' : 'at least'} ${formatScore(lower.threshold)}`]),
    ...(upper === undefined ? [] : [`${upper.isBehind ? 'at most' : 'below'} ${formatScore(upper.threshold)}`]),
  ];
  return ends.length === 0 ? 'any' : ends.join(', ');
}

function formatScore(threshold: number): string {
  return String(Number(threshold.toPrecision(6)));
}

function formatRate(rate: number): string {
  return String(Number(rate.toFixed(6)));
}
