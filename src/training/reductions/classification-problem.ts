import { invalidParameter } from '../../internal/arguments.ts';
import { classFactors, type ClassWeight } from '../estimators/class-weight.ts';
import type { ParityConstraint } from './parity-constraint.ts';
import type { OracleRows, ReductionProblem } from './reduction-problem.ts';
import { cellMeans, type RowCells } from './row-cells.ts';

/** The maximum cost. With larger costs, sums of costs times weights and multipliers may overflow. */
const LARGEST_COST = 1e100;

/**
 * Checks costs of errors.
 * @throws {ValueError} if a cost is negative or above 1e100, or both are 0
 */
export function parseCosts(given: MisclassificationCosts | undefined): MisclassificationCosts {
  const { falsePositive, falseNegative } = given ?? { falsePositive: 1, falseNegative: 1 };
  if (isCost(falsePositive) && isCost(falseNegative) && falsePositive + falseNegative > 0) {
    return Object.freeze({ falsePositive, falseNegative });
  }
  throw invalidParameter(
    'costs',
    'be { falsePositive, falseNegative }, both 0 or more and at most 1e100, one above 0',
    JSON.stringify(given),
  );
}

/**
 * Multiplies costs by class weights. A wrong decision on a row whose true label is c costs weight(c) times as much.
 * `balanced` gives class c the weight total / (2 total of c), so that both classes have the same total weight.
 * @throws {ValueError} if a product is above 1e100
 */
export function weighCosts(
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

function isCost(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= LARGEST_COST;
}

/** The cost of a wrong decision. */
export interface MisclassificationCosts {
  readonly falsePositive: number;
  readonly falseNegative: number;
}

/**
 * Sets up the minimisation of the cost of wrong decisions under a parity constraint.
 *
 * Deciding 1 instead of 0 for a row with label y saves s = (falsePositive + falseNegative) y - falsePositive + the
 * contribution of the constraint's multipliers. The learner's target is 1 if s > 0, with weight |s|.
 * @param targets [rows] 0 or 1
 */
export function classificationProblem(
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
