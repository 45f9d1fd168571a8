import * as tf from '@tensorflow/tfjs';
import { expect } from 'chai';

import { countReads, loadTensorflow } from '../../src/tensor/index.ts';
import { describeOn, TESTED_BACKENDS } from '../helpers/software-gpu.ts';

/** Ways to read a tensor of three numbers, and the number of reads of each. */
const WAYS: readonly [title: string, reads: number, work: (tensor: tf.Tensor) => unknown][] = [
  ['data', 1, (tensor) => tensor.data()],
  ['dataSync', 1, (tensor) => tensor.dataSync()],
  ['array', 1, (tensor) => tensor.array()],
  ['arraySync', 1, (tensor) => tensor.arraySync()],
  ['data, twice at once', 2, (tensor) => Promise.all([tensor.data(), tensor.data()])],
  ['dataSync after data', 2, async (tensor) => [await tensor.data(), tensor.dataSync()]],
  ['nothing', 0, () => tf.tidy(() => tf.gather(tf.sub(1, tf.step(tf.tensor1d([1, -1]))), [0]).size)],
];

for (const backend of TESTED_BACKENDS) {
  describeOn(backend, `reads counted on ${backend}`, () => {
    let tensor: tf.Tensor;
    before(async () => {
      await loadTensorflow({ backend });
    });
    beforeEach(() => {
      // Computed, so that the tensor is on the backend.
      tensor = tf.tidy(() => tf.tensor1d([1, 2, 3]).mul(2));
    });
    afterEach(() => {
      tensor.dispose();
    });

    for (const [title, reads, work] of WAYS) {
      it(`counts ${String(reads)} by ${title}, and the values read`, async () => {
        const counted = await countReads(tf, async () => {
          await work(tensor);
          return 'done';
        });
        expect(counted).to.deep.equal({ result: 'done', reads, values: 3 * reads });
      });
    }

    it('returns the same values as without counting', async () => {
      const { result } = await countReads(tf, async () => [await tensor.array(), tensor.arraySync()]);
      expect(result).to.deep.equal([
        [2, 4, 6],
        [2, 4, 6],
      ]);
    });

    it('rethrows the error of failing work, and stops counting', async () => {
      const own = new Error('own');
      const work = countReads(tf, async () => {
        await tensor.data();
        throw own;
      });
      expect(await work.catch((error: unknown) => error)).to.equal(own);
      for (const reader of [tf.backend(), tf.engine()]) {
        expect(Object.keys(reader).filter((key) => key.startsWith('read'))).to.deep.equal([]);
      }
    });

    it('restores readers that were replaced before', async () => {
      const reader = (backend === 'webgpu' ? tf.backend() : tf.engine()) as { readSync?: (id: object) => Float32Array };
      const replaced = (): Float32Array => Float32Array.of(7);
      reader.readSync = replaced;
      try {
        const { reads } = await countReads(tf, () => Promise.resolve(tensor.dataSync()));
        expect([reads, reader.readSync]).to.deep.equal([1, replaced]);
      } finally {
        delete reader.readSync;
      }
    });

    it('throws if a read fails, and counts the next read', async () => {
      const gone = tf.tensor1d([1]);
      gone.dispose();
      const { reads } = await countReads(tf, async () => {
        await gone.data().catch(() => undefined);
        await tensor.data();
        tensor.dataSync();
      });
      expect(reads).to.equal(2);
    });
  });
}
