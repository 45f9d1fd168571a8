import type { Tensor1D } from '@tensorflow/tfjs';

import { type CellRows, cellTables, type Slice, type Tf, unitOf } from '../../../tensor/index.ts';
import type { CellTables } from '../../statistics/group-stats.ts';
import { toWeights } from '../row-arguments.ts';
import { areKnown, known } from './row-states.ts';

/** What {@link assertWeights} wants to know, for the maxima of a check: the sizes of weights, and the weights negated. */
export function weightExtremes(tf: Tf, slice: Slice, weights: Tensor1D | undefined): Tensor1D[] {
  if (weights === undefined) return [];
  const numbers = knownWeights(tf, slice, weights);
  return [numbers.abs(), numbers.neg()];
}

/**
 * Refuses weights that are infinite or negative.
 * @param extremes the maxima of {@link weightExtremes}
 * @returns the largest weight; 1 without weights
 * @throws {DataValidationError} with the weight and its index, for which alone the tensor is read
 */
export async function assertWeights(extremes: ArrayLike<number>, weights: Tensor1D | undefined): Promise<number> {
  if (weights === undefined) return 1;
  const [largest, negated] = [extremes[0] as number, extremes[1] as number];
  if (largest === Infinity || negated > 0) toWeights(await weights.data());
  return Math.max(0, largest);
}

/**
 * Counts rows by cell, and sums their weights and squared weights; the counts
 * themselves where rows have no weights. A missing weight adds nothing.
 */
export async function weighCells(
  tf: Tf,
  cells: CellRows,
  weights: Tensor1D | undefined,
  largest: number,
): Promise<CellTables> {
  if (weights === undefined) {
    const { counts } = await cellTables(tf, cells);
    return { counts, weights: counts, squaredWeights: counts };
  }
  // Squares of large weights would overflow.
  const unit = unitOf(largest);
  const shares = (slice: Slice): Tensor1D => knownWeights(tf, slice, weights).div<Tensor1D>(unit);
  const { counts, sums } = await cellTables(tf, cells, [
    { valuesOf: shares, largest: 1 },
    { valuesOf: (slice) => shares(slice).square(), largest: 1 },
  ]);
  const [sum, squares] = sums as [Float64Array, Float64Array];
  return {
    counts,
    weights: sum.map((value) => value * unit),
    squaredWeights: squares.map((value) => value * unit * unit),
  };
}

function knownWeights(tf: Tf, slice: Slice, weights: Tensor1D): Tensor1D {
  return known(tf, areKnown(tf, slice, [weights]), slice(weights));
}
