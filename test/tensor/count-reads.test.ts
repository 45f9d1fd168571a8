import * as tf from '@tensorflow/tfjs';
import { expect } from 'chai';

import { countReads, loadTensorflow, type TensorBackend } from '../../src/tensor/index.ts';
import { describeOn } from '../helpers/software-gpu.ts';

const BACKENDS: TensorBackend[] = ['cpu', 'wasm', 'webgpu'];

/** What reads a tensor of three numbers, and how often. */
const WAYS: readonly [title: string, reads: number, work: (tensor: tf.Tensor) => unknown][] = [
  ['data', 1, (tensor) => tensor.data()],
  ['dataSync', 1, (tensor) => tensor.dataSync()],
  ['array', 1, (tensor) => tensor.array()],
  ['arraySync', 1, (tensor) => tensor.arraySync()],
  ['data, twice at once', 2, (tensor) => Promise.all([tensor.data(), tensor.data()])],
  ['dataSync after data', 2, async (tensor) => [await tensor.data(), tensor.dataSync()]],
  ['nothing', 0, () => tf.tidy(() => tf.gather(tf.sub(1, tf.step(tf.tensor1d([1, -1]))), [0]).size)],
];

for (const backend of BACKENDS) {
  describeOn(backend, `readings counted on ${backend}`, () => {
    let tensor: tf.Tensor;
    before(async () => {
      await loadTensorflow({ backend });
    });
    beforeEach(() => {
      // Computed, so that it is where tensors are.
      tensor = tf.tidy(() => tf.tensor1d([1, 2, 3]).mul(2));
    });
    afterEach(() => {
      tensor.dispose();
    });

    for (const [title, reads, work] of WAYS) {
      it(`${String(reads)} by ${title}, with their numbers`, async () => {
        const counted = await countReads(tf, async () => {
          await work(tensor);
          return 'done';
        });
        expect(counted).to.deep.equal({ result: 'done', reads, values: 3 * reads });
      });
    }

    it('what is read is what it is without counting', async () => {
      const { result } = await countReads(tf, async () => [await tensor.array(), tensor.arraySync()]);
      expect(result).to.deep.equal([
        [2, 4, 6],
        [2, 4, 6],
      ]);
    });

    it('work that fails fails with its own error, and nothing counts after it', async () => {
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

    it('a reading that fails is an error, and the next is counted', async () => {
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
