import { type CodedBatch, type CodedRows, MISSING_CODE, SEARCH_HALF } from './coded-rows.ts';

/** A conjunction of conditions `column = value`, with its number of rows and the sum of their values. */
export interface Conjunction {
  /** The indices of the columns, ascending. */
  readonly columns: readonly number[];
  /** The code of the value of each column. */
  readonly codes: readonly number[];
  readonly count: number;
  readonly sum: number;
  /** The difference of means to the other rows, divided by its standard error if all rows had the same mean. */
  readonly t: number;
}

/** The number of rows and the moments of their values. */
export interface RowTotals {
  readonly count: number;
  readonly sum: number;
  readonly sumSquares: number;
  readonly min: number;
  readonly max: number;
}

/** The settings of {@link searchLattice}. */
export interface LatticeSearch {
  readonly maxDepth: number;
  /** The minimum number of rows of a subgroup, among the searched rows. */
  readonly minRows: number;
  /** The number of subgroups with the largest |t| that are kept. */
  readonly keep: number;
  /** Whether only the half for the search is read; otherwise all rows are. */
  readonly isSplit: boolean;
  /** Whether refinements that cannot reach the kept subgroups are skipped. The result is the same without. */
  readonly prunes: boolean;
}

/** The result of {@link searchLattice}. */
export interface LatticeResult {
  readonly totals: RowTotals;
  /** The kept subgroups, by descending |t|. */
  readonly found: readonly Conjunction[];
  /** The number of conjunctions of values that occur: what the search covers. */
  readonly searched: number;
  /** The number of conjunctions with enough rows whose difference was computed. */
  readonly measured: number;
}

/** The number of cells that are counted in one pass over the rows: 12 bytes each. */
const CELLS_PER_PASS = 4_000_000;

/**
 * Finds the conjunctions of up to `maxDepth` conditions with the largest |t|, level by level. All cells of a set of
 * columns are counted together. Conjunctions with too few rows are not refined, and neither are those whose refinements
 * cannot reach the kept ones: {@link boundOfRefinements} is an upper bound, as in subgroup discovery (Kloesgen 1996,
 * Wrobel 1997), SliceFinder (Chung et al. 2019) and SliceLine (Sagadeeva and Boehm 2021).
 */
export async function searchLattice(rows: CodedRows, search: LatticeSearch): Promise<LatticeResult> {
  const { maxDepth, minRows, prunes } = search;
  const counts = new Counter(rows, search.isSplit);
  const totals = await counts.totals();
  const best = new Best(search.keep);
  const used = counts.occurring;
  let measured = 0;
  /** The conjunctions that may be refined, by {@link keyOf}. */
  let open = new Map<string, Conjunction>();
  const isOpen = (columns: readonly number[], codes: readonly number[]): boolean =>
    columns.every((_, left) => open.has(keyOf(without(columns, left), without(codes, left))));
  let sets = used.flatMap((codes, column) => (codes.length === 0 ? [] : [[column]]));
  let frequent = used;
  for (let depth = 1; depth <= maxDepth && sets.length > 0; depth++) {
    const next = new Map<string, Conjunction>();
    await counts.count(sets, frequent, (columns, codes, count, sum) => {
      if (count < minRows || count === totals.count || (depth > 1 && !isOpen(columns, codes))) return;
      const found: Conjunction = { columns, codes, count, sum, t: differenceT(totals, count, sum) };
      measured++;
      best.add(found);
      next.set(keyOf(columns, codes), found);
    });
    const floor = best.floor();
    open = prunes ? new Map([...next].filter(([, own]) => boundOfRefinements(totals, own, minRows) >= floor)) : next;
    if (depth === 1) frequent = used.map((codes, column) => codes.filter((code) => open.has(keyOf([column], [code]))));
    sets = nextSets(open, frequent.length, depth);
  }
  return { totals, found: best.sorted(), searched: conjunctionsOf(used, maxDepth), measured };
}

/**
 * Returns t of the difference between the mean of some rows and the mean of the others, with the variance of all rows.
 * 0 if all rows have the same value.
 */
function differenceT({ count: all, sum: allSum, sumSquares, min, max }: RowTotals, count: number, sum: number): number {
  if (!(max > min)) return 0;
  const mean = allSum / all;
  const variance = Math.max(0, sumSquares / all - mean * mean);
  const scale = Math.sqrt(variance * count * (1 - count / all));
  // A variance that is only a rounding error is none.
  return scale > 1e-9 * (Math.abs(mean) + 1e-300) * Math.sqrt(count) ? (sum - mean * count) / scale : 0;
}

/**
 * Returns an upper bound of |t| over all subsets of a conjunction with at least `minRows` rows.
 *
 * With values scaled to [0, 1], a subset of d of n rows with sum s has a sum of at most min(d, s). The largest t is
 * reached at d = max(minRows, s): with fewer rows t grows with d, with more rows it falls. The lowest t is the same for
 * 1 minus the values.
 */
function boundOfRefinements(totals: RowTotals, { count, sum }: Conjunction, minRows: number): number {
  const { min, max } = totals;
  const scaled = (sum - min * count) / (max - min);
  const largest = (high: number, scale: (part: number, size: number) => number): number => {
    const size = Math.min(count, Math.max(minRows, high));
    return Math.abs(differenceT(totals, size, scale(Math.min(size, high), size)));
  };
  const above = largest(scaled, (part, size) => min * size + (max - min) * part);
  const below = largest(count - scaled, (part, size) => max * size - (max - min) * part);
  // The bound of rounded sums is slightly too small.
  return Math.max(above, below) * (1 + 1e-9);
}

/** Returns the key of a conjunction. */
export function keyOf(columns: readonly number[], codes: readonly number[]): string {
  return `${columns.join()}|${codes.join()}`;
}

function without(items: readonly number[], left: number): number[] {
  return items.filter((_, index) => index !== left);
}

/** Returns the sets of one more column whose subsets all have a conjunction that may be refined. */
function nextSets(open: ReadonlyMap<string, Conjunction>, columnCount: number, depth: number): number[][] {
  const own = new Map([...open.values()].map(({ columns }) => [columns.join(), columns]));
  return [...own.values()].flatMap((columns) => {
    const last = columns[depth - 1] as number;
    return Array.from({ length: columnCount - last - 1 }, (_, index) => [...columns, last + 1 + index]).filter((set) =>
      set.every((_, left) => own.has(without(set, left).join())),
    );
  });
}

/** Returns the number of conjunctions of the values that occur in the columns. */
function conjunctionsOf(used: readonly (readonly number[])[], maxDepth: number): number {
  // The number of conjunctions of each depth: the coefficients of the product of (1 + k x) over columns of k values.
  const byDepth = new Float64Array(maxDepth + 1);
  byDepth[0] = 1;
  for (const { length } of used) {
    for (let depth = maxDepth; depth > 0; depth--) {
      byDepth[depth] = (byDepth[depth] as number) + length * (byDepth[depth - 1] as number);
    }
  }
  return byDepth.subarray(1).reduce((sum, count) => sum + count, 0);
}

/** The conjunctions with the largest |t|. */
class Best {
  readonly #keep: number;
  #found: Conjunction[] = [];

  constructor(keep: number) {
    this.#keep = keep;
  }

  add(one: Conjunction): void {
    if (this.#found.push(one) > 4 * this.#keep) this.#found = this.sorted();
  }

  /**
   * Returns the kept conjunctions. The sort is stable, so equals remain in the order in which they were added: fewer
   * conditions first, then earlier columns, then smaller codes.
   */
  sorted(): Conjunction[] {
    return this.#found.sort((a, b) => Math.abs(b.t) - Math.abs(a.t)).slice(0, this.#keep);
  }

  /** Returns the |t| that a conjunction must reach to be kept. */
  floor(): number {
    this.#found = this.sorted();
    return this.#found.length < this.#keep ? 0 : Math.abs(this.#found[this.#keep - 1]?.t ?? 0);
  }
}

/** A set of columns with the counts of its cells. */
interface CountedSet {
  readonly columns: readonly number[];
  readonly sizes: readonly number[];
  readonly counts: Int32Array;
  readonly sums: Float64Array;
}

/** Counts the cells of sets of columns. */
class Counter {
  readonly #rows: CodedRows;
  readonly #isSplit: boolean;
  /** The codes that occur in each column. */
  occurring: readonly (readonly number[])[] = [];

  constructor(rows: CodedRows, isSplit: boolean) {
    this.#rows = rows;
    this.#isSplit = isSplit;
  }

  /** Computes the totals, and finds the codes that occur. */
  async totals(): Promise<RowTotals> {
    const seen = this.#rows.columns.map(() => new Uint8Array(MISSING_CODE + 1));
    let [count, sum, sumSquares, min, max] = [0, 0, 0, Infinity, -Infinity];
    for await (const batch of this.#rows.batches()) {
      const { rowCount, codes, values } = searched(batch, this.#isSplit);
      for (let row = 0; row < rowCount; row++) {
        const value = values[row] as number;
        sum += value;
        sumSquares += value * value;
        if (value < min) min = value;
        if (value > max) max = value;
      }
      count += rowCount;
      codes.forEach((column, index) => {
        const own = seen[index] as Uint8Array;
        for (let row = 0; row < rowCount; row++) own[column[row] as number] = 1;
      });
    }
    this.occurring = seen.map((own) => [...own.keys()].filter((code) => own[code] === 1 && code < MISSING_CODE));
    return { count, sum, sumSquares, min, max };
  }

  /**
   * Counts all cells of the given sets of columns, and calls `each` for every cell with rows.
   * @param frequent the codes of each column that are counted
   */
  async count(
    sets: readonly (readonly number[])[],
    frequent: readonly (readonly number[])[],
    each: (columns: readonly number[], codes: readonly number[], count: number, sum: number) => void,
  ): Promise<void> {
    // All other codes share the last code, so that the loops over rows need no condition.
    const recoded = frequent.map((codes) => {
      const table = new Uint8Array(MISSING_CODE + 1).fill(codes.length);
      codes.forEach((code, index) => (table[code] = index));
      return table;
    });
    const sizes = frequent.map((codes) => codes.length + 1);
    let first = 0;
    while (first < sets.length) {
      const pass: CountedSet[] = [];
      for (let cells = 0; first < sets.length; first++) {
        const columns = sets[first] as readonly number[];
        const size = columns.reduce((product, column) => product * (sizes[column] as number), 1);
        if (pass.length > 0 && cells + size > CELLS_PER_PASS) break;
        cells += size;
        const own = columns.map((column) => sizes[column] as number);
        pass.push({ columns, sizes: own, counts: new Int32Array(size), sums: new Float64Array(size) });
      }
      await this.#pass(pass, recoded);
      for (const set of pass) eachCell(set, frequent, each);
    }
  }

  async #pass(pass: readonly CountedSet[], recoded: readonly Uint8Array[]): Promise<void> {
    for await (const batch of this.#rows.batches()) {
      const { rowCount, codes, values } = searched(batch, this.#isSplit);
      const own = codes.map((column, index) => {
        const table = recoded[index] as Uint8Array;
        return column.map((code) => table[code] as number);
      });
      for (const { columns, sizes, counts, sums } of pass) {
        const [a, b, c] = columns.map((column) => own[column] as Uint8Array);
        const [, sizeB = 1, sizeC = 1] = sizes;
        if (columns.length > 3) countMany(columns, sizes, own, values, rowCount, counts, sums);
        else if (c !== undefined) {
          for (let row = 0; row < rowCount; row++) {
            const cell = ((a?.[row] as number) * sizeB + (b?.[row] as number)) * sizeC + (c[row] as number);
            counts[cell] = (counts[cell] as number) + 1;
            sums[cell] = (sums[cell] as number) + (values[row] as number);
          }
        } else {
          for (let row = 0; row < rowCount; row++) {
            const cell = b === undefined ? (a?.[row] as number) : (a?.[row] as number) * sizeB + (b[row] as number);
            counts[cell] = (counts[cell] as number) + 1;
            sums[cell] = (sums[cell] as number) + (values[row] as number);
          }
        }
      }
    }
  }
}

function countMany(
  columns: readonly number[],
  sizes: readonly number[],
  codes: readonly Uint8Array[],
  values: Float64Array,
  rowCount: number,
  counts: Int32Array,
  sums: Float64Array,
): void {
  for (let row = 0; row < rowCount; row++) {
    let cell = 0;
    for (let index = 0; index < columns.length; index++) {
      cell = cell * (sizes[index] as number) + (codes[columns[index] as number]?.[row] as number);
    }
    counts[cell] = (counts[cell] as number) + 1;
    sums[cell] = (sums[cell] as number) + (values[row] as number);
  }
}

function eachCell(
  { columns, sizes, counts, sums }: CountedSet,
  frequent: readonly (readonly number[])[],
  each: (columns: readonly number[], codes: readonly number[], count: number, sum: number) => void,
): void {
  for (let cell = 0; cell < counts.length; cell++) {
    const count = counts[cell] as number;
    if (count === 0) continue;
    let rest = cell;
    const codes = new Array<number>(columns.length);
    let isCounted = true;
    for (let index = columns.length - 1; index >= 0; index--) {
      const size = sizes[index] as number;
      const code = rest % size;
      rest = (rest - code) / size;
      if (code === size - 1) isCounted = false;
      else codes[index] = frequent[columns[index] as number]?.[code] as number;
    }
    if (isCounted) each(columns, codes, count, sums[cell] as number);
  }
}

/** Returns the rows of a batch that are searched. */
function searched(batch: CodedBatch, isSplit: boolean): Pick<CodedBatch, 'rowCount' | 'codes' | 'values'> {
  return isSplit ? rowsOfHalf(batch, SEARCH_HALF) : batch;
}

/** Returns the rows of a batch that are in one half, without their clusters. */
function rowsOfHalf({ rowCount, codes, values, halves }: CodedBatch, half: number): Omit<CodedBatch, 'clusters'> {
  const rows = new Int32Array(rowCount);
  let count = 0;
  for (let row = 0; row < rowCount; row++) {
    rows[count] = row;
    count += halves[row] === half ? 1 : 0;
  }
  const taken = new Float64Array(count);
  for (let index = 0; index < count; index++) taken[index] = values[rows[index] as number] as number;
  const own = codes.map((column) => {
    const kept = new Uint8Array(count);
    for (let index = 0; index < count; index++) kept[index] = column[rows[index] as number] as number;
    return kept;
  });
  return { rowCount: count, codes: own, values: taken, halves: new Uint8Array(count).fill(half) };
}
