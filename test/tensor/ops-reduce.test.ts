import * as tf from '@tensorflow/tfjs';
import { expect } from 'chai';

import { createRandom } from '../../src/internal/random.ts';
import {
  cellCounts,
  cellTables,
  groupSums,
  histogram,
  type HistogramBins,
  loadTensorflow,
} from '../../src/tensor/index.ts';
import { segmentSums } from '../../src/tensor/ops/reduce-chunks.ts';
import { describeOn, TESTED_BACKENDS } from '../helpers/software-gpu.ts';

/** Sums values by code in float64, row by row. */
function sumsByCode(values: ArrayLike<number>, codes: ArrayLike<number>, cells: number): number[] {
  const sums = Array<number>(cells).fill(0);
  for (let row = 0; row < values.length; row++) {
    const code = codes[row] as number;
    sums[code] = (sums[code] ?? NaN) + (values[row] as number);
  }
  return sums;
}

const NEAREST: HistogramBins = { width: 0.25, first: -2, count: 5, rounding: 'nearest' };
const DOWN: HistogramBins = { width: 0.25, first: 0, count: 4, rounding: 'down' };

/** The bin of each value, computed by hand; undefined if it is in none. */
const BINNED: { bins: HistogramBins; value: number; bin: number | undefined }[] = [
  { bins: NEAREST, value: 0, bin: 2 },
  { bins: NEAREST, value: 0.124, bin: 2 },
  { bins: NEAREST, value: 0.125, bin: 3 },
  { bins: NEAREST, value: -0.125, bin: 2 },
  { bins: NEAREST, value: -0.126, bin: 1 },
  { bins: NEAREST, value: 0.25 * 0.49999997, bin: 2 },
  { bins: NEAREST, value: 7, bin: 4 },
  { bins: NEAREST, value: -Infinity, bin: 0 },
  { bins: NEAREST, value: Infinity, bin: 4 },
  { bins: NEAREST, value: NaN, bin: undefined },
  { bins: DOWN, value: 0, bin: 0 },
  { bins: DOWN, value: 0.2499, bin: 0 },
  { bins: DOWN, value: 0.25, bin: 1 },
  { bins: DOWN, value: 1, bin: 3 },
  { bins: DOWN, value: -3, bin: 0 },
  { bins: DOWN, value: NaN, bin: undefined },
];

describe('segmentSums', () => {
  it('gives the same result with the kernel of TensorFlow on a GPU', async () => {
    await loadTensorflow({ backend: 'cpu' });
    const native = { ...tf, getBackend: () => 'tensorflow' };
    const [codes, values] = [tf.tensor1d([2, 0, 3, 2, 1], 'int32'), tf.tensor1d([1, 2, 100, 3, -4])];
    const sums = [tf, native].map((runtime) => segmentSums(runtime, codes, 3, values));
    const read = await Promise.all(sums.map(async (sum) => [...(await sum.data())]));
    tf.dispose([codes, values, ...sums]);
    expect(read).to.deep.equal([
      [2, -4, 4],
      [2, -4, 4],
    ]);
  });
});

for (const backend of TESTED_BACKENDS) {
  // A software GPU takes a minute for the largest tables.
  const isSlow = backend === 'webgpu';
  describeOn(backend, `tensor ops that reduce rows, on ${backend}`, () => {
    before(async () => {
      await loadTensorflow({ backend });
    });

    let tensors = 0;
    beforeEach(() => {
      tensors = tf.memory().numTensors;
    });
    afterEach('leaves no tensor behind', () => {
      expect(tf.memory().numTensors).to.equal(tensors);
    });

    it('weights of 0.1 add up as in float64; float32 would be off by a hundredth', async () => {
      const size = 1_000_000;
      const [codes, weights] = [tf.zeros<tf.Rank.R1>([size], 'int32'), tf.fill<tf.Rank.R1>([size], 0.1)];
      const [sum = NaN] = await cellCounts(tf, codes, 1, weights);
      const inFloat32 = tf.bincount(codes, weights, 1);
      const [plain = NaN] = await inFloat32.data();
      tf.dispose([codes, weights, inFloat32]);
      expect(Math.abs(plain / size / Math.fround(0.1) - 1)).to.be.greaterThan(1e-3);
      expect(Math.abs(sum / size / Math.fround(0.1) - 1)).to.be.below(1e-11);
    });

    it('sums keep the precision of values a million times smaller than others, and integers exactly', async () => {
      const random = createRandom(3);
      const size = 200_000;
      const codes = Int32Array.from({ length: size }, () => random.integer(3));
      const values = Float32Array.from(codes, (code) =>
        code === 0 ? 1e6 * (random.next() - 0.5) : code === 1 ? random.next() : 1 + random.integer(9),
      );
      const [codesTensor, valuesTensor] = [tf.tensor1d(codes, 'int32'), tf.tensor1d(values)];
      const sums = await cellCounts(tf, codesTensor, 3, valuesTensor);
      tf.dispose([codesTensor, valuesTensor]);
      const expected = sumsByCode(values, codes, 3);
      expect(sums[0]).to.be.closeTo(expected[0] ?? NaN, 1e-3);
      expect((sums[1] ?? NaN) / (expected[1] ?? NaN)).to.be.closeTo(1, 1e-8);
      expect(sums[2]).to.equal(expected[2]);
    });

    it('sums do not depend on the order of rows, to the last bit', async () => {
      const random = createRandom(4);
      const values = Float32Array.from({ length: 5000 }, () => random.next() * 10 ** random.integer(6));
      const sumOf = async (rows: Float32Array): Promise<number | undefined> => {
        const [codes, weights] = [tf.zeros<tf.Rank.R1>([rows.length], 'int32'), tf.tensor1d(rows)];
        const [sum] = await cellCounts(tf, codes, 1, weights);
        tf.dispose([codes, weights]);
        return sum;
      };
      expect(await sumOf(values.slice().reverse())).to.equal(await sumOf(values));
    });

    it('rows with the code after the last are excluded from counts and sums', async () => {
      const codes = tf.tensor1d([0, 2, 1, 2], 'int32');
      const values = tf.tensor1d([1, 10, 3, 20]);
      const column = { valuesOf: () => values, largest: 20 };
      const { counts, sums } = await cellTables(tf, { rows: 4, cells: 2, codesOf: () => codes }, [column]);
      tf.dispose([codes, values]);
      expect([...counts]).to.deep.equal([1, 1]);
      expect(sums.map((sum) => [...sum])).to.deep.equal([[1, 3]]);
    });

    it('groupSums is within 1e-5 per group over 12 orders of magnitude, also for sorted and constant rows', async () => {
      const size = 300_000;
      const codes = Int32Array.from({ length: size }, (_, row) => Math.floor(row / 100_000));
      const values = Float32Array.from(codes, (code) => [0.1, 3e-7, 1e5 / 3][code] ?? NaN);
      const [codesTensor, valuesTensor] = [tf.tensor1d(codes, 'int32'), tf.tensor1d(values)];
      const sums = await groupSums(tf, valuesTensor, codesTensor, 3);
      tf.dispose([codesTensor, valuesTensor]);
      sumsByCode(values, codes, 3).forEach((expected, group) => {
        expect((sums[group] ?? NaN) / expected).to.be.closeTo(1, 1e-5);
      });
    });

    if (!isSlow) {
      it('groupSums supports more groups than a chunk has rows', async () => {
        const groups = 70_000;
        const codes = Int32Array.from({ length: groups }, (_, row) => row);
        const [codesTensor, valuesTensor] = [tf.tensor1d(codes, 'int32'), tf.tensor1d(Float32Array.from(codes))];
        const sums = await groupSums(tf, valuesTensor, codesTensor, groups);
        tf.dispose([codesTensor, valuesTensor]);
        expect(sums.every((sum, group) => sum === group)).to.equal(true);
      });
    }

    it('sums of no rows are zeros', async () => {
      const [codes, values] = [tf.tensor1d([], 'int32'), tf.tensor1d([])];
      expect([...(await groupSums(tf, values, codes, 2))]).to.deep.equal([0, 0]);
      expect([...(await cellCounts(tf, codes, 2, values))]).to.deep.equal([0, 0]);
      expect([...(await histogram(tf, values, codes, 1, { ...DOWN, count: 3 }))]).to.deep.equal([0, 0, 0]);
      tf.dispose([codes, values]);
    });

    for (const { bins, value, bin } of BINNED) {
      it(`histogram, ${bins.rounding}: ${String(value)} is in ${bin === undefined ? 'no bin' : `bin ${String(bin)}`}`, async () => {
        const [values, codes] = [tf.tensor1d([value]), tf.tensor1d([0], 'int32')];
        const counts = await histogram(tf, values, codes, 1, bins);
        tf.dispose([values, codes]);
        expect([...counts]).to.deep.equal(Array.from({ length: bins.count }, (_, index) => Number(index === bin)));
      });
    }

    it('histogram counts and sums weights by group, and excludes rows without a group', async () => {
      const values = tf.tensor1d([0.1, 0.1, 0.9, 0.9, 0.6]);
      const codes = tf.tensor1d([0, 1, 1, -1, 1], 'int32');
      const weights = tf.tensor1d([1, 2, 0.5, 100, 4]);
      const counts = await histogram(tf, values, codes, 2, DOWN);
      const sums = await histogram(tf, values, codes, 2, DOWN, weights);
      tf.dispose([values, codes, weights]);
      expect([...counts]).to.deep.equal([1, 0, 0, 0, 1, 0, 1, 1]);
      expect([...sums]).to.deep.equal([1, 0, 0, 0, 2, 0, 4, 0.5]);
    });

    if (!isSlow) {
      it('histogram supports five million rows, with several reads of the table @slow', async () => {
        const size = 5_000_000;
        const [values, codes] = [tf.fill<tf.Rank.R1>([size], 0.5), tf.zeros<tf.Rank.R1>([size], 'int32')];
        const counts = await histogram(tf, values, codes, 1, DOWN);
        tf.dispose([values, codes]);
        expect([...counts]).to.deep.equal([0, 0, size, 0]);
      });
    }
  });
}
