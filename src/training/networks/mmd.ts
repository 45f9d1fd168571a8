import type { Tensor1D, Tensor2D, Tensor3D } from '@tensorflow/tfjs';

import { fusedMap, rowSums, type Tf, timesTransposed } from '../../tensor/index.ts';
import { groupContrasts } from './group-contrasts.ts';
import type { FairnessPenalty, PenaltyGradient } from './penalty.ts';

/** The kernels of {@link mmd}, which measure the similarity of two predictions. */
export const MMD_KERNELS = ['gaussian', 'laplacian'] as const;

/** One of {@link MMD_KERNELS}. */
export type MmdKernel = (typeof MMD_KERNELS)[number];

/** The distance at which a kernel has the value 1/e. */
export const KERNEL_LENGTH = 0.1;

/**
 * Computes the squared maximum mean discrepancy of two weighted samples: mean k(a, a) - 2 mean k(a, b) + mean k(b, b).
 * The means include the diagonal. Several predictors and several pairs of samples are computed at once.
 * @param points [k, n, f], the predictions of k models
 * @param contrasts [n, c], one column per pair of samples: the weights of the first sample minus the weights of the
 *   second sample; the weights of each sample sum to 1
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
  // Features are processed one at a time, so that the largest tensor is [k, n, n].
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
 * two groups, the penalty equals the discrepancy between the groups. The cost is quadratic in the number of rows.
 * Source: Prost et al. 2019.
 */
export const mmdOfGroups: FairnessPenalty = (tf, batch) => {
  const { contrasts, count } = groupContrasts(tf, batch);
  const discrepancies = mmd(tf, batch.scores.expandDims<Tensor3D>(2), contrasts);
  return discrepancies.sum<Tensor1D>(1).div(count.flatten());
};

/**
 * Computes the gradient of {@link mmdOfGroups}. With contrasts h of G groups and length L, the penalty of a model is
 *
 *     1/G sum_i sum_j b_ij exp(-((p_i - p_j) / L)^2),   b_ij = sum_g h_ig h_jg
 *
 * Each row occurs as i and as j, so the derivative with respect to p_i is
 *
 *     -4 / (G L) sum_j b_ij u_ij exp(-u_ij^2),   u_ij = (p_i - p_j) / L
 */
export const mmdGradient: PenaltyGradient = (tf, batch) => {
  const { contrasts, count } = groupContrasts(tf, batch);
  const scores = batch.scores.div<Tensor2D>(KERNEL_LENGTH);
  const products: Tensor2D = timesTransposed(tf, contrasts, contrasts);
  const [k, n] = scores.shape;
  const sums = fusedMap(tf, {
    name: 'mmd_gradient',
    shape: scores.shape,
    inputs: { scores, products },
    wgsl: MMD_GRADIENT,
    plain: () => {
      const distances = scores.reshape<Tensor3D>([k, n, 1]).sub<Tensor3D>(scores.reshape([k, 1, n]));
      const pairs = distances.mul(distances.square().neg().exp()).mul(products);
      return rowSums(tf, pairs.reshape([k * n, n])).reshape<Tensor2D>([k, n]);
    },
  });
  return sums.mul(-4 / KERNEL_LENGTH).div(count);
};

/**
 * WGSL code that computes the sum for one row of one model. The products are symmetric, and are read so that adjacent
 * threads read adjacent values.
 */
const MMD_GRADIENT = `
  let rows = uniforms.outShape[1];
  let row = index % rows;
  value = 0.0;
  for (var other = 0; other < rows; other++) {
    let distance = scores - all_scores[index - row + other];
    value += all_products[other * rows + row] * distance * exp(-distance * distance);
  }`;
