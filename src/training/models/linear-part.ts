import { ConstantClassifier } from '../estimators/constant-classifier.ts';
import type { Estimator } from '../estimators/estimator.ts';
import { LinearRegression } from '../estimators/linear-regression.ts';
import { LogisticRegression } from '../estimators/logistic-regression.ts';
import { MlLogisticRegression } from '../estimators/ml-logistic-regression.ts';

/** An estimator whose predictions are a function of x b + b0. */
export interface LinearPart {
  /** b; null where any number of features will do, and none counts. */
  readonly coefficients: Float64Array | null;
  readonly intercept: number;
  /** What `predict` makes of the score: 1 where it is 0 or more, or the score itself. */
  readonly predicts: 'decisions' | 'values';
}

/** What an estimator computes, if that is linear in its features; undefined for others. */
export function linearPart(estimator: Estimator): LinearPart | undefined {
  if (estimator instanceof LogisticRegression || estimator instanceof MlLogisticRegression) {
    return { coefficients: estimator.coefficients, intercept: estimator.intercept, predicts: 'decisions' };
  }
  if (estimator instanceof LinearRegression) {
    return { coefficients: estimator.coefficients, intercept: estimator.intercept, predicts: 'values' };
  }
  if (estimator instanceof ConstantClassifier) {
    // It decides 1 from a probability of 0.5.
    return { coefficients: null, intercept: estimator.probability - 0.5, predicts: 'decisions' };
  }
  return undefined;
}
