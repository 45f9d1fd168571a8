import type { Tensor2D } from '@tensorflow/tfjs';

import { type BackendChoice, loadTensorflow, type Tf } from '../../../tensor/index.ts';
import { deriveFrom } from '../../data/read-matrix.ts';
import { type ColumnScales, columnScales, fromScaled, type LinearScore, toScaled } from './column-scales.ts';
import {
  createHostProblem,
  createTensorProblem,
  type LossProblem,
  type LossRows,
  type TensorLossRows,
  uploadLossRows,
} from './loss-problem.ts';
import { assertFiniteScore, minimise, type NewtonResult, type NewtonTask } from './newton.ts';
import type { RowLoss } from './row-loss.ts';
import { useTensorDesign } from './tensor-design.ts';

/** The maximum number of columns named in a warning. Further columns are only counted. */
const MAX_NAMED = 5;

/** Returns warnings about a fit, as full sentences. */
export function fitWarnings({
  constants,
  isSingular,
  isDrifting,
  converged,
  iterations,
}: FittedLinearModel): readonly string[] {
  const warnings: string[] = [];
  if (constants.length > 0) warnings.push(`${columnsNamed(constants)}: only one value, so the coefficient is 0`);
  if (isSingular) {
    const answers = converged ? 'solutions that predict the same' : 'solutions';
    warnings.push(
      `columns are collinear up to rounding: the coefficients are one of many ${answers}; l2 > 0 makes them unique`,
    );
  }
  if (isDrifting) {
    warnings.push(
      'the features separate the classes: the coefficients would grow indefinitely, and the fit stopped when further growth gained less than the tolerance; l2 > 0 bounds them',
    );
  }
  if (!converged) warnings.push(`not converged after ${String(iterations)} iterations`);
  return Object.freeze(warnings);
}

function columnsNamed(columns: readonly number[]): string {
  const named = columns.slice(0, MAX_NAMED).map(String).join(', ');
  const more = columns.length - MAX_NAMED;
  return `${columns.length === 1 ? 'column' : 'columns'} ${named}${more > 0 ? ` and ${String(more)} more` : ''}`;
}

/** The precisions in which fits can be computed. */
export const PRECISIONS = ['float32', 'float64'] as const;

/**
 * The precision of a fit. 'float32' computes the products on tensors, on any backend. 'float64' computes everything on
 * the host.
 */
export type Precision = (typeof PRECISIONS)[number];

/** A loss and the settings of a fit. */
export interface LinearTask extends Pick<NewtonTask, 'maxIterations' | 'minGain' | 'signal'> {
  readonly loss: RowLoss;
  /** The penalty is l2 / 2 times the sum of squared coefficients. */
  readonly l2: number;
  /** The intercept that minimises the loss if all coefficients are 0, and this minimum. */
  readonly origin: { readonly intercept: number; readonly loss: number };
  readonly startFrom: LinearScore | undefined;
}

/** Rows on the host, and where the fit is computed. */
interface HostRows extends Omit<LossRows, 'scales'> {
  readonly precision: Precision;
  readonly backend: BackendChoice | undefined;
}

/** Rows on the tensor backend. */
interface TensorRows extends Omit<TensorLossRows, 'blocks'> {
  /** The features, [rows, columns] float32. */
  readonly x: Tensor2D;
  /** Whether some weights are 0. */
  readonly hasUnusedRows: boolean;
}

/**
 * The result of a fit. `isSingular` means that columns are collinear, so that the rows do not determine the
 * coefficients.
 */
export interface FittedLinearModel extends LinearScore, Omit<NewtonResult, 'parameters'> {
  /** The constant columns, whose coefficients are 0. */
  readonly constants: readonly number[];
}

/** The maximum weight of the penalty. A larger weight would have the same effect, but might overflow float64. */
const LARGEST_RIDGE = 1e300;

/**
 * Minimises a penalised loss of a linear score on rows on the host.
 * @throws {TrainingError} if the loss or the result is not finite
 */
export async function fitLinearModel(rows: HostRows, task: LinearTask): Promise<FittedLinearModel> {
  task.signal?.throwIfAborted();
  const scales = deriveFrom(rows.x, 'column-scales', () => columnScales(rows.x));
  const lossRows = { ...rows, scales };
  if (rows.precision === 'float64') return minimiseLoss(createHostProblem(lossRows, task.loss), scales, task);
  const { tf } = await loadTensorflow({ backend: rows.backend });
  const uploaded = uploadLossRows(tf, lossRows);
  try {
    return await minimiseLoss(createTensorProblem(tf, uploaded, task.loss), scales, task);
  } finally {
    uploaded.dispose();
  }
}

/**
 * Minimises a penalised loss of a linear score on rows on the tensor backend, in float32. It reads the normal equations
 * of each step, and four numbers per column.
 * @throws {TrainingError} if the loss or the result is not finite
 */
export async function fitTensorModel(tf: Tf, rows: TensorRows, task: LinearTask): Promise<FittedLinearModel> {
  task.signal?.throwIfAborted();
  return useTensorDesign(tf, rows.x, rows.hasUnusedRows ? rows.weights : undefined, ({ blocks, scales }) =>
    minimiseLoss(createTensorProblem(tf, { ...rows, blocks }, task.loss), scales, task),
  );
}

/**
 * Minimises the loss of a problem and disposes of the problem.
 * @throws {TrainingError} if the loss or the result is not finite
 */
export async function minimiseLoss(
  problem: LossProblem,
  scales: ColumnScales,
  task: LinearTask,
): Promise<FittedLinearModel> {
  try {
    const origin = new Float64Array(problem.parameters);
    origin[problem.parameters - 1] = task.origin.intercept;
    const { parameters, ...found } = await minimise({
      ...task,
      problem,
      ridge: ridgeOf(scales, task.l2),
      origin,
      originObjective: task.origin.loss,
      start: task.startFrom && toScaled(task.startFrom, scales),
    });
    const score = assertFiniteScore(fromScaled(parameters, scales));
    return Object.freeze({ ...score, ...found, constants: scales.constants });
  } finally {
    problem.dispose();
  }
}

/** Returns the penalty on the parameter c = b scale of a scaled column. The intercept has no penalty. */
function ridgeOf({ scale }: ColumnScales, l2: number): Float64Array {
  const ridge = new Float64Array(scale.length + 1);
  for (const [column, by] of scale.entries()) ridge[column] = Math.min(LARGEST_RIDGE, l2 / by / by);
  return ridge;
}
