/**
 * The relabelled and reweighted rows for an ordinary learner. Minimising their weighted error is the best response to
 * multipliers.
 */
export interface OracleRows {
  /** The targets to learn, [rows]. */
  readonly targets: Float64Array;
  /** The weights, [rows], 0 or more, on an arbitrary scale. */
  readonly weights: Float64Array;
  /** The label of all rows with a weight above 0; null if both labels occur. */
  readonly onlyLabel: 0 | 1 | null;
}

/** The evaluation of one predictor. */
interface Evaluation {
  /** The objective: the mean cost of errors, or the mean loss. */
  readonly error: number;
  /** The left sides gamma of the constraints gamma <= bound, [multipliers]. */
  readonly gamma: Float64Array;
}

/** Marks an axis that does not change any multiplier. */
export const NO_MULTIPLIER = -1;

/**
 * One direction of a grid of multipliers. An axis names the multiplier that a positive step increases, and the
 * multiplier that a negative step increases.
 */
export interface GridAxis {
  readonly positive: number;
  /** The multiplier that a negative step increases; null if only positive steps are meaningful. */
  readonly negative: number | null;
}

/** A point of a grid: the signed steps along each axis, and the number of steps that correspond to the limit. */
export interface GridSteps {
  readonly steps: readonly number[];
  readonly units: number;
}

/**
 * A constrained minimisation problem: minimise error(h) subject to gamma(h) <= bounds, with one multiplier per
 * constraint.
 */
export interface ReductionProblem {
  /** The true labels or values, [rows]. */
  readonly targets: Float64Array;
  /** The weights given by the caller, [rows]. */
  readonly weights: Float64Array;
  readonly totalWeight: number;
  /** The names of the multipliers, for example "label=1/B/+". */
  readonly multiplierNames: readonly string[];
  /** The bounds of the constraints, [multipliers]. */
  readonly bounds: Float64Array;
  readonly gridAxes: readonly GridAxis[];
  /** Whether the multipliers alone form an objective. In that case, a grid does not add the error to the objective. */
  readonly spansObjective: boolean;
  /** Messages about groups and events that the constraint does not cover. */
  readonly warnings: readonly string[];
  /**
   * Returns the learner's rows for the given multipliers. If `withObjective` is false, the rows do not include the
   * objective.
   */
  respond(multipliers: Float64Array, withObjective?: boolean): OracleRows;
  /**
   * Evaluates predictions.
   * @param predictions [rows]: decisions, or probabilities of decisions
   */
  evaluate(predictions: ArrayLike<number>): Evaluation;
  /**
   * Returns multipliers at which the Lagrangian of every predictor is at least as large as at the given multipliers.
   */
  project(multipliers: Float64Array): Float64Array;
}

/**
 * Returns the names "event/group/sign" of the multipliers of all slots. Names with + come first. If there are two
 * sides, names with - follow.
 */
export function nameMultipliers(
  slots: readonly { readonly event: number; readonly group: string }[],
  events: readonly string[],
  signs: readonly string[],
): string[] {
  return signs.flatMap((sign) => slots.map(({ event, group }) => `${events[event] as string}/${group}/${sign}`));
}
