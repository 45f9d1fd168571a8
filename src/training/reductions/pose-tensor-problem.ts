import type { Tensor1D } from '@tensorflow/tfjs';

import { DataValidationError } from '../../exceptions/index.ts';
import type { Keep } from '../../metrics/reduce/tensors/row-states.ts';
import type { ColumnSource, TensorLike } from '../../table/index.ts';
import { cellCounts, groupSums, largestExactInteger, type Tf } from '../../tensor/index.ts';
import { assertSimilarWeights, type DeviceCodes, readDeviceGroups } from '../data/device-rows.ts';
import { readTensorFitRows, type TensorFitRows } from '../data/tensor-fit-rows.ts';
import { poseCellProblem } from './cell-problem.ts';
import { lossOf } from './constraint-names.ts';
import type { ConstraintSettings } from './constraint-options.ts';
import { gapOfNoise } from './exponentiated-gradient.ts';
import type { GridCompat } from './multiplier-grid.ts';
import type { CellProblem, RowProblem, TensorOracleRows } from './reduction-problem.ts';
import { kindsOf, type ReductionFitOptions, type RowTotals, withGroups } from './row-cells.ts';

/** A problem whose rows are on the device. */
type TensorProblem = RowProblem<TensorOracleRows, Tensor1D>;

/** Rows of a reduction on the device. */
export interface TensorReductionRows extends TensorFitRows {
  readonly groups: DeviceCodes;
  readonly control: DeviceCodes | undefined;
}

/**
 * Reads the rows of a reduction on the device of the features.
 * @param keep disposes of the tensors that this function creates
 * @throws {DataValidationError} if values are missing, infinite or do not fit the constraint, if lengths differ, if
 *   weights differ too much for float32, or if there are no groups
 */
export async function readTensorReductionRows(
  tf: Tf,
  keep: Keep,
  settings: ConstraintSettings,
  { x, y, options }: { x: TensorLike; y: ColumnSource; options: ReductionFitOptions | undefined },
): Promise<TensorReductionRows> {
  const { sensitive, control, sampleWeight } = withGroups(options);
  const rows = await readTensorFitRows(tf, keep, { x, y, sampleWeight }, targetsOf(settings));
  if (sampleWeight !== undefined) await assertSimilarWeights(tf, rows.weights, rows.largestWeight);
  const [count] = rows.x.shape;
  return {
    ...rows,
    groups: await readDeviceGroups(tf, keep, 'sensitive', sensitive, count),
    control: control === undefined ? undefined : await readDeviceGroups(tf, keep, 'control', control, count),
  };
}

function targetsOf(settings: ConstraintSettings): 'binary' | 'unit' | 'finite' {
  if (settings.constraint !== 'bounded_group_loss') return 'binary';
  return settings.loss === 'zero_one' ? 'unit' : 'finite';
}

/**
 * Sets up the optimization problem of a constraint on rows on the device, in float32. Setting up the problem reads sums
 * per control level, group and label. Each evaluation reads sums per cell.
 * @param keep disposes of the tensors that this function creates
 * @param compat the library whose grid axes are used
 * @throws {DataValidationError} if a parity constraint has fewer than two groups
 */
export async function poseTensorProblem(
  tf: Tf,
  keep: Keep,
  settings: ConstraintSettings,
  rows: TensorReductionRows,
  compat?: GridCompat,
): Promise<TensorProblem> {
  const kinds = keep(kindsOfRows(tf, rows, settings.constraint !== 'bounded_group_loss'));
  const problem = poseCellProblem(settings, await tabulateRows(tf, rows, kinds, compat));
  const { cellOf, totalWeight, shares } = problem.cells;
  const codes = keep(tf.tidy(() => tf.tensor1d(cellOf, 'int32').gather(kinds)));
  const valuesOf = lossesOf(tf, settings, rows.y);
  const sumBy = async (cells: Tensor1D, count: number, values: () => Tensor1D): Promise<Float64Array> => {
    const weighted = tf.tidy(() => values().mul<Tensor1D>(rows.weights));
    try {
      return await groupSums(tf, weighted, cells, count);
    } finally {
      weighted.dispose();
    }
  };
  return {
    ...problem,
    respond: (multipliers, withObjective) =>
      respond(tf, problem, problem.factors(multipliers, withObjective), rows, codes),
    async evaluate(predictions) {
      const sums = await sumBy(codes, shares.length, () => valuesOf(predictions));
      return problem.evaluateSums(sums.map((sum) => sum / totalWeight));
    },
    async automaticGap(predictions) {
      const all = keep(tf.zerosLike(codes));
      const largest = keep(rows.weights.max());
      const errors = (): Tensor1D => rows.y.sub<Tensor1D>(predictions).abs();
      const [sum = 0] = await sumBy(all, 1, errors);
      const [spread = 0] = await sumBy(all, 1, () =>
        errors()
          .sub<Tensor1D>(sum / totalWeight)
          .square(),
      );
      // Squares of large weights would overflow float32.
      const [squares = 0] = await sumBy(all, 1, () => rows.weights.div<Tensor1D>(largest));
      const [unit = 1] = await largest.data();
      return gapOfNoise(spread / totalWeight, Math.max(totalWeight, totalWeight ** 2 / (squares * unit)));
    },
  };
}

function respond(
  tf: Tf,
  { cells, relabels }: CellProblem,
  factors: Float64Array,
  { y, weights }: TensorReductionRows,
  codes: Tensor1D,
): TensorOracleRows {
  let total = 0;
  const seen = [false, false];
  for (const [cell, factor] of factors.entries()) {
    const weight = (cells.shares[cell] as number) * Math.abs(factor);
    total += weight * cells.totalWeight;
    seen[factor > 0 ? 1 : 0] ||= weight > 0;
  }
  const isMixed = !relabels || (seen[0] === true && seen[1] === true);
  const rows = tf.tidy(() => {
    const own = tf.tensor1d(Float32Array.from(factors)).gather<Tensor1D>(codes);
    return {
      targets: relabels ? own.greater(0).cast<Tensor1D>('float32') : y.clone(),
      weights: own.abs().mul<Tensor1D>(weights),
    };
  });
  return { ...rows, total, onlyLabel: isMixed ? null : seen[1] === true ? 1 : 0 };
}

/** Returns the values of rows that a constraint sums: predictions, or their losses. */
function lossesOf(tf: Tf, settings: ConstraintSettings, y: Tensor1D): (predictions: Tensor1D) => Tensor1D {
  if (settings.constraint !== 'bounded_group_loss') return (predictions) => predictions;
  const [low, high] = settings.range;
  const isSquare = lossOf(settings.loss)(2) === 4;
  return (predictions) => {
    const distances = tf.clipByValue(y, low, high).sub<Tensor1D>(tf.clipByValue(predictions, low, high));
    return isSquare ? distances.square() : distances.abs();
  };
}

/** Returns the kind of each row, an index into {@link RowTotals.weights}; int32. */
function kindsOfRows(tf: Tf, { y, groups, control }: TensorReductionRows, hasLabels: boolean): Tensor1D {
  const kinds = kindsOf({ groups: groups.labels, levels: control?.labels });
  const largest = Math.min(2 ** 24, largestExactInteger(tf));
  if (kinds > largest) throw tooManyKinds(kinds, largest);
  return tf.tidy(() => {
    const pairs = control === undefined ? groups.codes : control.codes.mul(groups.labels.length).add(groups.codes);
    const slots = pairs.mul<Tensor1D>(2);
    return (hasLabels ? slots.add<Tensor1D>(y) : slots).cast('int32');
  });
}

function tooManyKinds(kinds: number, largest: number): DataValidationError {
  return new DataValidationError(
    `The arguments 'sensitive' and 'control' give ${String(kinds)} combinations of level, group and label, but a device can hold at most ${String(largest)}.`,
    {
      code: 'data-too-large',
      context: { argument: 'control', kinds, largest },
      suggestion: "Merge rare groups or levels, or pass arrays with precision 'float64'.",
    },
  );
}

async function tabulateRows(
  tf: Tf,
  { y, weights, groups, control }: TensorReductionRows,
  kinds: Tensor1D,
  compat: GridCompat | undefined,
): Promise<RowTotals> {
  const names = { groups: groups.labels, levels: control?.labels };
  const totals = await cellCounts(tf, kinds, kindsOf(names), weights);
  const groupWeights = new Float64Array(groups.labels.length);
  for (const [kind, weight] of totals.entries()) {
    (groupWeights[(kind >> 1) % groups.labels.length] as number) += weight;
  }
  const [truths, codes] = [tf.tidy(() => y.mul<Tensor1D>(weights)), groups.codes.cast<Tensor1D>('int32')];
  try {
    return {
      ...names,
      weights: totals,
      totalWeight: totals.reduce((sum, weight) => sum + weight, 0),
      groupWeights,
      groupTruths: await groupSums(tf, truths, codes, groups.labels.length),
      firstRows: compat === undefined ? undefined : await firstRowsOf(tf, kinds, totals.length),
    };
  } finally {
    tf.dispose([truths, codes]);
  }
}

/** Finds the first row of each kind, with one pass over the rows per kind. */
async function firstRowsOf(tf: Tf, kinds: Tensor1D, count: number): Promise<Float64Array> {
  const found = tf.tidy(() =>
    tf.concat(
      Array.from({ length: count }, (_, kind) => {
        const isOfKind = kinds.equal(tf.scalar(kind, 'int32')).cast<Tensor1D>('float32');
        // The shape of a maximum is [] or [1], depending on the backend.
        return tf.concat([isOfKind.argMax().cast('float32').reshape<Tensor1D>([1]), isOfKind.max().reshape([1])]);
      }),
    ),
  );
  try {
    const values = await found.data();
    return Float64Array.from({ length: count }, (_, kind) =>
      values[2 * kind + 1] === 1 ? (values[2 * kind] as number) : Infinity,
    );
  } finally {
    found.dispose();
  }
}
