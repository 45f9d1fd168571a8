import type { Tensor1D, Tensor2D, Tensor3D } from '@tensorflow/tfjs';

import { createRandom } from '../../internal/random.ts';
import {
  createAdam,
  fusedMap,
  joinParameters,
  type MatrixShape,
  rectifierGradient,
  rowSums,
  splitParameters,
  stackedDense,
  stackedDenseGradients,
  type Tf,
} from '../../tensor/index.ts';
import type { PenaltyBatch, PenaltyContext, PenaltyInUse } from './penalty.ts';

/** The number of units of an adversary's hidden layer. */
const HIDDEN = 16;

/**
 * The learning rate of an adversary. It is usually higher than the learning rate of the models, so that an adversary
 * adapts quickly when its model changes.
 */
const RATE = 1e-2;

const WEIGHT_STREAM = 3;

/**
 * The factor by which scores are scaled after they are centred at 1/2, so that the adversary can separate probabilities
 * that are close to each other.
 */
const SCALE = 4;

/**
 * Creates an adversary for each model: a small network that predicts a row's group from the model's score.
 *
 * The penalty is the groups' entropy minus the adversary's cross-entropy. This difference is a lower bound of the
 * mutual information of score and group, in nats. The difference is 0 if a score carries no information about the
 * group. The models minimise the penalty (gradient reversal). The adversary is updated with each batch, from the same
 * scores.
 *
 * Sources: Ganin et al. 2016; Zhang, Lemoine and Mitchell 2018, without their projection of gradients.
 */
export function createAdversary(tf: Tf, { models: k, groupCount, seed }: PenaltyContext): PenaltyInUse {
  const random = createRandom(seed, WEIGHT_STREAM);
  const drawn = adversaryShapes(groupCount).flatMap(({ rows, columns }) =>
    Array.from({ length: rows * columns }, () => random.normal() / Math.sqrt(columns)),
  );
  // All adversaries start from the same weights. The models also start from the same weights.
  const parameters = tf.tidy(() => tf.variable(tf.tensor2d(drawn, [1, drawn.length], 'float32').tile([k, 1])));
  const adam = createAdam(tf, parameters);
  const current = parameters as unknown as Tensor2D;
  return {
    value(batch) {
      const sums = batch.membership.sum(0);
      const total = sums.sum();
      const shares = sums.div(total.maximum(1e-12));
      const entropy = shares.mul(shares.maximum(1e-12).log()).sum().neg().mul(total);
      return entropy.sub<Tensor1D>(crossEntropy(tf, current, batch));
    },
    slope(batch) {
      const { parameters: ofParameters, reversedScores } = crossEntropyGradients(tf, current, batch);
      adam.step(ofParameters, RATE);
      return reversedScores;
    },
    dispose() {
      parameters.dispose();
      adam.dispose();
    },
  };
}

/** Returns the shapes of an adversary's weights and biases. */
function adversaryShapes(groupCount: number): MatrixShape[] {
  return [
    { rows: HIDDEN, columns: 1 },
    { rows: HIDDEN, columns: 1 },
    { rows: groupCount, columns: HIDDEN },
    { rows: groupCount, columns: 1 },
  ];
}

/** The activations of k adversaries, and the weights that gradients need. */
interface AdversaryPass {
  readonly w1: Tensor3D;
  readonly w2: Tensor3D;
  /** The centred and scaled scores, [k, 1, n]. */
  readonly input: Tensor3D;
  /** [k, 16, n] */
  readonly hidden: Tensor3D;
  /** [k, g, n] */
  readonly logits: Tensor3D;
}

function runAdversaries(tf: Tf, parameters: Tensor2D, { scores, membership }: PenaltyBatch): AdversaryPass {
  const [w1, b1, w2, b2] = splitParameters(parameters, adversaryShapes(membership.shape[1])) as [
    Tensor3D,
    Tensor3D,
    Tensor3D,
    Tensor3D,
  ];
  const [k, n] = scores.shape;
  const input = fusedMap(tf, {
    name: 'adversary_input',
    shape: scores.shape,
    inputs: { scores },
    numbers: { scale: SCALE },
    wgsl: 'value = scale * (scores - 0.5);',
    plain: () => scores.sub(0.5).mul<Tensor2D>(SCALE),
  }).reshape<Tensor3D>([k, 1, n]);
  const hidden = stackedDense(tf, input, w1, b1, 'relu');
  return { w1, w2, input, hidden, logits: stackedDense(tf, hidden, w2, b2) };
}

/**
 * Computes the cross-entropy of k adversaries' predictions, [k]: -sum_i sum_g m_ig log softmax(l_i)_g, with logits l and
 * membership m. Rows without a group do not count.
 * @param parameters the weights and biases of each adversary, [k, m]
 */
function crossEntropy(tf: Tf, parameters: Tensor2D, batch: PenaltyBatch): Tensor1D {
  const { logits } = runAdversaries(tf, parameters, batch);
  const logs = logits.sub(tf.logSumExp(logits, 1, true));
  return logs.mul(batch.membership.transpose().expandDims(0)).sum<Tensor1D>([1, 2]).neg();
}

/** Gradients of the adversaries' cross-entropy. */
interface AdversaryGradients {
  /** The gradient with respect to the parameters, [k, m]. */
  readonly parameters: Tensor2D;
  /** Minus the gradient with respect to the scores, [k, n], because the models maximise the cross-entropy. */
  readonly reversedScores: Tensor2D;
}

/**
 * Computes both gradients of {@link crossEntropy} from one forward pass. With f the gradient with respect to the
 * logits, a the hidden activations and z = 4 (score - 1/2),
 *
 *     dW2 = f a', db2 = f 1, da = W2' f where a > 0, else 0,
 *     dW1 = da z', db1 = da 1, dz = W1' da, dscore = 4 dz.
 */
export function crossEntropyGradients(tf: Tf, parameters: Tensor2D, batch: PenaltyBatch): AdversaryGradients {
  const { w1, w2, input, hidden, logits } = runAdversaries(tf, parameters, batch);
  const flow = logitGradient(tf, logits, batch.membership);
  const [ofW2, ofB2, ofHidden] = stackedDenseGradients(tf, hidden, w2, flow);
  const [ofW1, ofB1, ofInput] = stackedDenseGradients(tf, input, w1, rectifierGradient(tf, ofHidden, hidden));
  return {
    parameters: joinParameters(tf, [ofW1, ofB1, ofW2, ofB2], parameters.shape[0]),
    reversedScores: ofInput.reshape<Tensor2D>(batch.scores.shape).mul(-SCALE),
  };
}

/**
 * Computes the gradient of the cross-entropy with respect to the logits, [k, g, n]: w_i softmax(l_i)_g - m_ig, with w_i
 * = sum_g m_ig, which is 0 for a row without a group. The first term is exp(l_ig - c_i), c_i = log sum_g exp(l_ig) - log
 * w_i. Each c_i is computed once, so that the cost is linear in the number of groups.
 */
function logitGradient(tf: Tf, logits: Tensor3D, membership: Tensor2D): Tensor3D {
  const [k, groups, n] = logits.shape;
  const normalisers = fusedMap(tf, {
    name: 'softmax_normalisers',
    shape: [k, 1, n],
    inputs: { logits, membership },
    numbers: { groups },
    wgsl: NORMALISERS,
    plain: () => tf.logSumExp<Tensor3D>(logits, 1, true).sub(rowSums(tf, membership).log().reshape([1, 1, n])),
  });
  return fusedMap(tf, {
    name: 'softmax_gradient',
    shape: logits.shape,
    inputs: { logits, normalisers, membership },
    wgsl: `
      let groups = uniforms.outShape[1];
      let rows = uniforms.outShape[2];
      let group = (index / rows) % groups;
      value = exp(logits - normalisers) - all_membership[(index % rows) * groups + group];`,
    plain: () => logits.sub<Tensor3D>(normalisers).exp().sub(membership.transpose().expandDims(0)),
  });
}

/** WGSL code that computes the normaliser c of one row for one model. */
const NORMALISERS = `
  let count = i32(groups);
  let rows = uniforms.outShape[2];
  let row = index % rows;
  let first = (index / rows) * count * rows + row;
  var largest = all_logits[first];
  for (var group = 1; group < count; group++) { largest = max(largest, all_logits[first + group * rows]); }
  var sum = 0.0;
  var weight = 0.0;
  for (var group = 0; group < count; group++) {
    sum += exp(all_logits[first + group * rows] - largest);
    weight += all_membership[row * count + group];
  }
  // Without a group, exp(logit - normaliser) must be 0.
  value = select(1e30, largest + log(sum / weight), weight > 0.0);`;
