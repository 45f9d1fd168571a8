import { setImmediate as nextTurn } from 'node:timers/promises';

import type { Tensor, Tensor2D } from '@tensorflow/tfjs';

import { TrainingError } from '../../exceptions/index.ts';
import type { OnProgress } from '../../internal/progress.ts';
import { createRandom, shuffle } from '../../internal/random.ts';
import {
  type BatchRows,
  type BatchSize,
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
import type { Judgement, LossJudge, Objective, OutputJudge } from './objective.ts';
import { createStackedNetwork, type LayerWeights, type StackedNetwork } from './stacked-network.ts';

/** The names of how a learning rate may change over the epochs. */
export const SCHEDULES = ['constant', 'linear', 'cosine'] as const;

/** One of {@link SCHEDULES}. */
export type Schedule = (typeof SCHEDULES)[number];

/** What is left of a learning rate after a share of the steps, from 1 to 0; `constant` stays at 1. */
export function scheduleFactor(schedule: Schedule, done: number): number {
  if (schedule === 'linear') return 1 - done;
  return schedule === 'cosine' ? (1 + Math.cos(Math.PI * done)) / 2 : 1;
}

/** The prime behind multiplicative hashing, 2^32 over the golden ratio. */
const SPREAD = 2654435761;

/**
 * The numbers 0 to n - 1 in parts of nearly equal size, at most `most`. Several
 * parts are dealt out evenly over the rows, so that their order decides nothing.
 */
export function rowParts(rows: number, most = rows): Int32Array[] {
  const count = Math.max(1, Math.ceil(rows / most));
  const all = Int32Array.from({ length: rows }, (_, row) => row);
  if (count > 1) all.sort((a, b) => Math.imul(a, SPREAD) - Math.imul(b, SPREAD));
  const bounds = Array.from({ length: count + 1 }, (_, part) => Math.round((part * rows) / count));
  return bounds.slice(1).map((end, part) => all.subarray(bounds[part], end));
}

/** Judges networks after each epoch, with one reading of the device. */
interface NetworkJudge {
  judge(epoch: number): Promise<Judgement>;
  dispose(): void;
}

/** Makes the judge that an objective asks for; what it needs of the rows stays where the network is. */
function createNetworkJudge(
  tf: Tf,
  network: StackedNetwork,
  { objective, train, validation, names }: NetworkProblem,
): NetworkJudge {
  const { judge } = objective;
  if (judge.kind === 'outputs') return judgeOutputs(tf, network, train, validation, judge);
  return judgeLosses(tf, network, validation, judge, names.length);
}

/** By the mean loss of each model on the validation rows. */
function judgeLosses(
  tf: Tf,
  network: StackedNetwork,
  validation: NetworkRows,
  { losses, mostRows }: LossJudge,
  models: number,
): NetworkJudge {
  const parts = rowParts(validation.y.length, mostRows ?? mostTogether(tf, validation, models));
  const rows: BatchRows[] = parts.map((picked) => takeBatchRows(tf, validation, picked));
  const whole = weightOf(validation);
  const shares = parts.map((picked) => weightOf(validation, picked) / whole);
  // Part after part, so that the outputs of each lie together.
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

/** The most rows whose membership and outputs are tensors of the backend. */
function mostTogether(tf: Tf, { groupCount }: NetworkRows, models: number): number {
  return Math.max(1, Math.floor(largestTensor(tf) / Math.max(groupCount, models)));
}

/** The mean of each model over parts, [k], from [parts, k]. */
function weightedMeans(values: Float32Array, shares: readonly number[], models: number): Float64Array {
  const means = new Float64Array(models);
  for (const [part, share] of shares.entries()) {
    for (let model = 0; model < models; model++) {
      means[model] = (means[model] as number) + share * (values[part * models + model] as number);
    }
  }
  return means;
}

/** Rows in another order; only what goes through a network. */
function inOrderOf(rows: NetworkRows, parts: readonly Int32Array[]): NetworkRows {
  if (parts.length === 1) return rows;
  const { inputs } = rows;
  const x = new Float32Array(rows.x.length);
  let place = 0;
  for (const row of parts.flatMap((part) => [...part])) {
    x.set(rows.x.subarray(row * inputs, (row + 1) * inputs), place++ * inputs);
  }
  return { ...rows, x };
}

/** By what each model gives all rows, on the host. */
function judgeOutputs(
  tf: Tf,
  network: StackedNetwork,
  train: NetworkRows,
  validation: NetworkRows,
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

/** How networks are trained, whatever they minimise. */
export interface TrainNetworksOptions {
  readonly epochs: number;
  /** Adam's learning rate. */
  readonly lr: number;
  readonly batchSize: BatchSize;
  readonly hidden: readonly number[];
  /** A model rests after so many epochs without a better validation loss. */
  readonly patience: number;
  readonly weightDecay: number;
  readonly schedule: Schedule;
  readonly seed: number;
  readonly onProgress?: OnProgress | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Networks that were trained together. */
export interface TrainedNetworks {
  /** The weights of each model at its best epoch. */
  readonly weights: readonly (readonly LayerWeights[])[];
  /** The best epoch of each model, from 1. */
  readonly bestEpochs: readonly number[];
  /** Rows that a step learned from. */
  readonly batchSize: number;
  /** How each model was judged after each epoch, [epochs][k]; lower is better. */
  readonly losses: readonly (readonly number[])[];
  /** What each model gives the held-out rows, [k, n]; empty without any. */
  readonly heldOut: Float32Array;
}

/** Weight initialisation and row order draw from streams of their own. */
const WEIGHT_STREAM = 1;
const ORDER_STREAM = 2;

/**
 * Trains k networks that see the same batches, and differ in what they minimise.
 *
 * Adam on mini-batches; after each epoch every model is judged, and its weights
 * kept where it is at its best, so that each model ends at its own best epoch.
 * Rows stay where the network is. Nothing is read from there but what the
 * judgement takes, once per epoch, and the best weights in the end.
 * @throws {TrainingError} where a loss stops being a number
 */
export async function trainNetworks(
  tf: Tf,
  problem: NetworkProblem,
  options: TrainNetworksOptions,
): Promise<TrainedNetworks> {
  const { train, objective, names } = problem;
  const models = names.length;
  const size = { models, inputs: train.inputs, hidden: options.hidden };
  const batchSize = batchSizeOf(tf, problem, options);
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
    const judge = own(createNetworkJudge(tf, network, problem));
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
      // Where no model learns on, nothing is left to do.
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

/** Steps between which signals and timers are let through, besides the end of an epoch. */
const STEPS_AT_ONCE = 200;

/** How many rows a step learns from. */
function batchSizeOf(
  tf: Tf,
  { train, objective, names }: Pick<NetworkProblem, 'train' | 'objective' | 'names'>,
  { batchSize, hidden }: Pick<TrainNetworksOptions, 'batchSize' | 'hidden'>,
): number {
  const mostRows = objective.judge.kind === 'losses' ? objective.judge.mostRows : undefined;
  const work = { rows: train.y.length, models: names.length, hidden, groups: train.groupCount, mostRows };
  return chooseBatchSize(tf, batchSize, work);
}

/** The weights, and what the networks give the held-out rows, by one reading of the device. */
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
    suggestion: 'Lower the learning rate (lr), and check the features for extreme values.',
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

/** The parameters of each model where it was at its best. */
interface BestParameters {
  /** Takes the parameters of the models that are at their best now: [k], 1 or 0 each. */
  take(flags: Uint8Array): void;
  /** Gives the network back what was best. */
  restore(): void;
  dispose(): void;
}

/** Starts with the parameters as they are. */
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

/** Early stopping of k models apart. */
interface Patience {
  /** Takes an epoch's judgement and tells which models are at their best yet: 1 or 0 each. */
  update(judgement: Judgement): Uint8Array;
  /** Whether a model has run out of patience. */
  readonly isResting: (model: number) => boolean;
  /** Whether every model has run out of patience. */
  isOver(): boolean;
  /** The epoch, from 1, at which each model was best. */
  readonly bestEpochs: Uint32Array;
}

/** Lets a model rest after so many epochs without a better score. */
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

/** What to train and on what. */
interface NetworkProblem {
  readonly train: NetworkRows;
  /** Rows that decide when to stop. */
  readonly validation: NetworkRows;
  /** Rows to apply the networks to in the end. */
  readonly heldOut?: NetworkRows | undefined;
  /** What each model is called in errors: "eta 0.5"; one name per model. */
  readonly names: readonly string[];
  readonly objective: Objective;
}
