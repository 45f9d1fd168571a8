import { CERTAIN_LOG_ODDS } from '../logistic.ts';
import type { LinearScore } from './fitting/column-scales.ts';
import { type FittedLinearModel, fitWarnings, type LinearTask } from './fitting/fit-linear-model.ts';
import { LOGISTIC_LOSS } from './fitting/row-loss.ts';
import type { LinearFit } from './linear-model.ts';

/** The result of a fit of a logistic regression. */
export interface LogisticFit extends LinearFit {
  readonly deviance: number;
}

/**
 * Returns the task for weights in units of their mean.
 * @param totals the sums of weights of class 0 and class 1
 */
export function logisticTask(
  settings: { readonly l2: number; readonly maxIterations: number; readonly tolerance: number },
  totals: readonly [number, number],
  mean: number,
  { startFrom, signal }: { readonly startFrom: LinearScore | undefined; readonly signal?: AbortSignal | undefined },
): LinearTask {
  return {
    loss: LOGISTIC_LOSS,
    l2: settings.l2 / mean,
    origin: withoutFeatures(totals),
    startFrom,
    maxIterations: settings.maxIterations,
    minGain: settings.tolerance * (totals[0] + totals[1]),
    signal,
  };
}

/** Returns the result of a fit with weights in units of their mean. */
export function logisticFit(found: FittedLinearModel, mean: number): LogisticFit {
  const { coefficients, intercept, loss, iterations, converged } = found;
  const warnings = fitWarnings(found);
  return Object.freeze({ coefficients, intercept, deviance: 2 * loss * mean, iterations, converged, warnings });
}

/** Returns the result of a fit on rows with one class only. */
export function certainFit(constant: LinearFit, [zero, one]: readonly [number, number]): LogisticFit {
  return Object.freeze({ ...constant, deviance: 2 * (zero + one) * Math.log1p(Math.exp(-CERTAIN_LOG_ODDS)) });
}

/**
 * Returns the best intercept of a model without features, which is the log odds, and the loss at this intercept.
 * @param totals the sums of weights of class 0 and class 1
 */
function withoutFeatures([zero, one]: readonly [number, number]): { intercept: number; loss: number } {
  const total = zero + one;
  return { intercept: Math.log(one / zero), loss: -one * Math.log(one / total) - zero * Math.log(zero / total) };
}
