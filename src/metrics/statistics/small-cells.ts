import { ValueError } from '../../exceptions/index.ts';
import type { ColumnReading, LabelCounts } from '../../table/index.ts';
import {
  ALL_CELLS,
  type CellTables,
  CELLS_PER_GROUP,
  type ClassificationStats,
  makeTables,
  sum,
  sumCells,
  UNDECIDED_PER_GROUP,
} from './group-stats.ts';

/**
 * Leaves out the cells of statistics with fewer than `minCell` rows, and groups that have no other cells, so that no
 * small count is shown. Metrics of the result have bounds instead of values.
 * @throws {ValueError} if rows have weights, because the weight of rows that are left out has no bound
 */
export function withoutSmallCells(stats: ClassificationStats, minCell: number): ClassificationStats {
  if (hasWeights(stats)) {
    throw new ValueError('Small cells can be left out only if rows have no weights.', {
      context: { parameter: 'minCell', value: minCell },
      suggestion: 'Remove the weights, or do not leave out cells.',
    });
  }
  const cells = large(stats, minCell);
  const undecided = large(stats.undecided, minCell);
  const ungrouped = large(stats.ungrouped, minCell);
  const rows = sumCells(cells.counts, ALL_CELLS);
  const kept = stats.labels.flatMap((_, group) => ((rows[group] as number) > 0 ? [group] : []));
  const ofKept = take(undecided, kept, UNDECIDED_PER_GROUP);
  return {
    ...stats,
    labels: Object.freeze(kept.map((group) => stats.labels[group] as string)),
    ...take(cells, kept, CELLS_PER_GROUP),
    undecided: ofKept,
    ungrouped,
    nDropped: sum(ofKept.counts) + sum(ungrouped.counts),
    readings: stats.readings?.map((reading) => largeReading(reading, minCell)),
    minCell,
  };
}

function hasWeights({ counts, weights, lacksWeights }: ClassificationStats): boolean {
  return lacksWeights || weights.some((weight, cell) => weight !== counts[cell]);
}

function large({ counts, weights, squaredWeights }: CellTables, minCell: number): CellTables {
  const tables = { counts, weights, squaredWeights };
  return makeTables((name) => tables[name].map((value, cell) => ((counts[cell] as number) < minCell ? 0 : value)));
}

function take(tables: CellTables, groups: readonly number[], perGroup: number): CellTables {
  return makeTables((name) =>
    Float64Array.from(groups.flatMap((group) => [...tables[name].subarray(group * perGroup, (group + 1) * perGroup)])),
  );
}

/** Leaves out labels with few rows from the record of how labels were read. */
function largeReading(reading: ColumnReading, minCell: number): ColumnReading {
  const large = (counts: LabelCounts): LabelCounts =>
    Object.fromEntries(Object.entries(counts).filter(([, count]) => count >= minCell));
  return {
    ...reading,
    positive: large(reading.positive),
    negative: large(reading.negative),
    missing: large(reading.missing),
    groups: large(reading.groups),
  };
}
