import { type CategoricalColumn, encodeGroups, INTERSECTION_SEPARATOR, type Table } from '../../table/index.ts';

/** An attribute with its groups counted. */
export interface AttributeGroups {
  /** The column, or the columns of an intersection joined by `||`. */
  readonly name: string;
  readonly columns: readonly string[];
  /** The group of each row. */
  readonly groups: CategoricalColumn;
  /** Rows of each group, by code. */
  readonly counts: Float64Array;
  /** Rows that have a group. */
  readonly n: number;
  /** Rows without one; they are left out. */
  readonly nMissing: number;
  /** Expected proportions by group; undefined where the configuration has none. */
  readonly benchmark: ReadonlyMap<string, number> | undefined;
}

/** The groups of an attribute, or of several columns crossed. */
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
