import type { Tensor2D } from '@tensorflow/tfjs';

import { type BatchRows, columnSums, fusedMap, type Tf } from '../../tensor/index.ts';
import { MIN_SHARE } from './fairness-events.ts';

/** Weights of rows that compare each group with all other rows of a batch. */
interface GroupContrasts {
  /**
   * One column per group, [n, g]: the row's share of its group's weight, or minus its share of the weight of all other
   * rows. A product with scores is therefore the difference between the means. The column of a group without rows, or
   * without other rows, is 0.
   */
  readonly contrasts: Tensor2D;
  /** The weight of each group, [1, g]. */
  readonly inside: Tensor2D;
  /** The weight of the rows outside each group, [1, g]. */
  readonly outside: Tensor2D;
  /** The number of groups that are compared, [1, 1]; at least 1, so that it can be a divisor. */
  readonly count: Tensor2D;
}

/** Computes the contrasts of the groups of a batch. They do not depend on scores. */
export function groupContrasts(tf: Tf, { membership, shares }: Omit<BatchRows, 'labels'>): GroupContrasts {
  // The difference of two sums would not be exactly 0 if all rows belong to one group.
  const others = shares.sub<Tensor2D>(membership);
  const [inside, outside] = [columnSums(tf, membership), columnSums(tf, others)];
  const present = fusedMap(tf, {
    name: 'groups_compared',
    shape: inside.shape,
    inputs: { inside, outside },
    numbers: { least: MIN_SHARE },
    wgsl: 'value = select(0.0, 1.0, min(inside, outside) > least);',
    plain: () => tf.minimum(inside, outside).greater(MIN_SHARE).cast<Tensor2D>('float32'),
  });
  const contrasts = fusedMap(tf, {
    name: 'group_contrasts',
    shape: membership.shape,
    inputs: { membership, others, inside, outside, present },
    wgsl: 'value = select(0.0, membership / inside - others / outside, present > 0.0);',
    plain: () =>
      membership
        .div(inside.maximum(MIN_SHARE))
        .sub<Tensor2D>(others.div(outside.maximum(MIN_SHARE)))
        .mul<Tensor2D>(present),
  });
  return { contrasts, inside, outside, count: present.sum<Tensor2D>(1, true).maximum(1) };
}
