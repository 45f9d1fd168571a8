import { assertKnownOptions } from '../../internal/arguments.ts';
import type { ColumnSource } from '../../table/index.ts';
import { type MatrixSource, readMatrix } from '../data/read-matrix.ts';
import { fittedOr } from '../estimators/estimator-rows.ts';
import { fromStoredParams } from '../estimators/estimator-state.ts';
import {
  type Estimator,
  type EstimatorJson,
  PREDICT_OPTION_NAMES,
  type PredictOptions,
} from '../estimators/estimator.ts';
import { askPredictions, predictionKind } from './ask-predictions.ts';
import { copyOptions } from './constraint-options.ts';
import {
  GRID_SEARCH_OPTION_NAMES,
  type GridSearchFit,
  type GridSearchOptions,
  type GridSearchSettings,
  parseGridSearch,
} from './grid-search-options.ts';
import { createOracle } from './oracle.ts';
import { poseProblem } from './pose-problem.ts';
import { readReductionRows, REDUCTION_FIT_OPTION_NAMES, type ReductionFitOptions } from './reduction-rows.ts';
import { GRID_SEARCH_KIND, gridToJson, optionsToJson, readGridSearch } from './reductions-json.ts';
import { searchGrid } from './search-grid.ts';

/**
 * The grid search reduction: fits the estimator once per point of a grid of
 * multipliers, and keeps the predictor of least
 * (1 - constraintWeight) error + constraintWeight (largest violation) on the
 * training rows.
 *
 * The answer is one predictor that decides without chance. It keeps to no
 * bound: it is as near to the constraint as the grid has a point for, at what
 * that costs in error. A grid has a dimension per group and event, less one
 * group of each event: with one dimension it is thorough; beyond four, which
 * `warnings` tell, prefer `ReductionsWrapper`.
 *
 * The points are the first `gridSize` of one fixed sequence, so that a larger grid
 * contains every smaller one and selects nothing worse. They run over all groups
 * but the lightest of each event, whose constraint follows from the others'; of
 * groups alike in weight and labels the last by name counts as the lightest. With
 * `compat: 'fairlearn'` they are the points of fairlearn's grid. Points are multipliers
 * "event/group/sign" (a slash in a name is written \/) with a sum of at most `gridLimit`; for
 * `bounded_group_loss` the sum is `gridLimit`.
 *
 * Source: Agarwal et al. (2018), section 3.4.
 * @example
 * ```ts
 * import { GridSearchReduction } from 'evenhand/training';
 *
 * const X = [[0], [1], [2], [3], [4], [5], [2], [3], [4], [5], [6], [7]];
 * const y = [0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 1, 1];
 * const sensitive = ['a', 'a', 'a', 'a', 'a', 'a', 'b', 'b', 'b', 'b', 'b', 'b'];
 * const search = new GridSearchReduction({ constraint: 'demographic_parity', gridSize: 9 });
 * await search.fit(X, y, { sensitive });
 * console.log(search.predictors.length, search.result.violations[search.bestIndex].toFixed(2));
 * // 9 0.17
 * ```
 */
export class GridSearchReduction {
  readonly #options: GridSearchOptions;
  readonly #settings: GridSearchSettings;
  #result: GridSearchFit | undefined;

  /** @throws {ValueError} for unknown names, values out of range, and options of another constraint */
  constructor(options: GridSearchOptions = {}) {
    // First what a reduction knows and a grid search cannot do, whose error says so.
    this.#settings = parseGridSearch(options);
    assertKnownOptions('GridSearchReduction', options, GRID_SEARCH_OPTION_NAMES);
    this.#options = copyOptions({ ...options, grid: this.#settings.grid });
  }

  /**
   * Learns from rows, and forgets what was learned before.
   * @param X [rows, features], finite
   * @param y [rows]; 0 or 1, or finite values for a square or absolute loss
   * @param options the groups, and what else there is
   * @throws {DataValidationError} for missing or infinite values, lengths that differ, or too few groups
   * @throws {ValueError} where a given grid names a multiplier that the data have not
   * @throws {TrainingError} where the estimator fails
   */
  async fit(X: MatrixSource, y: ColumnSource, options: ReductionFitOptions): Promise<this> {
    assertKnownOptions('GridSearchReduction.fit', options, REDUCTION_FIT_OPTION_NAMES);
    this.#result = undefined;
    const { estimator, constraint } = this.#settings;
    const rows = await readReductionRows(X, y, options);
    const problem = poseProblem(constraint, rows, this.#settings.compat);
    const predicts = predictionKind(constraint);
    const oracle = createOracle({ estimator, x: rows.x, predicts, signal: options.signal });
    this.#result = await searchGrid(problem, oracle, this.#settings, options.onProgress);
    return this;
  }

  /**
   * The best predictor's decisions, or its values for a square or absolute
   * loss: [rows]. A regression decides at 0.5 unless told otherwise.
   * @throws {TrainingError} before `fit`
   */
  async predict(X: MatrixSource, options: PredictOptions = {}): Promise<Uint8Array | Float64Array> {
    assertKnownOptions('GridSearchReduction.predict', options, PREDICT_OPTION_NAMES);
    const { best } = this;
    if (options.threshold !== undefined) return best.predict(X, options);
    return askPredictions(best, await readMatrix(X), predictionKind(this.#settings.constraint));
  }

  /**
   * The best predictor's scores: [rows]. It learned other labels and weights than
   * the data's, so that they are no probabilities of y = 1.
   * @throws {TrainingError} before `fit`
   */
  async predictProba(X: MatrixSource): Promise<Float64Array> {
    return this.best.predictProba(X);
  }

  /** Everything that `fit` found. */
  get result(): GridSearchFit {
    return fittedOr(this.#result, 'GridSearchReduction');
  }

  /** The predictor of the best point. */
  get best(): Estimator {
    return this.result.predictors[this.result.bestIndex] as Estimator;
  }

  /** The place of the best point. */
  get bestIndex(): number {
    return this.result.bestIndex;
  }

  /** One predictor per point. */
  get predictors(): readonly Estimator[] {
    return this.result.predictors;
  }

  /** Groups that the constraint could not reach, and grids that are coarse. */
  get warnings(): readonly string[] {
    return this.result.warnings;
  }

  /** A copy with the same options that has learned nothing. */
  clone(): GridSearchReduction {
    // Fits use clones of the estimator, so that copies may share it.
    return new GridSearchReduction(this.#options);
  }

  /** The options and what was learned, as plain data; estimators by their own `toJSON`. */
  toJSON(): EstimatorJson {
    return {
      kind: GRID_SEARCH_KIND,
      params: optionsToJson(this.#options),
      state: this.#result === undefined ? null : gridToJson(this.#result),
    };
  }

  /**
   * Reads what {@link GridSearchReduction.toJSON} wrote.
   * @throws {DataValidationError} for other data
   */
  static fromJSON(json: unknown): GridSearchReduction {
    const { options, fit } = readGridSearch(json);
    const search = fromStoredParams(GRID_SEARCH_KIND, () => new GridSearchReduction(options));
    search.#result = fit;
    return search;
  }
}
