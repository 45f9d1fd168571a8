import * as tf from '@tensorflow/tfjs';
import { expect } from 'chai';

import {
  chooseBatchSize,
  countReads,
  createBatches,
  createRowChunks,
  joinParameters,
  loadTensorflow,
  type NetworkData,
  type NetworkRows,
  partShares,
  readTogether,
  splitParameters,
  takeBatchRows,
  uploadRows,
} from '../../src/tensor/index.ts';
import { onDevice } from '../helpers/on-device.ts';
import { describeOn, TESTED_BACKENDS } from '../helpers/software-gpu.ts';

/** Seven rows whose features identify the row: 10 row + feature. */
const ROWS: NetworkRows = {
  x: Float32Array.from({ length: 14 }, (_, index) => 10 * Math.floor(index / 2) + (index % 2)),
  y: Float32Array.of(0, 1, 0, 1, 0, 1, 0),
  groups: Int32Array.of(0, 1, 2, -1, 0, 1, 2),
  inputs: 2,
  groupCount: 3,
};
const ORDER = Int32Array.of(6, 5, 4, 3, 2, 1, 0);

for (const backend of TESTED_BACKENDS) {
  describeOn(backend, `batches on ${backend}`, () => {
    let tensors = 0;
    onDevice(backend);
    beforeEach(() => {
      tensors = tf.memory().numTensors;
    });
    afterEach('leaves no tensor behind', () => {
      expect(tf.memory().numTensors).to.equal(tensors);
    });

    /** Reads a batch back to the host. The batch must be the same if the rows are tensors. */
    const read = async (rows: NetworkRows, order: Int32Array | undefined, index: number) => {
      const tensorRows = uploadRows(tf, rows);
      const ofTensors = await readBatch(tensorRows, order, index);
      tf.dispose(Object.values(tensorRows).filter((one) => one instanceof tf.Tensor));
      const ofArrays = await readBatch(rows, order, index);
      expect(ofTensors).to.deep.equal(ofArrays);
      return ofArrays;
    };

    const readBatch = async (rows: NetworkData, order: Int32Array | undefined, index: number) => {
      const batches = createBatches(tf, rows, 3);
      if (order !== undefined) batches.reorder(order);
      const batch = tf.tidy(() => ({ ...batches.take(index) }));
      const [x, labels, membership, shares] = await readTogether(tf, [
        batch.x,
        batch.labels,
        batch.membership,
        batch.shares,
      ]);
      const shapes = [batch.x, batch.labels, batch.membership, batch.shares].map(({ shape }) => shape);
      tf.dispose({ ...batch });
      batches.dispose();
      return { count: batches.count, shapes, x, labels, membership, shares };
    };

    it('take rows in the given order, with their labels and the shares of their groups', async () => {
      const batch = await read(ROWS, ORDER, 1);
      expect(batch.count).to.equal(3);
      expect(batch.shapes).to.deep.equal([
        [3, 2],
        [1, 3],
        [3, 3],
        [3, 1],
      ]);
      expect([...(batch.x ?? [])]).to.deep.equal([30, 31, 20, 21, 10, 11]);
      expect([...(batch.labels ?? [])]).to.deep.equal([1, 0, 1]);
      const third = Math.fround(1 / 3);
      // Row 3 has no group.
      expect([...(batch.membership ?? [])]).to.deep.equal([0, 0, 0, 0, 0, third, 0, third, 0]);
      expect([...(batch.shares ?? [])]).to.deep.equal([third, third, third]);
    });

    it('take the remaining rows in the last one', async () => {
      const batch = await read(ROWS, undefined, 2);
      expect([...(batch.x ?? [])]).to.deep.equal([60, 61]);
      expect([...(batch.shares ?? [])]).to.deep.equal([1]);
      expect([...(batch.membership ?? [])]).to.deep.equal([0, 0, 1]);
    });

    it('normalise weights within the batch; a batch without weight has shares of 0', async () => {
      const weights = Float32Array.of(0, 0, 0, 1, 2, 5, 0);
      const first = await read({ ...ROWS, weights }, undefined, 0);
      expect([...(first.shares ?? [])]).to.deep.equal([0, 0, 0]);
      const other = await read({ ...ROWS, weights }, ORDER, 0);
      expect([...(other.shares ?? [])].map((share) => share.toFixed(6))).to.deep.equal([
        '0.000000',
        (5 / 7).toFixed(6),
        (2 / 7).toFixed(6),
      ]);
    });

    it('are a single batch if there are fewer rows than the batch size', async () => {
      const two = { ...ROWS, x: ROWS.x.slice(0, 4), y: ROWS.y.slice(0, 2), groups: ROWS.groups.slice(0, 2) };
      const batch = await read(two, undefined, 0);
      expect(batch.count).to.equal(1);
      expect(batch.shapes[0]).to.deep.equal([2, 2]);
    });

    it('chunks contain each row once, in order, for any chunk size', async () => {
      for (const rowsAtOnce of [1, 3, 7, 100]) {
        const chunks = createRowChunks(tf, ROWS, rowsAtOnce);
        const sums = tf.tidy(() => chunks.map((x) => x.sum(1).reshape([1, -1])));
        const [values = []] = await readTogether(tf, [sums]);
        expect([...values]).to.deep.equal([1, 21, 41, 61, 81, 101, 121]);
        sums.dispose();
        chunks.dispose();
      }
    });

    it('chunks contain the rows in a given order, for arrays and tensors', async () => {
      const tensorRows = uploadRows(tf, ROWS);
      for (const rows of [ROWS, tensorRows]) {
        const chunks = createRowChunks(tf, rows, 3, Int32Array.of(5, 0, 6, 2));
        const sums = tf.tidy(() => chunks.map((x) => x.sum(1).reshape([1, -1])));
        const [values = []] = await readTogether(tf, [sums]);
        expect([...values]).to.deep.equal([101, 1, 121, 41]);
        sums.dispose();
        chunks.dispose();
      }
      tf.dispose([tensorRows.x, tensorRows.y, tensorRows.groups]);
    });

    it('parts of tensors have the rows and the shares of the weight of the parts of arrays', async () => {
      const weighted = { ...ROWS, weights: Float32Array.of(1, 2, 3, 4, 5, 6, 7) };
      const tensorRows = uploadRows(tf, weighted);
      const parts = [Int32Array.of(6, 0), Int32Array.of(1, 2, 3, 4, 5)];
      for (const rows of [weighted, tensorRows]) {
        const shares = partShares(tf, rows, parts);
        const { labels, membership, shares: own } = takeBatchRows(tf, rows, parts[0] as Int32Array);
        const [first = [], ofRows = [], ofGroups = []] = await readTogether(tf, [shares, own, membership]);
        const near = (values: ArrayLike<number>): number[] => Array.from(values, (value) => Number(value.toFixed(6)));
        expect(near(first)).to.deep.equal(near([8 / 28, 20 / 28]));
        expect(near(ofRows)).to.deep.equal([0.875, 0.125]);
        expect(near(ofGroups)).to.deep.equal([0, 0, 0.875, 0.125, 0, 0]);
        tf.dispose([shares, labels, membership, own]);
      }
      tf.dispose([tensorRows.x, tensorRows.y, tensorRows.groups, tensorRows.weights]);
    });

    it('several tensors are read in one transfer', async () => {
      const given = [tf.tensor2d([[1, 2]]), tf.scalar(3), tf.tensor1d([4, 5, 6])];
      const { result, reads, values } = await countReads(tf, () => readTogether(tf, given));
      expect(result.map((one) => [...one])).to.deep.equal([[1, 2], [3], [4, 5, 6]]);
      expect([reads, values]).to.deep.equal([1, 6]);
      tf.dispose(given);
    });

    it('parameters are split and joined in their order', async () => {
      const shapes = [
        { rows: 2, columns: 1 },
        { rows: 1, columns: 3 },
      ];
      const values = tf.tensor2d([
        [1, 2, 3, 4, 5],
        [6, 7, 8, 9, 10],
      ]);
      const parts = tf.tidy(() => splitParameters(values, shapes));
      expect(parts.map(({ shape }) => shape)).to.deep.equal([
        [2, 2, 1],
        [2, 1, 3],
      ]);
      const joined = tf.tidy(() => joinParameters(tf, parts, 2));
      const [first, second, all] = await readTogether(tf, [...parts, joined]);
      expect([...(first ?? [])]).to.deep.equal([1, 2, 6, 7]);
      expect([...(second ?? [])]).to.deep.equal([3, 4, 5, 8, 9, 10]);
      expect([...(all ?? [])]).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
      tf.dispose([values, joined, ...parts]);
    });
  });
}

describeOn('webgpu', 'batch sizes on webgpu', () => {
  it('grow with the rows beyond those of a CPU, as long as an epoch keeps 50 steps and memory suffices', async () => {
    const { tf: onDevice } = await loadTensorflow({ backend: 'webgpu' });
    const choose = (rows: number, more: object = {}): number =>
      chooseBatchSize(onDevice, 'auto', { rows, models: 1, hidden: [32], groups: 2, ...more });
    expect(choose(29_000)).to.equal(512);
    expect(choose(100_000)).to.equal(1024);
    expect(choose(10_000_000)).to.equal(8192);
    // 2^24 numbers per layer: 64 networks of 64 units allow 4,096 rows, and so do 4,096 groups.
    expect(choose(10_000_000, { models: 64, hidden: [64, 8] })).to.equal(4096);
    expect(choose(10_000_000, { groups: 4096 })).to.equal(4096);
    // All pairs of a batch are compared.
    expect(choose(10_000_000, { maxRows: 512 })).to.equal(512);
  });
});

describe('batch sizes on a CPU', () => {
  const work = { models: 1, hidden: [], groups: 2 };

  it('are the largest power of two that leaves an epoch 50 steps, from 32 to 512', async () => {
    const { tf: onHost } = await loadTensorflow({ backend: 'cpu' });
    const choose = (rows: number): number => chooseBatchSize(onHost, 'auto', { ...work, rows });
    expect([1, 1600, 3199, 3200, 12_800, 1_000_000].map(choose)).to.deep.equal([32, 32, 32, 64, 256, 512]);
  });

  it('are the requested number if one is given', async () => {
    const { tf: onHost } = await loadTensorflow({ backend: 'cpu' });
    expect(chooseBatchSize(onHost, 7, { ...work, rows: 1e6 })).to.equal(7);
  });
});
