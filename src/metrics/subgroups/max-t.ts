import { ConfigValidationError } from '../../exceptions/index.ts';
import { formatCount } from '../../internal/format.ts';
import { createRandom, type Random, shuffle } from '../../internal/random.ts';
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

/** All rows, in memory. */
interface AllRows {
  readonly codes: readonly Uint8Array[];
  /** The values minus their mean. */
  readonly residuals: Float64Array;
  /** The first row of each cluster, and at the end the number of rows. The rows of a cluster follow each other. */
  readonly clusters: Int32Array | undefined;
  /** The correlation of the residuals of two rows of a cluster. */
  readonly correlation: number;
}

/**
 * Draws the largest |t| over conjunctions. Without clusters, the values are permuted over the rows (Westfall and Young
 * 1993). With clusters, all values of a cluster move to another cluster, of the same size if 20 clusters have it. All
 * rows are read into memory.
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
  sets.forEach((set, index) => {
    const own = cells[index] as Int32Array;
    scalesOf(set, own, all, totals, scales);
  });
  const observed = new Float64Array(conjunctions.length);
  largestT(sets, cells, all.residuals, totals, scales, (index, t) => (observed[index] = t));
  const classes = all.clusters === undefined ? [] : classesOf(all.clusters);
  const random = createRandom(seed, 1);
  const values = Float64Array.from(all.residuals);
  const maxima = new Float64Array(samples);
  for (let sample = 0; sample < samples; sample++) {
    if (all.clusters === undefined) shuffle(values, random);
    else exchangeClusters(all, classes, values, random);
    maxima[sample] = largestT(sets, cells, values, totals, scales);
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
  if (!isClustered) return { codes, residuals, clusters: undefined, correlation: 0 };
  const starts = Int32Array.from(
    [...clusters.keys()].filter((row) => row === 0 || clusters[row] !== clusters[row - 1]),
  );
  const ends = Int32Array.from([...starts, count]);
  return { codes, residuals, clusters: ends, correlation: correlationWithin(ends, residuals) };
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
 * Computes for each conjunction the standard deviation of its sum of residuals. Of two rows of a cluster, the residuals
 * have the correlation r, which is estimated over all rows. It does not depend on which outcomes a conjunction has, so it
 * is the same in all replicates: with w = 1 - q in the conjunction and -q outside, where q is its share of rows,
 *
 *     variance * ((1 - r) * (sum of w^2) + r * (sum over clusters of (sum of w)^2)).
 */
function scalesOf(
  { cellCount, members }: LatticeSet,
  cells: Int32Array,
  { residuals, clusters, correlation }: AllRows,
  totals: RowTotals,
  scales: Float64Array,
): void {
  const all = totals.count;
  const variance = residuals.reduce((sum, value) => sum + value * value, 0) / all;
  if (clusters === undefined) {
    for (const { index, count } of members) scales[index] = Math.sqrt(variance * count * (1 - count / all));
    return;
  }
  const table = (): Float64Array => new Float64Array(cellCount);
  const [squares, products, counts, within, rows] = [table(), table(), table(), table(), table()];
  const add = (sums: Float64Array, cell: number, value: number): void => {
    sums[cell] = (sums[cell] as number) + value;
  };
  let allSquares = 0;
  for (let cluster = 0; cluster + 1 < clusters.length; cluster++) {
    const [start, end] = [clusters[cluster] as number, clusters[cluster + 1] as number];
    const touched: number[] = [];
    for (let row = start; row < end; row++) {
      const cell = cells[row] as number;
      if (rows[cell] === 0) touched.push(cell);
      add(rows, cell, 1);
    }
    const size = end - start;
    allSquares += size * size;
    for (const cell of touched) {
      const own = rows[cell] as number;
      add(squares, cell, own * own);
      add(products, cell, own * size);
      add(counts, cell, 1);
      if (own === size) add(within, cell, 1);
      rows[cell] = 0;
    }
  }
  members.forEach(({ index, count }, cell) => {
    const share = count / all;
    const together = (squares[cell] as number) - 2 * share * (products[cell] as number) + share * share * allSquares;
    const fewer = Math.min(counts[cell] as number, clusters.length - 1 - (within[cell] as number));
    const square = variance * ((1 - correlation) * count * (1 - share) + correlation * together);
    scales[index] = fewer >= MIN_CLUSTERS ? Math.sqrt(square) : 0;
  });
}

/** Returns the largest |t| of all conjunctions for the given values, and calls `each` with every |t|. */
function largestT(
  sets: readonly LatticeSet[],
  cells: readonly Int32Array[],
  values: Float64Array,
  totals: RowTotals,
  scales: Float64Array,
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
      each?.(index, t);
      if (t > largest) largest = t;
    }
  }
  return largest;
}

/** Returns the mean product of the residuals of two rows of a cluster, divided by their variance; at least 0. */
function correlationWithin(clusters: Int32Array, residuals: Float64Array): number {
  let [products, pairs, squares] = [0, 0, 0];
  for (let cluster = 0; cluster + 1 < clusters.length; cluster++) {
    const own = residuals.subarray(clusters[cluster], clusters[cluster + 1]);
    const [sum, square] = own.reduce<[number, number]>(([first, second], value) => [first + value, second + value * value], [0, 0]); // prettier-ignore
    products += sum * sum - square;
    pairs += own.length * (own.length - 1);
    squares += square;
  }
  return pairs > 0 && squares > 0 ? Math.min(1, Math.max(0, (products / pairs) * (residuals.length / squares))) : 0;
}

/** The minimum number of clusters of similar size among which outcomes are exchanged. */
const SIMILAR = 20;

/** Returns the clusters in classes of the same size. Classes with few clusters are joined with the next size. */
function classesOf(clusters: Int32Array): Int32Array[] {
  const sizeOf = (cluster: number): number => (clusters[cluster + 1] as number) - (clusters[cluster] as number);
  const sorted = Array.from({ length: clusters.length - 1 }, (_, cluster) => cluster).sort(
    (a, b) => sizeOf(a) - sizeOf(b),
  );
  const classes: number[][] = [];
  for (const cluster of sorted) {
    const last = classes.at(-1);
    const before = last?.at(-1);
    if (last !== undefined && before !== undefined && (last.length < SIMILAR || sizeOf(before) === sizeOf(cluster))) {
      last.push(cluster);
    } else classes.push([cluster]);
  }
  // A short class at the end has no next one.
  const last = classes.at(-1) ?? [];
  if (classes.length > 1 && last.length < SIMILAR) classes.splice(-2, 2, [...(classes.at(-2) ?? []), ...last]);
  return classes.map((own) => Int32Array.from(own));
}

/** Gives each cluster the residuals of another one of its class. If that one is smaller, they are repeated. */
function exchangeClusters(
  { residuals, clusters = new Int32Array() }: AllRows,
  classes: readonly Int32Array[],
  values: Float64Array,
  random: Random,
): void {
  for (const own of classes) {
    const from = Int32Array.from(own);
    shuffle(from, random);
    for (let index = 0; index < own.length; index++) {
      const [start, end] = [clusters[own[index] as number] as number, clusters[(own[index] as number) + 1] as number];
      const source = clusters[from[index] as number] as number;
      const size = (clusters[(from[index] as number) + 1] as number) - source;
      for (let row = start; row < end; row++) values[row] = residuals[source + ((row - start) % size)] as number;
    }
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
