import type { DistinctPoints } from './distinct-points.ts';

/** Some points, as a range of the tree's order. */
interface Leaf {
  readonly from: number;
  readonly to: number;
}

/** Points up to a value of one coordinate, and those above it. */
interface Branch {
  readonly axis: number;
  readonly split: number;
  readonly below: PointNode;
  readonly above: PointNode;
}

/** A part of the tree. */
export type PointNode = Leaf | Branch;

/** A k-d tree of points. */
export interface PointTree {
  readonly order: Int32Array;
  readonly root: PointNode;
}

/** Fewer points than this are compared one by one. */
const LEAF_SIZE = 16;

/** Builds a k-d tree that halves the widest side at each step. */
export function pointTree({ coordinates, width, count }: DistinctPoints): PointTree {
  const order = Int32Array.from({ length: count }, (_, point) => point);
  const valueAt = (place: number, axis: number): number =>
    coordinates[(order[place] as number) * width + axis] as number;

  const widestSide = (from: number, to: number): { axis: number; least: number; largest: number } => {
    let widest = { axis: 0, least: 0, largest: 0 };
    for (let axis = 0; axis < width; axis++) {
      let least = Infinity;
      let largest = -Infinity;
      for (let place = from; place < to; place++) {
        const value = valueAt(place, axis);
        if (value < least) least = value;
        if (value > largest) largest = value;
      }
      if (largest - least > widest.largest - widest.least) widest = { axis, least, largest };
    }
    return widest;
  };

  /** Moves the points up to `split` before the others; gives the place of the first of the others. */
  const partition = (from: number, to: number, axis: number, split: number): number => {
    let middle = from;
    for (let place = from; place < to; place++) {
      if (valueAt(place, axis) > split) continue;
      const moved = order[place] as number;
      order[place] = order[middle] as number;
      order[middle++] = moved;
    }
    return middle;
  };

  const build = (from: number, to: number): PointNode => {
    if (to - from <= LEAF_SIZE) return { from, to };
    const { axis, least, largest } = widestSide(from, to);
    const half = least / 2 + largest / 2;
    // Between neighbouring numbers there is no half; then the least stand alone.
    const split = half < largest && half >= least ? half : least;
    const middle = partition(from, to, axis, split);
    return { axis, split, below: build(from, middle), above: build(middle, to) };
  };

  return { order, root: build(0, count) };
}
