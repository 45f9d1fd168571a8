/** Returns the rows of one arm: for each group `[selected, rows]`. */
export function armOf(groups: Readonly<Record<string, readonly [selected: number, rows: number]>>) {
  return Object.entries(groups).flatMap(([sex, [selected, rows]]) =>
    Array.from({ length: rows }, (_, row) => ({ sex, approved: Number(row < selected) })),
  );
}
