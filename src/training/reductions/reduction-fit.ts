import type { Estimator } from '../estimators/estimator.ts';
import { largestExcess } from './duality-gap.ts';
import type { GradientResult } from './exponentiated-gradient.ts';
import type { ReductionProblem } from './reduction-problem.ts';

/** Multipliers by name, "event/group/sign"; those that are 0 are left out. */
export type Multipliers = Readonly<Record<string, number>>;

/** One iteration of a search. */
export interface ReductionIteration {
  /** The objective of the better mixture: mean cost of wrong decisions, or mean loss. */
  readonly error: number;
  /** Its largest left side of a constraint: how far a group is from the overall, or a group's largest mean loss. */
  readonly violation: number;
  /** The duality gap: how far error and constraint together are from the best that could be. */
  readonly gap: number;
  /** Whether the mixture is the running average, or the linear program's. */
  readonly method: 'gradient' | 'linear_program';
  readonly multipliers: Multipliers;
}

/** What a reduction learned. */
export interface ReductionFit {
  readonly predictors: readonly Estimator[];
  /** The probability of each predictor; sum 1. */
  readonly weights: readonly number[];
  /** The objective of each predictor alone, on the training rows. */
  readonly errors: readonly number[];
  /** The largest excess over a bound of each predictor alone, on the training rows; at most 0 where all hold. */
  readonly excesses: readonly number[];
  /** The multipliers of the best iteration: what each constraint costs. */
  readonly lambda: Multipliers;
  /** The gap that was small enough to stop at. */
  readonly nu: number;
  readonly bestGap: number;
  /** From 0. */
  readonly bestIteration: number;
  /** From 0. */
  readonly lastIteration: number;
  /** Questions asked of the learner; a question asked twice is counted twice, and fitted once. */
  readonly oracleCalls: number;
  /** Questions whose rows had one label only, answered by a constant. */
  readonly constantAnswers: number;
  /** Learners fitted. */
  readonly fits: number;
  readonly history: readonly ReductionIteration[];
  /** Groups that the constraint could not reach, for people. */
  readonly warnings: readonly string[];
}

/** What a search found, as frozen plain data. */
export function reductionFit(problem: ReductionProblem, result: GradientResult): ReductionFit {
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

/** Names multipliers, without those that are 0. */
export function byName({ multiplierNames }: ReductionProblem, multipliers: Float64Array): Multipliers {
  const named = multiplierNames.map((name, place) => [name, multipliers[place] as number] as const);
  return Object.freeze(Object.fromEntries(named.filter(([, value]) => value !== 0)));
}
