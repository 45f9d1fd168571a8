import type { Tensor, Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import { TrainingError } from '../../exceptions/index.ts';
import { nextTurn } from '../../internal/next-turn.ts';
import type { OnProgress } from '../../internal/progress.ts';
import { createRandom, type Random, shuffle } from '../../internal/random.ts';
import {
  areTensors,
  type Batches,
  type BatchRows,
  chooseBatchSize,
  countRows,
  createAdam,
  createBatches,
  createRowChunks,
  groupColumnTable,
  largestTensor,
  type NetworkData,
  partShares,
  readTogether,
  releaseUnused,
  type Slice,
  takeBatchRows,
  type Tf,
} from '../../tensor/index.ts';
import { areInFile, countBlockRows, loadBlock, type RowBlocks } from '../data/row-blocks.ts';
import { eventCells } from './fairness-events.ts';
import type { FilledNetworkOptions, Schedule } from './network-options.ts';
import type { Judgement, LossJudge, Objective, SumsJudge } from './objective.ts';
import { createStackedNetwork, type TrainableNetworks } from './stacked-network.ts';
import type { NetworkWeights } from './network-weights.ts';
import { createUserNetwork, type UserNetworkSpec } from './user-network.ts';

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
  network: TrainableNetworks,
  { validation, names }: Pick<NetworkProblem, 'validation' | 'names'>,
  { losses, maxRows }: LossJudge,
): NetworkJudge {
  const models = names.length;
  // The parts are so small that the membership and the outputs of all rows of a part fit into the backend's tensors.
  const most = Math.max(1, Math.floor(largestTensor(tf) / Math.max(validation.groupCount, models)));
  const parts = rowParts(countRows(validation), maxRows ?? most);
  const rows: BatchRows[] = parts.map((picked) => takeBatchRows(tf, validation, picked));
  const weights = partShares(tf, validation, parts);
  // The rows are in the order of the parts, so that the outputs of each part are contiguous.
  const chunks = createRowChunks(tf, validation, network.rowsAtOnce, inOrderOf(parts));
  return {
    async judge() {
      const means = tf.tidy(() => {
        const outputs = chunks.map((x) => network.forward(x).outputs);
        let start = 0;
        const each = rows.map((part) => {
          const size = part.shares.shape[0];
          const ofPart = parts.length === 1 ? outputs : outputs.slice<Tensor2D>([0, start], [models, size]);
          start += size;
          return losses(ofPart, part);
        });
        return parts.length === 1 ? (each[0] as Tensor) : tf.matMul(weights, tf.stack<Tensor>(each));
      });
      try {
        const [scores = new Float32Array(0)] = await readTogether(tf, [means]);
        return { scores };
      } finally {
        means.dispose();
      }
    },
    dispose() {
      chunks.dispose();
      weights.dispose();
      tf.dispose(rows.flatMap(({ labels, membership, shares: ofRows }) => [labels, membership, ofRows]));
    },
  };
}

/** Concatenates the rows of parts. A single part has all rows in their own order, which needs no list. */
function inOrderOf(parts: readonly Int32Array[]): Int32Array | undefined {
  if (parts.length === 1) return undefined;
  const order = new Int32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let start = 0;
  for (const part of parts) {
    order.set(part, start);
    start += part.length;
  }
  return order;
}

/** Scores one model by sums over all rows, which are computed on the network's device. */
function judgeSums(
  tf: Tf,
  network: TrainableNetworks,
  { train, validation }: NetworkProblem,
  objective: SumsJudge,
): NetworkJudge {
  const parts = [train, validation].map((rows) => ({
    chunks: createRowChunks(tf, rows, network.rowsAtOnce),
    ...summedColumns(tf, rows),
  }));
  return {
    async judge(epoch) {
      const tables = tf.tidy(() =>
        parts.map(({ chunks, labels, cells, weights, cellCount }) => {
          const outputs = chunks.map((x) => network.forward(x).outputs).flatten();
          const rows = { rows: labels.size, cells: cellCount, codesOf: (slice: Slice) => slice(cells) };
          return groupColumnTable(tf, rows, objective.columns, (slice) => {
            const columns = objective.columnsOf(slice(outputs), slice(labels));
            return weights === undefined ? columns : columns.map((column) => column.mul<Tensor1D>(slice(weights)));
          });
        }),
      );
      try {
        const values = await readTogether(tf, [...tables, ...objective.watched]);
        const [ofTrain, ofValidation, ...watched] = values as [Float32Array, Float32Array, ...Float32Array[]];
        const columnsOf = (table: Float32Array): Float32Array[] =>
          Array.from({ length: objective.columns }, (_, column) => {
            const size = table.length / objective.columns;
            return table.subarray(column * size, (column + 1) * size);
          });
        return objective.judge(epoch, { train: columnsOf(ofTrain), validation: columnsOf(ofValidation), watched });
      } finally {
        tf.dispose(tables);
      }
    },
    dispose() {
      for (const { chunks, labels, cells, weights } of parts) {
        chunks.dispose();
        tf.dispose([labels, cells, ...(weights === undefined ? [] : [weights])]);
      }
    },
  };
}

/** The columns of rows by which outputs are summed, [n] each. */
interface SummedColumns {
  readonly labels: Tensor1D;
  /** The cell of each row's group and label, int32. */
  readonly cells: Tensor1D;
  readonly weights: Tensor1D | undefined;
  readonly cellCount: number;
}

function summedColumns(tf: Tf, rows: NetworkData): SummedColumns {
  const labels = areTensors(rows) ? rows.y.flatten() : tf.tensor1d(rows.y);
  const ofRows = areTensors(rows) ? rows.weights?.flatten() : rows.weights && tf.tensor1d(rows.weights);
  const cells = tf.tidy(() => {
    const groups = areTensors(rows) ? rows.groups.flatten() : tf.tensor1d(Float32Array.from(rows.groups));
    // The cells of `eventCell`.
    return groups.add(1).mul(2).add(labels.equal(1).cast('float32')).cast<Tensor1D>('int32');
  });
  return { labels, cells, weights: ofRows, cellCount: eventCells(rows.groupCount) };
}

/** Options of {@link trainNetworks}, for any objective. */
export interface TrainNetworksOptions extends Omit<FilledNetworkOptions, 'backend' | 'network'> {
  readonly onProgress?: OnProgress | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The result of training several networks together. */
export interface TrainedNetworks {
  /** The weights of each model at its best epoch. */
  readonly weights: readonly NetworkWeights[];
  /** The best epoch of each model, from 1. */
  readonly bestEpochs: readonly number[];
  /** The number of rows per step. */
  readonly batchSize: number;
  /** The score of each model after each epoch, [epochs][k]. A lower score is better. */
  readonly losses: readonly (readonly number[])[];
  /**
   * The outputs of each model for the held-out rows, [k, n]; empty if there are no held-out rows. If the rows are
   * tensors, so are the outputs, and the caller disposes of them.
   */
  readonly heldOut: Float32Array | Tensor2D;
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
  problem: NetworkProblem<NetworkData | RowBlocks>,
  options: TrainNetworksOptions,
): Promise<TrainedNetworks> {
  const { train, objective, names } = problem;
  const models = names.length;
  const size = { models, inputs: train.inputs, hidden: options.hidden };
  const { judge: judgedBy } = objective;
  const maxRows = judgedBy.kind === 'losses' ? judgedBy.maxRows : undefined;
  const rows = areInFile(train) ? countBlockRows(train) : countRows(train);
  const work = { rows, models, hidden: options.hidden, groups: train.groupCount, maxRows };
  const batchSize = chooseBatchSize(tf, options.batchSize, work);
  const patience = createPatience(models, options.patience);
  const losses: number[][] = [];
  const owned: { dispose(): void }[] = [];
  const own = <T extends { dispose(): void }>(one: T): T => {
    owned.push(one);
    return one;
  };
  let step = 0;
  try {
    const network = own(
      problem.network === undefined
        ? createStackedNetwork(tf, size, createRandom(options.seed, WEIGHT_STREAM))
        : await createUserNetwork(tf, problem.network, train.inputs, options.seed),
    );
    const passes = own(createPasses(tf, train, batchSize, createRandom(options.seed, ORDER_STREAM)));
    const judge = own(
      judgedBy.kind === 'sums'
        ? judgeSums(tf, network, { ...problem, train: inMemory(train) }, judgedBy)
        : judgeLosses(tf, network, problem, judgedBy),
    );
    const adam = own(createAdam(tf, network.parameters, options));
    const best = own(createBestParameters(tf, network));
    const steps = options.epochs * passes.steps;
    const total = options.epochs * passes.parts;
    for (let epoch = 0; epoch < options.epochs && !patience.isOver(); epoch++) {
      for (const [part, batches] of passes.next()) {
        for (let index = 0; index < batches.count; index++) {
          options.signal?.throwIfAborted();
          const rate = options.lr * scheduleFactor(options.schedule, step++ / steps);
          tf.tidy(() => {
            const { x, ...ofBatch } = batches.take(index);
            const { outputs, gradient } = network.learn(x, (given) => objective.slope(given, ofBatch));
            adam.step(gradient, rate);
            objective.afterStep?.(outputs, ofBatch);
          });
          if (step % STEPS_AT_ONCE === 0) await nextTurn();
        }
        if (part + 1 < passes.parts) {
          options.onProgress?.({ stage: 'training', done: epoch * passes.parts + part + 1, total });
          await nextTurn();
        }
      }
      const judgement = await judge.judge(epoch);
      losses.push(Array.from(judgement.scores));
      await assertFinite(
        judgement.scores,
        names,
        patience.isResting,
        () => likelyCause(tf, areInFile(train) ? problem.validation : train, options.lr),
        epoch,
      );
      best.take(patience.update(judgement));
      // Once every model has stopped, the remaining epochs are skipped.
      const done = patience.isOver() ? total : (epoch + 1) * passes.parts;
      options.onProgress?.({ stage: 'training', done, total });
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

/** The training rows, once per epoch in another order. */
interface Passes {
  /** The number of steps of an epoch. */
  readonly steps: number;
  /** The number of parts of an epoch, each of which is in memory at once. */
  readonly parts: number;
  /** Returns the batches of each part, for the next epoch. */
  next(): Iterable<readonly [part: number, batches: Batches]>;
  dispose(): void;
}

/**
 * Creates the passes over training rows. Rows in memory are one part, which is shuffled. Rows in a file are read block by
 * block: the order of the blocks and the order of the rows of each block are shuffled.
 */
function createPasses(tf: Tf, rows: NetworkData | RowBlocks, batchSize: number, random: Random): Passes {
  if (areInFile(rows)) return passesOfBlocks(tf, rows, batchSize, random);
  const order = inOrder(countRows(rows));
  const batches = createBatches(tf, rows, batchSize);
  return {
    steps: batches.count,
    parts: 1,
    next() {
      shuffle(order, random);
      batches.reorder(order);
      return [[0, batches]];
    },
    dispose() {
      batches.dispose();
    },
  };
}

function passesOfBlocks(tf: Tf, rows: RowBlocks, batchSize: number, random: Random): Passes {
  const { blocks } = rows;
  const order = inOrder(blocks.length);
  return {
    steps: blocks.reduce((sum, block) => sum + Math.ceil(block.rows / batchSize), 0),
    parts: blocks.length,
    *next() {
      shuffle(order, random);
      for (const [part, index] of order.entries()) {
        const block = loadBlock(rows, blocks[index] as RowBlocks['blocks'][number]);
        const batches = createBatches(tf, block, batchSize);
        try {
          const ofBlock = inOrder(countRows(block));
          shuffle(ofBlock, random);
          batches.reorder(ofBlock);
          yield [part, batches];
        } finally {
          batches.dispose();
        }
      }
    },
    dispose: () => undefined,
  };
}

function inOrder(rows: number): Int32Array {
  return Int32Array.from({ length: rows }, (_, row) => row);
}

/** Returns rows that an objective needs in memory. */
function inMemory(rows: NetworkData | RowBlocks): NetworkData {
  if (areInFile(rows)) throw new Error('An objective that sums over the training rows needs them in memory.');
  return rows;
}

/**
 * After this number of steps, training yields to the event loop, so that signals and timers can run. Training also
 * yields after each epoch.
 */
const STEPS_AT_ONCE = 200;

/** Reads the weights and the outputs for the held-out rows with one download from the device. */
async function readResult(
  tf: Tf,
  network: TrainableNetworks,
  rows: NetworkData | undefined,
): Promise<Pick<TrainedNetworks, 'weights' | 'heldOut'>> {
  const chunks = rows && countRows(rows) > 0 ? createRowChunks(tf, rows, network.rowsAtOnce) : undefined;
  const outputs = chunks && tf.tidy(() => chunks.map((x) => network.forward(x).outputs));
  const keepsOutputs = rows !== undefined && areTensors(rows);
  let isRead = false;
  try {
    const read = await readTogether(
      tf,
      outputs && !keepsOutputs ? [network.parameters, outputs] : [network.parameters],
    );
    const [parameters = new Float32Array(0), values = new Float32Array(0)] = read;
    const weights = await network.weightsOf(parameters);
    isRead = true;
    return { weights, heldOut: keepsOutputs && outputs ? outputs : values };
  } finally {
    chunks?.dispose();
    if (!isRead || !keepsOutputs) tf.dispose(outputs ?? []);
  }
}

/**
 * Throws if a loss is not finite. If a model diverges after it has stopped early, this is not an error, because its
 * best weights are stored.
 */
async function assertFinite(
  scores: ArrayLike<number>,
  names: readonly string[],
  isResting: (model: number) => boolean,
  cause: () => Promise<string>,
  epoch: number,
): Promise<void> {
  const broken = names.findIndex((_, model) => !isResting(model) && !Number.isFinite(scores[model]));
  if (broken < 0) return;
  const name = names[broken] ?? '';
  throw new TrainingError(`The loss of ${name} is not a number after epoch ${String(epoch + 1)}: ${await cause()}.`, {
    context: { model: name, epoch: epoch + 1 },
    suggestion: 'Lower the learning rate (lr), and check the features for extreme values.',
  });
}

/**
 * Encoded features are standardised. A value more than this number of standard deviations from the mean is treated as
 * extreme.
 */
const EXTREME = 100;

/** Describes the most likely cause of an infinite loss. */
async function likelyCause(tf: Tf, rows: NetworkData, rate: number): Promise<string> {
  const largest = await largestFeature(tf, rows);
  if (largest > EXTREME) return `a feature lies ${largest.toFixed(0)} standard deviations from its mean`;
  return `a learning rate of ${String(rate)} is likely too high`;
}

async function largestFeature(tf: Tf, rows: NetworkData): Promise<number> {
  if (!areTensors(rows)) return rows.x.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const largest = tf.tidy(() => rows.x.abs().max());
  try {
    return (await largest.data())[0] ?? 0;
  } finally {
    largest.dispose();
  }
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
function createBestParameters(tf: Tf, { parameters }: TrainableNetworks): BestParameters {
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
interface NetworkProblem<Train = NetworkData> {
  readonly train: Train;
  /** The rows used for early stopping. */
  readonly validation: NetworkData;
  /** The rows to which the trained networks are applied. */
  readonly heldOut?: NetworkData | undefined;
  /** The name of each model in errors, for example "eta 0.5"; one name per model. */
  readonly names: readonly string[];
  readonly objective: Objective;
  /** The user's own network, if there is one model; plain networks of `hidden` units if omitted. */
  readonly network?: UserNetworkSpec | undefined;
}
