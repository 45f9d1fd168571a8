import { cut, type GroupLossName, lossOf, type LossRange } from './group-loss.ts';
import { nameMultipliers, type ReductionProblem } from './reduction-problem.ts';
import { cellMeans, type RowCells } from './row-cells.ts';

/** What groups are held to. */
export interface GroupLossBound {
  readonly loss: GroupLossName;
  readonly range: LossRange;
  /** The largest mean loss that a group may have. */
  readonly upperBound: number;
}

/**
 * Least mean loss with each group's mean loss at most a bound (Agarwal, Dudik
 * and Wu 2019). The targets stay as they are; a row of group g weighs
 * 1 + multiplier(g) / share(g).
 * @param cells with every label 0
 */
export function groupLossProblem(
  targets: Float64Array,
  cells: RowCells,
  { loss, range, upperBound }: GroupLossBound,
): ReductionProblem {
  const { codes, slots, weights, shares } = cells;
  const truths = targets.map((value) => cut(value, range));
  const toLoss = lossOf(loss);
  return {
    targets,
    weights,
    totalWeight: cells.totalWeight,
    multiplierNames: nameMultipliers(slots, cells.events, ['+']),
    bounds: new Float64Array(slots.length).fill(upperBound),
    gridAxes: slots.map((_, slot) => ({ positive: slot, negative: null })),
    spansObjective: true,
    warnings: cells.warnings,
    respond(multipliers, withObjective = true) {
      const own = withObjective ? 1 : 0;
      const perCell = shares.map((share, cell) => (share > 0 ? own + (multipliers[cell >> 1] ?? 0) / share : 0));
      return {
        targets,
        weights: weights.map((weight, row) => weight * (perCell[codes[row] as number] as number)),
        onlyLabel: null,
      };
    },
    evaluate(predictions) {
      const losses = truths.map((truth, row) => toLoss(Math.abs(truth - cut(predictions[row] as number, range))));
      const sums = cellMeans(cells, losses);
      return {
        error: sums.reduce((sum, share) => sum + share, 0),
        gamma: Float64Array.from(slots, (_, slot) => (sums[2 * slot] as number) / (shares[2 * slot] as number)),
      };
    },
    project: (multipliers) => multipliers,
  };
}
