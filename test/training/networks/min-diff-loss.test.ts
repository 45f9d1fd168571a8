import * as tf from '@tensorflow/tfjs';
import { expect } from 'chai';

import { ValueError } from '../../../src/exceptions/index.ts';
import { loadTensorflow } from '../../../src/tensor/index.ts';
import { MinDiffLoss } from '../../../src/training/index.ts';
import { describeWithReference, readVectors } from '../../helpers/reference.ts';

interface LossCase {
  readonly loss: 'mmd' | 'absolute_correlation';
  readonly kernel: 'gaussian' | 'laplacian' | null;
  readonly transform: 'sigmoid' | null;
  readonly membership: readonly number[];
  readonly predictions: number[] | number[][];
  readonly weights: readonly number[] | null;
  readonly expected: number;
}

interface GradientCase extends Pick<LossCase, 'loss' | 'kernel'> {
  readonly transform: 'sigmoid' | null;
  readonly expected: readonly number[];
}

function lossOf({ loss, kernel, transform }: Pick<LossCase, 'loss' | 'kernel' | 'transform'>): MinDiffLoss {
  return new MinDiffLoss({
    loss: loss === 'mmd' ? 'mmd' : 'correlation',
    kernel: kernel ?? undefined,
    transform: transform ?? 'none',
  });
}

describeWithReference("MinDiff losses against TensorFlow Model Remediation's tests", () => {
  const vectors = readVectors('tfmr_mindiff_losses.json') as {
    readonly losses: readonly LossCase[];
    readonly gradients: { readonly cases: readonly GradientCase[] };
  };

  before(async () => {
    await loadTensorflow({ backend: 'cpu' });
  });

  vectors.losses.forEach((given, index) => {
    it(`loss ${String(index + 1)}: ${given.loss} ${given.kernel ?? ''} is ${String(given.expected)}`, () => {
      const value = tf.tidy(() =>
        lossOf(given)
          .compute(
            tf.tensor1d([...given.membership]),
            tf.tensor(given.predictions),
            given.weights === null ? undefined : tf.tensor1d([...given.weights]),
          )
          .dataSync(),
      );
      expect(value[0]).to.be.closeTo(given.expected, 2e-5);
    });
  });

  vectors.gradients.cases.forEach((given) => {
    it(`the gradient of ${given.loss} ${given.kernel ?? ''}, for predictions 3 v`, () => {
      const gradient = tf.tidy(() =>
        tf
          .grad((v: tf.Tensor) =>
            lossOf(given).compute(tf.tensor1d([1, 0, 1, 0, 1]), v.mul(3), tf.tensor1d([1, 2, 2.5, 1.2, 0.9])),
          )(tf.tensor1d([0.1, 0.3, 0.5, 0.7, 0.9]))
          .dataSync(),
      );
      given.expected.forEach((expected, row) => {
        expect(gradient[row]).to.be.closeTo(expected, 2e-5);
      });
    });
  });
});

describe('MinDiffLoss', () => {
  before(async () => {
    await loadTensorflow({ backend: 'cpu' });
  });

  const compute = (loss: MinDiffLoss, membership: number[], predictions: number[]): number =>
    tf.tidy(() => loss.compute(tf.tensor1d(membership), tf.tensor1d(predictions)).dataSync()[0] ?? NaN);

  it('is 0 for groups with the same predictions, and 2 for groups far apart', () => {
    const loss = new MinDiffLoss({ transform: 'none' });
    expect(compute(loss, [1, 1, 0, 0], [0.3, 0.6, 0.3, 0.6])).to.be.closeTo(0, 1e-6);
    expect(compute(loss, [1, 1, 0, 0], [9, 9, -9, -9])).to.be.closeTo(2, 1e-6);
  });

  it('is finite with one group alone, and so is its gradient', () => {
    for (const loss of ['mmd', 'correlation'] as const) {
      const gradient = tf.tidy(() =>
        tf
          .grad((x: tf.Tensor) => new MinDiffLoss({ loss }).compute(tf.tensor1d([1, 1]), x))(tf.tensor1d([0.2, 0.2]))
          .dataSync(),
      );
      expect([...gradient].every(Number.isFinite)).to.equal(true);
    }
  });

  it('rejects sizes that differ, unknown names and lengths that are not positive', () => {
    expect(() => compute(new MinDiffLoss(), [1, 0], [0.5])).to.throw(ValueError, 'one value per row');
    expect(() => new MinDiffLoss({ kernel: 'gausian' as 'gaussian' })).to.throw(ValueError, 'gaussian, laplacian');
    expect(() => new MinDiffLoss({ kernelLength: 0 })).to.throw(ValueError, 'kernelLength');
  });
});
