import { type CategoricalColumn, encodeGroups, type NanPolicy, type SensitiveSource } from '../../table/index.ts';
import type { GroupStats } from '../statistics/group-stats.ts';
import { regroup } from '../statistics/regroup-stats.ts';

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
  const inOrder = sortedDistinct(cells.map(({ group }) => group));
  const all = regroup(
    stats,
    cells.map(({ group }) => inOrder.indexOf(group)),
    inOrder,
  );
  const levels = sortedDistinct(cells.map(({ level }) => level)).map((level): [string, Stats] => {
    const own = sortedDistinct(cells.flatMap((cell) => (cell.level === level ? [cell.group] : [])));
    const places = cells.map((cell) => (cell.level === level ? own.indexOf(cell.group) : -1));
    return [level, regroup({ ...stats, nDropped: 0 }, places, own)];
  });
  return { all, levels: new Map(levels) };
}

function sortedDistinct(labels: readonly string[]): string[] {
  return [...new Set(labels)].sort();
}
