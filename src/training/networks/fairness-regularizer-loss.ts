import type { Tensor, Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import { ValueError } from '../../exceptions/index.ts';
import { oneOf } from '../../internal/one-of.ts';
import { bceFromLogits, currentTensorflow } from '../../tensor/index.ts';
import { PLAIN_PENALTIES, type PlainPenaltyName } from './penalties.ts';

const PENALTY_NAMES = Object.keys(PLAIN_PENALTIES) as PlainPenaltyName[];

/** Options of {@link FairnessRegularizerLoss}. */
export interface FairnessRegularizerLossOptions {
  /**
   * The weight of the penalty against the error, 0 or more.
   * @defaultValue 0.5
   */
  readonly eta?: number | undefined;
  /** @defaultValue 'covariance' */
  readonly penalty?: PlainPenaltyName | undefined;
  /**
   * Factor on the loss of rows with a positive label.
   * @defaultValue 1
   */
  readonly posWeight?: number | undefined;
}

/**
 * Binary cross-entropy plus eta times a fairness penalty on soft scores
 * p = sigmoid(logit):
 *
 * - `covariance`: sum over groups of |mean(p z_g) - mean(p) mean(z_g)|, z_g the
 *   group's indicator;
 * - `mean_gap`: the largest squared difference of two groups' mean scores;
 * - `equalized_odds`: `mean_gap` within each true label, summed;
 * - `mmd`: MinDiff, the squared maximum mean discrepancy of each group's scores
 *   and all others', averaged (Prost et al. 2019);
 * - `correlation`: the mean of |corr(p, z_g)|.
 *
 * The penalty constrains mean scores, not decisions; what it costs is accuracy,
 * and how much is what a sweep over eta shows. A group without rows in a batch
 * contributes nothing; with one group every penalty is 0.
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

  /** @throws {ValueError} for an unknown penalty, a negative eta or a posWeight that is not positive */
  constructor(options: FairnessRegularizerLossOptions = {}) {
    this.eta = options.eta ?? 0.5;
    this.penalty = oneOf('penalty', options.penalty ?? 'covariance', PENALTY_NAMES);
    this.posWeight = options.posWeight ?? 1;
    if (!(this.eta >= 0)) throw outOfRange('eta', '0 or more', this.eta);
    if (!(this.posWeight > 0)) throw outOfRange('posWeight', 'above 0', this.posWeight);
    Object.freeze(this);
  }

  /**
   * The loss of one model on one batch; differentiable in the logits.
   * @param logits [n] or [n, 1]
   * @param labels [n] or [n, 1], 0 or 1
   * @param groups [n, g], one-hot group codes
   * @param sampleWeight [n], 0 or more; equal weights when left out
   * @returns a scalar
   * @throws {ValueError} where groups are not one-hot, [n, g], or sizes differ
   */
  compute(logits: Tensor, labels: Tensor, groups: Tensor, sampleWeight?: Tensor): Tensor1D {
    const tf = currentTensorflow();
    return tf.tidy(() => {
      const n = logits.size;
      assertShapes(n, labels, groups, sampleWeight);
      // As float32: a quotient of whole numbers would be a whole number.
      const weights: Tensor = sampleWeight?.cast('float32') ?? tf.ones([n]);
      const shares = weights.div(weights.sum()).reshape<Tensor2D>([n, 1]);
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

/** Codes in place of one-hot groups would be taken for numbers. */
function assertShapes(n: number, labels: Tensor, groups: Tensor, sampleWeight: Tensor | undefined): void {
  const isOneHot = groups.rank === 2 && groups.shape[0] === n;
  if (isOneHot && labels.size === n && (sampleWeight === undefined || sampleWeight.size === n)) return;
  throw new ValueError(
    `The groups must be one-hot, of shape [${String(n)}, groups], and labels and weights of size ${String(n)}. ` +
      `Got groups of shape [${groups.shape.join(', ')}] and ${String(labels.size)} labels instead.`,
    { context: { parameter: 'groups', shape: groups.shape }, suggestion: 'Use tf.oneHot(codes, groupCount).' },
  );
}

function outOfRange(parameter: string, required: string, given: number): ValueError {
  return new ValueError(`The ${parameter} parameter must be ${required}. Got ${String(given)} instead.`, {
    context: { parameter, value: given },
  });
}
