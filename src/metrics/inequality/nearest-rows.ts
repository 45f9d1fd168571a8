import type { DistinctPoints } from './distinct-points.ts';
import { type PointNode, type PointTree, pointTree } from './point-tree.ts';

/** A bound is a sum in another order than a distance: so much it may exceed one by rounding. */
const ROUNDING = 1 - 1e-12;

/**
 * Finds the rows nearest to a point by Euclidean distance, those at the point
 * itself included; among rows as near as each other the earlier come first.
 */
export class NearestRows {
  readonly #points: DistinctPoints;
  readonly #tree: PointTree;
  /** The rows found, nearest first, and their squared distances. */
  readonly #rows: Int32Array;
  readonly #distances: Float64Array;
  /** How far the part of the tree that is looked at lies from the point, on each axis. */
  readonly #gaps: Float64Array;
  /** Where the coordinates of the point begin. */
  #start = 0;

  /** @param nNeighbors how many rows to find, at most as many as there are */
  constructor(points: DistinctPoints, nNeighbors: number) {
    this.#points = points;
    this.#tree = pointTree(points);
    this.#rows = new Int32Array(nNeighbors);
    this.#distances = new Float64Array(nNeighbors);
    this.#gaps = new Float64Array(points.width);
  }

  /** The rows nearest to a point; the array is overwritten by the next call. */
  of(point: number): Int32Array {
    this.#start = point * this.#points.width;
    this.#distances.fill(Infinity);
    // An empty place yields to every row, even one at an infinite distance.
    this.#rows.fill(this.#points.rows.length);
    this.#gaps.fill(0);
    this.#visit(this.#tree.root, 0);
    return this.#rows;
  }

  /** @param bound no point of the node is nearer than this, squared */
  #visit(node: PointNode, bound: number): void {
    if (!('axis' in node)) {
      this.#visitPoints(node.from, node.to);
      return;
    }
    const { axis, split, below, above } = node;
    const toSplit = (this.#points.coordinates[this.#start + axis] as number) - split;
    this.#visit(toSplit <= 0 ? below : above, bound);
    const gap = this.#gaps[axis] as number;
    const farBound = bound - gap * gap + toSplit * toSplit;
    // Where it is as near, an earlier row may lie there.
    if (farBound * ROUNDING > (this.#distances[this.#distances.length - 1] as number)) return;
    this.#gaps[axis] = toSplit;
    this.#visit(toSplit <= 0 ? above : below, farBound);
    this.#gaps[axis] = gap;
  }

  #visitPoints(from: number, to: number): void {
    const { rows, starts } = this.#points;
    for (let place = from; place < to; place++) {
      const point = this.#tree.order[place] as number;
      const farthest = this.#distances[this.#distances.length - 1] as number;
      const distance = this.#distanceTo(point, farthest);
      if (distance > farthest) continue;
      const end = starts[point + 1] as number;
      for (let index = starts[point] as number; index < end; index++) {
        if (!this.#offer(rows[index] as number, distance)) break;
      }
    }
  }

  /** The squared distance of a point, or a part of it that is above the limit already. */
  #distanceTo(point: number, limit: number): number {
    const { coordinates, width } = this.#points;
    const start = this.#start;
    const other = point * width;
    let distance = 0;
    let axis = 0;
    // A look at the limit after each axis would cost more than it saves.
    while (axis < width && distance <= limit) {
      for (const end = Math.min(axis + 8, width); axis < end; axis++) {
        const difference = (coordinates[other + axis] as number) - (coordinates[start + axis] as number);
        distance += difference * difference;
      }
    }
    return distance;
  }

  /** Puts a row into its place among the nearest; says whether it was near enough. */
  #offer(row: number, distance: number): boolean {
    let place = this.#rows.length;
    while (place > 0 && this.#isNearer(row, distance, place - 1)) {
      place--;
      if (place + 1 === this.#rows.length) continue;
      this.#rows[place + 1] = this.#rows[place] as number;
      this.#distances[place + 1] = this.#distances[place] as number;
    }
    if (place === this.#rows.length) return false;
    this.#rows[place] = row;
    this.#distances[place] = distance;
    return true;
  }

  #isNearer(row: number, distance: number, place: number): boolean {
    const other = this.#distances[place] as number;
    return distance < other || (distance === other && row < (this.#rows[place] as number));
  }
}
