/** Rows for an ordinary learner, such that its least weighted error is the best response to multipliers. */
export interface OracleRows {
  /** [rows] what to learn. */
  readonly targets: Float64Array;
  /** [rows], 0 or more, on a scale of their own. */
  readonly weights: Float64Array;
  /** The one label that all weighted rows have, where a classifier would have nothing to tell apart. */
  readonly onlyLabel: 0 | 1 | null;
}

/** How one predictor does. */
interface Evaluation {
  /** The objective: mean cost of errors, or mean loss. */
  readonly error: number;
  /** [multipliers] the left sides of the constraints gamma <= bound. */
  readonly gamma: Float64Array;
}

/** In place of a multiplier where an axis moves none. */
export const NO_MULTIPLIER = -1;

/** One direction of a grid of multipliers: which multiplier a positive step raises, and which a negative one. */
export interface GridAxis {
  readonly positive: number;
  /** null where only positive steps make sense. */
  readonly negative: number | null;
}

/** A point of a grid: signed steps along each axis, and how many of them reach the limit. */
export interface GridSteps {
  readonly steps: readonly number[];
  readonly units: number;
}

/**
 * Least error under constraints, as the solvers see it: minimise error(h)
 * subject to gamma(h) <= bounds, one multiplier per constraint.
 */
export interface ReductionProblem {
  /** [rows] the true labels or values. */
  readonly targets: Float64Array;
  /** [rows] the user's weights. */
  readonly weights: Float64Array;
  readonly totalWeight: number;
  /** [multipliers] such as "label=1/B/+". */
  readonly multiplierNames: readonly string[];
  /** [multipliers] */
  readonly bounds: Float64Array;
  readonly gridAxes: readonly GridAxis[];
  /** Whether the multipliers alone make up an objective, so that a grid needs none beside them. */
  readonly spansObjective: boolean;
  /** What was left out, for people. */
  readonly warnings: readonly string[];
  /** The learner's rows for multipliers; `withObjective` false leaves the objective out of them. */
  respond(multipliers: Float64Array, withObjective?: boolean): OracleRows;
  /** @param predictions [rows]; decisions, or their probabilities */
  evaluate(predictions: ArrayLike<number>): Evaluation;
  /** Multipliers that give the Lagrangian the same or a larger value for every predictor. */
  project(multipliers: Float64Array): Float64Array;
}

/** "event/group/sign" for each slot: all with +, then, where there are two sides, all with -. */
export function nameMultipliers(
  slots: readonly { readonly event: number; readonly group: string }[],
  events: readonly string[],
  signs: readonly string[],
): string[] {
  return signs.flatMap((sign) => slots.map(({ event, group }) => `${events[event] as string}/${group}/${sign}`));
}
