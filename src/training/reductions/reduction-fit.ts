import type { Estimator } from '../estimators/estimator.ts';
import { type GradientResult, largestExcess } from './exponentiated-gradient.ts';
import type { CellProblem } from './reduction-problem.ts';

/** Multipliers by name, "event/group/sign". Multipliers of 0 are omitted. */
export type Multipliers = Readonly<Record<string, number>>;

/** One iteration of a search. */
export interface ReductionIteration {
  /** The objective of the better mixture: the mean cost of wrong decisions, or the mean loss. */
  readonly error: number;
  /**
   * The largest left side of a constraint under the mixture: the largest difference between a group and the overall
   * rate, or the largest mean loss of a group.
   */
  readonly violation: number;
  /** The duality gap, which measures how far the error and the constraint together are from the optimum. */
  readonly gap: number;
  /** Whether the mixture is the running average or the solution of the linear program. */
  readonly method: 'gradient' | 'linear_program';
  readonly multipliers: Multipliers;
}

/** The result of fitting a reduction. */
export interface ReductionFit {
  readonly predictors: readonly Estimator[];
  /** The probability of each predictor. The probabilities sum to 1. */
  readonly weights: readonly number[];
  /** The objective of each single predictor on the training rows. */
  readonly errors: readonly number[];
  /**
   * For each single predictor, the largest amount by which it exceeds a bound on the training rows; at most 0 if the
   * predictor satisfies all bounds.
   */
  readonly excesses: readonly number[];
  /**
   * The multipliers of the best iteration. A multiplier estimates how much the error would decrease per unit by which
   * the bound of its constraint is relaxed.
   */
  readonly lambda: Multipliers;
  /** The duality gap below which the search stops. */
  readonly nu: number;
  readonly bestGap: number;
  /** The index of the best iteration, from 0. */
  readonly bestIteration: number;
  /** The index of the last iteration, from 0. */
  readonly lastIteration: number;
  /** The number of oracle calls. A repeated call is counted again, but the learner is fitted only once. */
  readonly oracleCalls: number;
  /** The number of oracle calls in which all rows had the same label, so that the result was a constant predictor. */
  readonly constantAnswers: number;
  /** The number of fitted learners. */
  readonly fits: number;
  readonly history: readonly ReductionIteration[];
  /** Messages about groups that the constraint does not cover. */
  readonly warnings: readonly string[];
}

/** Converts the result of a search to frozen plain data. */
export function reductionFit(problem: CellProblem, result: GradientResult): ReductionFit {
  const { members, steps, bestIteration, nu, oracleCalls, constantAnswers, fits } = result;
  const best = steps[bestIteration];
  if (best === undefined) throw new RangeError('a search has at least one iteration');
  const history = steps.map(({ error, violation, gap, method, multipliers }) =>
    Object.freeze({ error, violation, gap, method, multipliers: byName(problem, multipliers) }),
  );
  return Object.freeze({
    predictors: Object.freeze(members.map(({ predictor }) => predictor)),
    weights: Object.freeze(members.map((_, index) => best.weights[index] ?? 0)),
    errors: Object.freeze(members.map(({ error }) => error)),
    excesses: Object.freeze(members.map(({ gamma }) => largestExcess(gamma, problem.bounds))),
    lambda: byName(problem, best.multipliers),
    nu,
    bestGap: best.gap,
    bestIteration,
    lastIteration: steps.length - 1,
    oracleCalls,
    constantAnswers,
    fits,
    history: Object.freeze(history),
    warnings: Object.freeze([...problem.warnings]),
  });
}

/** Maps names to multipliers and omits multipliers of 0. */
export function byName({ multiplierNames }: CellProblem, multipliers: Float64Array): Multipliers {
  const named = multiplierNames.map((name, index) => [name, multipliers[index] as number] as const);
  return Object.freeze(Object.fromEntries(named.filter(([, value]) => value !== 0)));
}
