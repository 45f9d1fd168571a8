import type { Tensor, Tensor1D, Tensor2D, Tensor3D } from '@tensorflow/tfjs';

import { createRandom } from '../../internal/random.ts';
import {
  createAdam,
  joinParameters,
  type MatrixShape,
  splitParameters,
  stackedDense,
  type Tf,
} from '../../tensor/index.ts';
import { automaticGradient, type PenaltyBatch, type PenaltyContext, type PenaltyInUse } from './fairness-penalty.ts';

/** The number of units of an adversary's hidden layer. */
const HIDDEN = 16;

/**
 * The learning rate of an adversary. It is usually higher than the models' learning rate, so that the adversary keeps
 * up with them.
 */
const RATE = 1e-2;

const WEIGHT_STREAM = 3;

/**
 * Creates an adversary for each model: a small network that predicts a row's group from the model's score.
 *
 * The penalty is the groups' entropy minus the adversary's cross-entropy. It is a lower bound of the mutual information
 * of score and group, in nats. It is 0 if a score carries no information about the group. The models minimise the
 * penalty (gradient reversal). The adversary is updated after each step of the models.
 *
 * Sources: Ganin et al. 2016; Zhang, Lemoine and Mitchell 2018, without their projection of gradients.
 */
export function createAdversary(tf: Tf, { models: k, groupCount: g, seed }: PenaltyContext): PenaltyInUse {
  const random = createRandom(seed, WEIGHT_STREAM);
  const shapes: MatrixShape[] = [
    { rows: HIDDEN, columns: 1 },
    { rows: HIDDEN, columns: 1 },
    { rows: g, columns: HIDDEN },
    { rows: g, columns: 1 },
  ];
  const drawn = shapes.flatMap(({ rows, columns }) =>
    Array.from({ length: rows * columns }, () => random.normal() / Math.sqrt(columns)),
  );
  // All adversaries start from the same weights, as the models do.
  const parameters = tf.tidy(() => tf.variable(tf.tensor2d(drawn, [1, drawn.length], 'float32').tile([k, 1])));
  const adam = createAdam(tf, parameters);
  const weights = (): Tensor[] => splitParameters(parameters as unknown as Tensor2D, shapes);

  /** Returns the cross-entropy of the adversaries' predictions, [k]. */
  const error = (weights: readonly Tensor[], { scores, membership }: PenaltyBatch): Tensor1D => {
    const [w1, b1, w2, b2] = weights as [Tensor3D, Tensor3D, Tensor3D, Tensor3D];
    // Centred and scaled, so that the adversary can separate probabilities that are close to each other.
    const z = scores.sub(0.5).mul(4).reshape<Tensor3D>([k, 1, -1]);
    const logits = stackedDense(tf, tf.relu(stackedDense(tf, z, w1, b1)), w2, b2);
    const shifted = logits.sub(logits.max(1, true));
    const logs = shifted.sub(shifted.exp().sum(1, true).log());
    return logs.mul(membership.transpose().expandDims(0)).sum<Tensor1D>([1, 2]).neg();
  };
  const value = (batch: PenaltyBatch): Tensor1D => {
    const sums = batch.membership.sum(0);
    const total = sums.sum();
    const shares = sums.div(total.maximum(1e-12));
    const entropy = shares.mul(shares.maximum(1e-12).log()).sum().neg().mul(total);
    return entropy.sub<Tensor1D>(error(weights(), batch));
  };
  return {
    value,
    slope: (batch) => automaticGradient(tf, value, batch),
    learn(batch) {
      const fixed = { ...batch, scores: batch.scores.clone() };
      const gradients = tf.grads((...given: Tensor[]) => error(given, fixed).sum())(weights());
      adam.step(joinParameters(tf, gradients, k), RATE);
    },
    dispose() {
      parameters.dispose();
      adam.dispose();
    },
  };
}
