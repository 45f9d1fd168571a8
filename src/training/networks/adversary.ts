import type { Tensor, Tensor1D, Tensor3D, Variable } from '@tensorflow/tfjs';

import { createRandom } from '../../internal/random.ts';
import { stackedDense, type Tf } from '../../tensor/index.ts';
import { createAdam } from './adam.ts';
import type { PenaltyBatch, PenaltyContext, PenaltyInUse } from './fairness-penalty.ts';

/** Units of an adversary's hidden layer. */
const HIDDEN = 16;

/** What an adversary learns at; faster than the models as a rule, so that it follows them. */
const RATE = 1e-2;

const WEIGHT_STREAM = 3;

/**
 * An adversary for each model, a small network that guesses a row's group from
 * the model's score. The penalty is what it knows: the groups' entropy minus its
 * cross-entropy, a lower bound of the mutual information of score and group in
 * nats; 0 for a score that tells nothing. The models move against it (gradient
 * reversal), it learns after each of their steps.
 *
 * Sources: Ganin et al. 2016; Zhang, Lemoine and Mitchell 2018, whose projection
 * of gradients is left out.
 */
export function createAdversary(tf: Tf, { models: k, groupCount: g, seed }: PenaltyContext): PenaltyInUse {
  const random = createRandom(seed, WEIGHT_STREAM);
  // One set of weights for all adversaries, as the models have.
  const variable = (units: number, inputs: number): Variable => {
    const drawn = Float32Array.from({ length: units * inputs }, () => random.normal() / Math.sqrt(inputs));
    return tf.tidy(() => tf.variable(tf.tensor3d(drawn, [1, units, inputs]).tile([k, 1, 1])));
  };
  const variables = [variable(HIDDEN, 1), variable(HIDDEN, 1), variable(g, HIDDEN), variable(g, 1)];
  const adam = createAdam(tf, variables);

  /** Cross-entropy of the adversaries' guesses, [k]. */
  const error = (weights: readonly Tensor[], { scores, membership }: PenaltyBatch): Tensor1D => {
    const [w1, b1, w2, b2] = weights as [Tensor3D, Tensor3D, Tensor3D, Tensor3D];
    // Centred and scaled, so that probabilities near each other are told apart.
    const z = scores.sub(0.5).mul(4).reshape<Tensor3D>([k, 1, -1]);
    const logits = stackedDense(tf, tf.relu(stackedDense(tf, z, w1, b1)), w2, b2);
    const shifted = logits.sub(logits.max(1, true));
    const logs = shifted.sub(shifted.exp().sum(1, true).log());
    return logs.mul(membership.transpose().expandDims(0)).sum<Tensor1D>([1, 2]).neg();
  };
  return {
    value(batch) {
      const sums = batch.membership.sum(0);
      const total = sums.sum();
      const shares = sums.div(total.maximum(1e-12));
      const entropy = shares.mul(shares.maximum(1e-12).log()).sum().neg().mul(total);
      return entropy.sub<Tensor1D>(error(variables, batch));
    },
    learn(batch) {
      const fixed = { ...batch, scores: batch.scores.clone() };
      const gradients = tf.grads((...weights: Tensor[]) => error(weights, fixed).sum())([...variables]);
      adam.step(gradients, RATE);
    },
    dispose() {
      tf.dispose(variables);
      adam.dispose();
    },
  };
}
