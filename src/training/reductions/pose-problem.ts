import { assertBinary, assertValues } from '../data/fit-rows.ts';
import { totalOf } from '../estimators/estimator-rows.ts';
import { poseCellProblem } from './cell-problem.ts';
import { cut, lossOf } from './constraint-names.ts';
import type { ConstraintSettings } from './constraint-options.ts';
import { automaticGap } from './exponentiated-gradient.ts';
import type { GridCompat } from './multiplier-grid.ts';
import type { OracleRows, ReductionProblem } from './reduction-problem.ts';
import { kindsOf, type ReductionRows, type RowTotals } from './row-cells.ts';

/**
 * Sets up the optimization problem of a constraint on rows on the host, in float64.
 * @param compat the library whose grid axes are used
 * @throws {DataValidationError} if the labels do not fit the constraint, or if a parity constraint has fewer than two
 *   groups
 */
export function poseProblem(settings: ConstraintSettings, rows: ReductionRows, compat?: GridCompat): ReductionProblem {
  const { y, weights } = rows;
  assertTargets(settings, y);
  const kinds = kindsOfRows(rows, settings.constraint !== 'bounded_group_loss');
  const problem = poseCellProblem(settings, tabulateRows(rows, kinds, compat));
  const { cellOf, totalWeight, shares } = problem.cells;
  const codes = kinds.map((kind) => cellOf[kind] as number);
  const valuesOf = lossesOf(settings, y);
  return {
    ...problem,
    totalWeight,
    respond(multipliers, withObjective) {
      const factors = problem.factors(multipliers, withObjective);
      if (problem.relabels) return relabel(codes, weights, factors);
      return {
        targets: y,
        weights: weights.map((weight, row) => weight * (factors[codes[row] as number] as number)),
        onlyLabel: null,
      };
    },
    evaluate(predictions) {
      const values = valuesOf(predictions);
      const sums = new Float64Array(shares.length);
      for (let row = 0; row < codes.length; row++) {
        (sums[codes[row] as number] as number) += (weights[row] as number) * (values[row] as number);
      }
      return problem.evaluateSums(sums.map((sum) => sum / totalWeight));
    },
    automaticGap: (predictions) => automaticGap(y, weights, predictions),
  };
}

/** @throws {DataValidationError} if a label or value does not fit the constraint */
function assertTargets(settings: ConstraintSettings, y: Float64Array): void {
  if (settings.constraint !== 'bounded_group_loss') assertBinary(y);
  else if (settings.loss === 'zero_one') {
    const isShare = (value: number): boolean => value >= 0 && value <= 1;
    assertValues('y', "lie in [0, 1] for the loss 'zero_one'", y, isShare, "Use the loss 'square' or 'absolute'.");
  }
}

/** Returns the values of rows that a constraint sums: predictions, or their losses. */
function lossesOf(
  settings: ConstraintSettings,
  y: Float64Array,
): (predictions: ArrayLike<number>) => ArrayLike<number> {
  if (settings.constraint !== 'bounded_group_loss') return (predictions) => predictions;
  const { range } = settings;
  const truths = y.map((value) => cut(value, range));
  const toLoss = lossOf(settings.loss);
  return (predictions) => truths.map((truth, row) => toLoss(Math.abs(truth - cut(predictions[row] as number, range))));
}

/** Returns the kind of each row, an index into {@link RowTotals.weights}. */
function kindsOfRows({ y, groups, control }: ReductionRows, hasLabels: boolean): Int32Array {
  return groups.codes.map((group, row) => {
    const level = control === undefined ? 0 : (control.codes[row] as number);
    return 2 * (level * groups.labels.length + group) + (hasLabels ? (y[row] as number) : 0);
  });
}

function tabulateRows(
  { y, weights, groups, control }: ReductionRows,
  kinds: Int32Array,
  compat: GridCompat | undefined,
): RowTotals {
  const names = { groups: groups.labels, levels: control?.labels };
  const totals = new Float64Array(kindsOf(names));
  const groupWeights = new Float64Array(groups.labels.length);
  const groupTruths = new Float64Array(groups.labels.length);
  for (let row = 0; row < kinds.length; row++) {
    const [kind, group, weight] = [kinds[row] as number, groups.codes[row] as number, weights[row] as number];
    (totals[kind] as number) += weight;
    (groupWeights[group] as number) += weight;
    (groupTruths[group] as number) += weight * (y[row] as number);
  }
  return {
    ...names,
    weights: totals,
    totalWeight: totalOf(weights),
    groupWeights,
    groupTruths,
    firstRows: compat === undefined ? undefined : firstRowsOf(kinds, totals.length),
  };
}

function firstRowsOf(kinds: Int32Array, count: number): Float64Array {
  const first = new Float64Array(count).fill(Infinity);
  for (let row = kinds.length - 1; row >= 0; row--) first[kinds[row] as number] = row;
  return first;
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
