import { ConfigValidationError } from '../../exceptions/index.ts';
import { formatCount } from '../../internal/format.ts';
import { createRandom, type Random, shuffle } from '../../internal/random.ts';
import { normalOfT } from '../../stats/gap-family.ts';
import type { CodedRows } from './coded-rows.ts';
import { MIN_CLUSTERS } from './difference-test.ts';
import type { Conjunction, RowTotals } from './lattice.ts';

/** The limit of replicates times rows times sets of columns: about a minute. */
const MAX_STEPS = 3e10;

/** The distribution of max |t| over all measured conjunctions, if all rows had the same mean. */
export interface MaxT {
  /** |t| of each conjunction, in the order in which they were given; 0 if it has too few clusters. */
  readonly observed: Float64Array;
  /** The largest |t| of each replicate, ascending. */
  readonly maxima: Float64Array;
}

/** Of each conjunction: the standard deviation of its sum of residuals, and the degrees of freedom. */
interface Spread {
  readonly scales: Float64Array;
  readonly degrees: Float64Array;
}

/** All rows, in memory. */
interface AllRows {
  readonly codes: readonly Uint8Array[];
  /** The values minus their mean. */
  readonly residuals: Float64Array;
  readonly clusters: Int32Array | undefined;
}

/**
 * Draws the largest |t| over conjunctions. Without clusters, the values are permuted over the rows (Westfall and Young
 * 1993). With clusters, the residuals of each cluster get a random sign (the wild bootstrap), and t has the variance of
 * cluster totals. All rows are read into memory.
 * @throws {ConfigValidationError} if this takes too long
 */
export async function drawMaxOfLattice(
  rows: CodedRows,
  conjunctions: readonly Conjunction[],
  totals: RowTotals,
  { samples, seed }: { readonly samples: number; readonly seed: number },
): Promise<MaxT> {
  const sets = setsOf(conjunctions);
  const steps = samples * totals.count * sets.length;
  if (steps > MAX_STEPS) throw tooManySteps(totals.count, sets.length, samples);
  const all = await readAll(rows, totals);
  const cells = sets.map((set) => cellsOf(set, all.codes));
  const scales = new Float64Array(conjunctions.length);
  const degrees = new Float64Array(conjunctions.length).fill(Infinity);
  sets.forEach((set, index) => {
    const own = cells[index] as Int32Array;
    scalesOf(set, own, all, totals, { scales, degrees });
  });
  const observed = new Float64Array(conjunctions.length);
  largestT(sets, cells, all.residuals, totals, { scales, degrees }, (index, t) => (observed[index] = t));
  const random = createRandom(seed, 1);
  const values = Float64Array.from(all.residuals);
  const maxima = new Float64Array(samples);
  for (let sample = 0; sample < samples; sample++) {
    if (all.clusters === undefined) shuffle(values, random);
    else flipSigns(all.residuals, all.clusters, values, random);
    maxima[sample] = largestT(sets, cells, values, totals, { scales, degrees });
  }
  return { observed, maxima: maxima.sort() };
}

/** A conjunction: its index and its number of rows. */
interface Member {
  readonly index: number;
  readonly count: number;
}

/** The conjunctions of one set of columns. */
interface LatticeSet {
  readonly columns: readonly number[];
  /** The number of cells, the last of which contains all rows of no conjunction. */
  readonly cellCount: number;
  readonly cellOf: ReadonlyMap<number, number>;
  readonly members: readonly Member[];
}

const BASE = 256;

function setsOf(conjunctions: readonly Conjunction[]): LatticeSet[] {
  const bySet = new Map<string, { columns: readonly number[]; cellOf: Map<number, number>; members: Member[] }>();
  conjunctions.forEach(({ columns, codes, count }, index) => {
    const key = columns.join();
    const own = bySet.get(key) ?? { columns, cellOf: new Map<number, number>(), members: [] };
    bySet.set(key, own);
    own.cellOf.set(
      codes.reduce((sum, code) => sum * BASE + code, 0),
      own.members.length,
    );
    own.members.push({ index, count });
  });
  return [...bySet.values()].map((own) => ({ ...own, cellCount: own.members.length + 1 }));
}

async function readAll(rows: CodedRows, { count, sum }: RowTotals): Promise<AllRows> {
  const mean = sum / count;
  const codes = rows.columns.map(() => new Uint8Array(count));
  const residuals = new Float64Array(count);
  const clusters = new Int32Array(count);
  let start = 0;
  let isClustered = false;
  for await (const batch of rows.batches()) {
    batch.codes.forEach((column, index) => codes[index]?.set(column, start));
    for (let row = 0; row < batch.rowCount; row++) residuals[start + row] = (batch.values[row] as number) - mean;
    if (batch.clusters !== undefined) {
      clusters.set(batch.clusters, start);
      isClustered = true;
    }
    start += batch.rowCount;
  }
  return { codes, residuals, clusters: isClustered ? clusters : undefined };
}

function cellsOf({ columns, cellOf, cellCount }: LatticeSet, codes: readonly Uint8Array[]): Int32Array {
  const own = columns.map((column) => codes[column] as Uint8Array);
  return Int32Array.from({ length: own[0]?.length ?? 0 }, (_, row) => {
    let key = 0;
    for (const column of own) key = key * BASE + (column[row] as number);
    return cellOf.get(key) ?? cellCount - 1;
  });
}

/**
 * Computes for each conjunction the standard deviation of its sum of residuals. With clusters, it is the root of the sum
 * over clusters of (y - q Y)^2, where y and Y are the sums of a cluster in the conjunction and in all rows, and q is the
 * share of rows in the conjunction.
 */
function scalesOf(
  { cellCount, members }: LatticeSet,
  cells: Int32Array,
  { residuals, clusters }: AllRows,
  totals: RowTotals,
  { scales, degrees }: Spread,
): void {
  const all = totals.count;
  if (clusters === undefined) {
    const variance = residuals.reduce((sum, value) => sum + value * value, 0) / all;
    for (const { index, count } of members) scales[index] = Math.sqrt(variance * count * (1 - count / all));
    return;
  }
  const table = (): Float64Array => new Float64Array(cellCount);
  const [squares, products, counts, within, own, rows] = [table(), table(), table(), table(), table(), table()];
  const add = (sums: Float64Array, cell: number, value: number): void => {
    sums[cell] = (sums[cell] as number) + value;
  };
  let [allSquares, clusterCount, end] = [0, 0, 0];
  while (end < cells.length) {
    const start = end;
    const touched: number[] = [];
    let sum = 0;
    for (; end < cells.length && clusters[end] === clusters[start]; end++) {
      const cell = cells[end] as number;
      if (rows[cell] === 0) touched.push(cell);
      add(rows, cell, 1);
      add(own, cell, residuals[end] as number);
      sum += residuals[end] as number;
    }
    allSquares += sum * sum;
    clusterCount++;
    for (const cell of touched) {
      const part = own[cell] as number;
      add(squares, cell, part * part);
      add(products, cell, part * sum);
      add(counts, cell, 1);
      if (rows[cell] === end - start) add(within, cell, 1);
      own[cell] = 0;
      rows[cell] = 0;
    }
  }
  members.forEach(({ index, count }, cell) => {
    const share = count / all;
    const square = (squares[cell] as number) - 2 * share * (products[cell] as number) + share * share * allSquares;
    const fewer = Math.min(counts[cell] as number, clusterCount - (within[cell] as number));
    scales[index] = fewer >= MIN_CLUSTERS ? Math.sqrt(Math.max(0, square)) : 0;
    degrees[index] = fewer - 1;
  });
}

/**
 * Returns the largest |t| of all conjunctions for the given values, and calls `each` with every |t|. With clusters, |t|
 * is on the scale of the normal distribution, so that conjunctions in few clusters do not dominate.
 */
function largestT(
  sets: readonly LatticeSet[],
  cells: readonly Int32Array[],
  values: Float64Array,
  totals: RowTotals,
  { scales, degrees }: Spread,
  each?: (index: number, t: number) => void,
): number {
  let sum = 0;
  for (let row = 0; row < values.length; row++) sum += values[row] as number;
  let largest = 0;
  for (let set = 0; set < sets.length; set++) {
    const { cellCount, members } = sets[set] as LatticeSet;
    const own = cells[set] as Int32Array;
    const sums = new Float64Array(cellCount);
    for (let row = 0; row < values.length; row++) {
      const cell = own[row] as number;
      sums[cell] = (sums[cell] as number) + (values[row] as number);
    }
    for (let cell = 0; cell < members.length; cell++) {
      const { index, count } = members[cell] as Member;
      const scale = scales[index] as number;
      if (scale <= 0) continue;
      const t = Math.abs((sums[cell] as number) - (count / totals.count) * sum) / scale;
      if (each === undefined && t <= largest) continue;
      const df = degrees[index] as number;
      const z = df === Infinity ? t : normalOfT(t, df);
      each?.(index, z);
      if (z > largest) largest = z;
    }
  }
  return largest;
}

function flipSigns(residuals: Float64Array, clusters: Int32Array, values: Float64Array, random: Random): void {
  let sign = 1;
  for (let row = 0; row < values.length; row++) {
    if (row === 0 || clusters[row] !== clusters[row - 1]) sign = random.next() < 0.5 ? -1 : 1;
    values[row] = sign * (residuals[row] as number);
  }
}

function tooManySteps(rows: number, sets: number, samples: number): ConfigValidationError {
  return new ConfigValidationError(
    `The method max-t draws ${formatCount(samples)} replicates of ${formatCount(rows)} rows in ${formatCount(sets)} sets of columns, which takes too long.`,
    {
      context: { parameter: 'method', rows, sets, samples },
      suggestion: 'Use the method split, fewer columns, a smaller maxDepth or fewer samples.',
    },
  );
}
