import { ValueError } from '../../exceptions/index.ts';
import { type EstimatorSource, toEstimator } from '../estimators/adapt-estimator.ts';
import type { Estimator } from '../estimators/estimator.ts';
import { LinearRegression } from '../estimators/linear-regression.ts';
import { LogisticRegression } from '../estimators/logistic-regression.ts';
import { predictionKind } from './oracle.ts';
import type { ConstraintSettings } from './constraint-options.ts';

/** The learner and the constraint. The learner's class weight has been moved into the constraint. */
export interface ParsedLearner {
  readonly estimator: Estimator;
  readonly constraint: ConstraintSettings;
}

/**
 * Returns the estimator to clone for every fit. If the estimator has a class weight, this function moves it to the
 * costs of errors. Otherwise the estimator would apply it to the reduction's labels, which are not the true labels.
 * @throws {ValueError} if both the estimator and the constraint have class weights, or if the class weight of the
 * estimator is combined with a loss or belongs to a custom subclass
 */
export function parseLearner(given: EstimatorSource | undefined, constraint: ConstraintSettings): ParsedLearner {
  const task = predictionKind(constraint) === 'values' ? 'regression' : 'binary';
  const estimator = given === undefined ? defaultEstimator(task) : toEstimator(given, { task });
  if (!(estimator instanceof LogisticRegression) || estimator.classWeight === null) return { estimator, constraint };
  if (constraint.constraint === 'bounded_group_loss') {
    throw misplaced("does nothing under 'bounded_group_loss', which bounds losses and has no costs of errors");
  }
  if (constraint.classWeight !== null) throw misplaced('and the classWeight parameter must not both be given');
  if (Object.getPrototypeOf(estimator) !== LogisticRegression.prototype) {
    throw misplaced('cannot be moved to the costs of errors, because the estimator is of a custom subclass');
  }
  const { classWeight, ...options } = estimator;
  return { estimator: new LogisticRegression(options), constraint: { ...constraint, classWeight } };
}

function defaultEstimator(task: 'regression' | 'binary'): Estimator {
  // The default runs on the host. It is fitted many times on the same rows, so a backend and uploads should not matter.
  return task === 'regression'
    ? new LinearRegression({ precision: 'float64' })
    : new LogisticRegression({ precision: 'float64' });
}

function misplaced(reason: string): ValueError {
  return new ValueError(`The class weight of the estimator ${reason}.`, {
    context: { parameter: 'classWeight' },
    suggestion: 'Remove the class weight from the estimator, and pass it to the reduction as classWeight.',
  });
}
