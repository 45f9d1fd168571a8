/**
 * Relabelled and reweighted rows for an ordinary learner. A learner that minimises the weighted error on these rows is
 * the best response to certain multipliers.
 */
export interface OracleRows {
  /** The targets to learn, [rows]. */
  readonly targets: Float64Array;
  /** The weights, [rows], 0 or more, on an arbitrary scale. */
  readonly weights: Float64Array;
  /** The label of the rows with a weight above 0, if all of them have the same label; null if both labels occur. */
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
 * One axis of a grid of multipliers: the indexes of the multipliers that a positive step and a negative step increase.
 */
export interface GridAxis {
  readonly positive: number;
  /** The multiplier that a negative step increases; null if only positive steps are meaningful. */
  readonly negative: number | null;
}

/**
 * A point of a grid: the number of steps along each axis (with sign), and the number of steps (`units`) that would
 * reach the limit of the multipliers.
 */
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
  /**
   * Whether the multipliers alone define an objective, so that a grid search does not add the error to the objective.
   */
  readonly spansObjective: boolean;
  /** Messages about groups and events that the constraint does not cover. */
  readonly warnings: readonly string[];
  /**
   * Returns the rows to which the learner is fitted at the given multipliers. If `withObjective` is false, their labels
   * and weights do not include the objective.
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
