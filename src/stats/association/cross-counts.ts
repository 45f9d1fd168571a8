/** A table of counts that stores only the nonempty cells. */
export interface CrossCounts {
  /** The number of data rows included in the counts. */
  readonly n: number;
  /** Totals of the table's rows: [rows]. */
  readonly rowTotals: Float64Array;
  /** Totals of the table's columns: [columns]. */
  readonly columnTotals: Float64Array;
  /** The nonempty cells, as `row * columns + column`, ordered by row and then by column. */
  readonly cells: Float64Array;
  /** The count of each nonempty cell. */
  readonly counts: Float64Array;
}

/**
 * The maximum number of cells of a table that is counted in a dense array: a fixed limit, and a limit per data row. If
 * a table is larger, the pairs are sorted and counted instead.
 */
const MAX_DENSE_CELLS = 1 << 22;
const DENSE_CELLS_PER_VALUE = 16;

/**
 * Counts how often each pair of codes occurs. Takes O(n) time for tables of up to a few million cells and O(n log n)
 * time for larger tables. The function never allocates a huge, mostly empty table.
 * @param first [n], the table row of each value; values with a negative code are excluded
 * @param second [n], the table column of each value
 * @param rows the number of rows of the table
 * @param columns the number of columns of the table
 */
export function crossCounts(
  first: ArrayLike<number>,
  second: ArrayLike<number>,
  rows: number,
  columns: number,
): CrossCounts {
  const [cells, counts] =
    rows * columns <= Math.min(MAX_DENSE_CELLS, DENSE_CELLS_PER_VALUE * first.length)
      ? occupied(tally(first, second, rows, columns))
      : runsOf(sortedPairs(first, second, columns));
  return withTotals(cells, counts, rows, columns);
}

/** Converts a complete table, stored row by row, to {@link CrossCounts}. */
export function crossCountsOf(counts: ArrayLike<number>, rows: number, columns: number): CrossCounts {
  return withTotals(...occupied(counts), rows, columns);
}

/** Converts cells of a table, with a count each, to {@link CrossCounts}. The counts of equal cells are added. */
export function crossCountsOfCells(
  given: Iterable<readonly [cell: number, count: number]>,
  rows: number,
  columns: number,
): CrossCounts {
  const counts = new Map<number, number>();
  for (const [cell, count] of given) counts.set(cell, (counts.get(cell) ?? 0) + count);
  const cells = Float64Array.from(counts.keys()).sort();
  return withTotals(
    cells,
    cells.map((cell) => counts.get(cell) as number),
    rows,
    columns,
  );
}

function tally(first: ArrayLike<number>, second: ArrayLike<number>, rows: number, columns: number): ArrayLike<number> {
  const table = new Float64Array(rows * columns);
  for (let i = 0; i < first.length; i++) {
    const row = first[i] as number;
    const column = second[i] as number;
    if (row >= 0 && column >= 0) (table[row * columns + column] as number) += 1;
  }
  return table;
}

function occupied(table: ArrayLike<number>): [cells: Float64Array, counts: Float64Array] {
  let kept = 0;
  for (let cell = 0; cell < table.length; cell++) kept += Number((table[cell] as number) > 0);
  const cells = new Float64Array(kept);
  const counts = new Float64Array(kept);
  for (let cell = table.length - 1; cell >= 0; cell--) {
    if (!((table[cell] as number) > 0)) continue;
    cells[--kept] = cell;
    counts[kept] = table[cell] as number;
  }
  return [cells, counts];
}

function sortedPairs(first: ArrayLike<number>, second: ArrayLike<number>, columns: number): Float64Array {
  const pairs = new Float64Array(first.length);
  let kept = 0;
  for (let i = 0; i < first.length; i++) {
    const row = first[i] as number;
    const column = second[i] as number;
    if (row >= 0 && column >= 0) pairs[kept++] = row * columns + column;
  }
  return pairs.subarray(0, kept).sort();
}

function runsOf(sorted: Float64Array): [cells: Float64Array, counts: Float64Array] {
  const cells = new Float64Array(sorted.length);
  const counts = new Float64Array(sorted.length);
  let last = -1;
  for (let i = 0; i < sorted.length; i++) {
    if (i === 0 || sorted[i] !== sorted[i - 1]) cells[++last] = sorted[i] as number;
    (counts[last] as number) += 1;
  }
  return [cells.slice(0, last + 1), counts.slice(0, last + 1)];
}

function withTotals(cells: Float64Array, counts: Float64Array, rows: number, columns: number): CrossCounts {
  const rowTotals = new Float64Array(rows);
  const columnTotals = new Float64Array(columns);
  let n = 0;
  for (let index = 0; index < cells.length; index++) {
    const cell = cells[index] as number;
    const count = counts[index] as number;
    (rowTotals[Math.floor(cell / columns)] as number) += count;
    (columnTotals[cell % columns] as number) += count;
    n += count;
  }
  return { n, rowTotals, columnTotals, cells, counts };
}
