/** The initial capacity of a column. */
const FIRST_ROOM = 64;

/** Numbers in a typed array that grows at its end. Its capacity doubles, so adding a number costs O(1) on average. */
class GrowingArray<Values extends Float64Array | Int32Array> {
  readonly #make: (length: number) => Values;
  #values: Values;
  #length = 0;

  constructor(make: (length: number) => Values) {
    this.#make = make;
    this.#values = make(FIRST_ROOM);
  }

  push(value: number): void {
    if (this.#length === this.#values.length) {
      const wider = this.#make(2 * this.#length);
      wider.set(this.#values);
      this.#values = wider;
    }
    this.#values[this.#length++] = value;
  }

  at(row: number): number {
    return this.#values[row] as number;
  }

  /** Returns a copy of all values. */
  values(): Values {
    return this.#values.slice(0, this.#length) as Values;
  }
}

/** A column of numbers that grows at its end. Missing numbers are NaN. */
export class NumberColumn extends GrowingArray<Float64Array> {
  constructor() {
    super((length) => new Float64Array(length));
  }

  override push(value: number | null): void {
    super.push(value ?? NaN);
  }

  /** Returns the number in a row; null if the number is missing. */
  valueAt(row: number): number | null {
    const value = this.at(row);
    return Number.isNaN(value) ? null : value;
  }

  /** Returns a column of the given rows, in the given order. */
  take(rows: ArrayLike<number>): NumberColumn {
    const taken = new NumberColumn();
    for (let i = 0; i < rows.length; i++) taken.push(this.at(rows[i] as number));
    return taken;
  }
}

/** A column of labels that grows at its end. Each label is stored as a code; the code of a missing label is -1. */
export class LabelColumn {
  readonly #codes = new GrowingArray((length) => new Int32Array(length));
  readonly #codeOf = new Map<string, number>();
  readonly #labels: string[] = [];

  push(label: string | null): void {
    this.#codes.push(label === null ? -1 : this.#encode(label));
  }

  at(row: number): string | null {
    return this.#labels[this.#codes.at(row)] ?? null;
  }

  /** Returns the code of each row's label. */
  codes(): Int32Array {
    return this.#codes.values();
  }

  /** Returns the distinct labels in order of first appearance. */
  labels(): string[] {
    return [...this.#labels];
  }

  /** Returns a column of the given rows, in the given order. */
  take(rows: ArrayLike<number>): LabelColumn {
    const taken = new LabelColumn();
    for (let i = 0; i < rows.length; i++) taken.push(this.at(rows[i] as number));
    return taken;
  }

  #encode(label: string): number {
    const known = this.#codeOf.get(label);
    if (known !== undefined) return known;
    this.#codeOf.set(label, this.#labels.length);
    this.#labels.push(label);
    return this.#labels.length - 1;
  }
}
