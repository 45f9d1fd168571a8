import * as tf from '@tensorflow/tfjs';
import { expect } from 'chai';

import { createRandom } from '../../src/internal/random.ts';
import { loadTensorflow, type NormalEquations, normalEquations, uploadRowBlocks } from '../../src/tensor/index.ts';
import { describeOn, TESTED_BACKENDS } from '../helpers/software-gpu.ts';

/** Rows with their contributions, as float32 numbers. */
interface Rows {
  readonly columns: number;
  readonly x: Float32Array;
  readonly weights: Float32Array;
  readonly residuals: Float32Array;
}

function makeRows(rows: number, columns: number, seed: number, offset = 0): Rows {
  const random = createRandom(seed);
  return {
    columns,
    x: Float32Array.from({ length: rows * columns }, () => random.normal() + offset),
    weights: Float32Array.from({ length: rows }, () => random.next()),
    residuals: Float32Array.from({ length: rows }, () => random.normal()),
  };
}

/** Computes the sums in float64, term by term. */
function defined({ columns, x, weights, residuals }: Rows) {
  const products = new Float64Array(columns * columns);
  const gradient = new Float64Array(columns);
  const at = (row: number, column: number) => x[row * columns + column] ?? NaN;
  for (let row = 0; row < weights.length; row++) {
    for (let a = 0; a < columns; a++) {
      gradient[a] = (gradient[a] ?? NaN) + (residuals[row] ?? NaN) * at(row, a);
      for (let b = 0; b < columns; b++) {
        products[a * columns + b] =
          (products[a * columns + b] ?? NaN) + (weights[row] ?? NaN) * at(row, a) * at(row, b);
      }
    }
  }
  return { products, gradient, loss: weights.reduce((sum, weight) => sum + weight, 0) };
}

async function summed({ columns, x, weights, residuals }: Rows, withProducts = true): Promise<NormalEquations> {
  const blocks = uploadRowBlocks(tf, x, columns);
  try {
    return await normalEquations(
      tf,
      blocks,
      ({ start, rows }) => {
        const part = (values: Float32Array) => tf.tensor2d(values.subarray(start, start + rows), [1, rows]);
        return { weights: part(weights), residuals: part(residuals), losses: part(weights) };
      },
      withProducts,
    );
  } finally {
    blocks.dispose();
  }
}

function largestError(values: ArrayLike<number>, expected: ArrayLike<number>): number {
  return Math.max(...Array.from(expected, (value, index) => Math.abs(value - (values[index] ?? NaN))));
}

for (const backend of TESTED_BACKENDS) {
  describeOn(backend, `normalEquations on ${backend}`, () => {
    let tensors = 0;
    before(async () => {
      await loadTensorflow({ backend });
      tensors = tf.memory().numTensors;
    });
    afterEach('leaves no tensor behind', () => {
      expect(tf.memory().numTensors).to.equal(tensors);
    });

    it('equal the sums computed by hand', async () => {
      // Rows (1, 2) and (3, 4): 2 (1, 2)(1, 2)' + 0.5 (3, 4)(3, 4)' and -1 (1, 2) + 2 (3, 4).
      const sums = await summed({
        columns: 2,
        x: Float32Array.of(1, 2, 3, 4),
        weights: Float32Array.of(2, 0.5),
        residuals: Float32Array.of(-1, 2),
      });
      expect([...(sums.products ?? [])]).to.deep.equal([6.5, 10, 10, 16]);
      expect([...sums.gradient, sums.loss]).to.deep.equal([5, 6, 2.5]);
    });

    const cases: [string, Rows][] = [
      ['one row', makeRows(1, 3, 1)],
      ['one column', makeRows(50, 1, 2)],
      ['a full block', makeRows(2 ** 12, 2, 3)],
      ['a block and one row', makeRows(2 ** 12 + 1, 2, 4)],
      ['several blocks', makeRows(30_000, 5, 5)],
      ['values far from 0', makeRows(30_000, 3, 6, 50)],
    ];
    for (const [title, rows] of cases) {
      it(`equal sums in float64 to 1e-6 of their terms: ${title}`, async () => {
        const [sums, expected] = [await summed(rows), defined(rows)];
        const scale = defined({ ...rows, x: rows.x.map(Math.abs), residuals: rows.residuals.map(Math.abs) });
        const tolerance = 1e-6;
        expect(largestError(sums.products ?? [], expected.products)).to.be.below(
          tolerance * Math.max(...scale.products),
        );
        expect(largestError(sums.gradient, expected.gradient)).to.be.below(tolerance * Math.max(...scale.gradient));
        expect(Math.abs(sums.loss / expected.loss - 1)).to.be.below(tolerance);
      });
    }

    it('without products give the same gradient and loss', async () => {
      const rows = makeRows(10_000, 4, 7);
      const [complete, part] = [await summed(rows), await summed(rows, false)];
      expect(part.products).to.equal(undefined);
      expect([[...part.gradient], part.loss]).to.deep.equal([[...complete.gradient], complete.loss]);
    });
  });
}
