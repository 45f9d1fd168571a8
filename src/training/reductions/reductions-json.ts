import { z } from 'zod';

import { DataValidationError } from '../../exceptions/index.ts';
import { camelFields, type CamelFields, snakeFields } from '../../internal/arguments.ts';
import { freezeDeep } from '../../internal/values.ts';
import { toEstimator } from '../estimators/adapt-estimator.ts';
import { estimatorFromJson } from '../estimators/estimator-from-json.ts';
import { readEstimatorJson } from '../estimators/estimator-state.ts';
import type { Estimator, EstimatorJson } from '../estimators/estimator.ts';
import type { GridSearchFit, GridSearchOptions } from './search-grid.ts';
import type { ReductionFit } from './reduction-fit.ts';
import type { ReductionsOptions } from './reductions-options.ts';

/** The kinds of saved reductions. */
export const REDUCTIONS_KIND = 'reductions_wrapper';
export const GRID_SEARCH_KIND = 'grid_search_reduction';

const PARAMS = z.record(z.string(), z.unknown());
const ESTIMATORS = z.array(z.custom<EstimatorJson>((value) => typeof value === 'object' && value !== null)).min(1);
const COUNT = z.int().min(0);
const NUMBERS = z.array(z.number());
const MULTIPLIERS = z.record(z.string(), z.number());

/** The tolerance for the sum of weights, which may differ from 1 because of rounding and serialization. */
const ROUNDING = 1e-6;

const STEP = z.object({
  error: z.number(),
  violation: z.number(),
  gap: z.number(),
  method: z.enum(['gradient', 'linear_program']),
  multipliers: MULTIPLIERS,
});

const FIT = z
  .object({
    predictors: ESTIMATORS,
    weights: z.array(z.number().min(0)),
    errors: NUMBERS,
    excesses: NUMBERS,
    lambda: MULTIPLIERS,
    nu: z.number(),
    best_gap: z.number(),
    best_iteration: COUNT,
    last_iteration: COUNT,
    oracle_calls: COUNT,
    constant_answers: COUNT,
    fits: COUNT,
    history: z.array(STEP).min(1),
    warnings: z.array(z.string()),
  })
  .superRefine(({ predictors, weights, errors, excesses, history, ...at }, refinement) => {
    const expect = expectation(refinement);
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    const areShares = weights.length === predictors.length && Math.abs(total - 1) <= ROUNDING;
    expect('weights', areShares, 'one per predictor, with a sum of 1, because they are probabilities');
    expect('errors', errors.length === predictors.length, 'one per predictor');
    expect('excesses', excesses.length === predictors.length, 'one per predictor');
    expect('last_iteration', at.last_iteration === history.length - 1, 'the index of the last entry of history');
    expect('best_iteration', at.best_iteration < history.length, 'an index into history');
  });

const GRID_FIT = z
  .object({
    predictors: ESTIMATORS,
    lambdas: z.array(MULTIPLIERS),
    errors: NUMBERS,
    violations: NUMBERS,
    best_index: COUNT,
    warnings: z.array(z.string()),
  })
  .superRefine(({ predictors, lambdas, errors, violations, best_index: best }, refinement) => {
    const expect = expectation(refinement);
    expect('lambdas', lambdas.length === predictors.length, 'one per predictor');
    expect('errors', errors.length === predictors.length, 'one per predictor');
    expect('violations', violations.length === predictors.length, 'one per predictor');
    expect('best_index', best < predictors.length, 'an index into the predictors');
  });

/** Returns a function that reports an issue at a field that is inconsistent with the other fields. */
function expectation(refinement: z.RefinementCtx) {
  return (field: string, holds: boolean, expected: string): void => {
    if (!holds) refinement.addIssue({ code: 'custom', path: [field], message: `expected ${expected}` });
  };
}

/** Converts the given options to snake_case JSON. */
export function optionsToJson(options: ReductionsOptions | GridSearchOptions): Record<string, unknown> {
  const { estimator, costs, ...others } = options;
  const given = Object.entries(others).filter(([, value]) => value !== undefined);
  return {
    ...snakeFields(Object.fromEntries(given)),
    ...(costs ? { costs: snakeFields(costs) } : {}),
    ...(estimator === undefined ? {} : { estimator: toEstimator(estimator).toJSON() }),
  };
}

/** Converts a fitted reduction to plain data. */
export function fitToJson(fit: ReductionFit | GridSearchFit): Record<string, unknown> {
  const { predictors, ...found } = fit;
  return { predictors: predictors.map((predictor) => predictor.toJSON()), ...structuredClone(snakeFields(found)) };
}

/**
 * Reads the options and the result of a saved `ReductionsWrapper`.
 * @throws {DataValidationError} if the JSON has any other form
 */
export function readReductions(json: unknown): { options: ReductionsOptions; fit: ReductionFit | undefined } {
  const { params, state } = readEstimatorJson(json, REDUCTIONS_KIND, { params: PARAMS, state: FIT });
  return { options: readOptions(params), fit: readFit(REDUCTIONS_KIND, state) };
}

/**
 * Reads the options and the result of a saved `GridSearchReduction`.
 * @throws {DataValidationError} if the JSON has any other form
 */
export function readGridSearch(json: unknown): { options: GridSearchOptions; fit: GridSearchFit | undefined } {
  const { params, state } = readEstimatorJson(json, GRID_SEARCH_KIND, { params: PARAMS, state: GRID_FIT });
  return { options: readOptions(params), fit: readFit(GRID_SEARCH_KIND, state) };
}

/** Reads the data that {@link fitToJson} wrote. */
function readFit<State extends { readonly predictors: readonly EstimatorJson[] }>(
  kind: string,
  state: State | null,
): (Omit<CamelFields<State>, 'predictors'> & Pick<ReductionFit, 'predictors'>) | undefined {
  if (state === null) return undefined;
  const { predictors, ...found } = state;
  const read = readPredictors(kind, predictors);
  return Object.freeze({ ...freezeDeep(camelFields(found)), predictors: read }) as never;
}

/** @throws {DataValidationError} if a predictor cannot be read; the error names the first such predictor */
function readPredictors(kind: string, predictors: readonly EstimatorJson[]): readonly Estimator[] {
  const read = (json: EstimatorJson, index: number): Estimator => {
    try {
      return estimatorFromJson(json);
    } catch (cause) {
      if (!(cause instanceof DataValidationError)) throw cause;
      throw new DataValidationError(`Predictor ${String(index)} of this '${kind}' cannot be read: ${cause.message}`, {
        code: 'invalid-state',
        context: { kind, index },
        suggestion: 'Save and read estimators of other libraries with the functions of those libraries.',
        cause,
      });
    }
  };
  return Object.freeze(predictors.map(read));
}

/** Reads the options that {@link optionsToJson} wrote. The constructor checks the values. */
function readOptions({ estimator, costs, ...params }: Record<string, unknown>): ReductionsOptions & GridSearchOptions {
  const { false_positive: falsePositive, false_negative: falseNegative } = (costs ?? {}) as Record<string, number>;
  return {
    ...camelFields(params),
    ...(costs === undefined
      ? {}
      : { costs: { falsePositive: Number(falsePositive), falseNegative: Number(falseNegative) } }),
    ...(estimator === undefined ? {} : { estimator: estimatorFromJson(estimator) }),
  };
}
