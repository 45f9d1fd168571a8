import type { Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import { TrainingError } from '../../exceptions/index.ts';
import { assertKnownOptions, invalidParameter, oneOf, type OptionNames } from '../../internal/arguments.ts';
import { type ColumnSource, isDeviceTensor, type TensorLike } from '../../table/index.ts';
import { type Matrix, type MatrixSource, readMatrix } from '../data/read-matrix.ts';
import { fittedOr } from '../estimators/estimator-rows.ts';
import { fromStoredParams } from '../estimators/estimator-state.ts';
import type { Estimator, EstimatorJson } from '../estimators/estimator.ts';
import { type PredictionKind, predictionKind } from './oracle.ts';
import type { LossRange } from './constraint-names.ts';
import { copyOptions } from './constraint-options.ts';
import { exponentiatedGradient } from './exponentiated-gradient.ts';
import {
  type Mixture,
  mixtureDraws,
  mixtureMeans,
  type Randomization,
  RANDOMIZATIONS,
  tensorDraws,
  tensorMeans,
  uniformsFor,
} from './mixture.ts';
import { type Multipliers, reductionFit, type ReductionFit, type ReductionIteration } from './reduction-fit.ts';
import { REDUCTION_FIT_OPTION_NAMES, type ReductionFitOptions } from './row-cells.ts';
import { fitToJson, optionsToJson, readReductions, REDUCTIONS_KIND } from './reductions-json.ts';
import {
  parseReductions,
  parseSeed,
  REDUCTIONS_OPTION_NAMES,
  type ReductionsOptions,
  type ReductionsSettings,
} from './reductions-options.ts';
import { searchRows } from './search-rows.ts';

/** Options of {@link ReductionsWrapper.predict}. */
export interface RandomizedPredictOptions {
  /**
   * The seed for this call.
   * @defaultValue the seed given to the constructor
   */
  readonly seed?: number | undefined;
  /**
   * How random numbers are assigned to rows.
   * @defaultValue the value given to the constructor
   */
  readonly randomization?: Randomization | undefined;
}

const RANDOMIZED_PREDICT_OPTION_NAMES: OptionNames<RandomizedPredictOptions> = { seed: true, randomization: true };

/** One predictor of a pool, for use on its own. */
export interface DeterministicChoice {
  readonly predictor: Estimator;
  /** The index of the predictor. */
  readonly index: number;
  /** The objective of the predictor on the training rows. */
  readonly error: number;
  /** The largest excess of the predictor over a bound on the training rows, at most 0. */
  readonly excess: number;
}

/** The largest excess over a bound that is treated as a rounding error. */
const ROUNDING = 1e-12;

/**
 * Implements the exponentiated gradient reduction. The reduction learns a mixture of predictors whose rates differ
 * between groups by at most a bound, on the training rows and in expectation. Among the mixtures that satisfy the
 * bound, the result has the least error.
 *
 * Predictors and multipliers (one per event, group and side) play a game until the duality gap is small. Each step fits
 * the estimator to relabelled, reweighted rows. The multipliers follow lambda = B e^theta / (1 + sum e^theta), with B =
 * 1 / eps. A linear program finds the best mixture of the predictors found so far. If the estimator finds best
 * responses, the error of the result exceeds the error of the best mixture under the same bound by at most 2 gaps. The
 * excess of the result over the bound is then at most eps (1 + 2 gaps).
 *
 * Predictions are randomised: two equal rows may be decided differently (see `randomization`, `bestDeterministic`). If
 * the constraint is on decisions and the estimator is a regression, decisions use a threshold of 0.5. Meeting the
 * constraint reduces accuracy. On new rows, the constraint holds only up to sampling error. Rates that the constraint
 * does not name are not constrained.
 *
 * If a group has no rows in an event, it is not constrained in that event, and `warnings` reports the group. `fit`
 * throws if a parity constraint has only one group or no row in its events. If all rows have the same label, the
 * predictors are constants.
 *
 * Source: Agarwal, Beygelzimer, Dudik, Langford and Wallach (2018), A Reductions Approach to Fair Classification; for
 * losses Agarwal, Dudik and Wu (2019), Fair Regression.
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

  /**
   * @throws {ValueError} if a name is unknown, if a value is out of range, or if an option belongs to another
   * constraint
   */
  constructor(options: ReductionsOptions = {}) {
    assertKnownOptions('ReductionsWrapper', options, REDUCTIONS_OPTION_NAMES);
    this.#settings = parseReductions(options);
    this.#options = copyOptions(options);
  }

  /**
   * Fits the reduction to rows and replaces the result of an earlier `fit`. If X is a tensor, rows stay on its device,
   * and `sensitive` may be a tensor of integer codes (see `precision`).
   * @param X [rows, features], finite
   * @param y [rows]; 0 or 1, or finite values for a square or absolute loss
   * @param options the groups and further options
   * @throws {DataValidationError} if values are missing or infinite, if lengths differ, or if there are too few groups
   * @throws {TrainingError} if the estimator fails
   */
  async fit(X: MatrixSource, y: ColumnSource, options: ReductionFitOptions): Promise<this> {
    assertKnownOptions('ReductionsWrapper.fit', options, REDUCTION_FIT_OPTION_NAMES);
    this.#result = undefined;
    this.#result = await searchRows(this.#settings, { X, y, options }, async (problem, oracle) => {
      const search = { ...this.#settings, onProgress: options.onProgress };
      return reductionFit(problem, await exponentiatedGradient(problem, oracle, search));
    });
    return this;
  }

  /**
   * Returns the probability that the mixture decides 1, [rows]: the sum over predictors of weight x decision. The
   * result is not a probability of y = 1.
   * @throws {TrainingError} before `fit`
   * @throws {ValueError} for a square or absolute loss, whose predictions are values
   */
  async predictProba(X: MatrixSource): Promise<Float64Array> {
    const { constraint } = this.#settings;
    if (constraint.constraint === 'bounded_group_loss' && constraint.loss !== 'zero_one') {
      throw invalidParameter('loss', "be 'zero_one' for probabilities; use predict or predictMean", constraint.loss);
    }
    return this.#means(X);
  }

  /**
   * Returns the mean of the mixture's predictions for `bounded_group_loss`, [rows]. Each prediction is clipped to the
   * range. Losses are convex, so the mean loss of each group is at most its mean loss with the randomised predictions.
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
    return this.#means(X);
  }

  /**
   * Returns the values of `predictProba`, or of `predictMean` for values, as a tensor on the device of X, [rows]
   * float32. Dispose of it after use.
   * @throws {TrainingError} before `fit`
   */
  async predictMeanTensor(X: Tensor2D): Promise<Tensor1D> {
    return tensorMeans(this.#mixture, X, this.#range);
  }

  /**
   * Returns randomised predictions, [rows]: decisions 0 or 1. For a square or absolute loss, it returns for each row
   * the value of a randomly drawn predictor. With the same seed and the same rows, the predictions are the same.
   * @throws {TrainingError} before `fit`
   */
  async predict(X: MatrixSource, options: RandomizedPredictOptions = {}): Promise<Uint8Array | Float64Array> {
    assertKnownOptions('ReductionsWrapper.predict', options, RANDOMIZED_PREDICT_OPTION_NAMES);
    const areValues = this.#predicts === 'values';
    if (isDeviceTensor(X)) {
      const drawn = await readAndDispose(tensorDraws(this.#mixture, X, this.#uniforms(X, options)));
      return areValues ? drawn : Uint8Array.from(drawn);
    }
    const x = await readMatrix(X);
    const uniform = this.#uniforms(x, options);
    if (areValues) return mixtureDraws(this.#mixture, x, uniform);
    const probabilities = await mixtureMeans(this.#mixture, x, [0, 1]);
    return Uint8Array.from(probabilities, (probability, row) => Number(uniform(row) < probability));
  }

  /** Returns the predictions of `predict` as a tensor on the device of X, [rows] float32. Dispose of it after use. */
  async predictTensor(X: Tensor2D, options: RandomizedPredictOptions = {}): Promise<Tensor1D> {
    assertKnownOptions('ReductionsWrapper.predictTensor', options, RANDOMIZED_PREDICT_OPTION_NAMES);
    return tensorDraws(this.#mixture, X, this.#uniforms(X, options));
  }

  /**
   * Returns the predictor with the least error among the predictors that satisfy the bound on their own, on the
   * training rows. The predictor is deterministic, and its error is at least the error of the mixture. If the predictor
   * is a regression, call its `predict` with { threshold: 0.5 }.
   * @throws {TrainingError} before `fit`, or if no predictor satisfies the bound
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
      `None of ${String(predictors.length)} predictors satisfies the bound alone: the best predictor exceeds it by ${smallest.toPrecision(3)}.`,
      {
        context: { predictors: predictors.length, smallestExcess: smallest },
        suggestion:
          "Predict with the mixture (randomization 'row' gives equal rows equal predictions), or fit with a larger bound.",
      },
    );
  }

  /** The complete result of `fit`. */
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

  /** The multipliers of the best iteration, "event/group/sign". Each multiplier is the cost of its constraint. */
  get lambda(): Multipliers {
    return this.result.lambda;
  }

  /** The duality gap of the result. */
  get bestGap(): number {
    return this.result.bestGap;
  }

  /** The index of the best iteration, from 0. */
  get bestIteration(): number {
    return this.result.bestIteration;
  }

  /** The index of the last iteration, from 0. */
  get lastIteration(): number {
    return this.result.lastIteration;
  }

  /** The number of calls of the estimator. */
  get oracleCalls(): number {
    return this.result.oracleCalls;
  }

  /** One entry per iteration. */
  get history(): readonly ReductionIteration[] {
    return this.result.history;
  }

  /** Messages about groups that the constraint does not cover. */
  get warnings(): readonly string[] {
    return this.result.warnings;
  }

  /** Returns an unfitted copy with the same options. */
  clone(): ReductionsWrapper {
    // Fits use clones of the estimator, so copies can share it.
    return new ReductionsWrapper(this.#options);
  }

  /** Returns the options and the fitted state as plain data. Estimators are converted by their own `toJSON`. */
  toJSON(): EstimatorJson {
    return {
      kind: REDUCTIONS_KIND,
      params: optionsToJson(this.#options),
      state: this.#result === undefined ? null : fitToJson(this.#result),
    };
  }

  /**
   * Reads the JSON that {@link ReductionsWrapper.toJSON} wrote.
   * @throws {DataValidationError} if the data have any other form
   */
  static fromJSON(json: unknown): ReductionsWrapper {
    const { options, fit } = readReductions(json);
    const wrapper = fromStoredParams(REDUCTIONS_KIND, () => new ReductionsWrapper(options));
    wrapper.#result = fit;
    return wrapper;
  }

  async #means(X: MatrixSource): Promise<Float64Array> {
    if (isDeviceTensor(X)) return readAndDispose(tensorMeans(this.#mixture, X, this.#range));
    return mixtureMeans(this.#mixture, await readMatrix(X), this.#range);
  }

  #uniforms(x: Matrix | TensorLike, options: RandomizedPredictOptions): (row: number) => number {
    const seed = parseSeed(options.seed ?? this.#settings.seed);
    const randomization = oneOf('randomization', options.randomization ?? this.#settings.randomization, RANDOMIZATIONS);
    return uniformsFor(x, randomization, seed);
  }

  get #range(): LossRange {
    const { constraint } = this.#settings;
    return constraint.constraint === 'bounded_group_loss' ? constraint.range : [0, 1];
  }

  get #predicts(): PredictionKind {
    return predictionKind(this.#settings.constraint);
  }

  get #mixture(): Mixture {
    const { predictors, weights } = this.result;
    return { predictors, weights, predicts: this.#predicts };
  }
}

/** Reads a tensor of predictions and disposes of it. */
async function readAndDispose(tensor: Promise<Tensor1D>): Promise<Float64Array> {
  const predictions = await tensor;
  try {
    return Float64Array.from(await predictions.data());
  } finally {
    predictions.dispose();
  }
}
