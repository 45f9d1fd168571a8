/**
 * Points of [rows, width] without repetitions, and the rows at each of them.
 * What is near to a point is so to all of its rows, so that it is looked up
 * once however many rows are alike.
 */
export interface DistinctPoints {
  readonly width: number;
  readonly count: number;
  /** [count, width]. */
  readonly coordinates: Float64Array;
  /** Rows by point, ascending within each: those of point p are `rows[starts[p]]` to before `rows[starts[p + 1]]`. */
  readonly rows: Int32Array;
  readonly starts: Int32Array;
}

/** Finds the distinct points among rows, given as columns without missing values. O(n log n). */
export function distinctPoints(columns: readonly Float64Array[], rowCount: number): DistinctPoints {
  const compare = (a: number, b: number): number => {
    for (const column of columns) {
      const difference = (column[a] as number) - (column[b] as number);
      if (difference !== 0) return difference;
    }
    return 0;
  };
  const rows = Int32Array.from({ length: rowCount }, (_, row) => row).sort((a, b) => compare(a, b) || a - b);
  const starts: number[] = [];
  rows.forEach((row, place) => {
    if (place === 0 || compare(rows[place - 1] as number, row) !== 0) starts.push(place);
  });
  const coordinates = new Float64Array(starts.length * columns.length);
  starts.forEach((place, point) => {
    columns.forEach((column, axis) => {
      coordinates[point * columns.length + axis] = column[rows[place] as number] as number;
    });
  });
  return {
    width: columns.length,
    count: starts.length,
    coordinates,
    rows,
    starts: Int32Array.from([...starts, rowCount]),
  };
}
