import { ValueError } from '../../exceptions/index.ts';
import { type EstimatorSource, toEstimator } from '../estimators/adapt-estimator.ts';
import type { Estimator } from '../estimators/estimator.ts';
import { LinearRegression } from '../estimators/linear-regression.ts';
import { LogisticRegression } from '../estimators/logistic-regression.ts';
import { predictionKind } from './ask-predictions.ts';
import type { ConstraintSettings } from './constraint-options.ts';

/** What learns, and what a reduction makes of its class weight. */
export interface ParsedLearner {
  readonly estimator: Estimator;
  readonly constraint: ConstraintSettings;
}

/**
 * The estimator to clone for every fit. A class weight that it carries would
 * weigh the reduction's labels, which are not the true ones: it moves to the
 * costs of errors.
 * @throws {ValueError} where class weights are given twice, weigh the classes of a loss, or are those of a subclass
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
    throw misplaced('cannot be moved to the costs of errors, since it is of a class of your own');
  }
  const { classWeight, ...options } = estimator;
  return { estimator: new LogisticRegression(options), constraint: { ...constraint, classWeight } };
}

function defaultEstimator(task: 'regression' | 'binary'): Estimator {
  // On the host: one fit follows another on the same rows, and neither backend nor upload should matter.
  return task === 'regression'
    ? new LinearRegression({ precision: 'float64' })
    : new LogisticRegression({ precision: 'float64' });
}

function misplaced(reason: string): ValueError {
  return new ValueError(`The class weight of the estimator ${reason}.`, {
    context: { parameter: 'classWeight' },
    suggestion: 'Take the class weight out of the estimator, and give it to the reduction as classWeight.',
  });
}
