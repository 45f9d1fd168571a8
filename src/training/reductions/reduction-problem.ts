import type { Tensor1D } from '@tensorflow/tfjs';

import type { RowCells } from './row-cells.ts';

/**
 * Relabelled and reweighted rows for an ordinary learner. A learner that minimises the weighted error on these rows is
 * the best response to certain multipliers.
 */
export interface OracleRows<Values = Float64Array> {
  /** The targets to learn, [rows]. */
  readonly targets: Values;
  /** The weights, [rows], 0 or more, on an arbitrary scale. */
  readonly weights: Values;
  /** The label of all rows with a weight above 0; null if both labels occur. */
  readonly onlyLabel: 0 | 1 | null;
}

/** The learner's rows on the device, [rows] float32. */
export interface TensorOracleRows extends OracleRows<Tensor1D> {
  /** The sum of the weights. */
  readonly total: number;
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
 * constraint. Rows enter the problem only through sums over cells.
 */
export interface CellProblem {
  readonly cells: RowCells;
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
   * Whether the learner gets new labels: the label 1 where the factor is above 0, and 0 elsewhere. Otherwise, the
   * learner gets the targets.
   */
  readonly relabels: boolean;
  /**
   * Returns the factor of each cell, [cells]. Its absolute value multiplies the weights of the cell's rows. If
   * `withObjective` is false, the factors do not include the objective.
   */
  factors(multipliers: Float64Array, withObjective?: boolean): Float64Array;
  /**
   * Evaluates the sums over each cell of weight x prediction (or weight x loss, if rows keep their targets), as shares
   * of the total weight, [cells].
   */
  evaluateSums(sums: Float64Array): Evaluation;
  /**
   * Returns multipliers at which the Lagrangian of every predictor is at least as large as at the given multipliers.
   */
  project(multipliers: Float64Array): Float64Array;
}

/** A problem together with its rows, which are arrays on the host, or tensors. */
export interface RowProblem<Rows, Predictions> extends CellProblem {
  /**
   * Returns the learner's rows for the given multipliers. If `withObjective` is false, the rows do not include the
   * objective.
   */
  respond(multipliers: Float64Array, withObjective?: boolean): Rows;
  /**
   * Evaluates predictions.
   * @param predictions [rows]: decisions, or probabilities of decisions
   */
  evaluate(predictions: Predictions): Evaluation | Promise<Evaluation>;
  /** Returns the duality gap below which further search only fits noise, from the predictions of the first predictor. */
  automaticGap(predictions: Predictions): number | Promise<number>;
}

/** A problem whose rows are on the host. */
export interface ReductionProblem extends RowProblem<OracleRows, ArrayLike<number>> {
  readonly totalWeight: number;
  evaluate(predictions: ArrayLike<number>): Evaluation;
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
