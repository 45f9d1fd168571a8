import type { Rank, Scalar, Tensor, Tensor1D, Tensor2D, Variable } from '@tensorflow/tfjs';

import { TrainingError } from '../../exceptions/index.ts';
import type { OnProgress } from '../../internal/progress.ts';
import { createRandom, shuffle } from '../../internal/random.ts';
import { bceFromLogits, type Tf } from '../../tensor/index.ts';
import { type FairnessPenaltyName, PENALTIES } from './fairness-penalty.ts';
import { createStackedNetwork, type LayerWeights } from './stacked-network.ts';

/** Rows ready for a network, on the host. */
export interface NetworkRows {
  /** [n, d], row-major. */
  readonly x: Float32Array;
  /** [n], 0 or 1. */
  readonly y: Float32Array;
  /** [n], group codes, -1 for none. */
  readonly groups: Int32Array;
  /** Features, d. */
  readonly inputs: number;
  /** Groups, g. */
  readonly groupCount: number;
}

/** How to train a stack of networks. */
export interface TrainStackOptions {
  /** The penalty's weight for each model. */
  readonly etas: readonly number[];
  readonly penalty: FairnessPenaltyName;
  readonly epochs: number;
  readonly lr: number;
  readonly batchSize: number;
  readonly hidden: readonly number[];
  /** A model rests after so many epochs without a better validation loss. */
  readonly patience: number;
  readonly seed: number;
  readonly onProgress?: OnProgress | undefined;
}

/** Networks that were trained together. */
export interface TrainedStack {
  /** The weights of each model at its best epoch. */
  readonly weights: readonly (readonly LayerWeights[])[];
  /** Logits of other rows under each model: [n, k], row-major. */
  readonly logits: Float32Array;
}

/** Weight initialisation and row order draw from streams of their own. */
const WEIGHT_STREAM = 1;
const ORDER_STREAM = 2;

/** Rows sent through the network at once when nothing is learned. */
const PREDICT_ROWS = 8192;

/**
 * Trains k networks that differ only in eta, and applies them to held-out rows.
 *
 * Adam on mini-batches; after each epoch every model's loss on the validation
 * rows decides whether its weights are kept, so that each model ends at its own
 * best epoch. The validation losses are the only thing read from the device
 * during training, once per epoch.
 * @throws {TrainingError} where the loss stops being a number
 */
export async function trainStack(
  tf: Tf,
  train: NetworkRows,
  validation: NetworkRows,
  heldOut: NetworkRows,
  options: TrainStackOptions,
): Promise<TrainedStack> {
  const { etas, epochs, patience } = options;
  const network = createStackedNetwork(
    tf,
    { models: etas.length, inputs: train.inputs, hidden: options.hidden },
    createRandom(options.seed, WEIGHT_STREAM),
  );
  const best = network.variables.map((variable) => variable.clone());
  const learned = toTensors(tf, train);
  const checked = toTensors(tf, validation);
  const optimizer = tf.train.adam(options.lr);
  const etaRow = tf.tensor1d([...etas]);
  const random = createRandom(options.seed, ORDER_STREAM);
  const order = Int32Array.from(train.y, (_, row) => row);
  const progress = createPatience(etas.length, patience);
  const losses = (rows: DeviceRows): Tensor1D => {
    const logits = network.forward(rows.x);
    const batch = {
      scores: tf.sigmoid(logits),
      labels: rows.y,
      membership: rows.membership,
      shares: tf.fill<Rank.R2>([1, rows.y.shape[0]], 1 / rows.y.shape[0]),
    };
    const error = bceFromLogits(tf, logits, rows.y, batch.shares);
    return error.add(PENALTIES[options.penalty](tf, batch).mul(etaRow));
  };
  try {
    for (let epoch = 0; epoch < epochs && !progress.isOver(); epoch++) {
      shuffle(order, random);
      for (let start = 0; start < order.length; start += options.batchSize) {
        const rows = order.subarray(start, start + options.batchSize);
        tf.tidy(() => {
          const batch = takeBatch(tf, learned, rows);
          const { grads } = tf.variableGrads(() => losses(batch).sum<Scalar>(), [...network.variables]);
          optimizer.applyGradients(Object.entries(grads).map(([name, tensor]) => ({ name, tensor })));
        });
      }
      const validated = tf.tidy(() => losses(wholeBatch(checked)));
      const values = await validated.data();
      validated.dispose();
      assertFinite(values, etas, epoch);
      keepBest(tf, network.variables, best, network.masks(progress.update(values)));
      options.onProgress?.({ stage: 'training', done: epoch + 1, total: epochs });
      // Lets signals and timers through between epochs.
      await new Promise((resolve) => setImmediate(resolve));
    }
    options.onProgress?.({ stage: 'training', done: epochs, total: epochs });
    network.variables.forEach((variable, index) => {
      variable.assign(best[index] as Tensor);
    });
    const logits = await predict(tf, network.forward, heldOut, etas.length);
    return { weights: await network.read(), logits };
  } finally {
    network.dispose();
    optimizer.dispose();
    tf.dispose([best, etaRow, { ...learned }, { ...checked }]);
  }
}

/** Rows where the network is; membership is [n, g] while whole and [g, n] in a batch. */
interface DeviceRows {
  readonly x: Tensor2D;
  readonly y: Tensor2D;
  readonly membership: Tensor2D;
}

function toTensors(tf: Tf, rows: NetworkRows): DeviceRows {
  const n = rows.y.length;
  return {
    x: tf.tensor2d(rows.x, [n, rows.inputs]),
    y: tf.tensor2d(rows.y, [n, 1]),
    // A code of -1 has no one in its row, so such rows belong to no group.
    membership: tf.tidy(() => tf.oneHot(tf.tensor1d(rows.groups, 'int32'), rows.groupCount).cast<Tensor2D>('float32')),
  };
}

function takeBatch(tf: Tf, { x, y, membership }: DeviceRows, rows: Int32Array): DeviceRows {
  const index = tf.tensor1d(rows, 'int32');
  return wholeBatch({ x: tf.gather(x, index), y: tf.gather(y, index), membership: tf.gather(membership, index) });
}

function wholeBatch(rows: DeviceRows): DeviceRows {
  return { ...rows, membership: rows.membership.transpose<Tensor2D>().div<Tensor2D>(rows.y.shape[0]) };
}

async function predict(
  tf: Tf,
  forward: (x: Tensor2D) => Tensor2D,
  { x, y, inputs }: NetworkRows,
  models: number,
): Promise<Float32Array> {
  const logits = new Float32Array(y.length * models);
  for (let start = 0; start < y.length; start += PREDICT_ROWS) {
    const size = Math.min(PREDICT_ROWS, y.length - start);
    const part = tf.tidy(() =>
      forward(tf.tensor2d(x.subarray(start * inputs, (start + size) * inputs), [size, inputs])),
    );
    logits.set(await part.data<'float32'>(), start * models);
    part.dispose();
  }
  return logits;
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

/** Early stopping of k models apart. */
interface Patience {
  /** Takes the models' validation losses and tells which of them count as their best yet: 1 or 0 each. */
  update(losses: ArrayLike<number>): Uint8Array;
  /** Whether every model has run out of patience. */
  isOver(): boolean;
}

function createPatience(models: number, patience: number): Patience {
  const best = new Float64Array(models).fill(Infinity);
  const waited = new Uint32Array(models);
  const isResting = (model: number): boolean => (waited[model] as number) >= patience;
  return {
    update: (losses) =>
      Uint8Array.from({ length: models }, (_, model) => {
        const loss = losses[model] as number;
        if (isResting(model)) return 0;
        if (loss < (best[model] as number)) {
          best[model] = loss;
          waited[model] = 0;
          return 1;
        }
        waited[model] = (waited[model] as number) + 1;
        return 0;
      }),
    isOver: () => waited.every((_, model) => isResting(model)),
  };
}

function assertFinite(losses: ArrayLike<number>, etas: readonly number[], epoch: number): void {
  const broken = etas.findIndex((_, model) => !Number.isFinite(losses[model]));
  if (broken < 0) return;
  throw new TrainingError(`The loss of eta ${String(etas[broken])} is no number after epoch ${String(epoch + 1)}.`, {
    context: { eta: etas[broken], epoch: epoch + 1 },
    suggestion: 'Lower the learning rate (lr, --lr), and check the features for extreme values.',
  });
}
