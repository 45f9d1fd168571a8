import { type CategoricalColumn, encodeGroups, INTERSECTION_SEPARATOR, type Table } from '../../table/index.ts';

/** An attribute, with the number of rows of each of its groups. */
export interface AttributeGroups {
  /** The column, or the columns of an intersection joined by `||`. */
  readonly name: string;
  readonly columns: readonly string[];
  /** The group of each row. */
  readonly groups: CategoricalColumn;
  /** The number of rows of each group, by the code of the group. */
  readonly counts: Float64Array;
  /** The number of rows that have a group. */
  readonly n: number;
  /** The number of rows without a group. These rows are excluded. */
  readonly nMissing: number;
  /** Expected proportions by group; undefined if the configuration has no benchmark for the attribute. */
  readonly benchmark: ReadonlyMap<string, number> | undefined;
}

/** Reads the groups of an attribute, or of the intersection of several columns. */
export function readAttribute(
  table: Table,
  columns: readonly string[],
  benchmarks: ReadonlyMap<string, ReadonlyMap<string, number>>,
): AttributeGroups {
  const name = columns.join(INTERSECTION_SEPARATOR);
  const groups = encodeGroups(table.select(columns));
  const counts = new Float64Array(groups.labels.length);
  let n = 0;
  for (const code of groups.codes) {
    if (code < 0) continue;
    (counts[code] as number) += 1;
    n += 1;
  }
  return { name, columns, groups, counts, n, nMissing: table.rowCount - n, benchmark: benchmarks.get(name) };
}
