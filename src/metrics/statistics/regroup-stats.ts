import { groupBy } from '../../internal/values.ts';
import { emptyMoments, type GroupMoments, mergeMoments, type Moments } from '../../stats/moments.ts';
import { regroupClusters } from './cluster-stats.ts';
import {
  CELLS_PER_GROUP,
  type CellTables,
  type GroupStats,
  makeTables,
  makeMoments,
  type RegressionStats,
  UNDECIDED_PER_GROUP,
} from './group-stats.ts';
import { collectScores, type LostRows, scoreEntries, scorePosition } from './score-grid.ts';

/**
 * Assigns rows to new groups. Groups with the same new index are pooled, and groups with a negative new index are
 * excluded.
 * @param positionOf for each existing group, the index of the new group to which it belongs
 * @param labels the labels of the new groups
 */
export function regroup<Stats extends GroupStats>(
  stats: Stats,
  positionOf: ArrayLike<number>,
  labels: readonly string[],
): Stats {
  return withClusters(regroupAny(stats, positionOf, labels), stats, positionOf) as Stats;
}

/**
 * Returns a function that selects groups and gives them new labels. The running time of the returned function depends
 * only on the selected groups.
 */
export function groupPicker<Stats extends GroupStats>(
  stats: Stats,
): (groups: readonly number[], labels: readonly string[]) => Stats {
  const entriesOf = stats.kind === 'scores' ? groupBy(scoreEntries(stats), ({ group }) => group) : undefined;
  const picked = (groups: readonly number[], labels: readonly string[]): GroupStats => {
    if (stats.kind === 'scores') {
      const entries = groups.flatMap((from, group) =>
        (entriesOf?.get(from) ?? []).map((entry) => ({ ...entry, group })),
      );
      const pickOne = (table: Float64Array): Float64Array =>
        Float64Array.from(groups, (group) => table[group] as number);
      const losses = stats.losses && { sums: pickOne(stats.losses.sums), squares: pickOne(stats.losses.squares) };
      return collectScores(labels, entries, noRowsLost(groups.length), stats.step, losses);
    }
    const width = stats.kind === 'classification' ? CELLS_PER_GROUP : 1;
    const pick = (table: Float64Array, size: number): Float64Array =>
      Float64Array.from(
        { length: groups.length * size },
        (_, cell) => table[(groups[Math.floor(cell / size)] as number) * size + (cell % size)] as number,
      );
    const tables = makeTables((name) => pick(stats[name], width));
    // Rows without a group do not belong to the selected groups.
    const ungrouped = makeTables(() => new Float64Array(CELLS_PER_GROUP));
    if (stats.kind === 'classification') {
      const undecided = makeTables((name) => pick(stats.undecided[name], UNDECIDED_PER_GROUP));
      return { ...stats, ...tables, ungrouped, undecided, labels, nDropped: 0 };
    }
    const moments = makeMoments((quantity) => {
      const { mean, m2, m3 } = stats.moments[quantity];
      return { mean: pick(mean, 1), m2: pick(m2, 1), m3: pick(m3, 1) };
    });
    return { ...stats, ...tables, moments, labels, ...noRowsLost(groups.length) };
  };
  return (groups, labels) => {
    const own = picked(groups, labels);
    if (stats.clusters === undefined) return own as Stats;
    const positionOf = new Map(groups.map((group, index) => [group, index]));
    return withClusters(
      own,
      stats,
      stats.labels.map((_, group) => positionOf.get(group) ?? -1),
    ) as Stats;
  };
}

/** Adds the clusters of earlier statistics to the same rows in other groups. */
function withClusters(stats: GroupStats, earlier: GroupStats, positionOf: ArrayLike<number>): GroupStats {
  if (earlier.clusters === undefined) return stats;
  const cellOf = (cell: number): number => {
    if (stats.kind !== 'scores' || earlier.kind !== 'scores') return cell;
    const entry = cell >> 1;
    const group = positionOf[earlier.groups[entry] as number] as number;
    return 2 * scorePosition(stats, group, earlier.scores[entry] as number) + (cell & 1);
  };
  return { ...stats, clusters: regroupClusters(earlier.clusters, positionOf, stats.labels.length, cellOf) };
}

function noRowsLost(groups: number): LostRows {
  return { nDropped: 0, dropped: new Float64Array(groups) };
}

/** Combines all groups into one group. */
export function poolGroups<Stats extends GroupStats>(stats: Stats): Stats {
  return regroup(stats, new Int32Array(stats.labels.length), ['all']);
}

/** Returns the moments of one group. */
export function momentsOfGroup(moments: Moments, weights: Float64Array, group: number): GroupMoments {
  return {
    weight: weights[group] as number,
    mean: moments.mean[group] as number,
    m2: moments.m2[group] as number,
    m3: moments.m3[group] as number,
  };
}

/** Converts the moments of single groups to arrays. */
export function momentsFromGroups(groups: readonly GroupMoments[]): Moments {
  const moments = emptyMoments(groups.length);
  groups.forEach(({ mean, m2, m3 }, group) => {
    moments.mean[group] = mean;
    moments.m2[group] = m2;
    moments.m3[group] = m3;
  });
  return moments;
}

function regroupAny(stats: GroupStats, positionOf: ArrayLike<number>, labels: readonly string[]): GroupStats {
  const regrouped = (values: Float64Array, width = 1): Float64Array =>
    regroupTable(values, positionOf, labels.length, width);
  const tablesOf = (tables: CellTables, width: number): CellTables =>
    makeTables((name) => regrouped(tables[name], width));
  switch (stats.kind) {
    case 'classification': {
      const undecided = tablesOf(stats.undecided, UNDECIDED_PER_GROUP);
      return { ...stats, labels, ...tablesOf(stats, CELLS_PER_GROUP), undecided };
    }
    case 'regression': {
      const moments = regroupMoments(stats, positionOf, labels.length);
      return { ...stats, labels, ...tablesOf(stats, 1), moments, dropped: regrouped(stats.dropped) };
    }
    case 'scores': {
      const entries = scoreEntries(stats).flatMap((entry) => {
        const group = positionOf[entry.group] as number;
        return group < 0 ? [] : [{ ...entry, group }];
      });
      const losses = stats.losses && { sums: regrouped(stats.losses.sums), squares: regrouped(stats.losses.squares) };
      const lost = { nDropped: stats.nDropped, dropped: regrouped(stats.dropped) };
      return collectScores(labels, entries, lost, stats.step, losses);
    }
  }
}

function regroupTable(
  values: Float64Array,
  positionOf: ArrayLike<number>,
  groups: number,
  width: number,
): Float64Array {
  const table = new Float64Array(groups * width);
  for (let group = 0; group < positionOf.length; group++) {
    const index = positionOf[group] as number;
    if (index < 0) continue;
    for (let cell = 0; cell < width; cell++) {
      const target = index * width + cell;
      table[target] = (table[target] as number) + (values[group * width + cell] as number);
    }
  }
  return table;
}

function regroupMoments(
  { moments, weights }: RegressionStats,
  positionOf: ArrayLike<number>,
  groups: number,
): RegressionStats['moments'] {
  return makeMoments((quantity) => {
    const parts = Array.from(positionOf, (index, group) => ({
      group: index,
      ...momentsOfGroup(moments[quantity], weights, group),
    }));
    return poolMoments(parts, groups);
  });
}

/** Merges moments of parts of groups into moments of groups. A part whose `group` is negative is excluded. */
export function poolMoments(parts: readonly (GroupMoments & { readonly group: number })[], groups: number): Moments {
  const pooled: GroupMoments[] = Array.from({ length: groups }, () => ({ weight: 0, mean: 0, m2: 0, m3: 0 }));
  for (const { group, ...part } of parts) {
    if (group >= 0) pooled[group] = mergeMoments(pooled[group] as GroupMoments, part);
  }
  return momentsFromGroups(pooled);
}
