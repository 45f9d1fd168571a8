import { ValueError } from '../../../exceptions/index.ts';
import { assertKnownOptions, oneOf, type OptionNames } from '../../../internal/arguments.ts';
import { escapeMarkdown, markdownTable } from '../../../metrics/metric-markdown.ts';
import type { ColumnSource, SensitiveSource } from '../../../table/index.ts';
import type { MatrixSource } from '../../data/read-matrix.ts';
import type { Estimator } from '../../estimators/estimator.ts';
import { type GroupedScores, readSeed } from '../grouped-scores.ts';
import type { ThresholdConstraintName, ThresholdObjectiveName } from './constraints.ts';
import { DRAWS } from './draw-uniforms.ts';
import { fitRules } from './fit-rules.ts';
import { optimizerParams, readOptimizerJson, type ThresholdOptimizerJson } from './optimizer-json.ts';
import {
  type OptimizerSettings,
  readOptimizerOptions,
  THRESHOLD_OPTIMIZER_OPTION_NAMES,
  type ThresholdOptimizerOptions,
  type UnseenGroupsName,
} from './optimizer-options.ts';
import { rulesToJson } from './rules-json.ts';
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
import { mixDecisions, type ThresholdInterpolation, type ThresholdOperation } from './threshold-rule.ts';
import type { ThresholdRules } from './threshold-rules.ts';

/** Options of {@link ThresholdOptimizer.fit}. */
export interface ThresholdFitOptions {
  /** The group of each row: one attribute, or several whose crossing is meant. */
  readonly sensitive: SensitiveSource;
  /**
   * One weight per row, 0 or at least 2^-969, of a finite sum; it enters every rate
   * and the objective. A row of weight 0 is as if it were not there.
   * @defaultValue 1 each
   */
  readonly sampleWeight?: ColumnSource | undefined;
}

const THRESHOLD_FIT_OPTION_NAMES: OptionNames<ThresholdFitOptions> = { sensitive: true, sampleWeight: true };

/** Options of {@link ThresholdOptimizer.fromJSON}. */
export interface ThresholdFromJsonOptions {
  /**
   * The fitted estimator that the optimizer had, read back from the JSON's `estimator`.
   * @defaultValue none
   */
  readonly estimator?: Estimator | undefined;
}

const THRESHOLD_FROM_JSON_OPTION_NAMES: OptionNames<ThresholdFromJsonOptions> = { estimator: true };

/** Where scores come from: scores themselves, or with an estimator its features. */
export type ScoreSource = ColumnSource | MatrixSource;

/**
 * Turns scores into decisions by a randomised threshold of each group's own, so
 * that a rate is the same in all groups while an objective is as large as that
 * allows (Hardt, Price and Srebro 2016, "Equality of Opportunity in Supervised
 * Learning"; the same rules as fairlearn's class of this name).
 *
 * For each group, thresholds and their mixtures reach the points under the upper
 * convex hull of (constrained rate, objective). A simple constraint takes the
 * common rate x on a grid at which sum_g share_g hull_g(x) is largest, share_g
 * the group's share of the weight. `equalized_odds` takes the best point
 * (FPR, TPR) that every group's ROC hull reaches: x on the grid,
 * y = min_g hull_g(x). A group whose hull is higher ignores the score with
 * probability `pIgnore` and decides 1 with probability x then. With a
 * `tolerance` rates may differ by that much: a window over the grid, or for
 * equalized odds a linear program over the hulls.
 *
 * It constrains rates on the rows that it was fitted on, in expectation over its
 * draws; on other rows they differ by chance. It costs accuracy, treats people
 * of one score differently by their group, and decides some of them by lot. It
 * needs the group at each decision, which some law forbids.
 *
 * Scores may have any unit; larger means more likely 1. Rates and probabilities
 * lie in [0, 1]. With one group it is the best mixture of thresholds on the grid.
 * A group without a label that the constraint or the objective needs is an
 * error; `demographic_parity` with `accuracy_score` needs none. O(rows log rows +
 * groups x gridSize).
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

  /** @throws {ValueError} for an unknown name, an objective that the constraint does not go with, or a number out of range */
  constructor(options: ThresholdOptimizerOptions = {}) {
    assertKnownOptions('ThresholdOptimizer', options, THRESHOLD_OPTIMIZER_OPTION_NAMES);
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
   * Reads back what `toJSON` wrote.
   * @throws {DataValidationError} for anything else, naming the field
   * @throws {ValueError} where the estimator that it had is missing or of another kind
   */
  static fromJSON(json: unknown, options: ThresholdFromJsonOptions = {}): ThresholdOptimizer {
    assertKnownOptions('ThresholdOptimizer.fromJSON', options, THRESHOLD_FROM_JSON_OPTION_NAMES);
    const { params, rules } = readOptimizerJson(json, options.estimator);
    const optimizer = new ThresholdOptimizer({ ...params, estimator: options.estimator });
    optimizer.#rules = rules;
    return optimizer;
  }

  /**
   * Chooses the rules, and forgets those chosen before. Rows that the scores
   * were not trained on give rules that hold better on other rows.
   * @param scores [rows], finite; with an estimator its features, [rows, features]
   * @param y [rows], 0 or 1
   * @throws {DataValidationError} for lengths that differ, missing or infinite values, other labels, weights out of range,
   * no rows, or a group that lacks a label which the constraint or the objective needs
   * @throws {ValueError} for a tolerance for equalized odds with more groups than the linear program takes
   * @throws {TrainingError} where the estimator or the linear program fails
   */
  async fit(scores: ScoreSource, y: ColumnSource, options: ThresholdFitOptions): Promise<this> {
    assertKnownOptions('ThresholdOptimizer.fit', options, THRESHOLD_FIT_OPTION_NAMES);
    const { sensitive, sampleWeight } = options;
    const { estimator, prefit } = this.#settings;
    const fitted =
      prefit || estimator === undefined
        ? estimator
        : await estimator.clone().fit(scores as MatrixSource, y, { sampleWeight });
    const rows = await readScoredRows(await scoresOf(fitted, scores), y, sensitive, sampleWeight);
    const { constraint, objective, gridSize, flip, tolerance } = this.#settings;
    this.#rules = await fitRules(rows, { constraint, objective, gridSize, flip, tolerance });
    this.#estimator = fitted;
    return this;
  }

  /**
   * The exact probability of a decision 1 for each row, [rows]: how often the
   * group's rule gives 1 to this score. Not the probability that y is 1.
   * @param scores [rows]; with an estimator its features
   * @throws {DataValidationError} for missing or infinite values, lengths that differ, and with `unseenGroups: 'raise'`
   * for a group that was not there in `fit`
   * @throws {ValueError} before `fit`
   */
  async predictProba(scores: ScoreSource, options: ThresholdRowOptions): Promise<Float64Array> {
    assertKnownOptions('ThresholdOptimizer.predictProba', options, THRESHOLD_ROW_OPTION_NAMES);
    return (await this.#chances(scores, options)).chances.probabilities;
  }

  /**
   * Decisions 0 or 1, [rows], drawn by seed: the same call gives the same answer.
   * Under `unseenGroups: 'reject'` rows of unseen groups get 0; `decide` lists them.
   * @param scores [rows]; with an estimator its features
   * @throws {DataValidationError} as `predictProba` does
   * @throws {ValueError} before `fit`, and for an unknown way to draw
   */
  async predict(scores: ScoreSource, options: ThresholdDrawOptions): Promise<Uint8Array> {
    assertKnownOptions('ThresholdOptimizer.predict', options, THRESHOLD_DRAW_OPTION_NAMES);
    return (await this.decide(scores, options)).decisions;
  }

  /**
   * Decisions with their probabilities, the rows that were rejected, the groups
   * that were not there in `fit`, and the seed.
   * @param scores [rows]; with an estimator its features
   * @throws {DataValidationError} as `predictProba` does
   * @throws {ValueError} before `fit`, and for an unknown way to draw
   */
  async decide(scores: ScoreSource, options: ThresholdDrawOptions): Promise<ThresholdDecisions> {
    assertKnownOptions('ThresholdOptimizer.decide', options, THRESHOLD_DRAW_OPTION_NAMES);
    const draw = oneOf('draw', options.draw ?? 'sequence', DRAWS);
    const seed = readSeed(options.seed ?? this.seed);
    const { chances, rows } = await this.#chances(scores, options);
    return drawDecisions(chances, rows, { seed, draw, rowIds: options.rowIds });
  }

  /**
   * The rule of each group, by its label.
   * @throws {ValueError} before `fit`
   */
  get interpolation(): Readonly<Record<string, ThresholdInterpolation>> {
    const { groups } = this.describe();
    return Object.freeze(Object.fromEntries(groups.map(({ group, interpolation }) => [group, interpolation])));
  }

  /**
   * The rules with what produced them and what they come to on the rows of `fit`,
   * frozen.
   * @throws {ValueError} before `fit`
   */
  describe(): ThresholdRules {
    if (this.#rules !== undefined) return this.#rules;
    throw new ValueError('This ThresholdOptimizer instance is not fitted yet.', {
      suggestion: 'Call fit(scores, y, { sensitive }) first, and await it.',
    });
  }

  /**
   * A Markdown table that a person can check: for each group, which scores get a
   * positive decision with what probability.
   * @throws {ValueError} before `fit`
   */
  toMarkdown(): string {
    return rulesToMarkdown(this.describe());
  }

  /** Plain data for `JSON.stringify`; infinite thresholds are the texts "Infinity" and "-Infinity". */
  toJSON(): ThresholdOptimizerJson {
    return {
      kind: 'threshold_optimizer',
      params: optimizerParams(this.#settings),
      estimator: this.#estimator?.toJSON() ?? null,
      state: this.#rules === undefined ? null : rulesToJson(this.#rules),
    };
  }

  async #chances(
    scores: ScoreSource,
    { sensitive }: ThresholdRowOptions,
  ): Promise<{ chances: DecisionChances; rows: GroupedScores }> {
    const rules = this.describe();
    const rows = await readGroupedScores(await scoresOf(this.#estimator, scores), sensitive);
    return { chances: decisionChances(rows, rules, this.unseenGroups), rows };
  }
}

async function scoresOf(estimator: Estimator | undefined, source: ScoreSource): Promise<ColumnSource> {
  return estimator === undefined ? (source as ColumnSource) : estimator.predictProba(source as MatrixSource);
}

/** Scores between two thresholds that all have one probability. */
interface ScoreBand {
  /** Where they end above; undefined where they do not. */
  readonly upper: Cut | undefined;
  readonly lower: Cut | undefined;
  /** As it is printed. */
  readonly probability: string;
}

/** Where a decision changes along the scores: behind the threshold with '>', before it with '<'. */
interface Cut {
  readonly threshold: number;
  readonly isBehind: boolean;
}

/** The rules as a Markdown table: for each group, the scores and the probability of a positive decision. */
function rulesToMarkdown(rules: ThresholdRules): string {
  const rows = rules.groups.flatMap(({ group, n, interpolation }) =>
    scoreBands(interpolation).map(({ upper, lower, probability }, place) => [
      place === 0 ? escapeMarkdown(group) : '',
      place === 0 ? String(n) : '',
      describeScores(upper, lower),
      probability,
    ]),
  );
  return [
    `### Thresholds: ${rules.constraint}, ${rules.objective}`,
    '',
    markdownTable(['Group', 'Rows', 'Score', 'Probability of a positive decision'], rows),
    '',
    `The largest gap between groups that the constraint speaks of is ${formatRate(rules.gap)} on these rows, in ` +
      `expectation; ${rules.objective} is ${formatRate(rules.objectiveValue)}. Thresholds and probabilities are ` +
      'rounded to six digits here. Every decision needs the group.',
  ].join('\n');
}

/** The bands of scores of a rule, from high scores to low ones; neighbours of one probability are one. */
function scoreBands(rule: ThresholdInterpolation): ScoreBand[] {
  const cuts = [rule.operation0, rule.operation1]
    .filter(({ threshold }) => Number.isFinite(threshold))
    .map(cutOf)
    .sort((a, b) => b.threshold - a.threshold || Number(b.isBehind) - Number(a.isBehind))
    .filter((cut, place, all) => place === 0 || !isSame(cut, all[place - 1] as Cut));
  const merged: ScoreBand[] = [];
  for (let band = 0; band <= cuts.length; band++) {
    const mixed = mixDecisions(rule, decisionIn(rule.operation0, band), decisionIn(rule.operation1, band));
    const probability = formatRate(Math.min(1, mixed));
    const isSameAsBefore = merged.at(-1)?.probability === probability;
    const upper = isSameAsBefore ? merged.pop()?.upper : cuts[band - 1];
    merged.push({ upper, lower: cuts[band], probability });
  }
  return merged;

  /** Bands 0 to k lie above cut k. */
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
