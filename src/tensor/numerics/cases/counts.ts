import type { Rank } from '@tensorflow/tfjs';

import { cellCounts, type CellRows, cellTables } from '../../ops/cell-counts.ts';
import { histogram, type HistogramBins, histogramCells } from '../../ops/histogram.ts';
import { sumsByCode } from '../float64.ts';
import type { NumericsCase } from '../numerics-case.ts';
import { between, codes, EXACT, hostCase, spread, tensorCase } from '../pose.ts';

/**
 * Numbers of rows and cells that are difficult: one of each, one more or one fewer than a workgroup, and several
 * workgroups.
 */
const SIZES: readonly (readonly [rows: number, cells: number])[] = [
  [1, 1],
  [3, 33],
  [255, 2],
  [257, 1],
  [4097, 33],
];

const COUNTED = SIZES.map(([rows, cells]) =>
  hostCase(
    {
      op: 'cellCounts',
      name: `${String(rows)} rows in ${String(cells)} cells, some excluded`,
      tolerance: EXACT,
      reads: 1,
    },
    () => {
      const given = codes(rows, rows, cells + 1);
      return {
        given: (tf) => ({ codes: tf.tensor1d(given, 'int32') }),
        ask: (tf, tensors) => cellCounts(tf, tensors.codes, cells),
        expected: sumsByCode(given, cells),
      };
    },
  ),
);

/** Sums of integers are exact if the largest value of each column is less than 2^40 times its smallest value. */
const WEIGHED = SIZES.map(([rows, cells]) =>
  hostCase(
    {
      op: 'cellCounts',
      name: `weights of ${String(rows)} rows in ${String(cells)} cells, integers from 0 to 9`,
      tolerance: EXACT,
      reads: 2,
    },
    () => {
      const given = codes(rows, rows, cells);
      const weights = Float32Array.from(codes(rows + 1, rows, 10));
      return {
        given: (tf) => ({ codes: tf.tensor1d(given, 'int32'), weights: tf.tensor1d(weights) }),
        ask: (tf, tensors) => cellCounts(tf, tensors.codes, cells, tensors.weights),
        expected: sumsByCode(given, cells, weights),
      };
    },
  ),
);

/** Values are rounded to 2^-40 of the largest, so the error of 4,097 of them is at most 4,097 times half of that. */
const DIGITS_KEPT = 4097 * 2 ** -41;

const TABLES: readonly NumericsCase[] = [
  hostCase({ op: 'cellCounts', name: 'no rows', tolerance: EXACT, reads: 0 }, () => ({
    given: (tf) => ({ codes: tf.tensor1d([], 'int32') }),
    ask: (tf, tensors) => cellCounts(tf, tensors.codes, 3),
    expected: [0, 0, 0],
  })),
  hostCase({ op: 'cellCounts', name: 'weights that are all 0', tolerance: EXACT, reads: 2 }, () => ({
    given: (tf) => ({ codes: tf.tensor1d([0, 1, 1], 'int32'), weights: tf.tensor1d([0, 0, 0]) }),
    ask: (tf, tensors) => cellCounts(tf, tensors.codes, 2, tensors.weights),
    expected: [0, 0],
  })),
  hostCase(
    {
      op: 'cellCounts',
      name: 'weights of both signs over 12 orders of magnitude, in shares of the largest',
      tolerance: DIGITS_KEPT,
      reads: 2,
    },
    () => {
      const given = codes(1, 4097, 33);
      const weights = spread(2, 4097, -6, 6);
      const inShares = (sums: ArrayLike<number>): number[] => Array.from(sums, (sum) => sum / 1e6);
      return {
        given: (tf) => ({ codes: tf.tensor1d(given, 'int32'), weights: tf.tensor1d(weights) }),
        ask: async (tf, tensors) => inShares(await cellCounts(tf, tensors.codes, 33, tensors.weights)),
        expected: inShares(sumsByCode(given, 33, weights)),
      };
    },
  ),
  hostCase(
    {
      op: 'cellCounts',
      name: 'weights of 200,000 rows, four chunks: exact although float32 would round',
      tolerance: EXACT,
      reads: 2,
    },
    () => {
      // The weights are integers of 18 bits. Their sums have 35 bits, and no bit may be lost.
      const weights = Float32Array.from(codes(12, 200_000, 2 ** 18));
      return {
        given: (tf) => ({ codes: tf.zeros<Rank.R1>([200_000], 'int32'), weights: tf.tensor1d(weights) }),
        ask: (tf, tensors) => cellCounts(tf, tensors.codes, 1, tensors.weights),
        expected: sumsByCode(new Int32Array(200_000), 1, weights),
      };
    },
  ),
  hostCase(
    { op: 'cellTables', name: 'two columns and an excluded code', tolerance: 257 * 2 ** -41 * 4, reads: 1 },
    () => {
      const given = codes(3, 257, 6);
      const columns = [between(4, 257, -1, 2), between(5, 257, 0, 4)] as const;
      const largest = [1, 4] as const;
      return {
        given: (tf) => ({
          codes: tf.tensor1d(given, 'int32'),
          first: tf.tensor1d(columns[0]),
          second: tf.tensor1d(columns[1]),
        }),
        ask: async (tf, tensors) => {
          const rows: CellRows = { rows: 257, cells: 5, codesOf: (slice) => slice(tensors.codes) };
          const { counts, sums } = await cellTables(tf, rows, [
            { valuesOf: (slice) => slice(tensors.first), largest: largest[0] },
            { valuesOf: (slice) => slice(tensors.second), largest: largest[1] },
          ]);
          return [counts, ...sums];
        },
        expected: [undefined, ...columns].map((column) => sumsByCode(given, 5, column)),
      };
    },
  ),
];

const NEAREST: HistogramBins = { width: 0.25, first: -2, count: 5, rounding: 'nearest' };
const DOWN: HistogramBins = { width: 2 ** -7, first: 0, count: 128, rounding: 'down' };

/** Returns the bin of a number, or undefined for NaN. */
function binOf(value: number, { width, first, count, rounding }: HistogramBins): number | undefined {
  if (Number.isNaN(value)) return undefined;
  const index = value / width + (rounding === 'nearest' ? 0.5 : 0);
  return Math.min(count - 1, Math.max(0, Math.floor(index) - first));
}

/**
 * Returns values on the edges of bins, one unit in the last place below and above the edges, beyond both ends, and
 * missing values.
 */
function edges({ width, first, count }: HistogramBins): Float32Array {
  const on = Array.from({ length: 2 * count + 1 }, (_, half) => (first + half / 2) * width);
  const near = on.flatMap((edge) => [edge * (1 - 2 ** -23), edge, edge * (1 + 2 ** -22)]);
  return Float32Array.from([...near, -1e30, 1e30, -Infinity, Infinity, NaN]);
}

const HISTOGRAMS: readonly NumericsCase[] = [NEAREST, DOWN].flatMap((bins) => [
  hostCase(
    { op: 'histogram', name: `values on and next to the edges of bins, ${bins.rounding}`, tolerance: EXACT, reads: 1 },
    () => {
      const values = edges(bins);
      const groups = codes(6, values.length, 4).map((code) => code - 1);
      const cells = Array.from(values, (value, row) => {
        const [bin, group] = [binOf(value, bins), groups[row] as number];
        return bin === undefined || group < 0 ? 3 * bins.count : group * bins.count + bin;
      });
      return {
        given: (tf) => ({ values: tf.tensor1d(values), groups: tf.tensor1d(groups, 'int32') }),
        ask: (tf, tensors) => histogram(tf, tensors.values, tensors.groups, 3, bins),
        expected: sumsByCode(cells, 3 * bins.count),
      };
    },
  ),
  tensorCase({ op: 'histogramCells', name: `4,097 values in 33 groups, ${bins.rounding}`, tolerance: EXACT }, () => {
    const values = between(7, 4097, -0.75, 2);
    const groups = codes(8, 4097, 33);
    return {
      ask: (tf) => histogramCells(tf, tf.tensor1d(values), tf.tensor1d(groups, 'int32'), 33, bins),
      expected: Array.from(values, (value, row) => (groups[row] as number) * bins.count + (binOf(value, bins) ?? NaN)),
    };
  }),
]);

const WEIGHED_BINS = hostCase(
  { op: 'histogram', name: 'integer weights, including 0', tolerance: EXACT, reads: 2 },
  () => {
    const values = between(9, 4097, 0, 1);
    const groups = codes(10, 4097, 2);
    const weights = Float32Array.from(codes(11, 4097, 5));
    const cells = Array.from(values, (value, row) => (groups[row] as number) * 128 + (binOf(value, DOWN) ?? NaN));
    return {
      given: (tf) => ({
        values: tf.tensor1d(values),
        groups: tf.tensor1d(groups, 'int32'),
        weights: tf.tensor1d(weights),
      }),
      ask: (tf, tensors) => histogram(tf, tensors.values, tensors.groups, 2, DOWN, tensors.weights),
      expected: sumsByCode(cells, 256, weights),
    };
  },
);

/** Cases for counts and exact sums by cell. */
export const COUNT_CASES: readonly NumericsCase[] = [...COUNTED, ...WEIGHED, ...TABLES, ...HISTOGRAMS, WEIGHED_BINS];
