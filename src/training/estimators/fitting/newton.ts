import { TrainingError } from '../../../exceptions/index.ts';
import { dot } from '../dot.ts';
import { pause } from '../pause.ts';
import { type CholeskyFactor, factorise, solve } from './cholesky.ts';
import type { LossProblem } from './loss-problem.ts';

/** What to minimise: the problem's loss plus the sum of ridge c^2 / 2. */
export interface NewtonTask {
  readonly problem: LossProblem;
  /** [parameters], 0 or more. */
  readonly ridge: Float64Array;
  /** Where to start, [parameters], unless `start` is better. */
  readonly origin: Float64Array;
  /** The objective at the origin. */
  readonly originObjective: number;
  /** Another place to start from. */
  readonly start: Float64Array | undefined;
  readonly maxIterations: number;
  /** A step that lowers the objective by less is the last. */
  readonly leastGain: number;
  readonly signal: AbortSignal | undefined;
}

/** Where Newton's method ended. */
export interface NewtonResult {
  readonly parameters: Float64Array;
  /** The sum of losses there, without the ridge. */
  readonly loss: number;
  readonly iterations: number;
  readonly converged: boolean;
  /** Whether X'WX had no full rank. */
  readonly isSingular: boolean;
  /** Whether the last step, of next to no gain, went about as far as the one before: the loss then has no least value. */
  readonly isDrifting: boolean;
}

/** A point, with what is known there. */
interface Point {
  readonly c: Float64Array;
  readonly loss: number;
  readonly objective: number;
  /** Minus the objective's gradient. */
  readonly descent: Float64Array;
  readonly products: Float64Array | undefined;
}

/** A factor is kept while each step's gain falls to this share of the gain before. */
const GOOD_FALL = 0.1;

/** Halvings of a step before it is given up. */
const MAX_HALVINGS = 30;

/** Scaled features lie in [-1, 1]; after steps this long nothing has come to rest. */
const LONG_MOVE = 0.25;

/** Above this share of the objective at the origin, steps end before it shows whether they come to rest. */
const LOOSE_GAIN = 1e-6;

/**
 * Newton's method for a convex objective, with steps halved until they lower it.
 *
 * A step s solves (X'WX + ridge) s = -gradient and promises a gain of
 * -gradient's / 2; the first step that promises less than `leastGain` is taken
 * and ends the work. Where X'WX costs much, its factor is kept while the promises
 * fall fast.
 * @throws {TrainingError} where the objective is not finite to begin with
 */
export async function minimise(task: NewtonTask): Promise<NewtonResult> {
  const { problem, maxIterations } = task;
  const isStrict = task.leastGain < LOOSE_GAIN * task.originObjective;
  let point = await startingPoint(task);
  let factor: CholeskyFactor | undefined;
  let isSingular = false;
  let gainBefore = 0;
  let moves: [number, number] = [0, 0];
  const result = (iterations: number, converged: boolean): NewtonResult => ({
    parameters: point.c,
    loss: point.loss,
    iterations,
    converged,
    isSingular,
    isDrifting: isStrict && converged && Math.min(...moves) > LONG_MOVE && moves[1] > moves[0] / 2,
  });
  for (let iteration = 1; iteration <= maxIterations; iteration++) {
    await pause(task.signal);
    if (point.products !== undefined) factor = factorPoint(task, point.products);
    if (factor === undefined) break;
    isSingular ||= factor.jitter > 0;
    const step = solve(factor, point.descent);
    const gain = dot(step, point.descent) / 2;
    // A gradient's own rounding enters the gain squared.
    const isLast = gain <= Math.max(task.leastGain, problem.rounding ** 2 * point.objective);
    const keepsFactor = problem.keepsFactor && gain < GOOD_FALL * gainBefore;
    const next = await takeStep(task, point, step, !isLast && !keepsFactor);
    if (next === undefined) return result(iteration, isLast);
    moves = [moves[1], largestMove(point.c, next.c)];
    [point, gainBefore] = [next, gain];
    if (isLast) return result(iteration, true);
  }
  return result(maxIterations, false);
}

/** The better one of the two places to start; a start far off would cost more steps than none. */
async function startingPoint(task: NewtonTask): Promise<Point> {
  const given = task.start === undefined ? undefined : await pointAt(task, task.start, true);
  if (given !== undefined && given.objective < task.originObjective) return given;
  const origin = await pointAt(task, task.origin, true);
  if (Number.isFinite(origin.objective)) return origin;
  throw notFinite('The loss', { loss: origin.loss });
}

/** The point a step leads to, with the step halved until it lowers the objective; nothing if none does. */
async function takeStep(
  task: NewtonTask,
  point: Point,
  step: Float64Array,
  withProducts: boolean,
): Promise<Point | undefined> {
  const most = point.objective + task.problem.rounding * Math.abs(point.objective);
  for (let halvings = 0, share = 1; halvings <= MAX_HALVINGS; halvings++, share /= 2) {
    const c = point.c.map((value, place) => value + share * (step[place] as number));
    const next = await pointAt(task, c, withProducts);
    // NaN is no descent.
    if (next.objective <= most) return next;
  }
  return undefined;
}

async function pointAt({ problem, ridge }: NewtonTask, c: Float64Array, withProducts: boolean): Promise<Point> {
  const { loss, gradient, products } = await problem.evaluate(c, withProducts);
  const pull = c.map((value, place) => value * (ridge[place] as number));
  const descent = gradient.map((value, place) => value - (pull[place] as number));
  return { c, loss, objective: loss + dot(pull, c) / 2, descent, products };
}

function factorPoint({ problem, ridge }: NewtonTask, products: Float64Array): CholeskyFactor {
  const size = problem.parameters;
  const matrix = products.slice();
  for (let i = 0; i < size; i++) matrix[i * size + i] = (matrix[i * size + i] as number) + (ridge[i] as number);
  return factorise(matrix, size, problem.pivots);
}

function largestMove(from: Float64Array, to: Float64Array): number {
  return from.reduce((largest, value, place) => Math.max(largest, Math.abs((to[place] as number) - value)), 0);
}

/** Coefficients and an intercept that may be checked. */
interface FiniteScore {
  readonly coefficients: Float64Array;
  readonly intercept: number;
}

/**
 * Gives a score back where all of it is a number.
 * @throws {TrainingError} where a coefficient or the intercept is not finite
 */
export function assertFiniteScore(score: FiniteScore): FiniteScore {
  const { coefficients, intercept } = score;
  const column = coefficients.findIndex((value) => !Number.isFinite(value));
  if (column < 0 && Number.isFinite(intercept)) return score;
  const what = column < 0 ? 'intercept' : `coefficient of column ${String(column)}`;
  throw notFinite(`The ${what}`, { intercept, ...(column < 0 ? {} : { column, value: coefficients[column] }) });
}

/** What is thrown where rows lead out of the numbers. */
export function notFinite(what: string, context: Record<string, unknown>): TrainingError {
  return new TrainingError(`${what} of these rows cannot be computed: it is not finite.`, {
    context,
    suggestion:
      'Look in X, y and sampleWeight for values too large or too small to be squared, and standardise the features.',
  });
}
