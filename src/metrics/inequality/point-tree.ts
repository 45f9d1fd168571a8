/** A leaf: a range of consecutive points, in the order that the tree defines. */
interface Leaf {
  readonly from: number;
  readonly to: number;
}

/**
 * A branch. Points whose coordinate on `axis` is at most `split` are in `below`, and all other points of the branch are
 * in `above`.
 */
interface Branch {
  readonly axis: number;
  readonly split: number;
  readonly below: PointNode;
  readonly above: PointNode;
}

/** A node of the tree. */
export type PointNode = Leaf | Branch;

/** A k-d tree of points. */
export interface PointTree {
  readonly order: Int32Array;
  readonly root: PointNode;
}

/** The maximum number of points in a leaf. The points of a leaf are compared one by one. */
const LEAF_SIZE = 16;

/** Builds a k-d tree that halves the widest side at each step. */
export function pointTree({ coordinates, width, count }: DistinctPoints): PointTree {
  const order = Int32Array.from({ length: count }, (_, point) => point);
  const valueAt = (position: number, axis: number): number =>
    coordinates[(order[position] as number) * width + axis] as number;

  const widestSide = (from: number, to: number): { axis: number; min: number; largest: number } => {
    let widest = { axis: 0, min: 0, largest: 0 };
    for (let axis = 0; axis < width; axis++) {
      let min = Infinity;
      let largest = -Infinity;
      for (let position = from; position < to; position++) {
        const value = valueAt(position, axis);
        if (value < min) min = value;
        if (value > largest) largest = value;
      }
      if (largest - min > widest.largest - widest.min) widest = { axis, min, largest };
    }
    return widest;
  };

  /**
   * Moves the points with values of at most `split` before all other points. Returns the index of the first other
   * point.
   */
  const partition = (from: number, to: number, axis: number, split: number): number => {
    let middle = from;
    for (let position = from; position < to; position++) {
      if (valueAt(position, axis) > split) continue;
      const moved = order[position] as number;
      order[position] = order[middle] as number;
      order[middle++] = moved;
    }
    return middle;
  };

  const build = (from: number, to: number): PointNode => {
    if (to - from <= LEAF_SIZE) return { from, to };
    const { axis, min, largest } = widestSide(from, to);
    const half = min / 2 + largest / 2;
    // Adjacent float64 numbers have no midpoint. In this case, only points with the smallest value go to `below`.
    const split = half < largest && half >= min ? half : min;
    const middle = partition(from, to, axis, split);
    return { axis, split, below: build(from, middle), above: build(middle, to) };
  };

  return { order, root: build(0, count) };
}

/**
 * The distinct points of a table of [rows, width], and the rows at each point. Neighbours are searched once per point,
 * not once per row.
 */
export interface DistinctPoints {
  readonly width: number;
  readonly count: number;
  /** [count, width]. */
  readonly coordinates: Float64Array;
  /**
   * Row indexes by point, ascending within each point. The rows of point p are `rows[starts[p]]` up to, but excluding,
   * `rows[starts[p + 1]]`.
   */
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
  rows.forEach((row, index) => {
    if (index === 0 || compare(rows[index - 1] as number, row) !== 0) starts.push(index);
  });
  const coordinates = new Float64Array(starts.length * columns.length);
  starts.forEach((index, point) => {
    columns.forEach((column, axis) => {
      coordinates[point * columns.length + axis] = column[rows[index] as number] as number;
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
