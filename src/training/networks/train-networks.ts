import { setImmediate as nextTurn } from 'node:timers/promises';

import type { Tensor2D } from '@tensorflow/tfjs';

import { TrainingError } from '../../exceptions/index.ts';
import type { OnProgress } from '../../internal/progress.ts';
import { createRandom, shuffle } from '../../internal/random.ts';
import {
  type BatchSize,
  chooseBatchSize,
  createAdam,
  createBatches,
  createRowChunks,
  type NetworkRows,
  readTogether,
  releaseUnused,
  type Tf,
} from '../../tensor/index.ts';
import { createBestParameters } from './best-parameters.ts';
import { createNetworkJudge } from './judge-networks.ts';
import { type Schedule, scheduleFactor } from './learning-rate.ts';
import type { NetworkProblem } from './network-problem.ts';
import { createPatience } from './patience.ts';
import { createStackedNetwork, type LayerWeights, type StackedNetwork } from './stacked-network.ts';

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
