import { DataValidationError } from '../../exceptions/index.ts';
import { invalidParameter } from '../../internal/arguments.ts';
import { loadTensorflow, type NetworkRows, type Tf } from '../../tensor/index.ts';
import { assertComparableStream, describeStream } from '../data/describe-stream.ts';
import { loadBlock, type RowBlocks, countBlockRows } from '../data/row-blocks.ts';
import { readStreamTraining, type StreamTraining, type StreamTrainingSource } from '../data/stream-training.ts';
import { runNetwork } from '../networks/fitted-network.ts';
import { multiplicationsPerStep } from '../networks/network-options.ts';
import { planShards, trainShards } from '../networks/train-shards.ts';
import type { NetworkWeights } from '../networks/network-weights.ts';
import { assertPaths, finishSweep } from './finish-sweep.ts';
import { type JudgedOutputs, judgeOutputs } from './judge-outputs.ts';
import type { ParetoSweep } from './pareto-sweep.ts';
import { type FilledSweepOptions, notSent } from './sweep-options.ts';

/**
 * Trains the networks of a sweep on rows that are read as a stream. Each row is held out by itself, and an epoch reads
 * the training rows block by block.
 * @throws {ValueError} for options that need all rows at once: folds, a search for etas, and a network of your own
 */
export async function sweepStream(source: StreamTrainingSource, options: FilledSweepOptions): Promise<ParetoSweep> {
  const { etas, folds, network, onProgress, signal, trainSize, seed } = options;
  if (folds !== undefined) throw invalidParameter('folds', 'be left out if rows are read as a stream', folds);
  if (etas === 'auto') throw invalidParameter('etas', 'be a list of numbers if rows are read as a stream', etas);
  if (network !== undefined) throw invalidParameter('network', 'be left out if rows are read as a stream', network);
  if (options.queue !== undefined) throw notSent('source', 'a stream of rows');
  await assertPaths(options);
  const training = await readStreamTraining(source, {
    ...{ caller: 'sweepPareto', stopsEarly: true, trainSize, seed, onProgress, signal },
  });
  try {
    return await train(training, { ...options, etas });
  } finally {
    training.remove();
  }
}

async function train(
  training: StreamTraining,
  options: FilledSweepOptions & { readonly etas: readonly number[] },
): Promise<ParetoSweep> {
  const { etas, minGroupSize } = options;
  const { specs, groupLabels } = training;
  assertRows(training);
  assertComparableStream(training, minGroupSize);
  const workPerStep = etas.length * multiplicationsPerStep(training.train.inputs, options);
  const { tf, backend } = await loadTensorflow({ backend: options.backend, workPerStep });
  const rows = { rows: countBlockRows(training.train), groups: training.train.groupCount };
  const { parts, batchSize, shardOf } = planShards({ tf, backend }, rows, options);
  const validation = loadAll(training.validation);
  const trained = await trainShards(
    parts.map((own) => shardOf({ train: training.train, validation }, own)),
    options,
  );
  const weights = trained.flatMap((shard) => shard.weights);
  const judged = await judgeBlocks(tf, training, weights, options);
  return finishSweep(
    tf,
    {
      judged: judged.map((one) => [one]),
      ...{ etas, range: null, specs, weights, groupLabels, backend, batchSize },
      ...describeStream(training, minGroupSize, 'penalty'),
    },
    options,
  );
}

/** Counts the decisions of networks on the held-out rows, block by block. */
async function judgeBlocks(
  tf: Tf,
  { heldOut, specs, groupLabels }: StreamTraining,
  networks: readonly NetworkWeights[],
  { onProgress, signal }: FilledSweepOptions,
): Promise<JudgedOutputs[]> {
  const groupCount = groupLabels.length;
  const sums = networks.map((): { pairs: Float64Array; loss: number } => ({ pairs: new Float64Array(0), loss: 0 }));
  for (const [index, block] of heldOut.blocks.entries()) {
    signal?.throwIfAborted();
    const rows = loadBlock(heldOut, block);
    for (const [model, layers] of networks.entries()) {
      const outputs = await runNetwork(tf, { task: 'binary', specs, layers }, rows.x);
      const [own] = await judgeOutputs(tf, outputs, rows, { models: 1, groupCount });
      const sum = sums[model] as (typeof sums)[number];
      sum.loss += own?.loss ?? 0;
      sum.pairs = own?.pairs.map((count, pair) => count + (sum.pairs[pair] ?? 0)) ?? sum.pairs;
    }
    onProgress?.({ stage: 'evaluating', done: index + 1, total: heldOut.blocks.length });
  }
  return sums;
}

/** @throws {DataValidationError} if there are no rows to train on or for early stopping */
function assertRows({ train, validation }: StreamTraining): void {
  if (train.blocks.length > 0 && validation.blocks.length > 0) return;
  const rows = countBlockRows(train) + countBlockRows(validation);
  throw new DataValidationError(`There are too few rows to train on: ${String(rows)}.`, {
    code: 'too-few-rows',
    context: { rows },
    suggestion: 'Training, early stopping and testing each need rows; provide at least a few dozen.',
  });
}

function loadAll(rows: RowBlocks): NetworkRows {
  return loadBlock(rows, rows.blocks[0] as RowBlocks['blocks'][number]);
}
