import { emptyMoments, type GroupMoments, mergeMoments, type Moments } from '../../stats/moments.ts';
import {
  CELLS_PER_GROUP,
  type CellTables,
  type GroupStats,
  type LossSums,
  makeTables,
  makeMoments,
  type RegressionStats,
  type ScoreStats,
  UNDECIDED_PER_GROUP,
} from './group-stats.ts';
import { collectScores, noLosses, type ScoreEntry, scoreEntries, type LostRows } from './score-grid.ts';

/**
 * Assigns rows to other groups: groups with the same target are pooled, and groups with a negative target are excluded.
 * @param positionOf the index of the new group for each existing group
 * @param labels the labels of the new groups
 */
export function regroup<Stats extends GroupStats>(
  stats: Stats,
  positionOf: ArrayLike<number>,
  labels: readonly string[],
): Stats {
  return regroupAny(stats, positionOf, labels) as Stats;
}

/**
 * Returns a function that selects groups and gives them new labels. Its running time depends only on the selected
 * groups.
 */
export function groupPicker<Stats extends GroupStats>(
  stats: Stats,
): (groups: readonly number[], labels: readonly string[]) => Stats {
  const scores = stats.kind === 'scores' ? entriesByGroup(stats) : undefined;
  return (groups, labels) => {
    if (stats.kind === 'scores') {
      const entries = groups.flatMap((from, group) => (scores?.[from] ?? []).map((entry) => ({ ...entry, group })));
      const pickOne = (table: Float64Array): Float64Array =>
        Float64Array.from(groups, (group) => table[group] as number);
      const losses = stats.losses && { sums: pickOne(stats.losses.sums), squares: pickOne(stats.losses.squares) };
      return collectScores(labels, entries, noRowsLost(groups.length), stats.step, losses) as GroupStats as Stats;
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
}

function noRowsLost(groups: number): LostRows {
  return { nDropped: 0, dropped: new Float64Array(groups) };
}

function entriesByGroup(stats: ScoreStats): ScoreEntry[][] {
  const groups: ScoreEntry[][] = stats.labels.map(() => []);
  for (const entry of scoreEntries(stats)) groups[entry.group]?.push(entry);
  return groups;
}

/** Pools all groups into one. */
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
  switch (stats.kind) {
    case 'classification':
      return {
        ...stats,
        labels,
        ...regroupTables(stats, positionOf, labels.length, CELLS_PER_GROUP),
        undecided: regroupTables(stats.undecided, positionOf, labels.length, UNDECIDED_PER_GROUP),
      };
    case 'regression': {
      const tables = regroupTables(stats, positionOf, labels.length, 1);
      const dropped = regroupTable(stats.dropped, positionOf, labels.length, 1);
      return { ...stats, labels, ...tables, moments: regroupMoments(stats, positionOf, labels.length), dropped };
    }
    case 'scores': {
      const entries = scoreEntries(stats).flatMap((entry) => {
        const group = positionOf[entry.group] as number;
        return group < 0 ? [] : [{ ...entry, group }];
      });
      const dropped = regroupTable(stats.dropped, positionOf, labels.length, 1);
      const losses = stats.losses && regroupLosses(stats.losses, positionOf, labels.length);
      return collectScores(labels, entries, { nDropped: stats.nDropped, dropped }, stats.step, losses);
    }
  }
}

function regroupTables(stats: CellTables, positionOf: ArrayLike<number>, groups: number, width: number): CellTables {
  return makeTables((name) => regroupTable(stats[name], positionOf, groups, width));
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

function regroupLosses(own: LossSums, positionOf: ArrayLike<number>, groups: number): LossSums {
  const losses = noLosses(groups);
  for (let group = 0; group < positionOf.length; group++) {
    const index = positionOf[group] as number;
    if (index < 0) continue;
    losses.sums[index] = (losses.sums[index] as number) + (own.sums[group] as number);
    losses.squares[index] = (losses.squares[index] as number) + (own.squares[group] as number);
  }
  return losses;
}

function regroupMoments(
  stats: RegressionStats,
  positionOf: ArrayLike<number>,
  groups: number,
): RegressionStats['moments'] {
  return makeMoments((quantity) => {
    const pooled: GroupMoments[] = Array.from({ length: groups }, () => ({ weight: 0, mean: 0, m2: 0, m3: 0 }));
    for (let group = 0; group < positionOf.length; group++) {
      const index = positionOf[group] as number;
      if (index < 0) continue;
      const own = momentsOfGroup(stats.moments[quantity], stats.weights, group);
      pooled[index] = mergeMoments(pooled[index] as GroupMoments, own);
    }
    return momentsFromGroups(pooled);
  });
}
