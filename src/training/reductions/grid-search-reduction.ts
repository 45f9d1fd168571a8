import { assertKnownOptions } from '../../internal/arguments.ts';
import type { ColumnSource } from '../../table/index.ts';
import type { MatrixSource } from '../data/read-matrix.ts';
import { fittedOr } from '../estimators/estimator-rows.ts';
import { fromStoredParams } from '../estimators/estimator-state.ts';
import {
  type Estimator,
  type EstimatorJson,
  PREDICT_OPTION_NAMES,
  type PredictOptions,
} from '../estimators/estimator.ts';
import { predictionKind, readPredictions } from './oracle.ts';
import { copyOptions } from './constraint-options.ts';
import {
  GRID_SEARCH_OPTION_NAMES,
  type GridSearchFit,
  type GridSearchOptions,
  type GridSearchSettings,
  parseGridSearch,
  searchGrid,
} from './search-grid.ts';
import { REDUCTION_FIT_OPTION_NAMES, type ReductionFitOptions } from './row-cells.ts';
import { fitToJson, GRID_SEARCH_KIND, optionsToJson, readGridSearch } from './reductions-json.ts';
import { searchRows } from './search-rows.ts';

/**
 * Implements the grid search reduction. The search fits the estimator once for each point of a grid of multipliers, and
 * keeps the predictor that minimises (1 - constraintWeight) error + constraintWeight (largest violation) on the
 * training rows.
 *
 * The result is one deterministic predictor. The method does not guarantee a bound. How closely the result meets the
 * constraint depends on the points of the grid. Meeting the constraint more closely increases the error. For each
 * event, the grid has one dimension for every group except one. With one dimension, the search is thorough. If there
 * are more than four dimensions, `warnings` contains a message. In this case, prefer `ReductionsWrapper`.
 *
 * The points are the first `gridSize` points of one fixed sequence, so a larger grid contains every smaller grid and
 * never selects a worse point. In each event, the points vary the multipliers of all groups except the group with the
 * least weight. The excluded group needs no multiplier, because its constraint follows from the constraints of the
 * other groups. If groups have equal weights and labels, the last group by name is excluded. With
 * `compat: 'fairlearn'`, the points match fairlearn's grid. A point consists of multipliers with names
 * "event/group/sign" (a slash in a name is written \/). Their sum is at most `gridLimit`. For `bounded_group_loss`, the
 * sum equals `gridLimit`.
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

  /**
   * @throws {ValueError} if a name is unknown, if a value is out of range, or if an option belongs to another
   * constraint
   */
  constructor(options: GridSearchOptions = {}) {
    // Options of ReductionsWrapper that a grid search does not support are checked first, because their error is more
    // specific.
    this.#settings = parseGridSearch(options);
    assertKnownOptions('GridSearchReduction', options, GRID_SEARCH_OPTION_NAMES);
    this.#options = copyOptions({ ...options, grid: this.#settings.grid });
  }

  /**
   * Fits the reduction to rows and replaces the result of an earlier `fit`. If X is a tensor, rows stay on its device,
   * and `sensitive` may be a tensor of integer codes (see `precision`).
   * @param X [rows, features], finite
   * @param y [rows]; 0 or 1, or finite values for a square or absolute loss
   * @param options the groups and further options
   * @throws {DataValidationError} if values are missing or infinite, if lengths differ, or if there are too few groups
   * @throws {ValueError} if a given grid names a multiplier that does not occur in the data
   * @throws {TrainingError} if the estimator fails
   */
  async fit(X: MatrixSource, y: ColumnSource, options: ReductionFitOptions): Promise<this> {
    assertKnownOptions('GridSearchReduction.fit', options, REDUCTION_FIT_OPTION_NAMES);
    this.#result = undefined;
    this.#result = await searchRows(this.#settings, { X, y, options }, (problem, oracle) =>
      searchGrid(problem, oracle, this.#settings, options.onProgress),
    );
    return this;
  }

  /**
   * Returns the best predictor's decisions, [rows], or its values for a square or absolute loss. If the predictor is a
   * regression, decisions use a threshold of 0.5 by default.
   * @throws {TrainingError} before `fit`
   */
  async predict(X: MatrixSource, options: PredictOptions = {}): Promise<Uint8Array | Float64Array> {
    assertKnownOptions('GridSearchReduction.predict', options, PREDICT_OPTION_NAMES);
    const { best } = this;
    if (options.threshold !== undefined) return best.predict(X, options);
    return readPredictions(best, X, predictionKind(this.#settings.constraint));
  }

  /**
   * Returns the best predictor's scores: [rows]. The scores are not probabilities of y = 1, because the predictor was
   * fitted to changed labels and weights.
   * @throws {TrainingError} before `fit`
   */
  async predictProba(X: MatrixSource): Promise<Float64Array> {
    return this.best.predictProba(X);
  }

  /** The complete result of `fit`. */
  get result(): GridSearchFit {
    return fittedOr(this.#result, 'GridSearchReduction');
  }

  /** The predictor of the best point. */
  get best(): Estimator {
    return this.result.predictors[this.result.bestIndex] as Estimator;
  }

  /** The index of the best point. */
  get bestIndex(): number {
    return this.result.bestIndex;
  }

  /** One predictor per point. */
  get predictors(): readonly Estimator[] {
    return this.result.predictors;
  }

  /** Messages about groups that the constraint does not cover, and about coarse grids. */
  get warnings(): readonly string[] {
    return this.result.warnings;
  }

  /** Returns an unfitted copy with the same options. */
  clone(): GridSearchReduction {
    // Fits use clones of the estimator, so copies can share it.
    return new GridSearchReduction(this.#options);
  }

  /** Returns the options and the fitted state as plain data. Estimators are converted by their own `toJSON`. */
  toJSON(): EstimatorJson {
    return {
      kind: GRID_SEARCH_KIND,
      params: optionsToJson(this.#options),
      state: this.#result === undefined ? null : fitToJson(this.#result),
    };
  }

  /**
   * Reads the JSON that {@link GridSearchReduction.toJSON} wrote.
   * @throws {DataValidationError} if the data have any other form
   */
  static fromJSON(json: unknown): GridSearchReduction {
    const { options, fit } = readGridSearch(json);
    const search = fromStoredParams(GRID_SEARCH_KIND, () => new GridSearchReduction(options));
    search.#result = fit;
    return search;
  }
}
