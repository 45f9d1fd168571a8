import { TrainingError } from '../../exceptions/index.ts';
import { assertKnownOptions, invalidParameter, oneOf, type OptionNames } from '../../internal/arguments.ts';
import type { ColumnSource } from '../../table/index.ts';
import { type MatrixSource, readMatrix } from '../data/read-matrix.ts';
import { fittedOr } from '../estimators/estimator-rows.ts';
import { fromStoredParams } from '../estimators/estimator-state.ts';
import type { Estimator, EstimatorJson } from '../estimators/estimator.ts';
import { type PredictionKind, predictionKind } from './ask-predictions.ts';
import { copyOptions } from './constraint-options.ts';
import { exponentiatedGradient } from './exponentiated-gradient.ts';
import {
  type Mixture,
  mixtureDraws,
  mixtureMeans,
  type Randomization,
  RANDOMIZATIONS,
  uniformsFor,
} from './mixture.ts';
import { createOracle } from './oracle.ts';
import { poseProblem } from './pose-problem.ts';
import { type Multipliers, reductionFit, type ReductionFit, type ReductionIteration } from './reduction-fit.ts';
import { readReductionRows, REDUCTION_FIT_OPTION_NAMES, type ReductionFitOptions } from './reduction-rows.ts';
import { fitToJson, optionsToJson, readReductions, REDUCTIONS_KIND } from './reductions-json.ts';
import {
  parseReductions,
  parseSeed,
  REDUCTIONS_OPTION_NAMES,
  type ReductionsOptions,
  type ReductionsSettings,
} from './reductions-options.ts';

/** Options of {@link ReductionsWrapper.predict}. */
export interface RandomizedPredictOptions {
  /** @defaultValue the constructor's */
  readonly seed?: number | undefined;
  /** @defaultValue the constructor's */
  readonly randomization?: Randomization | undefined;
}

const RANDOMIZED_PREDICT_OPTION_NAMES: OptionNames<RandomizedPredictOptions> = { seed: true, randomization: true };

/** One predictor of a pool, by itself. */
export interface DeterministicChoice {
  readonly predictor: Estimator;
  /** Its place among the predictors. */
  readonly index: number;
  /** The objective on the training rows. */
  readonly error: number;
  /** The largest excess over a bound on the training rows, 0 or less. */
  readonly excess: number;
}

/** What a bound may be missed by in rounding. */
const ROUNDING = 1e-12;

/**
 * The exponentiated gradient reduction: learns a mixture of predictors of least
 * error whose rates differ between groups by no more than a bound, on the
 * training rows and in expectation.
 *
 * A game between predictors and multipliers (one per event, group and side) is
 * played to a small duality gap. Each step asks the estimator for its best
 * answer to relabelled, reweighted rows; the multipliers follow
 * lambda = B e^theta / (1 + sum e^theta), B = 1 / eps; a linear program finds
 * the best mixture of the predictors so far. The answer's error is within
 * 2 gaps of the best mixture's under the same bound, and its excess over the
 * bound at most eps (1 + 2 gaps), as far as the estimator finds best answers.
 *
 * Predictions are randomised: two equal rows may be decided differently (see
 * `randomization`, `bestDeterministic`). A regression as the estimator of
 * decisions decides at 0.5. The constraint is met by giving up
 * accuracy, and holds on new rows only up to sampling error; nothing is
 * constrained that the constraint does not name.
 *
 * A group without rows in an event is not constrained there, which `warnings`
 * say; a parity with one group, or without any row in its events, is an error.
 * Where all rows have one label, predictors are constants.
 *
 * Source: Agarwal, Beygelzimer, Dudik, Langford and Wallach (2018), A
 * Reductions Approach to Fair Classification; for losses Agarwal, Dudik and Wu
 * (2019), Fair Regression.
 * @example
 * ```ts
 * import { ReductionsWrapper } from 'evenhand/training';
 *
 * const X = [[0], [1], [2], [3], [4], [5], [2], [3], [4], [5], [6], [7]];
 * const y = [0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 1, 1];
 * const sensitive = ['a', 'a', 'a', 'a', 'a', 'a', 'b', 'b', 'b', 'b', 'b', 'b'];
 * const model = new ReductionsWrapper({ constraint: 'demographic_parity', differenceBound: 0.05 });
 * await model.fit(X, y, { sensitive });
 * const p = await model.predictProba(X);
 * const rate = (from: number) => p.slice(from, from + 6).reduce((a, b) => a + b) / 6;
 * console.log((rate(6) - rate(0)).toFixed(2), model.bestGap < model.result.nu);
 * // 0.10 true
 * ```
 */
export class ReductionsWrapper {
  readonly #options: ReductionsOptions;
  readonly #settings: ReductionsSettings;
  #result: ReductionFit | undefined;

  /** @throws {ValueError} for unknown names, values out of range, and options of another constraint */
  constructor(options: ReductionsOptions = {}) {
    assertKnownOptions('ReductionsWrapper', options, REDUCTIONS_OPTION_NAMES);
    this.#settings = parseReductions(options);
    this.#options = copyOptions(options);
  }

  /**
   * Learns from rows, and forgets what was learned before.
   * @param X [rows, features], finite
   * @param y [rows]; 0 or 1, or finite values for a square or absolute loss
   * @param options the groups, and what else there is
   * @throws {DataValidationError} for missing or infinite values, lengths that differ, or too few groups
   * @throws {TrainingError} where the estimator fails
   */
  async fit(X: MatrixSource, y: ColumnSource, options: ReductionFitOptions): Promise<this> {
    assertKnownOptions('ReductionsWrapper.fit', options, REDUCTION_FIT_OPTION_NAMES);
    this.#result = undefined;
    const { estimator, constraint, ...search } = this.#settings;
    const rows = await readReductionRows(X, y, options);
    const problem = poseProblem(constraint, rows);
    const oracle = createOracle({ estimator, x: rows.x, predicts: this.#predicts, signal: options.signal });
    const found = await exponentiatedGradient(problem, oracle, { ...search, onProgress: options.onProgress });
    this.#result = reductionFit(problem, found);
    return this;
  }

  /**
   * The probability that the mixture decides 1: [rows], the sum of weight x
   * decision. It is no probability of y = 1.
   * @throws {TrainingError} before `fit`
   * @throws {ValueError} for a square or absolute loss, whose predictions are values
   */
  async predictProba(X: MatrixSource): Promise<Float64Array> {
    const { constraint } = this.#settings;
    if (constraint.constraint === 'bounded_group_loss' && constraint.loss !== 'zero_one') {
      throw invalidParameter('loss', "be 'zero_one' for probabilities; use predict or predictMean", constraint.loss);
    }
    return mixtureMeans(this.#mixture, await readMatrix(X), [0, 1]);
  }

  /**
   * The mean of the mixture's predictions, each cut to the range, for
   * `bounded_group_loss`: [rows]. Losses are convex, so that no group's mean
   * loss is larger than under the randomised predictions.
   * @throws {TrainingError} before `fit`
   * @throws {ValueError} for a constraint on decisions
   */
  async predictMean(X: MatrixSource): Promise<Float64Array> {
    const { constraint } = this.#settings;
    if (constraint.constraint !== 'bounded_group_loss') {
      throw invalidParameter(
        'constraint',
        "be 'bounded_group_loss' for means; use predictProba",
        constraint.constraint,
      );
    }
    return mixtureMeans(this.#mixture, await readMatrix(X), constraint.range);
  }

  /**
   * Randomised predictions, [rows]: decisions 0 or 1, or for a square or
   * absolute loss the value of a predictor picked for each row. The same seed
   * and rows give the same predictions.
   * @throws {TrainingError} before `fit`
   */
  async predict(X: MatrixSource, options: RandomizedPredictOptions = {}): Promise<Uint8Array | Float64Array> {
    assertKnownOptions('ReductionsWrapper.predict', options, RANDOMIZED_PREDICT_OPTION_NAMES);
    const x = await readMatrix(X);
    const seed = parseSeed(options.seed ?? this.#settings.seed);
    const randomization = oneOf('randomization', options.randomization ?? this.#settings.randomization, RANDOMIZATIONS);
    const uniform = uniformsFor(x, randomization, seed);
    if (this.#predicts === 'values') return mixtureDraws(this.#mixture, x, uniform);
    const probabilities = await mixtureMeans(this.#mixture, x, [0, 1]);
    return Uint8Array.from(probabilities, (probability, row) => Number(uniform(row) < probability));
  }

  /**
   * The predictor of least error among those that keep to the bound by
   * themselves on the training rows. It decides without chance; its error is at
   * least the mixture's. Ask a regression among them with { threshold: 0.5 }.
   * @throws {TrainingError} before `fit`, or where no predictor keeps to the bound
   */
  bestDeterministic(): DeterministicChoice {
    const { predictors, errors, excesses } = this.result;
    const within = predictors
      .map((predictor, index) => ({
        predictor,
        index,
        error: errors[index] as number,
        excess: excesses[index] as number,
      }))
      .filter(({ excess }) => excess <= ROUNDING);
    if (within.length > 0)
      return Object.freeze(within.reduce((best, other) => (other.error < best.error ? other : best)));
    const smallest = Math.min(...excesses);
    throw new TrainingError(
      `None of ${String(predictors.length)} predictors keeps to the bound by itself: the best exceeds it by ${smallest.toPrecision(3)}.`,
      {
        context: { predictors: predictors.length, smallestExcess: smallest },
        suggestion:
          "Predict with the mixture (randomization 'row' answers equal rows equally), or fit with a larger bound.",
      },
    );
  }

  /** Everything that `fit` found. */
  get result(): ReductionFit {
    return fittedOr(this.#result, 'ReductionsWrapper');
  }

  /** The mixture's predictors. */
  get predictors(): readonly Estimator[] {
    return this.result.predictors;
  }

  /** The probability of each predictor. */
  get weights(): readonly number[] {
    return this.result.weights;
  }

  /** The multipliers of the best iteration, "event/group/sign": the price of each constraint that binds. */
  get lambda(): Multipliers {
    return this.result.lambda;
  }

  /** The duality gap of the answer. */
  get bestGap(): number {
    return this.result.bestGap;
  }

  /** From 0. */
  get bestIteration(): number {
    return this.result.bestIteration;
  }

  /** From 0. */
  get lastIteration(): number {
    return this.result.lastIteration;
  }

  /** How often the estimator was asked. */
  get oracleCalls(): number {
    return this.result.oracleCalls;
  }

  /** One entry per iteration. */
  get history(): readonly ReductionIteration[] {
    return this.result.history;
  }

  /** Groups that the constraint could not reach. */
  get warnings(): readonly string[] {
    return this.result.warnings;
  }

  /** A copy with the same options that has learned nothing. */
  clone(): ReductionsWrapper {
    // Fits use clones of the estimator, so that copies may share it.
    return new ReductionsWrapper(this.#options);
  }

  /** The options and what was learned, as plain data; estimators by their own `toJSON`. */
  toJSON(): EstimatorJson {
    return {
      kind: REDUCTIONS_KIND,
      params: optionsToJson(this.#options),
      state: this.#result === undefined ? null : fitToJson(this.#result),
    };
  }

  /**
   * Reads what {@link ReductionsWrapper.toJSON} wrote.
   * @throws {DataValidationError} for other data
   */
  static fromJSON(json: unknown): ReductionsWrapper {
    const { options, fit } = readReductions(json);
    const wrapper = fromStoredParams(REDUCTIONS_KIND, () => new ReductionsWrapper(options));
    wrapper.#result = fit;
    return wrapper;
  }

  get #predicts(): PredictionKind {
    return predictionKind(this.#settings.constraint);
  }

  get #mixture(): Mixture {
    const { predictors, weights } = this.result;
    return { predictors, weights, predicts: this.#predicts };
  }
}
