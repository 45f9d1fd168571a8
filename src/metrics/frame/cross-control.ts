import { type CategoricalColumn, encodeGroups, type NanPolicy, type SensitiveSource } from '../../table/index.ts';
import type { GroupStats } from '../statistics/group-stats.ts';
import { groupPicker, regroup } from '../statistics/regroup-stats.ts';

/** The level of the control feature and the group that a cell of crossed rows stands for. */
export interface ControlCell {
  readonly level: string;
  readonly group: string;
}

/** Rows crossed by a control feature: one code for each level and group that occur together. */
export interface CrossedRows {
  readonly column: CategoricalColumn;
  readonly cells: readonly ControlCell[];
}

/** Crosses the sensitive attribute with a control feature; O(rows), whatever the number of levels. */
export function crossControl(
  sensitive: SensitiveSource,
  control: SensitiveSource,
  nanPolicy: NanPolicy | undefined,
): CrossedRows {
  const levels = encodeGroups(control, nanPolicy);
  const groups = encodeGroups(sensitive, nanPolicy);
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

/** Statistics of crossed rows taken apart: of all rows by group, and of each level by the groups that occur in it. */
export function splitByControl<Stats extends GroupStats>(
  stats: Stats,
  cells: readonly ControlCell[],
): { readonly all: Stats; readonly levels: ReadonlyMap<string, Stats> } {
  const ofGroup = indexesBy(cells, ({ group }) => group);
  const pick = groupPicker(stats);
  const places = new Int32Array(cells.length);
  [...ofGroup.values()].forEach((own, place) => {
    for (const cell of own) places[cell] = place;
  });
  const all = regroup(stats, places, [...ofGroup.keys()]);
  const levels = Array.from(
    indexesBy(cells, ({ level }) => level),
    ([level, own]): [string, Stats] => {
      const inLevel = indexesBy(own, (cell) => (cells[cell] as ControlCell).group);
      const picked = [...inLevel.values()].map(([place]) => own[place as number] as number);
      return [level, pick(picked, [...inLevel.keys()])];
    },
  );
  return { all, levels: new Map(levels) };
}

/** The places of values under each key, keys in sorted order. */
function indexesBy<T>(values: readonly T[], keyOf: (value: T) => string): Map<string, number[]> {
  const places = new Map<string, number[]>();
  values.forEach((value, place) => {
    const key = keyOf(value);
    const own = places.get(key);
    if (own === undefined) places.set(key, [place]);
    else own.push(place);
  });
  return new Map([...places].sort(([a], [b]) => (a < b ? -1 : 1)));
}
