import { DataValidationError } from '../../exceptions/index.ts';
import { invalidParameter } from '../../internal/arguments.ts';
import { assertBinary, assertValues } from '../data/fit-rows.ts';
import { classFactors, type ClassWeight } from '../estimators/class-weight.ts';
import { cut, type GroupLossName, lossOf, type LossRange, PARITY_KINDS } from './constraint-names.ts';
import { type ConstraintSettings, isCost, type MisclassificationCosts } from './constraint-options.ts';
import { axesByAppearance, type GridCompat } from './multiplier-grid.ts';
import { createParityConstraint, type ParityConstraint } from './parity-constraint.ts';
import { nameMultipliers, type OracleRows, type ReductionProblem } from './reduction-problem.ts';
import { cellMeans, rankGroups, type ReductionRows, type RowCells, tabulateRows } from './row-cells.ts';

/**
 * Multiplies costs by class weights. A wrong decision on a row whose true label is c costs weight(c) times as much.
 * `balanced` gives class c the weight total / (2 total of c), so that both classes have the same total weight.
 * @throws {ValueError} if a product is above 1e100
 */
function weighCosts(
  { falsePositive, falseNegative }: MisclassificationCosts,
  classWeight: ClassWeight,
  targets: Float64Array,
  weights: Float64Array,
): MisclassificationCosts {
  const [zero, one] = classFactors(classWeight, targets, weights);
  const costs = { falsePositive: falsePositive * zero, falseNegative: falseNegative * one };
  if (isCost(costs.falsePositive) && isCost(costs.falseNegative)) return costs;
  throw invalidParameter('classWeight', 'make costs of at most 1e100', JSON.stringify(costs));
}

/**
 * Sets up the minimisation of the cost of wrong decisions under a parity constraint.
 *
 * If a row with label y gets the decision 1 instead of 0, the objective decreases by s = (falsePositive +
 * falseNegative) y - falsePositive + the contribution of the constraint's multipliers. The learner therefore gets the
 * row with the weight |s| and the target 1 if s > 0, otherwise 0.
 * @param targets the targets, [rows], 0 or 1
 */
function classificationProblem(
  targets: Float64Array,
  cells: RowCells,
  constraint: ParityConstraint,
  { falsePositive, falseNegative }: MisclassificationCosts,
): ReductionProblem {
  const { codes, weights, shares } = cells;
  return {
    targets,
    weights,
    totalWeight: cells.totalWeight,
    multiplierNames: constraint.multiplierNames,
    bounds: constraint.bounds,
    gridAxes: constraint.gridAxes,
    spansObjective: false,
    warnings: cells.warnings,
    respond(multipliers, withObjective = true) {
      const signed = constraint.signedWeights(multipliers);
      if (withObjective) {
        for (let cell = 0; cell < signed.length; cell++) {
          (signed[cell] as number) += cell % 2 === 0 ? -falsePositive : falseNegative;
        }
      }
      return relabel(codes, weights, signed);
    },
    evaluate(predictions) {
      const selected = cellMeans(cells, predictions);
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

function relabel(codes: Int32Array, rowWeights: Float64Array, signed: Float64Array): OracleRows {
  const targets = new Float64Array(codes.length);
  const weights = new Float64Array(codes.length);
  const seen = [false, false];
  for (let row = 0; row < codes.length; row++) {
    const saving = signed[codes[row] as number] as number;
    const weight = (rowWeights[row] as number) * Math.abs(saving);
    const label = saving > 0 ? 1 : 0;
    targets[row] = label;
    weights[row] = weight;
    seen[label] ||= weight > 0;
  }
  const isMixed = seen[0] === true && seen[1] === true;
  return { targets, weights, onlyLabel: isMixed ? null : seen[1] === true ? 1 : 0 };
}

/**
 * Sets up the optimization problem of a constraint on the given rows.
 * @param compat the library whose grid axes are used
 * @throws {DataValidationError} if the labels do not fit the constraint, or if a parity constraint has fewer than two
 *   groups
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
  readonly loss: GroupLossName;
  readonly range: LossRange;
  /** The largest mean loss that a group may have. */
  readonly upperBound: number;
}

/**
 * Sets up the minimisation of the mean loss under an upper bound on the mean loss of each group (Agarwal, Dudik and Wu
 * 2019). The targets stay unchanged. A row of group g has the weight 1 + multiplier(g) / share(g).
 * @param cells cells that were built with label 0 for every row
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
