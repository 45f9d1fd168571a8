import type { OnProgress } from '../../internal/progress.ts';
import { dot } from '../../internal/values.ts';
import type { Estimator } from '../estimators/estimator.ts';
import { solveLinearProgram } from '../linear-program.ts';
import { nearestPredictor, type Oracle } from './oracle.ts';
import type { CellProblem, RowProblem } from './reduction-problem.ts';

/**
 * Differences between errors or gaps that are smaller than this value are treated as rounding errors, as in the
 * reference implementation.
 */
const PRECISION = 1e-8;

/** A predictor, with its evaluation on the training rows. */
interface Hypothesis {
  readonly predictor: Estimator;
  readonly error: number;
  /** The values of gamma, the left sides of the constraints, [multipliers]. */
  readonly gamma: Float64Array;
}

/** An answer of the oracle, with the multipliers for which it was called. */
interface Asked {
  readonly multipliers: Float64Array;
  readonly hypothesis: Hypothesis;
  readonly isConstant: boolean;
}

/** The predictors found so far. A new predictor is added only if it is better than all earlier predictors. */
class HypothesisPool<Rows, Predictions> {
  readonly members: Hypothesis[] = [];
  /** The number of calls of the oracle. Repeated calls are counted, although they are answered from memory. */
  oracleCalls = 0;
  /** The number of calls of the oracle in which all rows had the same label. */
  constantAnswers = 0;
  /** The automatic threshold of the duality gap, from the predictions of the first predictor. */
  automaticGap = NaN;
  readonly #problem: RowProblem<Rows, Predictions>;
  readonly #oracle: Oracle<Rows, Predictions>;
  readonly #asked: Asked[] = [];
  /** The fitted predictors, with the projected multipliers at which they were fitted. */
  readonly #learned: { readonly multipliers: Float64Array; readonly predictor: Estimator }[] = [];

  constructor(problem: RowProblem<Rows, Predictions>, oracle: Oracle<Rows, Predictions>) {
    this.#problem = problem;
    this.#oracle = oracle;
  }

  /**
   * Calls the oracle and finds the member of the pool that minimises error + multipliers . gamma.
   * @returns the index of this member in `members`
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

  /** The number of fitted learners. */
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
    const { totalWeight } = this.#problem.cells;
    const startFrom = nearestPredictor(this.#learned, projected);
    const { predictor, predictions, isConstant, release } = await this.#oracle(
      this.#problem.respond(multipliers),
      startFrom,
      totalWeight,
    );
    try {
      if (!isConstant) this.#learned.push({ multipliers: projected, predictor });
      if (this.#asked.length === 0) this.automaticGap = await this.#problem.automaticGap(predictions);
      const hypothesis = { predictor, ...(await this.#problem.evaluate(predictions)) };
      const asked = { multipliers: multipliers.slice(), hypothesis, isConstant };
      this.#asked.push(asked);
      return asked;
    } finally {
      release?.();
    }
  }
}

function penalised({ error, gamma }: Hypothesis, multipliers: Float64Array): number {
  return error + dot(gamma, multipliers);
}

/** The state of the game between the predictors and the multipliers. */
interface Game {
  readonly problem: CellProblem;
  readonly pool: Pick<HypothesisPool<unknown, unknown>, 'members' | 'bestResponse'>;
  /** The maximum sum of multipliers, B. */
  readonly limit: number;
  /** The threshold nu. The game ends when the gap is below this value. */
  readonly enough: number;
}

/** A mixture of pool members, with its duality gap. */
interface GapResult {
  readonly gap: number;
  readonly error: number;
  /** The largest value of gamma. */
  readonly violation: number;
}

/** The duality gap uses the predictors' best responses to the multipliers times each of these factors. */
const FACTORS = [1, 2, 5, 10];

/**
 * Computes the duality gap: the largest amount by which either player of the game can improve its result. Let L(Q, m) =
 * error(Q) + m . (gamma(Q) - bounds), where m is projected. Then
 *
 *   gap = max(L - min over responses h of L(h, m), max over multipliers of L(Q, .) - L).
 *
 * The responses h are the oracle's answers to m, 2 m, 5 m and 10 m. The remaining responses are skipped once the gap
 * exceeds `enough`. Each response may be added to the pool.
 * @param weights the weights of the members, which sum to 1. There are fewer weights than members if the pool has grown
 *   in the meantime
 */
async function dualityGap(
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

/**
 * Returns the largest difference between a left side gamma and its bound, which is positive if a constraint is
 * violated.
 */
export function largestExcess(gamma: Float64Array, bounds: Float64Array): number {
  return gamma.reduce((largest, value, index) => Math.max(largest, value - (bounds[index] as number)), -Infinity);
}

type Mixed = Pick<Hypothesis, 'error' | 'gamma'>;

/** Computes the error and gamma of a mixture. The error and gamma are linear in the weights of the mixture. */
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

/** The default threshold of the duality gap is this share of the standard error of the first predictor's error. */
const SHARE = 0.5;

/**
 * Returns the duality gap below which further search only fits noise: half the standard error of mean |y - h|. The
 * number of rows is the sum of weights, so a row with weight 2 counts as two rows. This number is never less than the
 * effective number of rows, (sum w)^2 / sum w^2.
 */
export function automaticGap(targets: Float64Array, weights: Float64Array, predictions: ArrayLike<number>): number {
  const largest = weights.reduce((most, weight) => Math.max(most, weight), 0);
  // Weights are divided by the largest weight, because the square of a weight such as 1e200 overflows.
  let [total, units, squares, sum] = [0, 0, 0, 0];
  for (let row = 0; row < targets.length; row++) {
    const weight = weights[row] as number;
    total += weight;
    units += weight / largest;
    squares += (weight / largest) ** 2;
    sum += weight * Math.abs((targets[row] as number) - (predictions[row] as number));
  }
  const mean = sum / total;
  let spread = 0;
  for (let row = 0; row < targets.length; row++) {
    const error = Math.abs((targets[row] as number) - (predictions[row] as number));
    spread += (weights[row] as number) * (error - mean) ** 2;
  }
  return gapOfNoise(spread / total, Math.max(total, (units * units) / squares));
}

/**
 * Returns the gap for errors with the given variance and number of rows. The spread cannot be estimated from a single
 * row. A threshold below the rounding error is never needed.
 */
export function gapOfNoise(variance: number, count: number): number {
  if (count <= 1) return PRECISION;
  return Math.max(PRECISION, (SHARE * Math.sqrt(variance * (count / (count - 1)))) / Math.sqrt(count));
}

/** Options of {@link exponentiatedGradient}. All options are required. */
interface GradientOptions {
  /** The tolerance of the search. The multipliers sum to at most 1 / eps. */
  readonly eps: number;
  /** The maximum number of iterations. */
  readonly iterations: number;
  /** The duality gap below which the search stops. If nu is undefined, {@link automaticGap} computes it. */
  readonly nu: number | undefined;
  /** The initial learning rate, in units of eps. */
  readonly eta0: number;
  readonly onProgress: OnProgress | undefined;
}

/** The result of one iteration. */
interface GradientStep extends GapResult {
  readonly weights: Float64Array;
  readonly multipliers: Float64Array;
  /** The method that found the mixture: two methods are tried, and the mixture with the smaller gap is used. */
  readonly method: 'gradient' | 'linear_program';
}

/** The result of the search. */
export interface GradientResult {
  readonly members: readonly Hypothesis[];
  readonly steps: readonly GradientStep[];
  readonly bestIteration: number;
  readonly nu: number;
  readonly oracleCalls: number;
  readonly constantAnswers: number;
  readonly fits: number;
}

/** The first iteration at which the search may end. */
const FEWEST_ITERATIONS = 5;

/** Progress is checked each time the iteration number has grown by a factor of 1.6, starting from this iteration. */
const FIRST_CHECK = 5;
const CHECK_FACTOR = 1.6;

/**
 * If the smallest gap so far is more than this share of the smallest gap at the last check, the learning rate is
 * multiplied by this factor.
 */
const SHRINK = 0.8;

/**
 * Finds the mixture of predictors with the least error under constraints, as the saddle point of a game (Agarwal et al.
 * 2018, algorithm 1). As in the reference implementation, each step also solves a linear program over the pool.
 */
export async function exponentiatedGradient<Rows, Predictions>(
  problem: RowProblem<Rows, Predictions>,
  oracle: Oracle<Rows, Predictions>,
  options: GradientOptions,
): Promise<GradientResult> {
  const limit = 1 / options.eps;
  const pool = new HypothesisPool(problem, oracle);
  const theta = new Float64Array(problem.bounds.length);
  const average = runningAverage(theta.length);
  const solveProgram = programSolver();
  const rate = learningRate(options.eta0 / limit);
  const steps: GradientStep[] = [];
  let enough = options.nu;
  for (let t = 0; t < options.iterations; t++) {
    const multipliers = softmax(theta, limit);
    const picked = await pool.bestResponse(multipliers);
    const { gamma } = pool.members[picked] as Hypothesis;
    enough ??= pool.automaticGap;
    const game = { problem, pool, limit, enough };
    const gradient = await evaluateStep(game, 'gradient', average(multipliers, picked, pool.members.length));
    // If the pool has only one member, there is no mixture to optimize.
    const program = t === 0 ? undefined : await solveProgram(game);
    const step = program === undefined || gradient.gap < program.gap ? gradient : program;
    steps.push(step);
    const isDone = step.gap < enough && t >= FEWEST_ITERATIONS;
    const done = isDone ? options.iterations : t + 1;
    options.onProgress?.({ stage: 'exponentiated gradient', done, total: options.iterations });
    if (isDone) break;
    const eta = rate(t, gradient.gap);
    for (let index = 0; index < theta.length; index++) {
      (theta[index] as number) += eta * ((gamma[index] as number) - (problem.bounds[index] as number));
    }
  }
  const { members, oracleCalls, constantAnswers, fits } = pool;
  const bestIteration = lastOfSmallest(steps);
  return { members, steps, bestIteration, nu: enough ?? NaN, oracleCalls, constantAnswers, fits };
}

/**
 * Returns a function that computes the running averages: the share of iterations in which each member was selected, and
 * the mean of all multipliers.
 */
function runningAverage(length: number): (multipliers: Float64Array, picked: number, members: number) => SaddlePoint {
  const sum = new Float64Array(length);
  const picks: number[] = [];
  let count = 0;
  return (multipliers, picked, members) => {
    count++;
    picks[picked] = (picks[picked] ?? 0) + 1;
    for (let position = 0; position < length; position++) (sum[position] as number) += multipliers[position] as number;
    return {
      weights: Float64Array.from({ length: members }, (_, index) => (picks[index] ?? 0) / count),
      multipliers: sum.map((value) => value / count),
    };
  };
}

/**
 * Returns a function that solves the linear program over the pool. The function solves the program again only if the
 * pool has grown.
 */
function programSolver(): (game: Game) => Promise<GradientStep> {
  let size = 0;
  let last: GradientStep | undefined;
  return async (game) => {
    if (last !== undefined && size === game.pool.members.length) return last;
    size = game.pool.members.length;
    last = await evaluateStep(game, 'linear_program', await solveSaddlePoint(game));
    return last;
  };
}

async function evaluateStep(
  game: Game,
  method: GradientStep['method'],
  { weights, multipliers }: SaddlePoint,
): Promise<GradientStep> {
  return { method, weights, multipliers, ...(await dualityGap(game, weights, multipliers)) };
}

/** Returns the learning rate of iteration t. The rate decreases when the gaps of the averages stop falling. */
function learningRate(first: number): (t: number, gap: number) => number {
  let eta = first;
  let checkedAt = FIRST_CHECK;
  let gapThen = Infinity;
  let smallest = Infinity;
  return (t, gap) => {
    smallest = Math.min(smallest, gap);
    if (t >= checkedAt * CHECK_FACTOR) {
      if (smallest > gapThen * SHRINK) eta *= SHRINK;
      checkedAt = t;
      gapThen = smallest;
    }
    return eta;
  };
}

/** Computes B e^theta / (1 + sum e^theta), shifted to avoid overflow. */
function softmax(theta: Float64Array, limit: number): Float64Array {
  const shift = theta.reduce((a, b) => Math.max(a, b), 0);
  const powers = theta.map((value) => Math.exp(value - shift));
  const sum = powers.reduce((a, b) => a + b, Math.exp(-shift));
  return powers.map((power) => (limit * power) / sum);
}

/** Returns the last iteration with the smallest gap, up to rounding. */
function lastOfSmallest(steps: readonly GradientStep[]): number {
  const smallest = steps.reduce((min, { gap }) => Math.min(min, gap), Infinity);
  return steps.findLastIndex(({ gap }) => gap <= smallest + PRECISION);
}

/** The best mixture of the current pool, and its multipliers. */
interface SaddlePoint {
  /** The weights of the members, which sum to 1. */
  readonly weights: Float64Array;
  readonly multipliers: Float64Array;
}

/**
 * Solves the game over the convex hull of the pool: minimise sum_k error_k Q_k + B s subject to (gamma_k - bounds) . Q
 * <= s for every constraint, sum Q = 1, and Q and s at least 0. The dual variables are the multipliers.
 */
async function solveSaddlePoint({ pool: { members }, problem, limit }: Game): Promise<SaddlePoint> {
  const { bounds } = problem;
  const size = members.length;
  const rows = Array.from(bounds, (bound, index) => {
    const row = Float64Array.from(members, ({ gamma }) => (gamma[index] as number) - bound);
    return [...row, -1];
  });
  const { x, duals } = await solveLinearProgram({
    objective: [...members.map(({ error }) => error), limit],
    atMost: { rows, bounds: new Float64Array(rows.length) },
    equal: { rows: [[...new Float64Array(size).fill(1), 0]], values: [1] },
  });
  return { weights: x.slice(0, size), multipliers: duals };
}
