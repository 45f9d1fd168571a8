import { dot } from '../../internal/values.ts';
import { type Hypothesis, type HypothesisPool, PRECISION } from './hypothesis-pool.ts';
import type { ReductionProblem } from './reduction-problem.ts';

/** The state of the game between the predictors and the multipliers. */
export interface Game {
  readonly problem: ReductionProblem;
  readonly pool: HypothesisPool;
  /** B, the maximum sum of multipliers. */
  readonly limit: number;
  /** nu; the game ends when the gap is below this value. */
  readonly enough: number;
}

/** A mixture of pool members, with its duality gap. */
export interface GapResult {
  readonly gap: number;
  readonly error: number;
  /** The largest value of gamma. */
  readonly violation: number;
}

/** Factors of the multipliers at which the predictors' best response is evaluated. */
const FACTORS = [1, 2, 5, 10];

/**
 * Computes how much either player could still gain. Let L(Q, m) = error(Q) + m . (gamma(Q) - bounds), where m is
 * projected. Then
 *
 *   gap = max(L - min over responses h of L(h, m), max over multipliers of L(Q, .) - L).
 *
 * The responses h are the oracle's answers to m, 2 m, 5 m and 10 m. The remaining ones are skipped once the gap exceeds
 * `enough`. Each response may be added to the pool.
 * @param weights [members], or fewer if the pool has grown since; they sum to 1
 */
export async function dualityGap(
  { problem, pool, limit, enough }: Game,
  weights: ArrayLike<number>,
  multipliers: Float64Array,
): Promise<GapResult> {
  const projected = problem.project(multipliers);
  const mixture = mix(pool.members, weights);
  const value = lagrangian(mixture);
  const highest = mixture.error + limit * Math.max(0, largestExcess(mixture.gamma, problem.bounds));
  let lowest = value;
  for (const factor of FACTORS) {
    const response = await pool.bestResponse(multipliers.map((multiplier) => factor * multiplier));
    lowest = Math.min(lowest, lagrangian(pool.members[response] as Hypothesis));
    if (gapOf() > enough + PRECISION) break;
  }
  return { gap: gapOf(), error: mixture.error, violation: mixture.gamma.reduce((a, b) => Math.max(a, b), -Infinity) };

  function lagrangian({ error, gamma }: Mixed): number {
    return error + dot(projected, gamma) - dot(projected, problem.bounds);
  }

  function gapOf(): number {
    return Math.max(value - lowest, highest - value);
  }
}

/** Returns the largest gamma - bound; positive if a constraint is violated. */
export function largestExcess(gamma: Float64Array, bounds: Float64Array): number {
  return gamma.reduce((largest, value, index) => Math.max(largest, value - (bounds[index] as number)), -Infinity);
}

type Mixed = Pick<Hypothesis, 'error' | 'gamma'>;

/** Computes the error and gamma of a mixture; both are linear in the mixture's weights. */
function mix(members: readonly Hypothesis[], weights: ArrayLike<number>): Mixed {
  const gamma = new Float64Array(members[0]?.gamma.length ?? 0);
  let error = 0;
  for (let index = 0; index < weights.length; index++) {
    const weight = weights[index] as number;
    if (weight === 0) continue;
    const member = members[index] as Hypothesis;
    error += weight * member.error;
    for (let position = 0; position < gamma.length; position++)
      (gamma[position] as number) += weight * (member.gamma[position] as number);
  }
  return { error, gamma };
}
