import { sumOf } from '../../internal/values.ts';
import { ALL_CELLS, cellsWith, type GroupStats, LABELLED_CELLS, sumCells, UNDECIDED_PER_GROUP } from './group-stats.ts';

const UNLABELLED_CELLS = cellsWith([2]);

/** Counts, for each group, the rows that have all values that a metric needs, [groups]. */
export function rowsPerGroup(stats: GroupStats, needsTruth: boolean): Float64Array {
  switch (stats.kind) {
    case 'classification':
      return sumCells(stats.counts, needsTruth ? LABELLED_CELLS : ALL_CELLS);
    case 'regression':
      return stats.counts;
    case 'scores': {
      const rows = new Float64Array(stats.labels.length);
      stats.groups.forEach((group, index) => {
        const pair = (stats.counts[2 * index] as number) + (stats.counts[2 * index + 1] as number);
        rows[group] = (rows[group] as number) + pair;
      });
      return rows;
    }
  }
}

/**
 * Counts, for each group, the rows in which a value that a metric needs is missing, [groups]. Rows without a group are
 * not included.
 */
export function droppedPerGroup(stats: GroupStats, needsTruth: boolean): Float64Array {
  if (stats.kind !== 'classification') return stats.dropped;
  const undecided = sumCells(stats.undecided.counts, [0, 1, 2], UNDECIDED_PER_GROUP);
  if (!needsTruth) return undecided;
  const unlabelled = sumCells(stats.counts, UNLABELLED_CELLS);
  return undecided.map((rows, group) => rows + (unlabelled[group] as number));
}

/** Returns the number of rows that are included in the statistics but have no true label. */
export function rowsWithoutTruth(stats: GroupStats): number {
  return stats.kind === 'classification' ? sumOf(sumCells(stats.counts, UNLABELLED_CELLS)) : 0;
}
