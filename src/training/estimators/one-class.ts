import type { FitRows } from '../data/fit-rows.ts';
import { classTotals } from './class-weight.ts';
import type { LinearFit } from './linear-model.ts';

/** The log odds of a class that is the only one: float64 cannot tell its probability from 1. */
export const CERTAIN_LOG_ODDS = 37;

/**
 * The constant that rows of one class only teach; nothing where there are both.
 * @param rows y 0 or 1; each with a weight
 */
export function oneClassFit({ x, y, weights }: FitRows): LinearFit | undefined {
  const [zero, one] = classTotals(y, weights);
  if (zero > 0 && one > 0) return undefined;
  return Object.freeze({
    coefficients: new Float64Array(x.columns),
    intercept: one > 0 ? CERTAIN_LOG_ODDS : -CERTAIN_LOG_ODDS,
    iterations: 0,
    converged: true,
    warnings: Object.freeze([`y holds ${one > 0 ? '1' : '0'} only, so the model always gives that`]),
  });
}
