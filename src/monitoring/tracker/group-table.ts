import { CELLS_PER_GROUP } from '../../metrics/statistics/group-stats.ts';
import { GroupChanges } from './group-changes.ts';

/** Determines which numbers a table stores for every group. */
export interface TableShape {
  readonly hasWeights: boolean;
  readonly hasErrors: boolean;
}

/** The number of error fields of a group, stored after its cells. */
const ERROR_FIELDS = 7;
/** The index of each error field. */
export const ERROR = { count: 0, weight: 1, squaredWeight: 2, sum: 3, squares: 4, scaled: 5, variance: 6 } as const;

/**
 * Running sums of every group of one attribute, in one flat array of [groups, stride]. Every group has the counts of
 * the six cells. If events have weights, it also has the sums of weights and of squared weights by cell. If errors are
 * monitored, it also has the {@link ERROR} fields. All numbers are sums over events, so the sums of a window are the
 * difference between two tables.
 */
export class GroupTable {
  readonly shape: TableShape;
  readonly stride: number;
  /** The index of a group's first error field. */
  readonly errorsAt: number;
  data: Float64Array;
  /** The groups whose sums have changed; null if nobody reads them. */
  readonly changes: GroupChanges | null;
  /** The allocated buffer; `data` is a view of its beginning. */
  #room = new Float64Array(0);

  constructor(shape: TableShape, data?: Float64Array, changes: GroupChanges | null = null) {
    this.shape = shape;
    this.changes = changes;
    this.errorsAt = CELLS_PER_GROUP * (shape.hasWeights ? 3 : 1);
    this.stride = this.errorsAt + (shape.hasErrors ? ERROR_FIELDS : 0);
    this.data = data ?? new Float64Array(0);
  }

  /** Returns an empty table that lists the groups whose sums have changed. */
  static withChanges(shape: TableShape): GroupTable {
    return new GroupTable(shape, undefined, new GroupChanges());
  }

  get groups(): number {
    return this.data.length / this.stride;
  }

  /** Makes room for new groups. */
  grow(groups: number): void {
    if (groups <= this.groups) return;
    const length = groups * this.stride;
    if (length > this.#room.length) {
      // Allocates twice the required size, because new groups mostly appear one by one.
      this.#room = new Float64Array(2 * length);
      this.#room.set(this.data);
    }
    this.data = this.#room.subarray(0, length);
  }

  /** Adds an event, or removes it if `sign` is -1. */
  addCell(code: number, cell: number, weight: number, sign: 1 | -1): void {
    this.changes?.note(code);
    const at = code * this.stride + cell;
    const data = this.data;
    data[at] = (data[at] as number) + sign;
    if (!this.shape.hasWeights) return;
    // A floating-point sum keeps a rounding residue when all its terms are removed. If no events are left, the sum must
    // be 0.
    const isEmpty = data[at] === 0;
    const sum = at + CELLS_PER_GROUP;
    const squares = at + 2 * CELLS_PER_GROUP;
    data[sum] = isEmpty ? 0 : (data[sum] as number) + sign * weight;
    data[squares] = isEmpty ? 0 : (data[squares] as number) + sign * weight * weight;
  }

  /** Adds counts to a group's six cells. */
  addCells(code: number, counts: ArrayLike<number>): void {
    this.changes?.note(code);
    for (let cell = 0; cell < CELLS_PER_GROUP; cell++) this.#add(code * this.stride + cell, counts[cell] as number);
  }

  /** Adds an error, or removes it if `sign` is -1. */
  addError(code: number, error: number, weight: number, sign: 1 | -1): void {
    this.changes?.note(code);
    const at = code * this.stride + this.errorsAt;
    this.#add(at + ERROR.count, sign);
    this.#add(at + ERROR.weight, sign * weight);
    this.#add(at + ERROR.squaredWeight, sign * weight * weight);
    this.#add(at + ERROR.sum, sign * weight * error);
    this.#add(at + ERROR.squares, sign * weight * error * error);
  }

  /**
   * Adds an error in [0, 1] to the two sums from which anytime-valid intervals are computed. The first is the sum of
   * errors. The second is the sum of squared distances between each error and its prediction from earlier errors. The
   * prediction of an error is the mean of one half and all earlier errors (Howard et al. 2021, section 3.2).
   */
  addScaledError(code: number, scaled: number): void {
    this.changes?.note(code);
    const at = code * this.stride + this.errorsAt;
    // The count already includes this error.
    const earlier = (this.data[at + ERROR.count] as number) - 1;
    const guess = (0.5 + (this.data[at + ERROR.scaled] as number)) / (earlier + 1);
    this.#add(at + ERROR.scaled, scaled);
    this.#add(at + ERROR.variance, (scaled - guess) ** 2);
  }

  /**
   * Adds another table. `codeOf` maps the other table's groups to the groups of this table. Groups with a negative code
   * are skipped.
   */
  merge(other: GroupTable, codeOf: ArrayLike<number>): void {
    for (let group = 0; group < other.groups; group++) {
      if ((codeOf[group] as number) < 0) continue;
      this.changes?.note(codeOf[group] as number);
      const from = group * this.stride;
      const to = (codeOf[group] as number) * this.stride;
      for (let field = 0; field < this.stride; field++) this.#add(to + field, other.data[from + field] as number);
    }
  }

  /** Sets all sums to 0. */
  clear(): void {
    this.data.fill(0);
    this.changes?.noteAll();
  }

  /** Returns a copy of the table. */
  copy(): GroupTable {
    return new GroupTable(this.shape, this.data.slice());
  }

  #add(at: number, amount: number): void {
    this.data[at] = (this.data[at] as number) + amount;
  }
}
