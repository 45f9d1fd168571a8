import {
  type CellRows,
  cellCounts,
  cellTables,
  histogram,
  type HistogramBins,
  histogramCells,
} from '../../tensor/index.ts';
import { each, sumsByCode } from '../float64.ts';
import { between, codes, spread } from '../inputs.ts';
import { hostCase, type NumericsCase, tensorCase, vectors } from '../numerics-case.ts';
import { EXACT } from '../tolerances.ts';

/**
 * Edge cases for the numbers of rows and cells: one row and one cell, one row more or fewer than the threads of a
 * workgroup, and several workgroups.
 */
const SIZES: readonly (readonly [rows: number, cells: number])[] = [
  [1, 1],
  [3, 33],
  [255, 2],
  [257, 1],
  [4097, 33],
];

const COUNTED = SIZES.map(([rows, cells]) => {
  const name = `${String(rows)} rows in ${String(cells)} cells, some excluded`;
  return hostCase({ op: 'cellCounts', name, tolerance: EXACT }, () => {
    const given = codes(rows, rows, cells + 1);
    return {
      given: (tf) => vectors(tf, { given }),
      ask: (tf, tensors) => cellCounts(tf, tensors.given, cells),
      expected: sumsByCode(given, cells),
    };
  });
});

/** Creates a case that sums weights by cell. The sums are divided by `unit` before they are compared. */
function weighed(
  name: string,
  cells: number,
  rows: () => { readonly codes: Int32Array; readonly weights: Float32Array },
  { tolerance = EXACT, unit = 1 } = {},
): NumericsCase {
  return hostCase({ op: 'cellCounts', name, tolerance, reads: 2 }, () => {
    const given = rows();
    const inUnits = (sums: ArrayLike<number>): number[] => each(sums, (sum) => sum / unit);
    return {
      given: (tf) => vectors(tf, given),
      ask: async (tf, tensors) => inUnits(await cellCounts(tf, tensors.codes, cells, tensors.weights)),
      expected: inUnits(sumsByCode(given.codes, cells, given.weights)),
    };
  });
}

const WEIGHED: readonly NumericsCase[] = [
  // Sums of integers are exact if the largest value of each column is less than 2^40 times its smallest value.
  ...SIZES.map(([rows, cells]) =>
    weighed(`weights of ${String(rows)} rows in ${String(cells)} cells, integers from 0 to 9`, cells, () => ({
      codes: codes(rows, rows, cells),
      weights: Float32Array.from(codes(rows + 1, rows, 10)),
    })),
  ),
  hostCase({ op: 'cellCounts', name: 'no rows', tolerance: EXACT, reads: 0 }, () => ({
    given: (tf) => vectors(tf, { codes: new Int32Array() }),
    ask: (tf, tensors) => cellCounts(tf, tensors.codes, 3),
    expected: [0, 0, 0],
  })),
  weighed('weights that are all 0', 2, () => ({ codes: Int32Array.of(0, 1, 1), weights: new Float32Array(3) })),
  weighed(
    'weights of both signs over 12 orders of magnitude, in shares of the largest',
    33,
    () => ({ codes: codes(1, 4097, 33), weights: spread(2, 4097, -6, 6) }),
    // Values are rounded to 2^-40 of the largest value. The error of 4,097 values is at most 4,097 times half of that.
    { tolerance: 4097 * 2 ** -41, unit: 1e6 },
  ),
  weighed('weights of 200,000 rows, four chunks: exact although float32 would round', 1, () => ({
    codes: new Int32Array(200_000),
    // The weights are integers of 18 bits. The sums of the weights have 35 bits, and no bit may be lost.
    weights: Float32Array.from(codes(12, 200_000, 2 ** 18)),
  })),
];

const TABLES = hostCase(
  { op: 'cellTables', name: 'two columns and an excluded code', tolerance: 257 * 2 ** -41 * 4 },
  () => {
    const given = codes(3, 257, 6);
    const [first, second] = [between(4, 257, -1, 2), between(5, 257, 0, 4)];
    return {
      given: (tf) => vectors(tf, { codes: given, first, second }),
      ask: async (tf, tensors) => {
        const rows: CellRows = { rows: 257, cells: 5, codesOf: (slice) => slice(tensors.codes) };
        const { counts, sums } = await cellTables(tf, rows, [
          { valuesOf: (slice) => slice(tensors.first), largest: 1 },
          { valuesOf: (slice) => slice(tensors.second), largest: 4 },
        ]);
        return [counts, ...sums];
      },
      expected: [undefined, first, second].map((column) => sumsByCode(given, 5, column)),
    };
  },
);

const NEAREST: HistogramBins = { width: 0.25, first: -2, count: 5, rounding: 'nearest' };
const DOWN: HistogramBins = { width: 2 ** -7, first: 0, count: 128, rounding: 'down' };

/** Returns the bin of a number, or undefined for NaN. */
function binOf(value: number, { width, first, count, rounding }: HistogramBins): number | undefined {
  if (Number.isNaN(value)) return undefined;
  const index = value / width + (rounding === 'nearest' ? 0.5 : 0);
  return Math.min(count - 1, Math.max(0, Math.floor(index) - first));
}

/**
 * Returns values for edge cases: the edges of bins, the next numbers below and above these edges, numbers beyond both
 * ends of the histogram, and missing values.
 */
function edges({ width, first, count }: HistogramBins): Float32Array {
  const on = Array.from({ length: 2 * count + 1 }, (_, half) => (first + half / 2) * width);
  const near = on.flatMap((edge) => [edge * (1 - 2 ** -23), edge, edge * (1 + 2 ** -22)]);
  return Float32Array.from([...near, -1e30, 1e30, -Infinity, Infinity, NaN]);
}

/** Returns the cell of each row. A row with NaN or a negative group gets a code that is one above the last cell. */
function cellsOf(values: Float32Array, groups: Int32Array, groupCount: number, bins: HistogramBins): number[] {
  return each(values, (value, row) => {
    const [bin, group] = [binOf(value, bins), groups[row] as number];
    return bin === undefined || group < 0 ? groupCount * bins.count : group * bins.count + bin;
  });
}

const HISTOGRAMS: readonly NumericsCase[] = [NEAREST, DOWN].flatMap((bins) => [
  hostCase(
    { op: 'histogram', name: `values on and next to the edges of bins, ${bins.rounding}`, tolerance: EXACT },
    () => {
      const values = edges(bins);
      const groups = codes(6, values.length, 4).map((code) => code - 1);
      return {
        given: (tf) => vectors(tf, { values, groups }),
        ask: (tf, tensors) => histogram(tf, tensors.values, tensors.groups, 3, bins),
        expected: sumsByCode(cellsOf(values, groups, 3, bins), 3 * bins.count),
      };
    },
  ),
  tensorCase({ op: 'histogramCells', name: `4,097 values in 33 groups, ${bins.rounding}`, tolerance: EXACT }, () => {
    const values = between(7, 4097, -0.75, 2);
    const groups = codes(8, 4097, 33);
    return {
      ask: (tf) => histogramCells(tf, tf.tensor1d(values), tf.tensor1d(groups), 33, bins),
      expected: cellsOf(values, groups, 33, bins),
    };
  }),
]);

const WEIGHED_BINS = hostCase(
  { op: 'histogram', name: 'integer weights, including 0', tolerance: EXACT, reads: 2 },
  () => {
    const values = between(9, 4097, 0, 1);
    const groups = codes(10, 4097, 2);
    const weights = Float32Array.from(codes(11, 4097, 5));
    return {
      given: (tf) => vectors(tf, { values, groups, weights }),
      ask: (tf, tensors) => histogram(tf, tensors.values, tensors.groups, 2, DOWN, tensors.weights),
      expected: sumsByCode(cellsOf(values, groups, 2, DOWN), 256, weights),
    };
  },
);

/** Cases for counts and exact sums by cell. */
export const COUNT_CASES: readonly NumericsCase[] = [...COUNTED, ...WEIGHED, TABLES, ...HISTOGRAMS, WEIGHED_BINS];
