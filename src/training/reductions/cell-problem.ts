import { DataValidationError } from '../../exceptions/index.ts';
import { invalidParameter } from '../../internal/arguments.ts';
import { classFactors, type ClassWeight } from '../estimators/class-weight.ts';
import { PARITY_KINDS } from './constraint-names.ts';
import { type ConstraintSettings, isCost, type MisclassificationCosts } from './constraint-options.ts';
import { axesByAppearance } from './multiplier-grid.ts';
import { createParityConstraint, type ParityConstraint } from './parity-constraint.ts';
import { type CellProblem, nameMultipliers } from './reduction-problem.ts';
import { layOutCells, rankGroups, type RowCells, type RowTotals } from './row-cells.ts';

/**
 * Multiplies costs by class weights. A wrong decision on a row whose true label is c costs weight(c) times as much.
 * `balanced` gives class c the weight total / (2 total of c), so that both classes have the same total weight.
 * @throws {ValueError} if a product is above 1e100
 */
function weighCosts(
  { falsePositive, falseNegative }: MisclassificationCosts,
  classWeight: ClassWeight,
  { weights }: RowTotals,
): MisclassificationCosts {
  const totals: [number, number] = [0, 0];
  for (const [kind, weight] of weights.entries()) totals[kind % 2 === 0 ? 0 : 1] += weight;
  const [zero, one] = classFactors(classWeight, totals);
  const costs = { falsePositive: falsePositive * zero, falseNegative: falseNegative * one };
  if (isCost(costs.falsePositive) && isCost(costs.falseNegative)) return costs;
  throw invalidParameter('classWeight', 'make costs of at most 1e100', JSON.stringify(costs));
}

/**
 * Sets up the minimisation of the cost of wrong decisions under a parity constraint.
 *
 * Deciding 1 instead of 0 for a row with label y reduces the objective by s = (falsePositive + falseNegative) y -
 * falsePositive + the contribution of the constraint's multipliers. The learner's target is 1 if s > 0, with weight
 * |s|.
 */
function classificationProblem(
  cells: RowCells,
  constraint: ParityConstraint,
  { falsePositive, falseNegative }: MisclassificationCosts,
): CellProblem {
  const { shares } = cells;
  return {
    cells,
    multiplierNames: constraint.multiplierNames,
    bounds: constraint.bounds,
    gridAxes: constraint.gridAxes,
    spansObjective: false,
    warnings: cells.warnings,
    relabels: true,
    factors(multipliers, withObjective = true) {
      const signed = constraint.signedWeights(multipliers);
      if (!withObjective) return signed;
      return signed.map((weight, cell) => weight + (cell % 2 === 0 ? -falsePositive : falseNegative));
    },
    evaluateSums(selected) {
      let error = 0;
      for (let cell = 0; cell < selected.length; cell += 2) {
        error += falsePositive * (selected[cell] as number);
        error += falseNegative * ((shares[cell + 1] as number) - (selected[cell + 1] as number));
      }
      return { error, gamma: constraint.gamma(selected) };
    },
    project: (multipliers) => constraint.project(multipliers),
  };
}

/**
 * Sets up the optimization problem of a constraint from the sums of rows.
 * @throws {DataValidationError} if a parity constraint has fewer than two groups
 */
export function poseCellProblem(settings: ConstraintSettings, totals: RowTotals): CellProblem {
  const isParity = settings.constraint !== 'bounded_group_loss';
  const problem = isParity ? parityProblem(settings, totals) : groupLossProblem(layOutCells(totals, ALL), settings);
  if (totals.firstRows === undefined) return problem;
  return { ...problem, gridAxes: axesByAppearance(problem.cells, totals, isParity) };
}

/** The events of a constraint on losses. */
const ALL = ['all', 'all'] as const;

function parityProblem(
  settings: Exclude<ConstraintSettings, { constraint: 'bounded_group_loss' }>,
  totals: RowTotals,
): CellProblem {
  const ranked = rankGroups(totals);
  if (ranked.length < 2) throw oneGroup(ranked.map((code) => totals.groups[code] as string));
  const kind = PARITY_KINDS[settings.constraint];
  const cells = layOutCells(totals, kind.events);
  const costs = weighCosts(settings.costs, settings.classWeight, totals);
  return classificationProblem(cells, createParityConstraint(cells, kind, settings), costs);
}

function oneGroup(groups: readonly string[]): DataValidationError {
  return new DataValidationError(
    `A parity constraint compares groups, but only one group has rows with a weight above 0 (${groups.join(', ')}).`,
    {
      code: 'too-few-groups',
      context: { argument: 'sensitive', groups },
      suggestion: 'Fit the estimator itself, or check the column of groups.',
    },
  );
}

/** The bound on the mean losses of groups. */
interface GroupLossBound {
  /** The largest mean loss that a group may have. */
  readonly upperBound: number;
}

/**
 * Sets up the minimisation of the mean loss under an upper bound on the mean loss of each group (Agarwal, Dudik and Wu
 * 2019). The targets stay unchanged. A row of group g has the weight 1 + multiplier(g) / share(g).
 * @param cells cells in which every label is 0
 */
function groupLossProblem(cells: RowCells, { upperBound }: GroupLossBound): CellProblem {
  const { slots, shares } = cells;
  return {
    cells,
    multiplierNames: nameMultipliers(slots, cells.events, ['+']),
    bounds: new Float64Array(slots.length).fill(upperBound),
    gridAxes: slots.map((_, slot) => ({ positive: slot, negative: null })),
    spansObjective: true,
    warnings: cells.warnings,
    relabels: false,
    factors(multipliers, withObjective = true) {
      const own = withObjective ? 1 : 0;
      return shares.map((share, cell) => (share > 0 ? own + (multipliers[cell >> 1] ?? 0) / share : 0));
    },
    evaluateSums: (losses) => ({
      error: losses.reduce((sum, share) => sum + share, 0),
      gamma: Float64Array.from(slots, (_, slot) => (losses[2 * slot] as number) / (shares[2 * slot] as number)),
    }),
    project: (multipliers) => multipliers,
  };
}
