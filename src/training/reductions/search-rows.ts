import type { Tensor2D } from '@tensorflow/tfjs';

import { withTensors } from '../../metrics/reduce/tensors/row-states.ts';
import { type ColumnSource, isDeviceTensor } from '../../table/index.ts';
import { currentTensorflow, tensorflowInUse } from '../../tensor/index.ts';
import { withFixedTensor } from '../data/fixed-tensor.ts';
import { FixedMatrix, type Matrix, type MatrixSource, readMatrix } from '../data/read-matrix.ts';
import type { GridCompat } from './multiplier-grid.ts';
import { createOracle, createTensorOracle, type Oracle, predictionKind, withoutTensors } from './oracle.ts';
import { poseProblem } from './pose-problem.ts';
import { poseTensorProblem, readTensorReductionRows } from './pose-tensor-problem.ts';
import type { RowProblem } from './reduction-problem.ts';
import type { ParsedLearner } from './reductions-options.ts';
import { readReductionRows, type ReductionFitOptions } from './row-cells.ts';

/** The arguments of a reduction's `fit`. */
interface FitArguments {
  readonly X: MatrixSource;
  readonly y: ColumnSource;
  readonly options: ReductionFitOptions;
}

/** A search for predictors, on rows on the host or on a device. */
type Search<Result> = <Rows, Predictions>(
  problem: RowProblem<Rows, Predictions>,
  oracle: Oracle<Rows, Predictions>,
) => Promise<Result>;

/**
 * Runs a search on the rows of a reduction: on the device if X is a tensor, or if that is faster for an array, and
 * otherwise on the host. The option `precision` overrides the choice.
 */
export async function searchRows<Result>(
  settings: ParsedLearner & { readonly compat?: GridCompat | undefined },
  { X, y, options }: FitArguments,
  search: Search<Result>,
): Promise<Result> {
  if (settings.precision === 'float64') return searchHost(settings, { X, y, options }, search);
  if (isDeviceTensor(X)) return searchDevice(settings, X as unknown as Tensor2D, { y, options }, search);
  const x = new FixedMatrix(await readMatrix(X));
  if (settings.precision === undefined && !(settings.isDefault && isFasterOnTensors(x))) {
    return searchHost(settings, { X: x, y, options }, search);
  }
  const tf = await tensorflowInUse();
  const uploaded = tf.tensor2d(Float32Array.from(x.values), [x.rows, x.columns]);
  try {
    return await searchDevice(settings, uploaded, { y, options }, search);
  } finally {
    uploaded.dispose();
  }
}

async function searchHost<Result>(
  { estimator, constraint, compat }: ParsedLearner & { readonly compat?: GridCompat | undefined },
  { X, y, options }: FitArguments,
  search: Search<Result>,
): Promise<Result> {
  const rows = await readReductionRows(X, y, options);
  const { signal } = options;
  const oracle = createOracle({ estimator, x: rows.x, predicts: predictionKind(constraint), signal });
  return search(poseProblem(constraint, rows, compat), oracle);
}

async function searchDevice<Result>(
  { estimator, tensorEstimator, constraint, compat }: ParsedLearner & { readonly compat?: GridCompat | undefined },
  X: Tensor2D,
  { y, options }: Omit<FitArguments, 'X'>,
  search: Search<Result>,
): Promise<Result> {
  if (tensorEstimator === undefined) throw withoutTensors(estimator);
  const tf = currentTensorflow();
  return withTensors(tf, async (keep) => {
    const rows = await readTensorReductionRows(tf, keep, constraint, { x: X, y, options });
    const problem = await poseTensorProblem(tf, keep, constraint, rows, compat);
    const predicts = predictionKind(constraint);
    return withFixedTensor(rows.x, (x) =>
      search(problem, createTensorOracle(tf, { estimator: tensorEstimator, x, predicts, signal: options.signal })),
    );
  });
}

function isFasterOnTensors(x: Matrix): boolean {
  return x.rows < 0;
}
