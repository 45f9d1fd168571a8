import type { Scalar, Tensor, Tensor2D } from '@tensorflow/tfjs';

import { ValueError } from '../../exceptions/index.ts';
import { type FilledOptions, fillOptions, oneOf } from '../../internal/arguments.ts';
import { bceFromLogits, currentTensorflow } from '../../tensor/index.ts';
import { requireTensor } from '../data/device-rows.ts';
import { assertNonNegative, assertPositive } from './network-options.ts';
import { PLAIN_PENALTIES, type PlainPenaltyName } from './penalties.ts';

/** The smallest divisor for a sum of weights. With this divisor, the shares are 0 if the sum is 0. */
const TINY = 1e-30;

const PENALTY_NAMES = Object.keys(PLAIN_PENALTIES) as PlainPenaltyName[];

/** Options of {@link FairnessRegularizerLoss}. */
export interface FairnessRegularizerLossOptions {
  /**
   * The weight of the penalty relative to the error, 0 or more.
   * @defaultValue 0.5
   */
  readonly eta?: number | undefined;
  /** @defaultValue 'covariance' */
  readonly penalty?: PlainPenaltyName | undefined;
  /**
   * The factor applied to the loss of rows with a positive label.
   * @defaultValue 1
   */
  readonly posWeight?: number | undefined;
}

const DEFAULTS: FilledOptions<FairnessRegularizerLossOptions> = { eta: 0.5, penalty: 'covariance', posWeight: 1 };

/**
 * Binary cross-entropy plus eta times a fairness penalty on soft scores
 * p = sigmoid(logit):
 *
 * - `covariance`: the sum over groups of |mean(p z_g) - mean(p) mean(z_g)|, where z_g is the group's indicator;
 * - `mean_gap`: the largest squared difference of two groups' mean scores;
 * - `equalized_odds`: the sum of `mean_gap` over the rows of each true label;
 * - `mmd`: MinDiff, the squared maximum mean discrepancy between each group's scores and all other scores, averaged
 *   over groups (Prost et al. 2019);
 * - `correlation`: the mean of |corr(p, z_g)|.
 *
 * The penalty constrains mean scores, not decisions. The penalty reduces accuracy. To measure the reduction, run a
 * sweep over eta. A group without rows in a batch does not contribute to the penalty. If all rows belong to one group,
 * every penalty is 0.
 * @example
 * ```ts
 * import * as tf from '@tensorflow/tfjs';
 * import { FairnessRegularizerLoss } from 'evenhand/training';
 *
 * const loss = new FairnessRegularizerLoss({ eta: 1, penalty: 'mean_gap' });
 * const logits = tf.tensor1d([0, 0, 0, 0]);
 * const labels = tf.tensor1d([1, 0, 1, 0]);
 * const groups = tf.oneHot(tf.tensor1d([0, 0, 1, 1], 'int32'), 2);
 * console.log(loss.compute(logits, labels, groups).arraySync().toFixed(4));
 * // 0.6931
 * ```
 */
export class FairnessRegularizerLoss {
  readonly eta: number;
  readonly penalty: PlainPenaltyName;
  readonly posWeight: number;

  /** @throws {ValueError} if the penalty is unknown, eta is negative or posWeight is not positive */
  constructor(options: FairnessRegularizerLossOptions = {}) {
    const { eta, penalty, posWeight } = fillOptions('FairnessRegularizerLoss', options, DEFAULTS);
    this.eta = eta;
    this.penalty = oneOf('penalty', penalty, PENALTY_NAMES);
    this.posWeight = posWeight;
    assertNonNegative('eta', eta);
    assertPositive('posWeight', posWeight);
    Object.freeze(this);
  }

  /**
   * Computes the loss of one model on one batch. The result is differentiable with respect to the logits.
   * @param logits [n] or [n, 1]
   * @param labels [n] or [n, 1], 0 or 1
   * @param groups [n, g], one-hot group codes
   * @param sampleWeight [n], 0 or more; equal weights if omitted
   * @returns a scalar; 0 if all weights are 0
   * @throws {ValueError} if groups are not one-hot, [n, g >= 2], or if another shape is wrong
   * @throws {DataValidationError} if an argument is not a tensor of numbers
   */
  compute(logits: Tensor, labels: Tensor, groups: Tensor, sampleWeight?: Tensor): Scalar {
    const tf = currentTensorflow();
    for (const [name, given] of Object.entries({ logits, labels, groups, sampleWeight })) {
      if (given !== undefined) requireTensor(given, name);
    }
    return tf.tidy(() => {
      const n = logits.size;
      assertShapes({ logits, labels, sampleWeight }, groups);
      // Cast to float32, because the quotient of two int32 tensors is an int32 tensor.
      const weights: Tensor = sampleWeight?.cast('float32') ?? tf.ones([n]);
      // If all weights are 0, all shares are 0, and so is the loss.
      const shares = weights.div(weights.sum().maximum(TINY)).reshape<Tensor2D>([n, 1]);
      const batch = {
        scores: tf.sigmoid(logits).reshape<Tensor2D>([1, n]),
        labels: labels.cast('float32').reshape<Tensor2D>([1, n]),
        membership: groups.cast('float32').mul<Tensor2D>(shares),
        shares,
      };
      const error = bceFromLogits(tf, logits.reshape([1, n]), batch.labels, shares, this.posWeight);
      return error.add(PLAIN_PENALTIES[this.penalty](tf, batch).mul(this.eta)).reshape([]);
    });
  }
}

/**
 * Checks the shapes of a batch. Groups must not be integer codes, because the loss would treat codes as numbers.
 * @param columns tensors of shape [n] or [n, 1]
 */
function assertShapes(columns: Readonly<Record<string, Tensor | undefined>>, groups: Tensor): void {
  const given = Object.entries(columns).flatMap(([name, tensor]) => (tensor === undefined ? [] : [{ name, tensor }]));
  const n = given[0]?.tensor.size ?? 0;
  const isColumn = ({ shape, size }: Tensor): boolean => size === n && shape[0] === n && shape.length <= 2;
  const isOneHot = groups.rank === 2 && groups.shape[0] === n && (groups.shape[1] ?? 0) > 1;
  if (isOneHot && given.every(({ tensor }) => isColumn(tensor))) return;
  const found = [...given, { name: 'groups', tensor: groups }].map(
    ({ name, tensor }) => `${name} of shape [${tensor.shape.join(', ')}]`,
  );
  throw new ValueError(
    `The groups must be one-hot, of shape [${String(n)}, groups], and logits, labels and weights of shape [${String(n)}]. ` +
      `Got ${found.join(', ')} instead.`,
    { context: { parameter: 'groups', shape: groups.shape }, suggestion: 'Use tf.oneHot(codes, groupCount).' },
  );
}
