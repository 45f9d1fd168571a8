import { TrainingError } from '../../../exceptions/index.ts';
import { nextTurn } from '../../../internal/next-turn.ts';
import { dot } from '../../../internal/values.ts';

/** A function of several numbers, with its gradient. */
export interface Objective {
  /**
   * Returns the value of the function at a point, and fills in the gradient.
   * @param gradient [parameters], overwritten
   */
  (point: Float64Array, gradient: Float64Array): number;
}

/** Options of {@link minimise}. */
export interface MinimiseOptions {
  readonly maxIterations: number;
  /** A function that is called after each step with the number of steps. */
  readonly onStep?: ((steps: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The result of the search. */
export interface Minimum {
  readonly point: Float64Array;
  readonly value: number;
  readonly iterations: number;
  /** Whether the search converged; false if the maximum number of iterations was reached. */
  readonly hasConverged: boolean;
}

/** The number of earlier steps that L-BFGS remembers, each with its change of the gradient. */
const MEMORY = 10;

/** The search stops after a step that reduces the function's value by less than this fraction. */
const SMALL_GAIN = 1e-9;

/** A gradient counts as zero if the absolute values of all its components are at most this value. */
const FLAT = 1e-7;

/** The maximum number of trial points in one line search. */
const MAX_TRIALS = 50;

interface Position {
  readonly point: Float64Array;
  readonly gradient: Float64Array;
  readonly value: number;
}

interface Pair {
  readonly step: Float64Array;
  readonly change: Float64Array;
  /** The inverse of the scalar product of the step and the change: 1 / (step . change). */
  readonly inverse: number;
}

/**
 * Finds a local minimum by L-BFGS (Nocedal 1980) with the bisecting line search of Lewis and Overton (2013). The line
 * search satisfies the weak Wolfe conditions. These conditions keep every update positive definite, even near points
 * where the gradient is discontinuous.
 * @throws {TrainingError} if the value at the start is not finite
 */
export async function minimise(
  objective: Objective,
  start: Float64Array,
  { maxIterations, onStep, signal }: MinimiseOptions,
): Promise<Minimum> {
  const evaluate = (point: Float64Array): Position => {
    const gradient = new Float64Array(point.length);
    return { point, gradient, value: objective(point, gradient) };
  };
  const pairs: Pair[] = [];
  let position = evaluate(Float64Array.from(start));
  if (!Number.isFinite(position.value)) throw notFinite();
  let iterations = 0;
  let hasConverged = isFlat(position);
  while (!hasConverged && iterations < maxIterations) {
    if (signal !== undefined) await nextTurn();
    signal?.throwIfAborted();
    const next = search(evaluate, position, direction(position.gradient, pairs));
    // If a step makes no progress, the search is restarted without the stored pairs. If there are no stored pairs, no
    // further progress is possible.
    if (next === undefined && pairs.length === 0) {
      hasConverged = true;
      break;
    }
    if (next === undefined) {
      pairs.length = 0;
      continue;
    }
    remember(pairs, position, next);
    hasConverged = isFlat(next) || position.value - next.value <= SMALL_GAIN * Math.max(1e-12, Math.abs(next.value));
    position = next;
    iterations++;
    onStep?.(iterations);
  }
  return { point: position.point, value: position.value, iterations, hasConverged };
}

function isFlat({ gradient }: Position): boolean {
  return gradient.every((slope) => Math.abs(slope) <= FLAT);
}

/** Returns the negative gradient times the inverse Hessian approximated by the pairs (two-loop recursion). */
function direction(gradient: Float64Array, pairs: readonly Pair[]): Float64Array {
  const sought = gradient.map((slope) => -slope);
  const shares = new Float64Array(pairs.length);
  for (let index = pairs.length - 1; index >= 0; index--) {
    const { step, change, inverse } = pairs[index] as Pair;
    shares[index] = inverse * dot(step, sought);
    add(sought, change, -(shares[index] as number));
  }
  const last = pairs.at(-1);
  const scale =
    last === undefined ? 1 / Math.max(1, norm(gradient)) : 1 / (last.inverse * dot(last.change, last.change));
  for (let index = 0; index < sought.length; index++) sought[index] = (sought[index] as number) * scale;
  pairs.forEach(({ step, change, inverse }, index) => {
    add(sought, step, (shares[index] as number) - inverse * dot(change, sought));
  });
  return sought;
}

/** Finds a point along a direction that satisfies the weak Wolfe conditions; undefined if there is none. */
function search(
  evaluate: (point: Float64Array) => Position,
  from: Position,
  along: Float64Array,
): Position | undefined {
  const slope = dot(from.gradient, along);
  if (!(slope < 0)) return undefined;
  let [low, high, length] = [0, Infinity, 1];
  let lower: Position | undefined;
  for (let trial = 0; trial < MAX_TRIALS; trial++) {
    const point = Float64Array.from(from.point);
    add(point, along, length);
    const position = evaluate(point);
    if (!(position.value <= from.value + 1e-4 * length * slope)) {
      high = length;
    } else if (dot(position.gradient, along) < 0.9 * slope) {
      lower = position;
      low = length;
    } else {
      return position;
    }
    length = high === Infinity ? 2 * low : (low + high) / 2;
  }
  return lower;
}

function remember(pairs: Pair[], from: Position, to: Position): void {
  const step = to.point.map((value, index) => value - (from.point[index] as number));
  const change = to.gradient.map((slope, index) => slope - (from.gradient[index] as number));
  const curvature = dot(step, change);
  if (!(curvature > 0)) return;
  pairs.push({ step, change, inverse: 1 / curvature });
  if (pairs.length > MEMORY) pairs.shift();
}

function norm(values: Float64Array): number {
  return Math.sqrt(dot(values, values));
}

function add(to: Float64Array, values: Float64Array, times: number): void {
  for (let index = 0; index < to.length; index++) to[index] = (to[index] as number) + times * (values[index] as number);
}

function notFinite(): TrainingError {
  return new TrainingError('The objective is not finite at the start of the optimization.', {
    suggestion: 'Check the features for extreme values.',
  });
}
