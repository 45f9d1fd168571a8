import type { OnProgress } from '../../internal/progress.ts';
import { solveLinearProgram } from '../linear-program.ts';
import { dualityGap, type Game, type GapResult } from './duality-gap.ts';
import { type Hypothesis, HypothesisPool, PRECISION } from './hypothesis-pool.ts';
import type { Oracle } from './oracle.ts';
import type { ReductionProblem } from './reduction-problem.ts';

/** The automatic duality gap, as a share of the standard error of the error. */
const SHARE = 0.5;

/**
 * Returns the duality gap below which further search only fits noise: half the standard error of mean |y - h|. The
 * number of rows is the sum of weights, so a row of weight 2 counts as two rows. The number is never less than the
 * effective number (sum w)^2 / sum w^2.
 */
export function automaticGap(targets: Float64Array, weights: Float64Array, predictions: ArrayLike<number>): number {
  const largest = weights.reduce((most, weight) => Math.max(most, weight), 0);
  // Weights are divided by the largest, because the square of a weight such as 1e200 overflows.
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
  const count = Math.max(total, (units * units) / squares);
  // A single row does not allow an estimate of the spread. A gap below rounding error is never needed.
  if (count <= 1) return PRECISION;
  const deviation = Math.sqrt((spread / total) * (count / (count - 1)));
  return Math.max(PRECISION, (SHARE * deviation) / Math.sqrt(count));
}

/** Options of {@link exponentiatedGradient}; all are required. */
export interface GradientOptions {
  /** The multipliers sum to at most 1 / eps. */
  readonly eps: number;
  /** The maximum number of iterations. */
  readonly iterations: number;
  /** The gap at which to stop; if undefined, {@link automaticGap} computes it. */
  readonly nu: number | undefined;
  /** The initial learning rate, in units of eps. */
  readonly eta0: number;
  readonly onProgress: OnProgress | undefined;
}

/** The result of one iteration. */
interface GradientStep extends GapResult {
  readonly weights: Float64Array;
  readonly multipliers: Float64Array;
  /** The method of the candidate with the smaller gap. */
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

/** The search may end at this iteration or later. */
const FEWEST_ITERATIONS = 5;

/** Progress is first checked at this iteration, then each time the iteration number has grown by a factor of 1.6. */
const FIRST_CHECK = 5;
const CHECK_FACTOR = 1.6;

/** The learning rate is multiplied by this factor if the gap has not shrunk by the same factor since the last check. */
const SHRINK = 0.8;

/**
 * Finds the mixture of predictors with the least error under constraints, as the saddle point of a game (Agarwal et al.
 * 2018, algorithm 1). As in the reference implementation, each step also solves a linear program over the pool.
 */
export async function exponentiatedGradient(
  problem: ReductionProblem,
  oracle: Oracle,
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
    enough ??= automaticGap(problem.targets, problem.weights, pool.firstPredictions);
    const game = { problem, pool, limit, enough };
    const gradient = await evaluateStep(game, 'gradient', average.add(multipliers, picked, pool.members.length));
    // With only one member, there is no mixture to optimize.
    const program = t === 0 ? undefined : await solveProgram(game);
    const step = program === undefined || gradient.gap < program.gap ? gradient : program;
    steps.push(step);
    const isDone = step.gap < enough && t >= FEWEST_ITERATIONS;
    report(options, isDone ? options.iterations : t + 1);
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

function report({ onProgress, iterations }: GradientOptions, done: number): void {
  onProgress?.({ stage: 'exponentiated gradient', done, total: iterations });
}

/** Tracks how often each member was picked, and the mean of all multipliers. */
function runningAverage(length: number): {
  add: (multipliers: Float64Array, picked: number, members: number) => SaddlePoint;
} {
  const sum = new Float64Array(length);
  const picks: number[] = [];
  let count = 0;
  return {
    add: (multipliers, picked, members) => {
      count++;
      picks[picked] = (picks[picked] ?? 0) + 1;
      for (let position = 0; position < length; position++)
        (sum[position] as number) += multipliers[position] as number;
      return {
        weights: Float64Array.from({ length: members }, (_, index) => (picks[index] ?? 0) / count),
        multipliers: sum.map((value) => value / count),
      };
    },
  };
}

/** Returns a solver of the linear program over the pool, which solves again only if the pool has grown. */
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

/** Returns the last of the iterations whose gap is smallest, up to rounding. */
function lastOfSmallest(steps: readonly GradientStep[]): number {
  const smallest = steps.reduce((min, { gap }) => Math.min(min, gap), Infinity);
  return steps.findLastIndex(({ gap }) => gap <= smallest + PRECISION);
}

/** The best mixture of the current pool, and its multipliers. */
interface SaddlePoint {
  /** [members], sum 1. */
  readonly weights: Float64Array;
  readonly multipliers: Float64Array;
}

/**
 * Solves the game over the convex hull of the pool: minimise sum_k error_k Q_k + B s subject to (gamma_k - bounds) .
 * Q <= s for every constraint, sum Q = 1, Q and s at least 0. The dual variables are the multipliers.
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
