import type { Matrix } from '../../data/matrix.ts';
import type { ColumnScales } from './column-scales.ts';

/**
 * The distinct combinations of indicator columns that rows show. One-hot columns
 * of a few attributes make far fewer combinations than rows, and whatever is
 * summed per combination first is summed over few things afterwards.
 */
export interface RowPatterns {
  /** [rows], which pattern each row has. */
  readonly of: Int32Array;
  readonly count: number;
  /** [count + 1]; the places of pattern k lie from starts[k] to starts[k + 1]. */
  readonly starts: Int32Array;
  /** Columns that are 1 in a pattern, ascending; each pattern ends with the intercept's. */
  readonly places: Int32Array;
}

/** Spreads hashes (the prime of Fowler, Noll and Vo). */
const HASH_PRIME = 0x01000193;

/**
 * Finds the patterns of a matrix's indicator columns, in order of first occurrence.
 * @param intercept the place that every pattern ends with
 */
export function rowPatterns(matrix: Matrix, { shift, indicators }: ColumnScales, intercept: number): RowPatterns {
  const { rows, columns, values } = matrix;
  const columnOf = Int32Array.from(indicators);
  const offOf = Float64Array.from(indicators, (column) => shift[column] as number);
  const index = createPatternIndex(rows);
  const of = new Int32Array(rows);
  const found = new Int32Array(indicators.length + 1);
  for (let row = 0; row < rows; row++) {
    let size = 0;
    for (let place = 0; place < columnOf.length; place++) {
      const column = columnOf[place] as number;
      if (values[row * columns + column] !== offOf[place]) found[size++] = column;
    }
    found[size++] = intercept;
    of[row] = index.numberOf(found, size);
  }
  return { of, ...index.read() };
}

/** Numbers lists of places as they come: a hash table with open addresses, since strings as keys cost ten times as much. */
function createPatternIndex(rows: number): {
  numberOf: (found: Int32Array, size: number) => number;
  read: () => Omit<RowPatterns, 'of'>;
} {
  const mask = 2 ** Math.ceil(Math.log2(2 * rows + 2)) - 1;
  const slots = new Int32Array(mask + 1).fill(-1);
  const starts = [0];
  const places: number[] = [];

  const isAt = (pattern: number, found: Int32Array, size: number): boolean => {
    const start = starts[pattern] as number;
    if ((starts[pattern + 1] as number) - start !== size) return false;
    for (let place = 0; place < size; place++) if (places[start + place] !== found[place]) return false;
    return true;
  };
  const add = (found: Int32Array, size: number): number => {
    for (let place = 0; place < size; place++) places.push(found[place] as number);
    starts.push(places.length);
    return starts.length - 2;
  };

  return {
    numberOf: (found, size) => {
      let slot = hashOf(found, size) & mask;
      for (;;) {
        const pattern = slots[slot] as number;
        if (pattern < 0) return (slots[slot] = add(found, size));
        if (isAt(pattern, found, size)) return pattern;
        slot = (slot + 1) & mask;
      }
    },
    read: () => ({ count: starts.length - 1, starts: Int32Array.from(starts), places: Int32Array.from(places) }),
  };
}

function hashOf(found: Int32Array, size: number): number {
  let hash = 0;
  for (let place = 0; place < size; place++) hash = Math.imul(hash ^ ((found[place] as number) + 1), HASH_PRIME);
  return hash ^ (hash >>> 15);
}
