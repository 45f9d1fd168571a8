import type { Tensor, Tensor1D, Tensor2D, Tensor3D } from '@tensorflow/tfjs';

import { ValueError } from '../../exceptions/index.ts';
import { type FilledOptions, fillOptions, invalidParameter, oneOf } from '../../internal/arguments.ts';
import { currentTensorflow } from '../../tensor/index.ts';
import { requireTensor } from '../data/device-rows.ts';
import { KERNEL_LENGTH, mmd, MMD_KERNELS, type MmdKernel } from './mmd.ts';
import { correlations } from './penalties.ts';

/** Options of {@link MinDiffLoss}. */
export interface MinDiffLossOptions {
  /**
   * `mmd`: squared maximum mean discrepancy; `correlation`: absolute correlation with membership.
   * @defaultValue 'mmd'
   */
  readonly loss?: 'mmd' | 'correlation' | undefined;
  /**
   * The kernel of `mmd`: exp(-|x - y|^2 / length^2), or exp(-|x - y| / length).
   * @defaultValue 'gaussian'
   */
  readonly kernel?: MmdKernel | undefined;
  /**
   * The distance at which the kernel has the value 1/e.
   * @defaultValue 0.1
   */
  readonly kernelLength?: number | undefined;
  /**
   * The transformation of predictions: `sigmoid` for logits, `none` for scores.
   * @defaultValue 'sigmoid' for mmd, 'none' for correlation
   */
  readonly transform?: 'sigmoid' | 'none' | undefined;
}

const DEFAULTS: FilledOptions<MinDiffLossOptions, 'transform'> = {
  loss: 'mmd',
  kernel: 'gaussian',
  kernelLength: KERNEL_LENGTH,
  transform: undefined,
};

/**
 * The MinDiff losses between two groups. The losses measure the distance between the two groups' distributions of
 * predictions. Add one of the losses to the loss of any TensorFlow.js model.
 *
 * - `mmd`: mean k(a, a) - 2 mean k(a, b) + mean k(b, b), weighted by the rows' weights, including the diagonal; from 0
 *   to 2;
 * - `correlation`: |cov| / (sqrt(var + 1e-7) sqrt(var + 1e-7)); from 0 to 1.
 *
 * Minimising the loss brings the two distributions closer on the training rows. The reduction in accuracy depends on
 * the weight of this loss in the total loss. If all row weights are 0, both losses are 0. The computing time of `mmd`
 * is quadratic in the number of rows, so use batches. For more than two groups, and for networks trained with this
 * package, use the penalties `mmd` and `correlation`. Source: Prost et al. 2019, as in TensorFlow Model Remediation.
 * @example
 * ```ts
 * import * as tf from '@tensorflow/tfjs';
 * import { MinDiffLoss } from 'evenhand/training';
 *
 * const loss = new MinDiffLoss({ transform: 'none' });
 * const value = loss.compute(tf.tensor1d([1, 1, 0, 0]), tf.tensor1d([0.9, 0.9, 0.1, 0.1]));
 * console.log(value.arraySync());
 * // 2
 * ```
 */
export class MinDiffLoss {
  readonly loss: 'mmd' | 'correlation';
  readonly kernel: MmdKernel;
  readonly kernelLength: number;
  readonly transform: 'sigmoid' | 'none';

  /** @throws {ValueError} if a name is unknown or the kernel length is not positive */
  constructor(options: MinDiffLossOptions = {}) {
    const { loss, kernel, kernelLength, transform } = fillOptions('MinDiffLoss', options, DEFAULTS);
    this.loss = oneOf('loss', loss, ['mmd', 'correlation']);
    this.kernel = oneOf('kernel', kernel, MMD_KERNELS);
    this.kernelLength = kernelLength;
    this.transform = oneOf('transform', transform ?? (loss === 'mmd' ? 'sigmoid' : 'none'), ['sigmoid', 'none']);
    if (!(this.kernelLength > 0)) throw invalidParameter('kernelLength', 'be above 0', this.kernelLength);
    Object.freeze(this);
  }

  /**
   * Computes the loss of one batch. The result is differentiable with respect to the predictions.
   * @param membership [n], 1 for rows of one group, 0 for rows of the other group
   * @param predictions [n] or, for mmd, [n, outputs]
   * @param sampleWeight [n], 0 or more; equal weights if omitted
   * @returns a scalar
   * @throws {ValueError} if sizes differ
   * @throws {DataValidationError} if an argument is not a tensor of numbers
   */
  compute(membership: Tensor, predictions: Tensor, sampleWeight?: Tensor): Tensor1D {
    const tf = currentTensorflow();
    for (const [name, given] of Object.entries({ membership, predictions, sampleWeight })) {
      if (given !== undefined) requireTensor(given, name);
    }
    return tf.tidy(() => {
      const n = membership.size;
      const outputs = n === 0 ? 0 : predictions.size / n;
      assertSizes(n, predictions, sampleWeight, this.loss === 'correlation' ? 1 : undefined);
      const given = this.transform === 'sigmoid' ? tf.sigmoid(predictions) : predictions.cast('float32');
      const weights = normalised(sampleWeight?.cast('float32') ?? tf.ones([n]));
      const members = membership.cast('float32').reshape<Tensor2D>([n, 1]);
      if (this.loss === 'correlation') {
        return correlations(tf, given.reshape([1, n]), members, weights).reshape([]);
      }
      const contrasts = normalised(weights.mul(members)).sub<Tensor2D>(normalised(weights.mul(tf.sub(1, members))));
      return mmd(tf, given.reshape<Tensor3D>([1, n, outputs]), contrasts, this.kernel, this.kernelLength).reshape([]);
    });
  }
}

/** Scales weights, [n, 1], so that they sum to 1. If all weights are 0, they do not change. */
function normalised(weights: Tensor): Tensor2D {
  const sum = weights.sum();
  return weights.div(sum.add(sum.equal(0).cast('float32'))).reshape([-1, 1]);
}

function assertSizes(
  n: number,
  predictions: Tensor,
  sampleWeight: Tensor | undefined,
  outputs: number | undefined,
): void {
  const areRows = n > 0 && predictions.shape[0] === n && (outputs === undefined || predictions.size === n * outputs);
  if (areRows && (sampleWeight === undefined || sampleWeight.size === n)) return;
  throw new ValueError(
    `Membership, predictions and weights must have one value per row. Got ${String(n)} memberships, predictions of ` +
      `shape [${predictions.shape.join(', ')}] and ${sampleWeight === undefined ? 'no' : String(sampleWeight.size)} weights instead.`,
    { context: { rows: n, shape: predictions.shape }, suggestion: 'Pass 1-D tensors of the same size.' },
  );
}
