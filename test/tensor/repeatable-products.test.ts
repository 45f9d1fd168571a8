import { expect } from 'chai';

import { createRandom } from '../../src/internal/random.ts';
import { loadTensorflow } from '../../src/tensor/index.ts';
import { describeOnSoftwareGpu } from '../helpers/software-gpu.ts';

const [ROWS, COLUMNS] = [32, 104];

/** From 2,000 on, TensorFlow.js would add parts of a sum in any order. */
const LENGTHS = [1024, 4096];

describeOnSoftwareGpu('products on webgpu', () => {
  for (const inner of LENGTHS) {
    for (const [transposeA, transposeB] of [
      [false, false],
      [true, false],
      [false, true],
    ] as const) {
      const kind = `${transposeA ? 'a transposed' : 'a'} times ${transposeB ? 'b transposed' : 'b'}`;
      it(`${kind}, of sums of ${String(inner)}, are correct and identical each time, to the last bit`, async () => {
        const { tf } = await loadTensorflow({ backend: 'webgpu' });
        const random = createRandom(7);
        const draw = (size: number): Float32Array => Float32Array.from({ length: size }, () => random.next() - 0.5);
        const [a, b] = [draw(ROWS * inner), draw(inner * COLUMNS)];
        const left = tf.tensor2d(a, transposeA ? [inner, ROWS] : [ROWS, inner]);
        const right = tf.tensor2d(b, transposeB ? [COLUMNS, inner] : [inner, COLUMNS]);
        const runs: Float32Array[] = [];
        for (let run = 0; run < 4; run++) {
          const product = tf.matMul(left, right, transposeA, transposeB);
          runs.push(await product.data<'float32'>());
          product.dispose();
        }
        tf.dispose([left, right]);
        const [first = new Float32Array(0), ...others] = runs;
        for (const other of others) expect(Buffer.from(other.buffer).equals(Buffer.from(first.buffer))).to.equal(true);
        for (const [row, column] of [
          [0, 0],
          [31, 103],
          [7, 50],
        ] as const) {
          let sum = 0;
          for (let k = 0; k < inner; k++) {
            const x = a[transposeA ? k * ROWS + row : row * inner + k] ?? NaN;
            const y = b[transposeB ? column * inner + k : k * COLUMNS + column] ?? NaN;
            sum += x * y;
          }
          expect(first[row * COLUMNS + column]).to.be.closeTo(sum, 1e-3);
        }
      });
    }
  }
});
