import type { ParityConstraint } from './parity-constraint.ts';
import type { OracleRows, ReductionProblem } from './reduction-problem.ts';
import { cellMeans, type RowCells } from './row-cells.ts';

/** What one wrong decision costs. */
export interface MisclassificationCosts {
  readonly falsePositive: number;
  readonly falseNegative: number;
}

/**
 * Least cost of wrong decisions under a parity constraint.
 *
 * Deciding 1 rather than 0 saves a row of label y the amount
 * s = (falsePositive + falseNegative) y - falsePositive + what the constraint's
 * multipliers add; the learner is asked for 1 where s > 0, with weight |s|.
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
