import { TrainingError } from '../../../exceptions/index.ts';

/** Coefficients and an intercept that may be checked. */
interface FiniteScore {
  readonly coefficients: Float64Array;
  readonly intercept: number;
}

/**
 * Gives a score back where all of it is a number.
 * @throws {TrainingError} where a coefficient or the intercept is not finite
 */
export function assertFiniteScore(score: FiniteScore): FiniteScore {
  const { coefficients, intercept } = score;
  const column = coefficients.findIndex((value) => !Number.isFinite(value));
  if (column < 0 && Number.isFinite(intercept)) return score;
  const what = column < 0 ? 'intercept' : `coefficient of column ${String(column)}`;
  throw notFinite(`The ${what}`, { intercept, ...(column < 0 ? {} : { column, value: coefficients[column] }) });
}

/** What is thrown where rows lead out of the numbers. */
export function notFinite(what: string, context: Record<string, unknown>): TrainingError {
  return new TrainingError(`${what} of these rows cannot be computed: it is not finite.`, {
    context,
    suggestion:
      'Look in X, y and sampleWeight for values too large or too small to be squared, and standardise the features.',
  });
}
