import { setImmediate as nextTurn } from 'node:timers/promises';

import type { Tensor, Tensor2D } from '@tensorflow/tfjs';

import { TrainingError } from '../../exceptions/index.ts';
import type { OnProgress } from '../../internal/progress.ts';
import { createRandom, shuffle } from '../../internal/random.ts';
import {
  type BatchRows,
  chooseBatchSize,
  createAdam,
  createBatches,
  createRowChunks,
  largestTensor,
  type NetworkRows,
  readTogether,
  releaseUnused,
  takeBatchRows,
  type Tf,
  weightOf,
} from '../../tensor/index.ts';
import type { FilledNetworkOptions, Schedule } from './network-options.ts';
import type { Judgement, LossJudge, Objective, OutputJudge } from './objective.ts';
import { createStackedNetwork, type LayerWeights, type StackedNetwork } from './stacked-network.ts';

/**
 * Returns the factor by which the learning rate is multiplied after a given share of the steps. The factor falls from 1
 * to 0 or, for `constant`, is always 1.
 */
export function scheduleFactor(schedule: Schedule, done: number): number {
  if (schedule === 'linear') return 1 - done;
  return schedule === 'cosine' ? (1 + Math.cos(Math.PI * done)) / 2 : 1;
}

/** The prime used for multiplicative hashing: 2^32 divided by the golden ratio. */
const SPREAD = 2654435761;

/**
 * Splits row numbers, from 0 to `rows` - 1, into parts of nearly equal size. A part has at most `most` rows. If there
 * are several parts, each part contains rows from the complete range, so that the order of the rows has little effect.
 */
export function rowParts(rows: number, most = rows): Int32Array[] {
  const count = Math.max(1, Math.ceil(rows / most));
  const all = Int32Array.from({ length: rows }, (_, row) => row);
  if (count > 1) all.sort((a, b) => Math.imul(a, SPREAD) - Math.imul(b, SPREAD));
  const bounds = Array.from({ length: count + 1 }, (_, part) => Math.round((part * rows) / count));
  return bounds.slice(1).map((end, part) => all.subarray(bounds[part], end));
}

/** Scores networks after each epoch, with one download from the device. */
interface NetworkJudge {
  judge(epoch: number): Promise<Judgement>;
  dispose(): void;
}

/** Scores each model by its mean loss on the validation rows. The rows stay on the network's device. */
function judgeLosses(
  tf: Tf,
  network: StackedNetwork,
  { validation, names }: NetworkProblem,
  { losses, maxRows }: LossJudge,
): NetworkJudge {
  const models = names.length;
  // The parts are so small that the membership and the outputs of all rows of a part fit into the backend's tensors.
  const most = Math.max(1, Math.floor(largestTensor(tf) / Math.max(validation.groupCount, models)));
  const parts = rowParts(validation.y.length, maxRows ?? most);
  const rows: BatchRows[] = parts.map((picked) => takeBatchRows(tf, validation, picked));
  const complete = weightOf(validation);
  const shares = parts.map((picked) => weightOf(validation, picked) / complete);
  // The rows are in the order of the parts, so that the outputs of each part are contiguous.
  const chunks = createRowChunks(tf, inOrderOf(validation, parts), network.rowsAtOnce);
  return {
    async judge() {
      const perPart = tf.tidy(() => {
        const outputs = chunks.map((x) => network.forward(x).outputs);
        let start = 0;
        const each = rows.map((part) => {
          const size = part.shares.shape[0];
          const ofPart = parts.length === 1 ? outputs : outputs.slice<Tensor2D>([0, start], [models, size]);
          start += size;
          return losses(ofPart, part);
        });
        return tf.stack(each);
      });
      try {
        const [values = new Float32Array(0)] = await readTogether(tf, [perPart]);
        return { scores: weightedMeans(values, shares, models) };
      } finally {
        perPart.dispose();
      }
    },
    dispose() {
      chunks.dispose();
      tf.dispose(rows.flatMap(({ labels, membership, shares: ofRows }) => [labels, membership, ofRows]));
    },
  };
}

/**
 * Returns the weighted mean over the parts for each model, [k], given the value of each part for each model, [parts,
 * k].
 */
function weightedMeans(values: Float32Array, shares: readonly number[], models: number): Float64Array {
  const means = new Float64Array(models);
  for (const [part, share] of shares.entries()) {
    for (let model = 0; model < models; model++) {
      means[model] = (means[model] as number) + share * (values[part * models + model] as number);
    }
  }
  return means;
}

/** Reorders the features of rows to match the order of the rows in the parts. Other fields are unchanged. */
function inOrderOf(rows: NetworkRows, parts: readonly Int32Array[]): NetworkRows {
  if (parts.length === 1) return rows;
  const { inputs } = rows;
  const x = new Float32Array(rows.x.length);
  let index = 0;
  for (const row of parts.flatMap((part) => [...part])) {
    x.set(rows.x.subarray(row * inputs, (row + 1) * inputs), index++ * inputs);
  }
  return { ...rows, x };
}

/** Scores models by their outputs on all rows, on the host. The rows stay on the network's device. */
function judgeOutputs(
  tf: Tf,
  network: StackedNetwork,
  { train, validation }: NetworkProblem,
  objective: OutputJudge,
): NetworkJudge {
  const chunks = [train, validation].map((rows) => createRowChunks(tf, rows, network.rowsAtOnce));
  return {
    async judge(epoch) {
      const outputs = tf.tidy(() => chunks.map((rows) => rows.map((x) => network.forward(x).outputs)));
      try {
        const values = await readTogether(tf, [...outputs, ...objective.watched]);
        const [ofTrain, ofValidation, ...watched] = values as [Float32Array, Float32Array, ...Float32Array[]];
        return objective.judge(epoch, { train: ofTrain, validation: ofValidation, watched });
      } finally {
        tf.dispose(outputs);
      }
    },
    dispose() {
      for (const rows of chunks) rows.dispose();
    },
  };
}

/** Options of {@link trainNetworks}, for any objective. */
export interface TrainNetworksOptions extends Omit<FilledNetworkOptions, 'backend'> {
  readonly onProgress?: OnProgress | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The result of training several networks together. */
export interface TrainedNetworks {
  /** The weights of each model at its best epoch. */
  readonly weights: readonly (readonly LayerWeights[])[];
  /** The best epoch of each model, from 1. */
  readonly bestEpochs: readonly number[];
  /** The number of rows per step. */
  readonly batchSize: number;
  /** The score of each model after each epoch, [epochs][k]. A lower score is better. */
  readonly losses: readonly (readonly number[])[];
  /** The outputs of each model for the held-out rows, [k, n]; an empty array if there are no held-out rows. */
  readonly heldOut: Float32Array;
}

/** The number of the random stream for the initial weights. The order of rows is drawn from a separate stream. */
const WEIGHT_STREAM = 1;
const ORDER_STREAM = 2;

/**
 * Trains k networks that process the same batches but may minimise different losses.
 *
 * The networks are trained with Adam on mini-batches. Each model is scored after each epoch, and its weights are saved
 * if the score is its best so far. The result contains the weights of each model's best epoch. Rows stay on the
 * network's device. Each epoch downloads only the values used for scoring. The best weights are downloaded at the end.
 * @throws {TrainingError} if a loss is not a finite number
 */
export async function trainNetworks(
  tf: Tf,
  problem: NetworkProblem,
  options: TrainNetworksOptions,
): Promise<TrainedNetworks> {
  const { train, objective, names } = problem;
  const models = names.length;
  const size = { models, inputs: train.inputs, hidden: options.hidden };
  const { judge: judgedBy } = objective;
  const maxRows = judgedBy.kind === 'losses' ? judgedBy.maxRows : undefined;
  const work = { rows: train.y.length, models, hidden: options.hidden, groups: train.groupCount, maxRows };
  const batchSize = chooseBatchSize(tf, options.batchSize, work);
  const random = createRandom(options.seed, ORDER_STREAM);
  const order = Int32Array.from(train.y, (_, row) => row);
  const patience = createPatience(models, options.patience);
  const losses: number[][] = [];
  const owned: { dispose(): void }[] = [];
  const own = <T extends { dispose(): void }>(one: T): T => {
    owned.push(one);
    return one;
  };
  let step = 0;
  try {
    const network = own(createStackedNetwork(tf, size, createRandom(options.seed, WEIGHT_STREAM)));
    const batches = own(createBatches(tf, train, batchSize));
    const judge = own(
      judgedBy.kind === 'outputs'
        ? judgeOutputs(tf, network, problem, judgedBy)
        : judgeLosses(tf, network, problem, judgedBy),
    );
    const adam = own(createAdam(tf, network.parameters, options));
    const best = own(createBestParameters(tf, network));
    const steps = options.epochs * batches.count;
    for (let epoch = 0; epoch < options.epochs && !patience.isOver(); epoch++) {
      shuffle(order, random);
      batches.reorder(order);
      for (let index = 0; index < batches.count; index++) {
        options.signal?.throwIfAborted();
        const rate = options.lr * scheduleFactor(options.schedule, step++ / steps);
        tf.tidy(() => {
          const { x, ...rows } = batches.take(index);
          const pass = network.forward(x);
          adam.step(pass.gradient(objective.slope(pass.outputs, rows)), rate);
          objective.afterStep?.(pass.outputs, rows);
        });
        if (step % STEPS_AT_ONCE === 0) await nextTurn();
      }
      const judgement = await judge.judge(epoch);
      losses.push(Array.from(judgement.scores));
      assertFinite(judgement.scores, names, patience.isResting, () => likelyCause(train, options.lr), epoch);
      best.take(patience.update(judgement));
      // Once every model has stopped, the remaining epochs are skipped.
      const done = patience.isOver() ? options.epochs : epoch + 1;
      options.onProgress?.({ stage: 'training', done, total: options.epochs });
      await nextTurn();
    }
    best.restore();
    const { weights, heldOut } = await readResult(tf, network, problem.heldOut);
    return { weights, bestEpochs: [...patience.bestEpochs], batchSize, losses, heldOut };
  } finally {
    for (const one of owned) one.dispose();
    releaseUnused(tf);
  }
}

/**
 * After this number of steps, training yields to the event loop, so that signals and timers can run. Training also
 * yields after each epoch.
 */
const STEPS_AT_ONCE = 200;

/** Reads the weights and the outputs for the held-out rows with one download from the device. */
async function readResult(
  tf: Tf,
  network: StackedNetwork,
  rows: NetworkRows | undefined,
): Promise<Pick<TrainedNetworks, 'weights' | 'heldOut'>> {
  const hasRows = rows !== undefined && rows.y.length > 0;
  const chunks = hasRows ? createRowChunks(tf, rows, network.rowsAtOnce) : undefined;
  const outputs: Tensor2D[] = [];
  try {
    if (chunks !== undefined) outputs.push(tf.tidy(() => chunks.map((x) => network.forward(x).outputs)));
    const [parameters, heldOut] = await readTogether(tf, [network.parameters, ...outputs]);
    return {
      weights: network.weightsOf(parameters ?? new Float32Array(0)),
      heldOut: heldOut ?? new Float32Array(0),
    };
  } finally {
    chunks?.dispose();
    tf.dispose(outputs);
  }
}

/**
 * Throws if a loss is not finite. If a model diverges after it has stopped early, this is not an error, because its
 * best weights are stored.
 */
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
  throw new TrainingError(`The loss of ${name} is not a number after epoch ${String(epoch + 1)}: ${cause()}.`, {
    context: { model: name, epoch: epoch + 1 },
    suggestion: 'Lower the learning rate (lr), and check the features for extreme values.',
  });
}

/**
 * Encoded features are standardised. A value more than this number of standard deviations from the mean is treated as
 * extreme.
 */
const EXTREME = 100;

/** Describes the most likely cause of a loss that is not finite. */
function likelyCause({ x }: NetworkRows, rate: number): string {
  const largest = x.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  if (largest > EXTREME) return `a feature lies ${largest.toFixed(0)} standard deviations from its mean`;
  return `a learning rate of ${String(rate)} is likely too high`;
}

/** The parameters of each model at its best epoch. */
interface BestParameters {
  /** Saves the current parameters of the models whose entry in `flags` is 1. Each model has one entry, 1 or 0. */
  take(flags: Uint8Array): void;
  /** Restores the best parameters into the network. */
  restore(): void;
  dispose(): void;
}

/** Creates a store for the best parameters, which at first contains the current parameters. */
function createBestParameters(tf: Tf, { parameters }: StackedNetwork): BestParameters {
  let best: Tensor = parameters.clone();
  return {
    take(flags) {
      const before = best;
      best = tf.tidy(() => {
        const isBetter = tf.tensor2d(Float32Array.from(flags), [flags.length, 1]).greater(0);
        return tf.where(isBetter.broadcastTo(parameters.shape), parameters, before);
      });
      before.dispose();
    },
    restore() {
      parameters.assign(best);
    },
    dispose() {
      best.dispose();
    },
  };
}

/** Early stopping, separately for each of k models. */
interface Patience {
  /** Records an epoch's scores. Returns 1 for each model whose score is its best so far, and 0 for the other models. */
  update(judgement: Judgement): Uint8Array;
  /** Returns whether a model has stopped early. */
  readonly isResting: (model: number) => boolean;
  /** Returns whether every model has stopped early. */
  isOver(): boolean;
  /** The epoch, from 1, with the best score of each model. */
  readonly bestEpochs: Uint32Array;
}

/** Creates the rule for early stopping: training stops after `patience` epochs without a better score. */
export function createPatience(models: number, patience: number): Patience {
  const best = new Float64Array(models).fill(Infinity);
  const waited = new Uint32Array(models);
  const bestEpochs = new Uint32Array(models);
  const isResting = (model: number): boolean => (waited[model] as number) >= patience;
  let epoch = 0;
  return {
    bestEpochs,
    isResting,
    update({ scores, mayRest }) {
      epoch++;
      return Uint8Array.from({ length: models }, (_, model) => {
        const score = scores[model] as number;
        if (isResting(model)) return 0;
        if (score < (best[model] as number)) {
          best[model] = score;
          waited[model] = 0;
          bestEpochs[model] = epoch;
          return 1;
        }
        if (mayRest?.[model] !== false) waited[model] = (waited[model] as number) + 1;
        return 0;
      });
    },
    isOver: () => waited.every((_, model) => isResting(model)),
  };
}

/** The rows and the objective of a training run. */
interface NetworkProblem {
  readonly train: NetworkRows;
  /** The rows used for early stopping. */
  readonly validation: NetworkRows;
  /** The rows to which the trained networks are applied. */
  readonly heldOut?: NetworkRows | undefined;
  /** The name of each model in errors, for example "eta 0.5"; one name per model. */
  readonly names: readonly string[];
  readonly objective: Objective;
}
