import { type EventBlock, NO_COLUMNS, type Stratum } from './event-block.ts';

/** The data of an event that is kept until its label arrives. */
export interface WaitingEvent {
  /** The position of the event among all counted events. */
  readonly event: number;
  readonly cell: number;
  readonly weight: number;
  readonly prediction: number;
  /** The group codes of the event, one code per attribute. */
  readonly codes: readonly number[];
  /** The stratum of the event; absent unless strata are monitored. */
  readonly stratum?: Stratum | null | undefined;
}

/** A stored event, and whether its label is known. */
export interface LabelledEvent extends WaitingEvent {
  readonly isLabelled: boolean;
}

/** Stored events as columns, oldest first. */
export interface WaitingColumns {
  readonly ids: readonly string[];
  readonly events: Float64Array;
  readonly cells: Uint8Array;
  readonly weights: Float64Array;
  readonly predictions: Float64Array;
  /** The group code of each event, in one array per attribute. */
  readonly codes: readonly Int32Array[];
}

/**
 * Returns an event's id as a key. A number and the same number as text are the same id, because CSV does not
 * distinguish them.
 */
function keyOf(id: string | number): string {
  return String(id);
}

/** The first cell without a true label. Cells with lower numbers have a true label, which is final. */
export const FIRST_UNKNOWN_CELL = 4;

/**
 * The latest events with ids, in a ring buffer. Only these events can still be labelled. Their ids cannot be used for
 * new events. The memory use of the buffer is constant.
 */
export class LateLabels {
  readonly horizon: number;
  readonly #ids: (string | null)[];
  readonly #slotOf = new Map<string, number>();
  readonly #attributes: number;
  #events = new Float64Array(0);
  #cells = new Uint8Array(0);
  #weights = new Float64Array(0);
  #predictions = new Float64Array(0);
  #codes: readonly Int32Array[] = [];
  /** The stratum of each event; empty unless strata are monitored. */
  readonly #strata: (Stratum | null)[] = [];
  /** The total number of events with ids added so far. */
  #added = 0;

  constructor(horizon: number, attributes: number) {
    this.horizon = horizon;
    this.#ids = [];
    this.#attributes = attributes;
  }

  /** Allocates the buffer with the first event, because streams that are only merged need none. */
  #makeRoom(): void {
    if (this.#events.length > 0) return;
    const { horizon } = this;
    this.#events = new Float64Array(horizon);
    this.#cells = new Uint8Array(horizon);
    this.#weights = new Float64Array(horizon);
    this.#predictions = new Float64Array(horizon);
    this.#codes = Array.from({ length: this.#attributes }, () => new Int32Array(horizon));
  }

  /** Returns whether the buffer contains an event with this id. */
  has(id: string | number): boolean {
    return this.#slotOf.has(keyOf(id));
  }

  /**
   * Stores an event of a block under its id.
   * @param event the position of the event among all counted events
   * @returns whether the oldest event was removed without a label
   */
  add(id: string | number, event: number, block: EventBlock, row: number, stratum?: Stratum | null): boolean {
    this.#makeRoom();
    const slot = this.#added % this.horizon;
    const hasExpired = this.#forget(slot);
    const key = keyOf(id);
    this.#ids[slot] = key;
    this.#slotOf.set(key, slot);
    this.#events[slot] = event;
    this.#cells[slot] = block.cells[row] as number;
    this.#weights[slot] = block.weights?.[row] ?? 1;
    this.#predictions[slot] = block.predictions?.[row] ?? NaN;
    block.codes.forEach((column, position) => {
      (this.#codes[position] as Int32Array)[slot] = column[row] as number;
    });
    if (stratum !== undefined) this.#strata[slot] = stratum;
    else if (this.#strata.length > 0) this.#strata[slot] = null;
    this.#added++;
    return hasExpired;
  }

  /** Returns the stored event with an id; undefined if it is not stored. */
  find(id: string | number): LabelledEvent | undefined {
    const slot = this.#slotOf.get(keyOf(id));
    return slot === undefined ? undefined : this.#eventAt(slot);
  }

  /** Marks an event as labelled, so that no second label is accepted. */
  settle(id: string | number, cell: number): void {
    const slot = this.#slotOf.get(keyOf(id));
    if (slot !== undefined) this.#cells[slot] = cell;
  }

  /**
   * Iterates over all stored events.
   * @yields each event with its id, oldest first
   */
  *entries(): Generator<WaitingEvent & { readonly id: string }> {
    for (let index = Math.max(0, this.#added - this.horizon); index < this.#added; index++) {
      const slot = index % this.horizon;
      const id = this.#ids[slot];
      if (id !== undefined && id !== null) yield { id, ...this.#eventAt(slot) };
    }
  }

  /** Returns all stored events as columns, oldest first. */
  columns(): WaitingColumns {
    const first = Math.max(0, this.#added - this.horizon);
    const count = this.#added - first;
    const take = <Values extends Float64Array | Uint8Array | Int32Array>(values: Values): Values => {
      const taken = values.slice(0, count) as Values;
      // The ring begins at the slot of the oldest event.
      const start = first % this.horizon;
      taken.set(values.subarray(start, Math.min(this.horizon, start + count)));
      taken.set(values.subarray(0, Math.max(0, start + count - this.horizon)), Math.min(count, this.horizon - start));
      return taken;
    };
    return {
      ids: Array.from({ length: count }, (_, index) => this.#ids[(first + index) % this.horizon] as string),
      events: take(this.#events),
      cells: take(this.#cells),
      weights: take(this.#weights),
      predictions: take(this.#predictions),
      codes: this.#codes.map(take),
    };
  }

  /** Restores columns that {@link LateLabels.columns} returned. */
  restoreColumns({ ids, ...columns }: WaitingColumns): void {
    this.clear();
    if (ids.length === 0) return;
    this.#makeRoom();
    this.#events.set(columns.events);
    this.#cells.set(columns.cells);
    this.#weights.set(columns.weights);
    this.#predictions.set(columns.predictions);
    columns.codes.forEach((codes, attribute) => this.#codes[attribute]?.set(codes));
    ids.forEach((id, slot) => {
      this.#ids[slot] = id;
      this.#slotOf.set(id, slot);
    });
    this.#added = ids.length;
  }

  /** Removes all events. */
  clear(): void {
    this.#ids.length = 0;
    this.#strata.length = 0;
    this.#slotOf.clear();
    this.#added = 0;
  }

  /** Restores an event returned by {@link LateLabels.entries}. Returns the same value as {@link LateLabels.add}. */
  restore({ id, event, cell, weight, prediction, codes, stratum }: WaitingEvent & { readonly id: string }): boolean {
    return this.add(
      id,
      event,
      {
        ...NO_COLUMNS,
        length: 1,
        codes: codes.map((code) => Int32Array.of(code)),
        cells: Uint8Array.of(cell),
        weights: Float64Array.of(weight),
        predictions: Float64Array.of(prediction),
      },
      0,
      stratum,
    );
  }

  #eventAt(slot: number): WaitingEvent & { readonly isLabelled: boolean } {
    const cell = this.#cells[slot] as number;
    return {
      event: this.#events[slot] as number,
      cell,
      weight: this.#weights[slot] as number,
      prediction: this.#predictions[slot] as number,
      codes: this.#codes.map((column) => column[slot] as number),
      stratum: this.#strata[slot],
      isLabelled: cell < FIRST_UNKNOWN_CELL,
    };
  }

  #forget(slot: number): boolean {
    const id = this.#ids[slot];
    if (id === undefined || id === null) return false;
    this.#slotOf.delete(id);
    return (this.#cells[slot] as number) >= FIRST_UNKNOWN_CELL;
  }
}
