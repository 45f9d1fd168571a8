import { groupBy } from '../../internal/values.ts';
import { type CategoricalColumn, encodeGroups, type NanPolicy, type SensitiveSource } from '../../table/index.ts';
import type { GroupStats } from '../statistics/group-stats.ts';
import { groupPicker } from '../statistics/regroup-stats.ts';

/** The statistics that the measures of a frame need, by kind. */
export type StatsByKind = Readonly<Partial<Record<GroupStats['kind'], GroupStats>>>;

/** A combination of a level of the control feature and a group that occurs in the rows. */
export interface ControlCell {
  readonly level: string;
  readonly group: string;
}

/**
 * The sensitive attribute of rows, crossed with a control feature. Each combination of level and group that occurs has
 * its own code.
 */
export interface CrossedRows {
  readonly column: CategoricalColumn;
  readonly cells: readonly ControlCell[];
}

/**
 * Crosses the sensitive attribute with a control feature. The running time is O(rows), whatever the number of levels.
 */
export function crossControl(
  sensitive: SensitiveSource,
  control: SensitiveSource,
  nanPolicy: NanPolicy | undefined,
  naValues: readonly string[] | undefined,
): CrossedRows {
  const levels = encodeGroups(control, nanPolicy, naValues);
  const groups = encodeGroups(sensitive, nanPolicy, naValues);
  const column = encodeGroups({ control: levels, sensitive: groups }, nanPolicy);
  const cells: ControlCell[] = [];
  column.codes.forEach((code, row) => {
    cells[code] ??= {
      level: levels.labels[levels.codes[row] as number] ?? '',
      group: groups.labels[groups.codes[row] as number] ?? '',
    };
  });
  return { column, cells };
}

/**
 * Splits the statistics of crossed rows into separate statistics for each level. Each level contains only the groups
 * that occur in it.
 */
function splitLevels<Stats extends GroupStats>(
  stats: Stats,
  cells: readonly ControlCell[],
): ReadonlyMap<string, Stats> {
  const pick = groupPicker(stats);
  const ofLevel = groupSorted(cells.keys(), (cell) => (cells[cell] as ControlCell).level);
  const levels = Array.from(ofLevel, ([level, own]): [string, Stats] => {
    const inLevel = groupSorted(own, (cell) => (cells[cell] as ControlCell).group);
    const picked = Array.from(inLevel.values(), ([cell]) => cell as number);
    return [level, pick(picked, [...inLevel.keys()])];
  });
  return new Map(levels);
}

/** Applies {@link splitLevels} to each kind of statistics. */
export function levelsOf(crossed: StatsByKind, cells: readonly ControlCell[]): ReadonlyMap<string, StatsByKind> {
  const kinds = Object.entries(crossed).map(([kind, stats]) => [kind, splitLevels(stats, cells)] as const);
  const names = [...(kinds[0]?.[1].keys() ?? [])];
  return new Map(
    names.map((level) => [
      level,
      Object.fromEntries(kinds.map(([kind, levels]) => [kind, levels.get(level)])) as StatsByKind,
    ]),
  );
}

/** Groups values by key, with keys in sorted order. */
function groupSorted<T>(values: Iterable<T>, keyOf: (value: T) => string): Map<string, T[]> {
  return new Map([...groupBy(values, keyOf)].sort(([a], [b]) => (a < b ? -1 : 1)));
}
