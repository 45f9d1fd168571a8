import { DataValidationError } from '../../exceptions/index.ts';
import type { OnProgress } from '../../internal/progress.ts';
import type { CategoricalColumn, ColumnSource, SensitiveSource } from '../../table/index.ts';
import { assertBinary, type FitRows, readFitRows, readGroups } from '../data/fit-rows.ts';
import type { MatrixSource } from '../data/read-matrix.ts';
import { weighCosts } from './class-costs.ts';
import { classificationProblem } from './classification-problem.ts';
import { PARITY_KINDS } from './constraint-names.ts';
import type { ConstraintSettings } from './constraint-options.ts';
import { groupLossProblem } from './group-loss-problem.ts';
import { createParityConstraint } from './parity-constraint.ts';
import { rankGroups } from './rank-groups.ts';
import type { ReductionProblem } from './reduction-problem.ts';
import { tabulateRows } from './row-cells.ts';

/** Options of a reduction's `fit`. */
export interface ReductionFitOptions {
  /** The group of each row; several attributes are crossed. It is no feature unless X has it too. */
  readonly sensitive: SensitiveSource;
  /** Splits the rows: groups are compared within each of its levels, and never between them. */
  readonly control?: SensitiveSource | undefined;
  /** One weight per row, 0 or more; it enters the objective and the constraint. A row of weight 2 counts as two. */
  readonly sampleWeight?: ColumnSource | undefined;
  readonly onProgress?: OnProgress | undefined;
  /** Stops the work between two fits; the promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Rows of a reduction, on the host. */
export interface ReductionRows extends FitRows {
  readonly groups: CategoricalColumn;
  readonly control: CategoricalColumn | undefined;
}

/**
 * Reads the rows of a reduction.
 * @throws {DataValidationError} for missing or infinite values, or lengths that differ
 */
export async function readReductionRows(
  x: MatrixSource,
  y: ColumnSource,
  { sensitive, control, sampleWeight }: ReductionFitOptions,
): Promise<ReductionRows> {
  const rows = await readFitRows(x, y, sampleWeight);
  return {
    ...rows,
    groups: await readGroups(sensitive, rows.y.length),
    control: control === undefined ? undefined : await readGroups(control, rows.y.length, 'control'),
  };
}

/**
 * The problem that a constraint makes of rows.
 * @throws {DataValidationError} where the labels do not fit the constraint, or a parity has fewer than two groups
 */
export function reductionProblem(settings: ConstraintSettings, rows: ReductionRows): ReductionProblem {
  const { y, weights, groups, control } = rows;
  if (settings.constraint === 'bounded_group_loss') {
    if (settings.loss === 'zero_one') assertProbabilities(y);
    const labels = new Uint8Array(y.length);
    const cells = tabulateRows({ labels, truths: y, weights, groups, control, events: ['all', 'all'] });
    return groupLossProblem(y, cells, settings);
  }
  assertBinary(y);
  if (rankGroups(groups, y, weights).length < 2) throw oneGroup(groups);
  const kind = PARITY_KINDS[settings.constraint];
  const cells = tabulateRows({ labels: y, truths: y, weights, groups, control, events: kind.events });
  const costs = weighCosts(settings.costs, settings.classWeight, y, weights);
  return classificationProblem(y, cells, createParityConstraint(cells, kind, settings), costs);
}

function assertProbabilities(y: Float64Array): void {
  const row = y.findIndex((value) => value < 0 || value > 1);
  if (row < 0) return;
  throw new DataValidationError(
    `y must lie in [0, 1] for the loss 'zero_one', but holds ${String(y[row])} at index ${String(row)}.`,
    { context: { argument: 'y', index: row, value: y[row] }, suggestion: "Use the loss 'square' or 'absolute'." },
  );
}

function oneGroup({ labels }: CategoricalColumn): DataValidationError {
  return new DataValidationError(
    `A parity compares groups, and only one has rows with weight (${labels.slice(0, 3).join(', ')}).`,
    {
      context: { argument: 'sensitive', groups: labels.slice(0, 10) },
      suggestion: 'Fit the estimator itself, or check the column of groups.',
    },
  );
}
