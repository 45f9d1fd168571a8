import { invalidParameter } from '../../internal/arguments.ts';
import { loadTensorflow } from '../../tensor/index.ts';
import { assertComparableStream, describeStream } from '../data/describe-stream.ts';
import { loadBlock, type RowBlocks } from '../data/row-blocks.ts';
import { readStreamTraining, type StreamTraining, type StreamTrainingSource } from '../data/stream-training.ts';
import { addToSums, type DecisionQuality, type DecisionSums, emptySums, judgeSums } from '../decision-quality.ts';
import { createDesignBlocks, type DesignBlocks } from '../estimators/fitting/design-blocks.ts';
import { fitLogisticBlocks } from '../estimators/logistic-blocks.ts';
import type { LogisticRegression } from '../estimators/logistic-regression.ts';
import { pauseBetweenBlocks } from '../estimators/pause.ts';
import { fitReductionBlocks, requireBlockEstimator } from '../reductions/fit-blocks.ts';
import { THRESHOLD } from '../reductions/oracle.ts';
import { countSelected } from '../reductions/pose-block-problem.ts';
import type { ReductionsWrapper } from '../reductions/reductions-wrapper.ts';
import { assertModelPath } from './fit-job.ts';
import type { FilledJobOptions } from './job-options.ts';
import type { FittedReduction, ReductionModels } from './reduce-tables.ts';

/**
 * Fits and evaluates the models of `trainReductions` on rows that are read as a stream. Each row is held out by itself.
 * @throws {ValueError} for folds and estimators, which need all rows at once
 */
export async function reduceStream(
  source: StreamTrainingSource,
  models: ReductionModels,
  options: FilledJobOptions,
): Promise<FittedReduction> {
  const { folds, trainSize, seed, onProgress, signal } = options;
  if (folds !== undefined) throw invalidParameter('folds', 'be left out if rows are read as a stream', folds);
  const estimator = requireBlockEstimator(models.estimator);
  signal?.throwIfAborted();
  await assertModelPath(options);
  const reading = { caller: 'trainReductions', stopsEarly: false, trainSize, seed, onProgress, signal };
  const training = await readStreamTraining(source, reading);
  try {
    assertComparableStream(training, options.minGroupSize);
    const { backend } = await loadTensorflow({ backend: models.backend });
    const blocks = await prepareBlocks(training, source.temporaryFolder, options);
    try {
      return { ...(await fit(training, blocks, { ...models, estimator }, options)), backend };
    } finally {
      blocks.remove();
    }
  } finally {
    training.remove();
  }
}

/** Prepares the training rows, which a fit reads many times. */
async function prepareBlocks(
  { train, counts }: StreamTraining,
  folder: string | undefined,
  { onProgress, signal }: FilledJobOptions,
): Promise<DesignBlocks> {
  const blocks = await createDesignBlocks({
    columns: train.inputs,
    blocks: train.blocks.length,
    counts: counts.train.subarray(0, 2 * train.groupCount),
    folder,
    load(block) {
      const { x, y, groups } = loadBlock(train, train.blocks[block] as RowBlocks['blocks'][number]);
      return {
        x: { rows: y.length, columns: train.inputs, values: x },
        kinds: groups.map((group, row) => 2 * group + (y[row] as number)),
      };
    },
    async beforeBlock(done, total) {
      onProgress?.({ stage: 'preparing rows', done, total });
      await pauseBetweenBlocks(signal);
    },
  });
  onProgress?.({ stage: 'preparing rows', done: 1, total: 1 });
  return blocks;
}

async function fit(
  training: StreamTraining,
  blocks: DesignBlocks,
  models: ReductionModels & { readonly estimator: LogisticRegression },
  options: FilledJobOptions,
): Promise<Omit<FittedReduction, 'backend'>> {
  const { onProgress, signal, minGroupSize } = options;
  const { counts } = blocks;
  const ofTraining = { labels: Uint8Array.from(counts, (_, kind) => kind % 2), weights: counts.map(() => 1) };
  const baseline = await fitLogisticBlocks(models.estimator, blocks, ofTraining, { signal });
  const groups = training.groupLabels.slice(0, training.train.groupCount);
  const { wrapper, selected } = await fitReductionBlocks(models.options, blocks, groups, { onProgress, signal });
  // The search may end before the maximum number of iterations, so completion is reported here.
  onProgress?.({ stage: 'exponentiated gradient', done: 1, total: 1 });
  const judgeTraining = (own: Float64Array): DecisionQuality =>
    judgeSums({ rows: counts, selected: own }, groups, options);
  const train = Object.freeze({
    baseline: judgeTraining(await countSelected(baseline, blocks, signal)),
    final: judgeTraining(selected),
  });
  const heldOut = await sumHeldOut(training, { baseline, wrapper }, options);
  const { described, groups: sizes, warnings } = describeStream(training, minGroupSize, 'constraint');
  return {
    wrapper,
    specs: training.specs,
    judged: {
      baseline: judgeSums(heldOut.baseline, training.groupLabels, options),
      final: judgeSums(heldOut.final, training.groupLabels, options),
      train,
    },
    described: { ...described, groups: sizes },
    warnings: [...models.notesOf(baseline), ...wrapper.result.warnings, ...warnings],
  };
}

/** Sums the decisions of both models on the held-out rows, block by block. */
async function sumHeldOut(
  { heldOut, groupLabels }: StreamTraining,
  { baseline, wrapper }: { readonly baseline: LogisticRegression; readonly wrapper: ReductionsWrapper },
  { onProgress, signal }: FilledJobOptions,
): Promise<{ readonly baseline: DecisionSums; readonly final: DecisionSums }> {
  const sums = { baseline: emptySums(groupLabels.length), final: emptySums(groupLabels.length) };
  for (const [index, block] of heldOut.blocks.entries()) {
    await pauseBetweenBlocks(signal);
    const { x, y, groups, inputs } = loadBlock(heldOut, block);
    const matrix = { rows: y.length, columns: inputs, values: x };
    addToSums(sums.baseline, await baseline.predict(matrix, { threshold: THRESHOLD }), y, groups);
    addToSums(sums.final, await wrapper.predictProba(matrix), y, groups);
    onProgress?.({ stage: 'evaluating', done: index + 1, total: heldOut.blocks.length });
  }
  return sums;
}
