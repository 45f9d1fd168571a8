import type { Tensor2D } from '@tensorflow/tfjs';

import { withTensors } from '../../metrics/reduce/tensors/row-states.ts';
import { type ColumnSource, isDeviceTensor, isTensorLike } from '../../table/index.ts';
import { currentTensorflow, multipliesFast, tensorflowInUse } from '../../tensor/index.ts';
import { weightsFitDevice } from '../data/device-rows.ts';
import { withFixedTensor } from '../data/fixed-tensor.ts';
import { deriveFrom, FixedMatrix, type Matrix, type MatrixSource, readMatrix } from '../data/read-matrix.ts';
import { columnScales } from '../estimators/fitting/column-scales.ts';
import type { GridCompat } from './multiplier-grid.ts';
import { createOracle, createTensorOracle, type Oracle, predictionKind, withoutTensors } from './oracle.ts';
import { poseProblem } from './pose-problem.ts';
import { poseTensorProblem, readTensorReductionRows } from './pose-tensor-problem.ts';
import type { RowProblem } from './reduction-problem.ts';
import type { ParsedLearner } from './reductions-options.ts';
import { readReductionRows, type ReductionFitOptions, withGroups } from './row-cells.ts';

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
  const isForced = settings.precision === 'float32';
  const { sampleWeight } = withGroups(options);
  const isCandidate =
    settings.isDefault &&
    isFasterOnTensors(x) &&
    (sampleWeight === undefined || isTensorLike(sampleWeight) || weightsFitDevice(sampleWeight));
  if (!isForced && !isCandidate) return searchHost(settings, { X: x, y, options }, search);
  const tf = await tensorflowInUse();
  if (!isForced && !multipliesFast(tf)) return searchHost(settings, { X: x, y, options }, search);
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

/** The number of columns with more than two values from which tensors are faster. See docs/performance.md. */
const MIN_DENSE = 20;

/**
 * The products, rows x dense columns^2, from which tensors save more time than it takes to load TensorFlow.js. The
 * search then takes some seconds on the host.
 */
const MIN_PRODUCTS = 5e7;

/** The distance between 1 and the next float32 number. */
const FLOAT32_SPACING = 2 ** -23;

/** The largest rounding error of a value in float32, relative to the largest distance of a value from the mean. */
const MAX_ROUNDING = 1e-5;

/**
 * Returns whether the default estimator is faster on tensors. On the host, columns with two values cost almost nothing.
 * A column whose values are far from 0 but close together, such as a date written as a number, would lose its digits in
 * float32. Such a matrix stays on the host.
 */
function isFasterOnTensors(x: Matrix): boolean {
  if (x.rows * x.columns ** 2 < MIN_PRODUCTS) return false;
  const { dense, shift, scale } = deriveFrom(x, 'column-scales', () => columnScales(x));
  const isExact = (column: number): boolean =>
    FLOAT32_SPACING * (Math.abs(shift[column] as number) + (scale[column] as number)) <=
    MAX_ROUNDING * (scale[column] as number);
  return (
    dense.length >= MIN_DENSE &&
    x.rows * dense.length ** 2 >= MIN_PRODUCTS &&
    Array.from({ length: x.columns }, (_, column) => column).every(isExact)
  );
}
