import type { Estimator } from './estimator.ts';

/** What an {@link Estimator} can do. */
const METHODS = ['fit', 'predict', 'predictProba', 'clone', 'toJSON'] as const;

/** Whether a value is an {@link Estimator}, by its methods. */
export function isEstimator(value: unknown): value is Estimator {
  return (
    typeof value === 'object' &&
    value !== null &&
    METHODS.every((method) => typeof (value as Partial<Record<string, unknown>>)[method] === 'function')
  );
}
