import type { Scalar, Tensor, Tensor2D, Variable } from '@tensorflow/tfjs';

import { TrainingError } from '../../exceptions/index.ts';
import type { OnProgress } from '../../internal/progress.ts';
import { createRandom, shuffle } from '../../internal/random.ts';
import type { Tf } from '../../tensor/index.ts';
import { createAdam } from './adam.ts';
import { type Schedule, scheduleFactor } from './learning-rate.ts';
import { type NetworkBatch, type NetworkRows, rowParts, takeBatch, weightOf } from './network-rows.ts';
import type { Judgement, Objective } from './objective.ts';
import { createPatience } from './patience.ts';
import { createStackedNetwork, type LayerWeights, type StackedNetwork } from './stacked-network.ts';

/** How networks are trained, whatever they minimise. */
export interface TrainNetworksOptions {
  readonly epochs: number;
  /** Adam's learning rate. */
  readonly lr: number;
  readonly batchSize: number;
  readonly hidden: readonly number[];
  /** A model rests after so many epochs without a better validation loss. */
  readonly patience: number;
  readonly weightDecay: number;
  readonly schedule: Schedule;
  readonly seed: number;
  readonly onProgress?: OnProgress | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What to train and on what. */
export interface NetworkProblem {
  readonly train: NetworkRows;
  /** Rows that decide when to stop. */
  readonly validation: NetworkRows;
  /** Rows to apply the networks to in the end. */
  readonly heldOut?: NetworkRows | undefined;
  /** What each model is called in errors: "eta 0.5"; one name per model. */
  readonly names: readonly string[];
  readonly objective: Objective;
}

/** Networks that were trained together. */
export interface TrainedNetworks {
  /** The weights of each model at its best epoch. */
  readonly weights: readonly (readonly LayerWeights[])[];
  /** The best epoch of each model, from 1. */
  readonly bestEpochs: readonly number[];
  /** How each model was judged after each epoch, [epochs][k]; lower is better. */
  readonly losses: readonly (readonly number[])[];
  /** What each model gives the held-out rows, [k, n]; empty without any. */
  readonly heldOut: Float32Array;
}

/** Weight initialisation and row order draw from streams of their own. */
const WEIGHT_STREAM = 1;
const ORDER_STREAM = 2;

/** Rows sent through the network at once when nothing is learned. */
const ROWS_AT_ONCE = 8192;

/**
 * Trains k networks that see the same batches, and differ in what they minimise.
 *
 * Adam on mini-batches; after each epoch every model is judged, and its weights
 * kept where it is at its best, so that each model ends at its own best epoch.
 * Nothing is read from the device but what the judgement takes, once per epoch.
 * @throws {TrainingError} where a loss stops being a number
 */
export async function trainNetworks(
  tf: Tf,
  problem: NetworkProblem,
  options: TrainNetworksOptions,
): Promise<TrainedNetworks> {
  const { train, objective, names } = problem;
  const network = createStackedNetwork(
    tf,
    { models: names.length, inputs: train.inputs, hidden: options.hidden },
    createRandom(options.seed, WEIGHT_STREAM),
  );
  const best = network.variables.map((variable) => variable.clone());
  const adam = createAdam(tf, network.variables, options);
  const random = createRandom(options.seed, ORDER_STREAM);
  const order = Int32Array.from(train.y, (_, row) => row);
  const patience = createPatience(names.length, options.patience);
  const steps = options.epochs * Math.ceil(order.length / options.batchSize);
  const losses: number[][] = [];
  let step = 0;
  try {
    for (let epoch = 0; epoch < options.epochs && !patience.isOver(); epoch++) {
      shuffle(order, random);
      for (let start = 0; start < order.length; start += options.batchSize) {
        options.signal?.throwIfAborted();
        const rate = options.lr * scheduleFactor(options.schedule, step++ / steps);
        tf.tidy(() => {
          const batch = takeBatch(tf, train, order.subarray(start, start + options.batchSize));
          const outputs = learn(tf, network, objective, batch, (gradients) => {
            adam.step(gradients, rate);
          });
          objective.afterStep?.(outputs, batch);
        });
      }
      const judgement = await judge(tf, network, problem, epoch);
      losses.push(Array.from(judgement.scores));
      assertFinite(judgement.scores, names, patience.isResting, () => likelyCause(train, options.lr), epoch);
      keepBest(tf, network.variables, best, network.masks(patience.update(judgement)));
      options.onProgress?.({ stage: 'training', done: epoch + 1, total: options.epochs });
      // Lets signals and timers through between epochs.
      await new Promise((resolve) => setImmediate(resolve));
    }
    options.onProgress?.({ stage: 'training', done: options.epochs, total: options.epochs });
    network.variables.forEach((variable, index) => {
      variable.assign(best[index] as Tensor);
    });
    const heldOut = problem.heldOut === undefined ? new Float32Array(0) : await outputsOf(tf, network, problem.heldOut);
    return { weights: await network.read(), bestEpochs: [...patience.bestEpochs], losses, heldOut };
  } finally {
    network.dispose();
    adam.dispose();
    tf.dispose(best);
  }
}

/** One step of all models on one batch; returns what they gave before it. */
function learn(
  tf: Tf,
  network: StackedNetwork,
  objective: Objective,
  batch: NetworkBatch,
  move: (gradients: readonly Tensor[]) => void,
): Tensor2D {
  const pass = network.forward(batch.x);
  const slope = tf.grad((given: Tensor) => objective.losses(given as Tensor2D, batch).sum<Scalar>());
  move(pass.gradients(slope(pass.outputs) as Tensor2D));
  return pass.outputs;
}

async function judge(tf: Tf, network: StackedNetwork, problem: NetworkProblem, epoch: number): Promise<Judgement> {
  const { objective, train, validation } = problem;
  if (objective.judge === undefined) return { scores: await meanLosses(tf, network, problem) };
  return objective.judge(epoch, {
    train: await outputsOf(tf, network, train),
    validation: await outputsOf(tf, network, validation),
  });
}

/** The mean loss of each model on the validation rows. */
async function meanLosses(tf: Tf, network: StackedNetwork, problem: NetworkProblem): Promise<Float64Array> {
  const { validation, objective, names } = problem;
  const means = new Float64Array(names.length);
  const whole = weightOf(validation);
  for (const picked of rowParts(validation.y.length, objective.mostRows)) {
    const losses = tf.tidy(() => {
      const batch = takeBatch(tf, validation, picked);
      return objective.losses(network.forward(batch.x).outputs, batch);
    });
    const values = await losses.data();
    losses.dispose();
    const share = weightOf(validation, picked) / whole;
    values.forEach((value, model) => (means[model] = (means[model] as number) + value * share));
  }
  return means;
}

/** What all models give rows, [k, n]. */
async function outputsOf(tf: Tf, network: StackedNetwork, { x, inputs, y }: NetworkRows): Promise<Float32Array> {
  const n = y.length;
  let outputs = new Float32Array(0);
  for (let start = 0; start < n; start += ROWS_AT_ONCE) {
    const size = Math.min(ROWS_AT_ONCE, n - start);
    const rows = x.subarray(start * inputs, (start + size) * inputs);
    const part = tf.tidy(() => network.forward(tf.tensor2d(rows, [size, inputs])).outputs);
    const [models] = part.shape;
    if (start === 0) outputs = new Float32Array(models * n);
    const values = await part.data<'float32'>();
    part.dispose();
    for (let model = 0; model < models; model++) {
      outputs.set(values.subarray(model * size, (model + 1) * size), model * n + start);
    }
  }
  return outputs;
}

/** Where a model just did better than ever, its weights become its best ones. */
function keepBest(tf: Tf, variables: readonly Variable[], best: Tensor[], masks: Tensor[]): void {
  variables.forEach((variable, index) => {
    const before = best[index] as Tensor;
    best[index] = tf.tidy(() =>
      tf.where((masks[index] as Tensor).greater(0).broadcastTo(variable.shape), variable, before),
    );
    before.dispose();
  });
  tf.dispose(masks);
}

/** A model at rest may go astray; its best weights were kept. */
function assertFinite(
  scores: ArrayLike<number>,
  names: readonly string[],
  isResting: (model: number) => boolean,
  cause: () => string,
  epoch: number,
): void {
  const broken = names.findIndex((_, model) => !isResting(model) && !Number.isFinite(scores[model]));
  if (broken < 0) return;
  const name = names[broken] ?? '';
  throw new TrainingError(`The loss of ${name} is no number after epoch ${String(epoch + 1)}: ${cause()}.`, {
    context: { model: name, epoch: epoch + 1 },
    suggestion: 'Lower the learning rate (lr, --lr), and check the features for extreme values.',
  });
}

/** Encoded features are standardised: beyond so many standard deviations lies a value that was not seen in training. */
const EXTREME = 100;

/** What most likely made a loss infinite. */
function likelyCause({ x }: NetworkRows, rate: number): string {
  const largest = x.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  if (largest > EXTREME) return `a feature lies ${largest.toFixed(0)} standard deviations from its mean`;
  return `a learning rate of ${String(rate)} is likely too high`;
}
