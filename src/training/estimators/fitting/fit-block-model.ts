import { pauseBetweenBlocks } from '../pause.ts';
import type { DesignBlocks } from './design-blocks.ts';
import { type FittedLinearModel, type LinearTask, minimiseLoss } from './fit-linear-model.ts';
import { FLOAT64, type LossProblem } from './loss-problem.ts';
import type { RowLoss } from './row-loss.ts';

/** The target and the weight of the rows of each kind, [kinds]. The weights are 0 or more. */
export interface KindTargets {
  readonly targets: Float64Array;
  readonly weights: Float64Array;
}

/** The number of blocks from which the first one is fitted alone, to find a start for the fit of all rows. */
const MIN_BLOCKS = 4;

/** The minimum number of rows of the first block for each parameter. With fewer rows, its minimum is far away. */
const ROWS_PER_PARAMETER = 10;

/** The tolerance of the fit of the first block, which differs from the fit of all rows by more than this anyway. */
const SAMPLE_GAIN = 1e-8;

/** The maximum number of steps of the fit of the first block. */
const SAMPLE_ITERATIONS = 20;

/**
 * Minimises a penalised loss of a linear score on rows in blocks, in float64. Memory holds one block at a time.
 * @throws {TrainingError} if the loss or the result is not finite
 */
export async function fitBlockModel(
  blocks: DesignBlocks,
  rows: KindTargets,
  task: LinearTask,
): Promise<FittedLinearModel> {
  const { sizes, scales } = blocks;
  const isSampled = sizes.length >= MIN_BLOCKS && (sizes[0] ?? 0) >= ROWS_PER_PARAMETER * (scales.shift.length + 1);
  const sample = isSampled ? await fitSample(blocks, rows, task) : undefined;
  // A loss without a minimum, or with many, would lead to other parameters than a fit in memory.
  const isUnique = sample !== undefined && !sample.isDrifting && !sample.isSingular;
  const startFrom = isUnique ? sample : task.startFrom;
  const problem = createBlockProblem(blocks, rows, { ...task, blocks: sizes.length });
  return minimiseLoss(problem, scales, { ...task, startFrom });
}

/** Fits the first block alone. A block is a random sample, so that its minimum is near that of all rows. */
async function fitSample(blocks: DesignBlocks, rows: KindTargets, task: LinearTask): Promise<FittedLinearModel> {
  const share = (blocks.sizes[0] ?? 0) / blocks.rows;
  const weight = blocks.counts.reduce((sum, count, kind) => sum + count * (rows.weights[kind] as number), 0);
  return minimiseLoss(createBlockProblem(blocks, rows, { ...task, blocks: 1 }), blocks.scales, {
    ...task,
    l2: task.l2 * share,
    origin: { intercept: task.origin.intercept, loss: task.origin.loss * share },
    maxIterations: Math.min(task.maxIterations, SAMPLE_ITERATIONS),
    minGain: SAMPLE_GAIN * weight * share,
  });
}

/** Creates the problem of the first blocks. */
function createBlockProblem(
  { scales, sizes, load }: DesignBlocks,
  { targets, weights }: KindTargets,
  {
    loss,
    signal,
    blocks,
  }: { readonly loss: RowLoss; readonly signal: AbortSignal | undefined; readonly blocks: number },
): LossProblem {
  const parameters = scales.shift.length + 1;
  const most = Math.max(...sizes);
  const [scores, ofTargets, ofWeights, residuals, curvatures] = Array.from(
    { length: 5 },
    () => new Float64Array(most),
  ) as [Float64Array, Float64Array, Float64Array, Float64Array, Float64Array];
  return {
    ...FLOAT64,
    parameters,
    async evaluate(c, withProducts) {
      const gradient = new Float64Array(parameters);
      const products = withProducts ? new Float64Array(parameters ** 2) : undefined;
      let sum = 0;
      for (let block = 0; block < blocks; block++) {
        await pauseBetweenBlocks(signal);
        const { design, kinds } = load(block);
        const { rows } = design;
        for (let row = 0; row < rows; row++) {
          const kind = kinds[row] as number;
          ofTargets[row] = targets[kind] as number;
          ofWeights[row] = weights[kind] as number;
        }
        const own = scores.subarray(0, rows);
        design.score(c, own);
        sum += loss.onHost(own, ofTargets, ofWeights, { residuals, curvatures });
        design.addGradient(residuals, gradient);
        if (products !== undefined) design.addProducts(curvatures.subarray(0, rows), products);
      }
      return { loss: sum, gradient, products };
    },
    dispose: () => undefined,
  };
}
