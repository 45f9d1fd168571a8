import { dot } from '../../internal/values.ts';
import type { Estimator } from '../estimators/estimator.ts';
import { nearestPredictor, type Oracle, rescale } from './oracle.ts';
import type { ReductionProblem } from './reduction-problem.ts';

/** Smaller differences between errors or gaps are treated as rounding, as in the reference implementation. */
export const PRECISION = 1e-8;

/** A predictor, with its evaluation on the training rows. */
export interface Hypothesis {
  readonly predictor: Estimator;
  readonly error: number;
  /** [multipliers] */
  readonly gamma: Float64Array;
}

/** An answer of the oracle, with the multipliers of the call. */
interface Asked {
  readonly multipliers: Float64Array;
  readonly hypothesis: Hypothesis;
  readonly isConstant: boolean;
}

/** The predictors found so far. A new one is added only if it beats all earlier ones. */
export class HypothesisPool {
  readonly members: Hypothesis[] = [];
  /** The number of calls, including repeated calls, which are answered from memory. */
  oracleCalls = 0;
  /** The number of calls whose rows had only one label. */
  constantAnswers = 0;
  /** [rows] the first predictor's predictions on the training rows. Predictions of other predictors are not kept. */
  firstPredictions: ArrayLike<number> = [];
  readonly #problem: ReductionProblem;
  readonly #oracle: Oracle;
  readonly #asked: Asked[] = [];
  /** Fitted predictors, with their projected multipliers. */
  readonly #learned: { readonly multipliers: Float64Array; readonly predictor: Estimator }[] = [];

  constructor(problem: ReductionProblem, oracle: Oracle) {
    this.#problem = problem;
    this.#oracle = oracle;
  }

  /**
   * Calls the oracle, and returns the member that minimises error + multipliers . gamma.
   * @returns its index in `members`
   */
  async bestResponse(multipliers: Float64Array): Promise<number> {
    const { hypothesis, isConstant } = this.#remembered(multipliers) ?? (await this.#ask(multipliers));
    this.oracleCalls++;
    if (isConstant) this.constantAnswers++;
    let best = -1;
    let min = Infinity;
    for (const [index, member] of this.members.entries()) {
      const value = penalised(member, multipliers);
      if (value < min) [best, min] = [index, value];
    }
    if (!(penalised(hypothesis, multipliers) < min - PRECISION)) return best;
    return this.members.push(hypothesis) - 1;
  }

  /** The number of learners fitted. */
  get fits(): number {
    return this.#learned.length;
  }

  /**
   * Returns an earlier answer for the same multipliers. A fit depends only on the multipliers, and early rounds use
   * some multipliers repeatedly.
   */
  #remembered(multipliers: Float64Array): Asked | undefined {
    return this.#asked.find((asked) => asked.multipliers.every((value, position) => value === multipliers[position]));
  }

  async #ask(multipliers: Float64Array): Promise<Asked> {
    const projected = this.#problem.project(multipliers);
    const rows = rescale(this.#problem.respond(multipliers), this.#problem.totalWeight);
    const { predictor, predictions, isConstant } = await this.#oracle(rows, nearestPredictor(this.#learned, projected));
    if (!isConstant) this.#learned.push({ multipliers: projected, predictor });
    if (this.#asked.length === 0) this.firstPredictions = predictions;
    const hypothesis = { predictor, ...this.#problem.evaluate(predictions) };
    const asked = { multipliers: multipliers.slice(), hypothesis, isConstant };
    this.#asked.push(asked);
    return asked;
  }
}

function penalised({ error, gamma }: Hypothesis, multipliers: Float64Array): number {
  return error + dot(gamma, multipliers);
}
