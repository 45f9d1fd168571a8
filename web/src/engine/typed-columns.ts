import { type Column, sortLabels } from '../../../src/table/index.ts';

/** The value of a cell in a file that has types: Parquet or JSON. */
export type Cell = string | number | bigint | boolean | null | undefined;

/**
 * Collects the values of a column with types, and gives the column that the command line reads: numbers if all values
 * are numbers, otherwise texts.
 */
export class TypedColumn {
  readonly #codeOf = new Map<string, number>();
  #codes = new Int32Array(1024);
  #numbers: Float64Array<ArrayBuffer> | undefined = new Float64Array(1024);
  #hasBig = false;
  #length = 0;
  #known = 0;

  get length(): number {
    return this.#length;
  }

  /** Adds the value of the next row. */
  add(value: Cell): void {
    const row = this.#length++;
    if (row === this.#codes.length) {
      const codes = new Int32Array(2 * row);
      codes.set(this.#codes);
      this.#codes = codes;
      if (this.#numbers !== undefined) {
        const numbers = new Float64Array(2 * row);
        numbers.set(this.#numbers);
        this.#numbers = numbers;
      }
    }
    if (value === null || value === undefined) {
      this.#codes[row] = -1;
      if (this.#numbers !== undefined) this.#numbers[row] = NaN;
      return;
    }
    this.#known++;
    if (typeof value === 'bigint' && (value > Number.MAX_SAFE_INTEGER || value < Number.MIN_SAFE_INTEGER))
      this.#hasBig = true;
    if (this.#numbers !== undefined) {
      if (typeof value === 'string' || typeof value === 'boolean') this.#numbers = undefined;
      else this.#numbers[row] = Number(value);
    }
    const text = String(value);
    let code = this.#codeOf.get(text);
    if (code === undefined) {
      code = this.#codeOf.size;
      this.#codeOf.set(text, code);
    }
    this.#codes[row] = code;
  }

  /**
   * Returns the column.
   * @param isLabel whether the column names groups. Whole numbers with too many digits for float64 are then texts
   */
  finish(isLabel: boolean): Column {
    if (this.#numbers !== undefined && this.#known > 0 && !(isLabel && this.#hasBig)) {
      return { kind: 'numeric', values: this.#numbers.slice(0, this.#length) };
    }
    return sortLabels(this.#codes.slice(0, this.#length), [...this.#codeOf.keys()]);
  }
}
