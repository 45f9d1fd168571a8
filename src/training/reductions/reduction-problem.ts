/** Rows for an ordinary learner. Minimising their weighted error is the best response to multipliers. */
export interface OracleRows {
  /** [rows] the targets to learn. */
  readonly targets: Float64Array;
  /** [rows], 0 or more, on an arbitrary scale. */
  readonly weights: Float64Array;
  /** The label of all rows with a weight above 0; null if both labels occur. */
  readonly onlyLabel: 0 | 1 | null;
}

/** The evaluation of one predictor. */
interface Evaluation {
  /** The objective: mean cost of errors, or mean loss. */
  readonly error: number;
  /** [multipliers] the left sides of the constraints gamma <= bound. */
  readonly gamma: Float64Array;
}

/** Marks an axis that does not change any multiplier. */
export const NO_MULTIPLIER = -1;

/**
 * One direction of a grid of multipliers. It names the multiplier that a positive step raises, and the multiplier that
 * a negative step raises.
 */
export interface GridAxis {
  readonly positive: number;
  /** Null if only positive steps are meaningful. */
  readonly negative: number | null;
}

/** A point of a grid: signed steps along each axis, and the number of steps that reach the limit. */
export interface GridSteps {
  readonly steps: readonly number[];
  readonly units: number;
}

/**
 * A constrained minimisation problem: minimise error(h) subject to gamma(h) <= bounds, with one multiplier per
 * constraint.
 */
export interface ReductionProblem {
  /** [rows] the true labels or values. */
  readonly targets: Float64Array;
  /** [rows] the user's weights. */
  readonly weights: Float64Array;
  readonly totalWeight: number;
  /** [multipliers], for example "label=1/B/+". */
  readonly multiplierNames: readonly string[];
  /** [multipliers] */
  readonly bounds: Float64Array;
  readonly gridAxes: readonly GridAxis[];
  /** Whether the multipliers alone form an objective, so that a grid does not add the error to it. */
  readonly spansObjective: boolean;
  /** Messages about parts that the constraint does not cover. */
  readonly warnings: readonly string[];
  /** Returns the learner's rows for the given multipliers. If `withObjective` is false, they exclude the objective. */
  respond(multipliers: Float64Array, withObjective?: boolean): OracleRows;
  /**
   * Evaluates predictions.
   * @param predictions [rows]; decisions, or their probabilities
   */
  evaluate(predictions: ArrayLike<number>): Evaluation;
  /** Returns multipliers at which the Lagrangian is equal or larger for every predictor. */
  project(multipliers: Float64Array): Float64Array;
}

/** Returns the name "event/group/sign" of each slot: first all with +, then, if there are two sides, all with -. */
export function nameMultipliers(
  slots: readonly { readonly event: number; readonly group: string }[],
  events: readonly string[],
  signs: readonly string[],
): string[] {
  return signs.flatMap((sign) => slots.map(({ event, group }) => `${events[event] as string}/${group}/${sign}`));
}
