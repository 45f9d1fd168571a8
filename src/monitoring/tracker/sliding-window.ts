import type { EventBlock } from './event-block.ts';
import { GroupTable, type TableShape } from './group-table.ts';

/**
 * The last events of a stream in a ring buffer, with running sums for every group. Adding an event removes the oldest
 * event. This takes constant time and memory.
 */
export class SlidingWindow {
  readonly size: number;
  readonly tables: readonly GroupTable[];
  /** The group code of each event, in one array per attribute. The code is negative if an event has no group. */
  readonly codes: readonly Int32Array[];
  readonly cells: Uint8Array;
  readonly weights: Float64Array | null;
  /** The error of each event, NaN if the true label is unknown; null unless errors are monitored. */
  readonly errors: Float64Array | null;
  /** The total number of events added so far. */
  added = 0;
  readonly #shape: TableShape;

  constructor(size: number, attributes: number, shape: TableShape) {
    this.size = size;
    this.#shape = shape;
    this.tables = Array.from({ length: attributes }, () => GroupTable.withChanges(shape));
    // An empty slot has no group, so nothing is subtracted for it.
    this.codes = Array.from({ length: attributes }, () => new Int32Array(size).fill(-1));
    this.cells = new Uint8Array(size);
    this.weights = shape.hasWeights ? new Float64Array(size) : null;
    this.errors = shape.hasErrors ? new Float64Array(size) : null;
  }

  /** The number of events in the window. */
  get length(): number {
    return Math.min(this.added, this.size);
  }

  /** Makes room for new groups. */
  grow(groups: readonly number[]): void {
    this.tables.forEach((table, index) => {
      table.grow(groups[index] as number);
    });
  }

  /** Adds rows of a block. The first row is `from`, and the last row is the one before `to`. */
  add(block: EventBlock, from: number, to: number): void {
    if (this.#shape.hasWeights || this.#shape.hasErrors) this.#addSums(block, from, to);
    else this.#addCounts(block, from, to);
    this.added += to - from;
  }

  /**
   * Skips events that the next call of `add` would remove from the window again. The next call must fill the complete
   * window.
   */
  skip(events: number): void {
    this.added += events;
  }

  /**
   * Sets the true label of an event that is still in the window. `event` is the position of the event among all added
   * events.
   */
  label(event: number, cell: number, error: number): void {
    if (event < 0 || event < this.added - this.size) return;
    const slot = event % this.size;
    const weight = this.weights?.[slot] ?? 1;
    const old = this.cells[slot] as number;
    this.cells[slot] = cell;
    if (this.errors !== null) this.errors[slot] = error;
    this.tables.forEach((table, index) => {
      const code = (this.codes[index] as Int32Array)[slot] as number;
      if (code < 0) return;
      table.addCell(code, old, weight, -1);
      table.addCell(code, cell, weight, 1);
      if (this.errors !== null) table.addError(code, error, weight, 1);
    });
  }

  /**
   * Iterates over the slots of the ring buffer that contain events.
   * @yields each slot, oldest first
   */
  *slots(): Generator<number> {
    for (let event = this.added - this.length; event < this.added; event++) yield event % this.size;
  }

  /** Adds events to the counts, which are exact integers. A simple loop for each attribute is sufficient for this. */
  #addCounts({ codes, cells }: EventBlock, from: number, to: number): void {
    const { size, added } = this;
    // If there are more events than slots, only the last events remain.
    const first = Math.max(from, to - size);
    const filled = this.length;
    codes.forEach((column, index) => {
      const ring = this.codes[index] as Int32Array;
      const { data, stride, changes } = this.tables[index] as GroupTable;
      let slot = (added + first - from) % size;
      for (let row = first; row < to; row++) {
        if (slot < filled) {
          const old = ring[slot] as number;
          if (old >= 0) {
            changes?.note(old);
            const at = old * stride + (this.cells[slot] as number);
            data[at] = (data[at] as number) - 1;
          }
        }
        const code = column[row] as number;
        ring[slot] = code;
        if (code >= 0) {
          changes?.note(code);
          const at = code * stride + (cells[row] as number);
          data[at] = (data[at] as number) + 1;
        }
        if (++slot === size) slot = 0;
      }
    });
    this.#storeCells(cells, first, to, (added + first - from) % size);
  }

  #storeCells(cells: Uint8Array, from: number, to: number, slot: number): void {
    for (let row = from; row < to; row++) {
      this.cells[slot] = cells[row] as number;
      if (++slot === this.size) slot = 0;
    }
  }

  /**
   * Adds weighted sums. Rounding errors accumulate as values are added and removed, so the sums are recomputed each
   * time the ring buffer has been filled once.
   */
  #addSums(block: EventBlock, from: number, to: number): void {
    for (let row = from; row < to; row++) {
      const event = this.added + row - from;
      const slot = event % this.size;
      if (event >= this.size) this.#count(slot, -1);
      this.cells[slot] = block.cells[row] as number;
      if (this.weights !== null) this.weights[slot] = block.weights?.[row] ?? 1;
      if (this.errors !== null) this.errors[slot] = block.errors?.[row] ?? NaN;
      block.codes.forEach((column, index) => {
        (this.codes[index] as Int32Array)[slot] = column[row] as number;
      });
      this.#count(slot, 1);
      if (slot === this.size - 1) this.#recount();
    }
  }

  #count(slot: number, sign: 1 | -1): void {
    const weight = this.weights?.[slot] ?? 1;
    const error = this.errors?.[slot] ?? NaN;
    this.tables.forEach((table, index) => {
      const code = (this.codes[index] as Int32Array)[slot] as number;
      if (code < 0) return;
      table.addCell(code, this.cells[slot] as number, weight, sign);
      if (!Number.isNaN(error)) table.addError(code, error, weight, sign);
    });
  }

  #recount(): void {
    for (const table of this.tables) table.clear();
    for (let slot = 0; slot < this.size; slot++) this.#count(slot, 1);
  }
}
