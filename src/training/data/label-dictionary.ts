import type { ColumnChunk, StreamedColumn } from '../../io/column-stream.ts';
import type { CategoricalColumn } from '../../table/index.ts';

/** The maximum number of different texts of a column. Further texts have the code -1. */
export const MAX_TEXTS = 100_000;

/** Numbers the texts of a column in the order of their first row, and counts their rows. */
export class LabelDictionary {
  readonly labels: string[] = [];
  /** The number of rows of each label. */
  readonly counts: number[] = [];
  readonly #codes = new Map<string, number>();
  readonly #codesOfNumbers = new Map<number, number>();

  codeOf(label: string): number {
    const known = this.#codes.get(label);
    if (known !== undefined) return known;
    const code = this.labels.length;
    // One more than the maximum shows that there are too many.
    if (code > MAX_TEXTS) return -1;
    this.#codes.set(label, code);
    this.labels.push(label);
    this.counts.push(0);
    return code;
  }

  /** Returns the code of a number, whose label is its shortest text; -1 for NaN. */
  codeOfNumber(value: number): number {
    const known = this.#codesOfNumbers.get(value);
    if (known !== undefined) return known;
    const code = Number.isNaN(value) ? -1 : this.codeOf(String(value));
    if (this.labels.length <= MAX_TEXTS) this.#codesOfNumbers.set(value, code);
    return code;
  }

  /** Returns the number of rows of a label. */
  countOf(label: string): number {
    return this.counts[this.#codes.get(label) ?? -1] ?? 0;
  }

  /** Returns the labels as a column with one row for each code. */
  column(): CategoricalColumn {
    return { kind: 'categorical', codes: Int32Array.from(this.labels.keys()), labels: [...this.labels] };
  }
}

/** Reads the codes of one column of a stream into an array. */
export type CodeReader = (chunk: ColumnChunk, codes: Int32Array) => void;

/**
 * Returns a function that reads the codes of the column with the given index in a stream.
 */
export function codeReader(
  dictionary: LabelDictionary,
  column: StreamedColumn,
  index: number,
  options: { readonly labelOf: (text: string) => string; readonly isCounted: boolean },
): CodeReader {
  const { labelOf, isCounted } = options;
  const count = (codes: Int32Array, rows: number): void => {
    if (!isCounted) return;
    const { counts } = dictionary;
    for (let row = 0; row < rows; row++) {
      const code = codes[row] as number;
      if (code >= 0) counts[code] = (counts[code] as number) + 1;
    }
  };
  if (column.kind === 'labels') {
    const codeOf = Int32Array.from(column.labels, (text) => dictionary.codeOf(labelOf(text)));
    return (chunk, codes) => {
      chunk.copyCodes(index, codes, 0);
      for (let row = 0; row < chunk.rowCount; row++) {
        const code = codes[row] as number;
        if (code >= 0) codes[row] = codeOf[code] as number;
      }
      count(codes, chunk.rowCount);
    };
  }
  if (column.kind === 'numbers') {
    let numbers = new Float64Array(0);
    return (chunk, codes) => {
      if (numbers.length < chunk.rowCount) numbers = new Float64Array(chunk.rowCount);
      chunk.copyNumbers(index, numbers, 0);
      for (let row = 0; row < chunk.rowCount; row++) codes[row] = dictionary.codeOfNumber(numbers[row] as number);
      count(codes, chunk.rowCount);
    };
  }
  return (chunk, codes) => {
    for (const [row, text] of chunk.texts(index).entries())
      codes[row] = text === null ? -1 : dictionary.codeOf(labelOf(text));
    count(codes, chunk.rowCount);
  };
}

/** Numbers the combinations of the codes of several columns, in the order of their first row. */
export class Combinations {
  /** The codes of each combination. */
  readonly #parts: number[][] = [];
  /** The combinations of a combination of the first columns with a code of the next one. */
  readonly #next: Map<number, number>[] = [];
  readonly #codeOf = new Map<number, number>();

  get size(): number {
    return this.#parts.length;
  }

  codeOf(columns: readonly Int32Array[], row: number): number {
    let prefix = 0;
    for (let part = 0; part < columns.length; part++) {
      const known = (this.#next[part] ??= new Map<number, number>());
      const key = prefix * MAX_CODES + ((columns[part] as Int32Array)[row] as number);
      let next = known.get(key);
      if (next === undefined) known.set(key, (next = known.size));
      prefix = next;
    }
    const found = this.#codeOf.get(prefix);
    if (found !== undefined) return found;
    this.#codeOf.set(prefix, this.#parts.length);
    return this.#parts.push(columns.map((codes) => codes[row] as number)) - 1;
  }

  /** Returns the code of one column in a combination. */
  partOf(code: number, part: number): number {
    return this.#parts[code]?.[part] ?? -1;
  }
}

/** A number above each code. */
export const MAX_CODES = 2 ** 24;
