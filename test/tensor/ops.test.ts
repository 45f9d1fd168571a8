import * as tf from '@tensorflow/tfjs';
import { expect } from 'chai';

import { createRandom } from '../../src/internal/random.ts';
import {
  bceFromLogits,
  blockDense,
  blockOutputs,
  cellCounts,
  dense,
  groupSums,
  largestGap,
  loadTensorflow,
  softRates,
  type TensorBackend,
} from '../../src/tensor/index.ts';

const BACKENDS: TensorBackend[] = ['cpu', 'wasm'];

/** float32 against float64, relative to the size of the numbers. */
const TOLERANCE = 1e-5;

const random = createRandom(5);
const numbers = (size: number): number[] => Array.from({ length: size }, () => 2 * random.next() - 1);

function close(actual: ArrayLike<number>, expected: ArrayLike<number>, tolerance = TOLERANCE): void {
  expect(actual.length).to.equal(expected.length);
  for (let index = 0; index < expected.length; index++) {
    expect(actual[index]).to.be.closeTo(expected[index] ?? NaN, tolerance);
  }
}

/** The same product in float64. */
function matmul(a: readonly number[], b: readonly number[], n: number, d: number, m: number): number[] {
  return Array.from({ length: n * m }, (_, cell) => {
    const [i, j] = [Math.floor(cell / m), cell % m];
    let sum = 0;
    for (let k = 0; k < d; k++) sum += (a[i * d + k] ?? NaN) * (b[k * m + j] ?? NaN);
    return sum;
  });
}

for (const backend of BACKENDS) {
  describe(`tensor ops on ${backend}`, () => {
    before(async () => {
      await loadTensorflow({ backend });
    });

    let before_ = 0;
    beforeEach(() => {
      before_ = tf.memory().numTensors;
    });
    afterEach('leaves no tensor behind', () => {
      expect(tf.memory().numTensors).to.equal(before_);
    });

    it('cellCounts counts 40 million ones exactly, where float32 stops at 2^24', async function () {
      this.timeout(120_000);
      const size = 40_000_000;
      const codes = tf.zeros<tf.Rank.R1>([size], 'int32');
      const [count] = await cellCounts(tf, codes, 1);
      codes.dispose();
      expect(count).to.equal(size);
    });

    it('cellCounts counts every code, none as 0', async () => {
      const codes = tf.tensor1d([3, 0, 3, 1, 3], 'int32');
      expect([...(await cellCounts(tf, codes, 5))]).to.deep.equal([1, 1, 0, 3, 0]);
      codes.dispose();
    });

    it('cellCounts of nothing is zeros', async () => {
      const codes = tf.tensor1d([], 'int32');
      expect([...(await cellCounts(tf, codes, 2))]).to.deep.equal([0, 0]);
      codes.dispose();
    });

    it('groupSums adds a million weights to within 1e-6 of float64', async () => {
      const size = 1_000_000;
      const values = Float32Array.from({ length: size }, () => random.next());
      const codes = Int32Array.from({ length: size }, () => random.integer(3));
      const expected = [0, 0, 0];
      values.forEach((value, row) => (expected[codes[row] ?? 0] = (expected[codes[row] ?? 0] ?? 0) + value));
      const [valuesTensor, codesTensor] = [tf.tensor1d(values), tf.tensor1d(codes, 'int32')];
      const sums = await groupSums(tf, valuesTensor, codesTensor, 3);
      tf.dispose([valuesTensor, codesTensor]);
      sums.forEach((sum, group) => {
        expect(Math.abs(sum / (expected[group] ?? NaN) - 1)).to.be.below(1e-6);
      });
    });

    it('bceFromLogits is the closed form, finite for logits of +-1e4', async () => {
      const logits = [0, 2, -3, 1e4, -1e4, 1e4];
      const labels = [1, 1, 0, 1, 0, 0];
      const losses = tf.tidy(() =>
        bceFromLogits(
          tf,
          tf.tensor2d(logits, [6, 1]),
          tf.tensor2d(labels, [6, 1]),
          tf.tensor2d([1, 1, 1, 1, 1, 1], [1, 6]),
        ),
      );
      // log 2, log(1 + e^-2), log(1 + e^-3), 0, 0, 1e4.
      const expected = Math.log(2) + Math.log1p(Math.exp(-2)) + Math.log1p(Math.exp(-3)) + 1e4;
      const [loss = NaN] = await losses.data();
      losses.dispose();
      expect(Math.abs(loss / expected - 1)).to.be.below(1e-6);
    });

    it('bceFromLogits weighs positives by posWeight', async () => {
      const losses = tf.tidy(() =>
        bceFromLogits(tf, tf.tensor2d([1, 1], [2, 1]), tf.tensor2d([1, 0], [2, 1]), tf.tensor2d([0.5, 0.5], [1, 2]), 3),
      );
      const expected = 0.5 * (3 * Math.log1p(Math.exp(-1))) + 0.5 * (1 + Math.log1p(Math.exp(-1)));
      close(await losses.data(), [expected]);
      losses.dispose();
    });

    it('the gradient of bceFromLogits is (sigmoid - label) / n', async () => {
      const x = [-2, -0.5, 0.5, 3];
      const y = [1, 0, 1, 0];
      const gradient = tf.tidy(() =>
        tf.grad((logits: tf.Tensor) =>
          bceFromLogits(tf, logits as tf.Tensor2D, tf.tensor2d(y, [4, 1]), tf.fill([1, 4], 0.25)).sum(),
        )(tf.tensor2d(x, [4, 1])),
      );
      close(
        await gradient.data(),
        x.map((value, row) => (1 / (1 + Math.exp(-value)) - (y[row] ?? 0)) / 4),
      );
      gradient.dispose();
    });

    it('dense and its gradient are those of float64', async () => {
      const [n, d, m] = [7, 5, 4];
      const [x, w, b, up] = [numbers(n * d), numbers(d * m), numbers(m), numbers(n * m)];
      const out = tf.tidy(() => {
        const xt = tf.tensor2d(x, [n, d]);
        const layer = (kernel: tf.Tensor, bias: tf.Tensor) => dense(tf, xt, kernel as tf.Tensor2D, bias as tf.Tensor1D);
        const value = layer(tf.tensor2d(w, [d, m]), tf.tensor1d(b));
        const gradients = tf.grads(layer)([tf.tensor2d(w, [d, m]), tf.tensor1d(b)], tf.tensor2d(up, [n, m]));
        return [value, ...gradients];
      });
      const [value, kernelGradient, biasGradient] = await Promise.all(out.map((tensor) => tensor.data()));
      tf.dispose(out);
      close(
        value ?? [],
        matmul(x, w, n, d, m).map((product, cell) => product + (b[cell % m] ?? NaN)),
      );
      const transposed = Array.from({ length: d * n }, (_, cell) => x[(cell % n) * d + Math.floor(cell / n)] ?? NaN);
      close(kernelGradient ?? [], matmul(transposed, up, d, n, m));
      close(biasGradient ?? [], matmul(Array<number>(n).fill(1), up, 1, n, m));
    });

    it('blockDense and blockOutputs are separate layers side by side', async () => {
      const [n, k, p, q] = [6, 3, 4, 2];
      const [z, w, b, v, c] = [numbers(n * k * p), numbers(k * p * q), numbers(k * q), numbers(k * q), numbers(k)];
      const out = tf.tidy(() => {
        const middle = blockDense(tf, tf.tensor2d(z, [n, k * p]), tf.tensor3d(w, [k, p, q]), tf.tensor1d(b));
        const blocks = tf.tensor2d(
          Array.from({ length: k * q * k }, (_, cell) => Number(Math.floor(cell / k / q) === cell % k)),
          [k * q, k],
        );
        return blockOutputs(tf, middle, tf.tensor2d(v, [k * q, 1]), tf.tensor1d(c), blocks);
      });
      const expected = Array.from({ length: n * k }, (_, cell) => {
        const [row, model] = [Math.floor(cell / k), cell % k];
        let sum = c[model] ?? NaN;
        for (let unit = 0; unit < q; unit++) {
          let hidden = b[model * q + unit] ?? NaN;
          for (let input = 0; input < p; input++) {
            hidden += (z[row * k * p + model * p + input] ?? NaN) * (w[(model * p + input) * q + unit] ?? NaN);
          }
          sum += hidden * (v[model * q + unit] ?? NaN);
        }
        return sum;
      });
      close(await out.data(), expected);
      out.dispose();
    });

    it('softRates are group means; a group without rows is absent and moves no gap', async () => {
      const out = tf.tidy(() => {
        const membership = tf.tensor2d(
          [
            [1, 1, 0, 0],
            [0, 0, 1, 1],
            [0, 0, 0, 0],
          ],
          [3, 4],
        );
        const found = softRates(tf, tf.tensor2d([0.2, 0.4, 0.9, 0.5], [4, 1]), membership);
        return [found.rates, found.present, largestGap(tf, found)];
      });
      const [rates, present, gap] = await Promise.all(out.map((tensor) => tensor.data()));
      tf.dispose(out);
      close(rates ?? [], [0.3, 0.7, 0]);
      close(present ?? [], [1, 1, 0]);
      close(gap ?? [], [0.4]);
    });

    it('with fewer than two groups there is no gap', async () => {
      for (const rows of [
        [
          [1, 1],
          [0, 0],
        ],
        [
          [0, 0],
          [0, 0],
        ],
      ]) {
        const gap = tf.tidy(() => largestGap(tf, softRates(tf, tf.tensor2d([0.2, 0.8], [2, 1]), tf.tensor2d(rows))));
        close(await gap.data(), [0]);
        gap.dispose();
      }
    });
  });
}
