import type { ScoreCell } from '../../io/count-scores.ts';
import type { NumberSums } from '../../io/sum-moments.ts';
import type { WeightSums } from '../../io/value-sql.ts';
import {
  type CellTables,
  type LossSums,
  makeMoments,
  makeTables,
  type RegressionStats,
} from '../statistics/group-stats.ts';
import { poolMoments } from '../statistics/regroup-stats.ts';
import { noLosses } from '../statistics/score-grid.ts';
import { type PreparedDecisions, RAW_CELLS, rawCell, type RawCells } from './reduce-classification.ts';
import { countDropped } from './row-arguments.ts';

/** Creates tables of the given size. The sums of each part are added to the cell whose index `indexOf` returns. */
export function fillTables<Part extends WeightSums>(
  parts: readonly Part[],
  indexOf: (part: Part) => number,
  size: number,
): CellTables {
  const tables = makeTables(() => new Float64Array(size));
  for (const part of parts) {
    const index = indexOf(part);
    tables.counts[index] = (tables.counts[index] as number) + part.count;
    tables.weights[index] = (tables.weights[index] as number) + part.weight;
    tables.squaredWeights[index] = (tables.squaredWeights[index] as number) + part.squaredWeight;
  }
  return tables;
}

/** Computes the log losses of all groups from the sums that SQL returned for each cell. */
export function lossesOfCells(cells: readonly ScoreCell[], groups: number): LossSums {
  const losses = noLosses(groups);
  for (const { group, loss, squaredLoss } of cells) {
    losses.sums[group] = (losses.sums[group] as number) + loss;
    losses.squares[group] = (losses.squares[group] as number) + squaredLoss;
  }
  return losses;
}

/**
 * Computes the moments of all groups from the sums that SQL returned. If a group's label has several spellings, the
 * sums of the group consist of several parts.
 */
function momentsOfSums(
  sums: readonly Pick<NumberSums, 'group' | 'moments' | 'weight'>[],
  groups: number,
): RegressionStats['moments'] {
  return makeMoments((quantity) => {
    const parts = sums.map(({ group, moments, weight }) => ({
      group,
      weight,
      ...(moments[quantity] ?? { mean: 0, m2: 0, m3: 0 }),
    }));
    return poolMoments(parts, groups);
  });
}

/** Creates the statistics of predicted numbers from sums by group. */
export function regressionOfSums(
  labels: readonly string[],
  sums: readonly (WeightSums & Pick<NumberSums, 'group' | 'moments'>)[],
  { hasTruth, dropped, rowCount }: { hasTruth: boolean; dropped: Float64Array; rowCount: number },
): RegressionStats {
  const tables = fillTables(sums, ({ group }) => group, labels.length);
  const moments = momentsOfSums(sums, labels.length);
  const nDropped = countDropped(tables.counts, rowCount);
  return { kind: 'regression', labels, ...tables, moments, hasTruth, dropped, nDropped };
}

/**
 * Returns the index of the cell of {@link RawCells} to which each row belongs. A row without a weight is treated as a
 * row without a decision.
 */
export function rawCellCodes({ groups, yTrue, yPred, weights }: PreparedDecisions): Int32Array {
  return groups.codes.map((code, row) => {
    return rawCell(code, yTrue?.[row] ?? -1, Number.isNaN(weights?.[row] ?? 0) ? -1 : (yPred[row] as number));
  });
}

/** Returns the weights of rows, with 0 for missing weights. */
export function knownWeights({ weights }: PreparedDecisions): Float64Array | undefined {
  return weights?.map((weight) => (Number.isNaN(weight) ? 0 : weight));
}

/** Converts the sums of each cell to tables. */
export function rawCellsOf(sums: readonly (WeightSums & { readonly group: number })[], labels: number): RawCells {
  return fillTables(sums, ({ group }) => group, (labels + 1) * RAW_CELLS);
}
