import { TrainingError } from '../../../exceptions/index.ts';
import { dot } from '../../../internal/values.ts';
import { pause } from '../pause.ts';
import { type CholeskyFactor, factorise, solve } from './cholesky.ts';
import type { LinearScore } from './column-scales.ts';
import type { LossProblem } from './loss-problem.ts';

/**
 * A minimisation task. The objective is the loss of `problem` plus the sum of ridge_j c_j^2 / 2 over the parameters
 * c_j.
 */
export interface NewtonTask {
  readonly problem: LossProblem;
  /** The ridge of each parameter, [parameters], 0 or more. */
  readonly ridge: Float64Array;
  /** The default starting point, [parameters]. This point is used unless the objective is lower at `start`. */
  readonly origin: Float64Array;
  /** The objective at the origin. */
  readonly originObjective: number;
  /** An alternative starting point. */
  readonly start: Float64Array | undefined;
  readonly maxIterations: number;
  /** The method ends with the first step that lowers the objective by less than this value. */
  readonly minGain: number;
  readonly signal: AbortSignal | undefined;
}

/** The result of Newton's method. */
export interface NewtonResult {
  readonly parameters: Float64Array;
  /** The sum of losses at the result, without the ridge. */
  readonly loss: number;
  readonly iterations: number;
  readonly converged: boolean;
  /** Whether X'WX did not have full rank. */
  readonly isSingular: boolean;
  /**
   * Whether the last step hardly lowered the objective but was about as long as the previous step, which means that the
   * loss has no minimum.
   */
  readonly isDrifting: boolean;
}

/** A point, with the values that are computed at the point. */
interface Point {
  readonly c: Float64Array;
  readonly loss: number;
  readonly objective: number;
  /** The negative gradient of the objective. */
  readonly descent: Float64Array;
  readonly products: Float64Array | undefined;
}

/**
 * A Cholesky factor is reused as long as the predicted gain of each step is less than this share of the previous gain.
 */
const GOOD_FALL = 0.1;

/** A step is abandoned after this many halvings. */
const MAX_HALVINGS = 30;

/**
 * Scaled features lie in [-1, 1]. If a step changes a parameter by more than this value, the parameters have not
 * settled.
 */
const LONG_MOVE = 0.25;

/**
 * If `minGain` is above this share of the objective at the origin, the steps end too early to show whether the
 * parameters settle.
 */
const LOOSE_GAIN = 1e-6;

/**
 * Minimises a convex objective with Newton's method. Each step is halved until it lowers the objective.
 *
 * A step s solves (X'WX + ridge) s = -gradient and has a predicted gain of -gradient' s / 2. The first step with a
 * predicted gain below `minGain` is also the last step. If X'WX is expensive, its factor is reused while the
 * predicted gains decrease fast.
 * @throws {TrainingError} if the objective is not finite at the start
 */
export async function minimise(task: NewtonTask): Promise<NewtonResult> {
  const { problem, maxIterations } = task;
  const isStrict = task.minGain < LOOSE_GAIN * task.originObjective;
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
    // The gain depends on the square of the gradient's rounding error.
    const isLast = gain <= Math.max(task.minGain, problem.rounding ** 2 * point.objective);
    const keepsFactor = problem.keepsFactor && gain < GOOD_FALL * gainBefore;
    const next = await takeStep(task, point, step, !isLast && !keepsFactor);
    if (next === undefined) return result(iteration, isLast);
    moves = [moves[1], largestMove(point.c, next.c)];
    [point, gainBefore] = [next, gain];
    if (isLast) return result(iteration, true);
  }
  return result(maxIterations, false);
}

/** Returns the better of the two starting points. A start far from the minimum would require additional steps. */
async function startingPoint(task: NewtonTask): Promise<Point> {
  const given = task.start === undefined ? undefined : await pointAt(task, task.start, true);
  if (given !== undefined && given.objective < task.originObjective) return given;
  const origin = await pointAt(task, task.origin, true);
  if (Number.isFinite(origin.objective)) return origin;
  throw notFinite('The loss', { loss: origin.loss });
}

/**
 * Takes a step, which is halved until it lowers the objective, and returns the new point; undefined if no halved step
 * lowers the objective.
 */
async function takeStep(
  task: NewtonTask,
  point: Point,
  step: Float64Array,
  withProducts: boolean,
): Promise<Point | undefined> {
  const most = point.objective + task.problem.rounding * Math.abs(point.objective);
  for (let halvings = 0, share = 1; halvings <= MAX_HALVINGS; halvings++, share /= 2) {
    const c = point.c.map((value, index) => value + share * (step[index] as number));
    const next = await pointAt(task, c, withProducts);
    // The comparison is false for NaN.
    if (next.objective <= most) return next;
  }
  return undefined;
}

async function pointAt({ problem, ridge }: NewtonTask, c: Float64Array, withProducts: boolean): Promise<Point> {
  const { loss, gradient, products } = await problem.evaluate(c, withProducts);
  const penaltyGradient = c.map((value, index) => value * (ridge[index] as number));
  const descent = gradient.map((value, index) => value - (penaltyGradient[index] as number));
  return { c, loss, objective: loss + dot(penaltyGradient, c) / 2, descent, products };
}

function factorPoint({ problem, ridge }: NewtonTask, products: Float64Array): CholeskyFactor {
  const size = problem.parameters;
  const matrix = products.slice();
  for (let i = 0; i < size; i++) matrix[i * size + i] = (matrix[i * size + i] as number) + (ridge[i] as number);
  return factorise(matrix, size, problem.pivots);
}

function largestMove(from: Float64Array, to: Float64Array): number {
  return from.reduce((largest, value, index) => Math.max(largest, Math.abs((to[index] as number) - value)), 0);
}

/**
 * Returns the score if all its numbers are finite.
 * @throws {TrainingError} if a coefficient or the intercept is not finite
 */
export function assertFiniteScore(score: LinearScore): LinearScore {
  const { coefficients, intercept } = score;
  const column = coefficients.findIndex((value) => !Number.isFinite(value));
  if (column < 0 && Number.isFinite(intercept)) return score;
  const what = column < 0 ? 'intercept' : `coefficient of column ${String(column)}`;
  throw notFinite(`The ${what}`, { intercept, ...(column < 0 ? {} : { column, value: coefficients[column] }) });
}

/** Returns the error for rows whose results are not finite. */
export function notFinite(what: string, context: Record<string, unknown>): TrainingError {
  return new TrainingError(`${what} of these rows cannot be computed: it is not finite.`, {
    context,
    suggestion:
      'Check X, y and sampleWeight for values that are too large or too small to be squared, and standardise the features.',
  });
}
