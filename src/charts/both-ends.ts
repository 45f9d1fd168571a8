/** With more groups than twice this many, only so many are drawn at each end. */
export const DRAWN_AT_EACH_END = 20;

/** One row of a chart; the row that stands for those left out has no group. */
export interface GroupRow<Group> {
  readonly label: string;
  readonly group: Group | undefined;
}

/** A row for each group; of many only those at both ends, with a row between that counts the others. */
export function bothEnds<Group extends { readonly label: string }>(sorted: readonly Group[]): GroupRow<Group>[] {
  const rows = sorted.map((group): GroupRow<Group> => ({ label: group.label, group }));
  const between = rows.length - 2 * DRAWN_AT_EACH_END;
  if (between <= 0) return rows;
  const gap: GroupRow<Group> = { label: `\u22EE ${String(between)} between`, group: undefined };
  return [...rows.slice(0, DRAWN_AT_EACH_END), gap, ...rows.slice(-DRAWN_AT_EACH_END)];
}
