import { CELLS_PER_GROUP } from '../../metrics/statistics/group-stats.ts';

/** Which numbers a stream keeps of every group. */
export interface TableShape {
  readonly hasWeights: boolean;
  readonly hasErrors: boolean;
}

/** Numbers kept of a group's errors, after those of its cells. */
const ERROR_FIELDS = 7;
/** Places among them. */
export const ERROR = { count: 0, weight: 1, squaredWeight: 2, sum: 3, squares: 4, scaled: 5, variance: 6 } as const;

/**
 * Running sums of every group of one attribute, in one flat array of
 * [groups, stride]: counts of the six cells, then with weights their sums and
 * sums of squares by cell, then with errors the {@link ERROR} fields. All are
 * sums over events, so that a window is the difference of two tables.
 */
export class GroupTable {
  readonly shape: TableShape;
  readonly stride: number;
  /** Where a group's error fields begin. */
  readonly errorsAt: number;
  data: Float64Array;
  /** What `data` is the beginning of, once the table has grown. */
  #room = new Float64Array(0);

  constructor(shape: TableShape, data?: Float64Array) {
    this.shape = shape;
    this.errorsAt = CELLS_PER_GROUP * (shape.hasWeights ? 3 : 1);
    this.stride = this.errorsAt + (shape.hasErrors ? ERROR_FIELDS : 0);
    this.data = data ?? new Float64Array(0);
  }

  get groups(): number {
    return this.data.length / this.stride;
  }

  /** Makes room for groups that have come since. */
  grow(groups: number): void {
    if (groups <= this.groups) return;
    const length = groups * this.stride;
    if (length > this.#room.length) {
      // Twice as much as is needed, since new groups mostly come one by one.
      this.#room = new Float64Array(2 * length);
      this.#room.set(this.data);
    }
    this.data = this.#room.subarray(0, length);
  }

  /** Adds an event, or with `sign` -1 takes it away. */
  addCell(code: number, cell: number, weight: number, sign: 1 | -1): void {
    const at = code * this.stride + cell;
    const data = this.data;
    data[at] = (data[at] as number) + sign;
    if (!this.shape.hasWeights) return;
    // Sums of fractions keep a residue when all of them are taken away again; of no event there is none.
    const isEmpty = data[at] === 0;
    const sum = at + CELLS_PER_GROUP;
    const squares = at + 2 * CELLS_PER_GROUP;
    data[sum] = isEmpty ? 0 : (data[sum] as number) + sign * weight;
    data[squares] = isEmpty ? 0 : (data[squares] as number) + sign * weight * weight;
  }

  /** Adds counts of a group's six cells. */
  addCells(code: number, counts: ArrayLike<number>): void {
    for (let cell = 0; cell < CELLS_PER_GROUP; cell++) this.#add(code * this.stride + cell, counts[cell] as number);
  }

  /** Adds an error, or with `sign` -1 takes it away. */
  addError(code: number, error: number, weight: number, sign: 1 | -1): void {
    const at = code * this.stride + this.errorsAt;
    this.#add(at + ERROR.count, sign);
    this.#add(at + ERROR.weight, sign * weight);
    this.#add(at + ERROR.squaredWeight, sign * weight * weight);
    this.#add(at + ERROR.sum, sign * weight * error);
    this.#add(at + ERROR.squares, sign * weight * error * error);
  }

  /**
   * Adds an error in [0, 1] to what its anytime interval needs: the squared
   * distance from a guess made before it was seen, the mean of those before with
   * one half added (Howard et al. 2021, section 3.2).
   */
  addScaledError(code: number, scaled: number): void {
    const at = code * this.stride + this.errorsAt;
    // The count has this error already.
    const earlier = (this.data[at + ERROR.count] as number) - 1;
    const guess = (0.5 + (this.data[at + ERROR.scaled] as number)) / (earlier + 1);
    this.#add(at + ERROR.scaled, scaled);
    this.#add(at + ERROR.variance, (scaled - guess) ** 2);
  }

  /** Adds all of another table; `codeOf` says which group here each of its groups is, below 0 for one that has no place. */
  merge(other: GroupTable, codeOf: ArrayLike<number>): void {
    for (let group = 0; group < other.groups; group++) {
      if ((codeOf[group] as number) < 0) continue;
      const from = group * this.stride;
      const to = (codeOf[group] as number) * this.stride;
      for (let field = 0; field < this.stride; field++) this.#add(to + field, other.data[from + field] as number);
    }
  }

  /** The table as it is now. */
  copy(): GroupTable {
    return new GroupTable(this.shape, this.data.slice());
  }

  #add(at: number, amount: number): void {
    this.data[at] = (this.data[at] as number) + amount;
  }
}
