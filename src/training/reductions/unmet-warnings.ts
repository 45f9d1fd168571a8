import type { ReductionFit } from './reduction-fit.ts';
import type { ReductionsOptions } from './reductions-options.ts';

/** The bound on the left side of the constraints, as options have it; undefined for a ratio. */
function boundOf({
  constraint,
  eps = 0.01,
  differenceBound,
  upperBound,
  bound,
  ratioBound,
}: ReductionsOptions): number | undefined {
  if (ratioBound !== undefined) return undefined;
  if (constraint === 'bounded_group_loss') return upperBound ?? eps;
  return (differenceBound ?? eps) / (bound === 'pairwise' ? 2 : 1);
}

/**
 * What of a constraint the answer leaves open, in words: a search that stopped
 * too early, or a bound that the estimator cannot meet. What is left of the
 * game, eps (1 + 2 gaps), counts as met.
 */
export function unmetWarnings(fit: ReductionFit, options: ReductionsOptions): string[] {
  const { bestGap, nu, lastIteration, history, bestIteration } = fit;
  const { eps = 0.01, T = 50 } = options;
  const isEarly = bestGap > nu && lastIteration + 1 >= T;
  const [bound, violation] = [boundOf(options), history[bestIteration]?.violation ?? 0];
  const isUnmet = bound !== undefined && violation > bound + eps * (1 + 2 * Math.max(0, bestGap));
  return [
    ...(isEarly
      ? [
          `the search stopped after ${String(T)} iterations at a duality gap of ${bestGap.toPrecision(2)}, above ${nu.toPrecision(2)}: the constraint need not hold, nor the error be the least; raise T`,
        ]
      : []),
    ...(isUnmet
      ? [
          `the constraint is not met on the training rows: ${violation.toPrecision(3)} where the bound is ${bound.toPrecision(3)}; raise the bound, or take features that allow it`,
        ]
      : []),
  ];
}
