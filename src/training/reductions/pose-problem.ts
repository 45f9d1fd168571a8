import { DataValidationError } from '../../exceptions/index.ts';
import { assertBinary, assertValues } from '../data/fit-rows.ts';
import { classificationProblem, weighCosts } from './classification-problem.ts';
import { cut, type GroupLossName, lossOf, type LossRange, PARITY_KINDS } from './constraint-names.ts';
import type { ConstraintSettings } from './constraint-options.ts';
import { axesByAppearance, type GridCompat } from './multiplier-grid.ts';
import { createParityConstraint } from './parity-constraint.ts';
import { nameMultipliers, type ReductionProblem } from './reduction-problem.ts';
import { cellMeans, rankGroups, type ReductionRows, type RowCells, tabulateRows } from './row-cells.ts';

/**
 * Sets up the optimization problem of a constraint on the given rows.
 * @param compat the library whose grid axes are used
 * @throws {DataValidationError} if the labels do not fit the constraint, or a parity has fewer than two groups
 */
export function poseProblem(settings: ConstraintSettings, rows: ReductionRows, compat?: GridCompat): ReductionProblem {
  const { y, weights, groups, control } = rows;
  if (settings.constraint === 'bounded_group_loss') {
    if (settings.loss === 'zero_one') {
      const isShare = (value: number): boolean => value >= 0 && value <= 1;
      assertValues('y', "lie in [0, 1] for the loss 'zero_one'", y, isShare, "Use the loss 'square' or 'absolute'.");
    }
    const labels = new Uint8Array(y.length);
    const cells = tabulateRows({ labels, truths: y, weights, groups, control, events: ['all', 'all'] });
    const problem = groupLossProblem(y, cells, settings);
    return compat === undefined ? problem : { ...problem, gridAxes: axesByAppearance(cells, groups, false) };
  }
  assertBinary(y);
  const ranked = rankGroups(groups, y, weights);
  if (ranked.length < 2) throw oneGroup(ranked.map((code) => groups.labels[code] as string));
  const kind = PARITY_KINDS[settings.constraint];
  const cells = tabulateRows({ labels: y, truths: y, weights, groups, control, events: kind.events });
  const costs = weighCosts(settings.costs, settings.classWeight, y, weights);
  const problem = classificationProblem(y, cells, createParityConstraint(cells, kind, settings), costs);
  return compat === undefined ? problem : { ...problem, gridAxes: axesByAppearance(cells, groups, true) };
}

function oneGroup(groups: readonly string[]): DataValidationError {
  return new DataValidationError(
    `A parity constraint compares groups, but only one has rows with weight (${groups.join(', ')}).`,
    {
      code: 'too-few-groups',
      context: { argument: 'sensitive', groups },
      suggestion: 'Fit the estimator itself, or check the column of groups.',
    },
  );
}

/** The bound on the mean losses of groups. */
interface GroupLossBound {
  readonly loss: GroupLossName;
  readonly range: LossRange;
  /** The largest mean loss that a group may have. */
  readonly upperBound: number;
}

/**
 * Sets up the minimisation of the mean loss under an upper bound on the mean loss of each group (Agarwal, Dudik and Wu
 * 2019). The targets stay unchanged; a row of group g has the weight 1 + multiplier(g) / share(g).
 * @param cells cells in which every label is 0
 */
function groupLossProblem(
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
