import * as tf from '@tensorflow/tfjs';
import { expect } from 'chai';

import { createRandom } from '../../src/internal/random.ts';
import {
  bceFromLogits,
  cellCounts,
  groupSums,
  largestGap,
  loadTensorflow,
  sharedDense,
  sharedDenseGradients,
  softRates,
  stackedDense,
  stackedDenseGradients,
} from '../../src/tensor/index.ts';
import { describeOn, TESTED_BACKENDS } from '../helpers/software-gpu.ts';

/** The tolerance of float32 against float64, relative to the size of the numbers. */
const TOLERANCE = 1e-5;

const random = createRandom(5);
const numbers = (size: number): number[] => Array.from({ length: size }, () => 2 * random.next() - 1);

function close(actual: ArrayLike<number>, expected: ArrayLike<number>, tolerance = TOLERANCE): void {
  expect(actual.length).to.equal(expected.length);
  for (let index = 0; index < expected.length; index++) {
    expect(actual[index]).to.be.closeTo(expected[index] ?? NaN, tolerance);
  }
}

/** Computes the same product in float64. */
function matmul(a: readonly number[], b: readonly number[], n: number, d: number, m: number): number[] {
  return Array.from({ length: n * m }, (_, cell) => {
    const [i, j] = [Math.floor(cell / m), cell % m];
    let sum = 0;
    for (let k = 0; k < d; k++) sum += (a[i * d + k] ?? NaN) * (b[k * m + j] ?? NaN);
    return sum;
  });
}

/** Transposes a row-major matrix [rows, columns] to [columns, rows]. */
function transpose(values: readonly number[], rows: number, columns: number): number[] {
  return Array.from(values, (_, cell) => values[(cell % rows) * columns + Math.floor(cell / rows)] ?? NaN);
}

for (const backend of TESTED_BACKENDS) {
  // A software GPU takes a minute for the largest tables.
  const isSlow = backend === 'webgpu';
  describeOn(backend, `tensor ops on ${backend}`, () => {
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

    if (!isSlow) {
      it('cellCounts counts 40 million ones exactly, although float32 is exact only up to 2^24 @slow', async function () {
        this.timeout(120_000);
        const size = 40_000_000;
        const codes = tf.zeros<tf.Rank.R1>([size], 'int32');
        const [count] = await cellCounts(tf, codes, 1);
        codes.dispose();
        expect(count).to.equal(size);
      });
    }

    it('cellCounts counts every code, absent codes as 0', async () => {
      const codes = tf.tensor1d([3, 0, 3, 1, 3], 'int32');
      expect([...(await cellCounts(tf, codes, 5))]).to.deep.equal([1, 1, 0, 3, 0]);
      codes.dispose();
    });

    it('cellCounts of no rows is zeros', async () => {
      const codes = tf.tensor1d([], 'int32');
      expect([...(await cellCounts(tf, codes, 2))]).to.deep.equal([0, 0]);
      codes.dispose();
    });

    it('groupSums sums a million weights to within 1e-6 of float64', async () => {
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

    it('bceFromLogits equals the closed form, and is finite for logits of +-1e4', async () => {
      const logits = [0, 2, -3, 1e4, -1e4, 1e4];
      const labels = [1, 1, 0, 1, 0, 0];
      const losses = tf.tidy(() =>
        bceFromLogits(
          tf,
          tf.tensor2d(logits, [1, 6]),
          tf.tensor2d(labels, [1, 6]),
          tf.tensor2d([1, 1, 1, 1, 1, 1], [6, 1]),
        ),
      );
      // log 2, log(1 + e^-2), log(1 + e^-3), 0, 0, 1e4.
      const expected = Math.log(2) + Math.log1p(Math.exp(-2)) + Math.log1p(Math.exp(-3)) + 1e4;
      const [loss = NaN] = await losses.data();
      losses.dispose();
      expect(Math.abs(loss / expected - 1)).to.be.below(1e-6);
    });

    it('bceFromLogits weights positives by posWeight', async () => {
      const losses = tf.tidy(() =>
        bceFromLogits(tf, tf.tensor2d([1, 1], [1, 2]), tf.tensor2d([1, 0], [1, 2]), tf.tensor2d([0.5, 0.5], [2, 1]), 3),
      );
      const expected = 0.5 * (3 * Math.log1p(Math.exp(-1))) + 0.5 * (1 + Math.log1p(Math.exp(-1)));
      close(await losses.data(), [expected]);
      losses.dispose();
    });

    for (const posWeight of [1, 3]) {
      it(`the gradient of bceFromLogits equals that of its closed form, by finite differences, for posWeight ${String(posWeight)}`, async () => {
        const [x, y, shares] = [
          [-2, -0.5, 0.5, 3, 60, -60],
          [1, 0, 1, 0, 1, 0],
          [0.1, 0.2, 0.3, 0.2, 0.1, 0.1],
        ];
        const gradient = tf.tidy(() =>
          tf.grad((logits: tf.Tensor) =>
            bceFromLogits(
              tf,
              logits as tf.Tensor2D,
              tf.tensor2d(y, [1, 6]),
              tf.tensor2d(shares, [6, 1]),
              posWeight,
            ).sum(),
          )(tf.tensor2d(x, [1, 6])),
        );
        // Per row: -w y log sigmoid(x) - (1 - y) log(1 - sigmoid(x)), in float64.
        const loss = (value: number, row: number): number =>
          (shares[row] ?? 0) *
          (y[row] === 1
            ? posWeight * (Math.log1p(Math.exp(-Math.abs(value))) + Math.max(-value, 0))
            : Math.log1p(Math.exp(-Math.abs(value))) + Math.max(value, 0));
        close(
          await gradient.data(),
          x.map((value, row) => (loss(value + 1e-5, row) - loss(value - 1e-5, row)) / 2e-5),
        );
        gradient.dispose();
      });
    }

    it('sharedDense and its gradients equal those of float64', async () => {
      const [n, d, m] = [7, 5, 4];
      const [x, w, b, up] = [numbers(d * n), numbers(m * d), numbers(m), numbers(m * n)];
      const out = tf.tidy(() => {
        const rows = tf.tensor2d(transpose(x, d, n), [n, d]);
        const value = sharedDense(tf, rows, tf.tensor2d(w, [m, d]), tf.tensor2d(b, [m, 1]));
        return [value, ...sharedDenseGradients(tf, rows, tf.tensor2d(up, [m, n]))];
      });
      const [value, kernelGradient, biasGradient] = await Promise.all(out.map((tensor) => tensor.data()));
      tf.dispose(out);
      close(
        value ?? [],
        matmul(w, x, m, d, n).map((product, cell) => product + (b[Math.floor(cell / n)] ?? NaN)),
      );
      close(kernelGradient ?? [], matmul(up, transpose(x, d, n), m, n, d));
      close(biasGradient ?? [], matmul(up, Array<number>(n).fill(1), m, n, 1));
    });

    for (const q of [1, 3]) {
      it(`stackedDense equals separate layers side by side, with their gradients, for ${String(q)} units`, async () => {
        const [k, p, n] = [3, 4, 6];
        const [z, w, b, up] = [numbers(k * p * n), numbers(k * q * p), numbers(k * q), numbers(k * q * n)];
        const out = tf.tidy(() => {
          const [input, kernel] = [tf.tensor3d(z, [k, p, n]), tf.tensor3d(w, [k, q, p])];
          const value = stackedDense(tf, input, kernel, tf.tensor3d(b, [k, q, 1]));
          return [value, ...stackedDenseGradients(tf, input, kernel, tf.tensor3d(up, [k, q, n]))];
        });
        const [value, ofKernel, ofBias, ofInput] = await Promise.all(out.map((tensor) => tensor.data()));
        tf.dispose(out);
        const part = (values: readonly number[], model: number): number[] =>
          values.slice((model * values.length) / k, ((model + 1) * values.length) / k);
        for (let model = 0; model < k; model++) {
          const [zi, wi, bi, ui] = [part(z, model), part(w, model), part(b, model), part(up, model)];
          const expected = matmul(wi, zi, q, p, n).map((product, cell) => product + (bi[Math.floor(cell / n)] ?? NaN));
          close(part([...(value ?? [])], model), expected);
          close(part([...(ofKernel ?? [])], model), matmul(ui, transpose(zi, p, n), q, n, p));
          close(part([...(ofBias ?? [])], model), matmul(ui, Array<number>(n).fill(1), q, n, 1));
          close(part([...(ofInput ?? [])], model), matmul(transpose(wi, q, p), ui, p, q, n));
        }
      });
    }

    it('softRates are group means; a group without rows is absent and does not affect gaps', async () => {
      const out = tf.tidy(() => {
        const membership = tf.tensor2d([
          [1, 0, 0],
          [1, 0, 0],
          [0, 1, 0],
          [0, 1, 0],
        ]);
        const found = softRates(tf, tf.tensor2d([0.2, 0.4, 0.9, 0.5], [1, 4]), membership);
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
          [1, 0],
          [1, 0],
        ],
        [
          [0, 0],
          [0, 0],
        ],
      ]) {
        const gap = tf.tidy(() => largestGap(tf, softRates(tf, tf.tensor2d([0.2, 0.8], [1, 2]), tf.tensor2d(rows))));
        close(await gap.data(), [0]);
        gap.dispose();
      }
    });
  });
}
