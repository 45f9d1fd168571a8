import type { Tensor1D, Tensor2D, Tensor3D } from '@tensorflow/tfjs';

import type { Tf } from '../../tensor/index.ts';
import { MIN_SHARE } from './fairness-events.ts';
import type { FairnessPenalty } from './fairness-penalty.ts';

/** The kernels of {@link mmd}, which measure the similarity of two predictions. */
export const MMD_KERNELS = ['gaussian', 'laplacian'] as const;

/** One of {@link MMD_KERNELS}. */
export type MmdKernel = (typeof MMD_KERNELS)[number];

/** The distance at which a kernel has fallen to 1/e. */
export const KERNEL_LENGTH = 0.1;

/** The maximum number of rows compared with each other at once when rows are not processed in batches. */
export const ROWS_OF_KERNEL = 512;

/**
 * Computes the squared maximum mean discrepancy of two weighted samples: mean k(a, a) - 2 mean k(a, b) + mean k(b, b).
 * The means include the diagonal. Several predictors and several pairs of samples are computed at once.
 * @param points [k, n, f], the predictions of k models
 * @param contrasts [n, c], for each pair the weights of its first sample minus the weights of its second; each sums to
 *   1
 * @returns [k, c]
 */
export function mmd(
  tf: Tf,
  points: Tensor3D,
  contrasts: Tensor2D,
  kernel: MmdKernel = 'gaussian',
  length = KERNEL_LENGTH,
): Tensor2D {
  const [k, n, features] = points.shape;
  // One feature at a time, so that the largest tensor is [k, n, n].
  const distances = Array.from({ length: features }, (_, feature) => {
    const one = features === 1 ? points : points.slice([0, 0, feature], [k, n, 1]);
    const difference = one.sub<Tensor3D>(one.transpose([0, 2, 1]));
    return kernel === 'gaussian' ? difference.square<Tensor3D>() : difference.abs<Tensor3D>();
  }).reduce((sum, distance) => sum.add<Tensor3D>(distance));
  const alike = distances.div(kernel === 'gaussian' ? -(length ** 2) : -length).exp();
  const weighted = tf.matMul(alike.reshape<Tensor2D>([k * n, n]), contrasts).reshape([k, n, -1]);
  return weighted.mul(contrasts.expandDims(0)).sum(1);
}

/**
 * Computes the MinDiff penalty: the distance between each group's scores and the scores of all other rows, averaged
 * over the groups present. The distance is the squared maximum mean discrepancy (Gaussian kernel of length 0.1). For
 * two groups it equals the discrepancy between them. The cost is quadratic in the number of rows. Source: Prost et al.
 * 2019.
 */
export const mmdOfGroups: FairnessPenalty = (tf, { scores, membership, shares }) => {
  const inside = membership.sum<Tensor2D>(0, true);
  const outside = shares.sum().sub<Tensor2D>(inside);
  const present = inside.greater(0).logicalAnd(outside.greater(MIN_SHARE)).cast<Tensor2D>('float32');
  const contrasts = membership
    .div(inside.maximum(MIN_SHARE))
    .sub<Tensor2D>(shares.sub(membership).div(outside.maximum(MIN_SHARE)))
    .mul<Tensor2D>(present);
  const discrepancies = mmd(tf, scores.expandDims<Tensor3D>(2), contrasts);
  return discrepancies.sum<Tensor1D>(1).div(present.sum().maximum(1));
};
