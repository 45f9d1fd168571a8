import { invalidParameter } from '../../internal/arguments.ts';
import type { OnProgress } from '../../internal/progress.ts';
import type { Estimator } from '../estimators/estimator.ts';
import type { DesignBlocks } from '../estimators/fitting/design-blocks.ts';
import { LogisticRegression } from '../estimators/logistic-regression.ts';
import { exponentiatedGradient } from './exponentiated-gradient.ts';
import { createBlockOracle, poseBlockProblem } from './pose-block-problem.ts';
import { reductionFit } from './reduction-fit.ts';
import { fitToJson, optionsToJson, REDUCTIONS_KIND } from './reductions-json.ts';
import { parseReductions, type ReductionsOptions } from './reductions-options.ts';
import { ReductionsWrapper } from './reductions-wrapper.ts';

/**
 * Returns the estimator if it can be fitted to rows in blocks.
 * @throws {ValueError} if it is not a `LogisticRegression`
 */
export function requireBlockEstimator(estimator: Estimator): LogisticRegression {
  // A subclass may fit in another way.
  if (estimator instanceof LogisticRegression && Object.getPrototypeOf(estimator) === LogisticRegression.prototype)
    return estimator;
  throw invalidParameter(
    'estimator',
    'be a LogisticRegression if rows are read as a stream, because it is fitted block by block',
    estimator.constructor.name,
  );
}

/** The result of {@link fitReductionBlocks}. */
interface BlockFit {
  readonly wrapper: ReductionsWrapper;
  /** The expected number of training rows of each kind for which the mixture decides 1. */
  readonly selected: Float64Array;
}

/**
 * Fits a reduction to rows in blocks. Memory holds one block at a time.
 * @param groups the labels of the groups. The kinds of the blocks are 2 x group + label
 * @throws {DataValidationError} if a parity constraint has fewer than two groups
 * @throws {TrainingError} if the estimator fails
 */
export async function fitReductionBlocks(
  options: ReductionsOptions,
  blocks: DesignBlocks,
  groups: readonly string[],
  { onProgress, signal }: { readonly onProgress: OnProgress | undefined; readonly signal: AbortSignal | undefined },
): Promise<BlockFit> {
  const { estimator, constraint, ...search } = parseReductions(options);
  const problem = poseBlockProblem(constraint, groups, blocks.counts);
  const ask = createBlockOracle(requireBlockEstimator(estimator), blocks, signal);
  const selectedBy = new Map<Estimator, Float64Array>();
  const oracle: typeof ask = async (...given) => {
    const answer = await ask(...given);
    selectedBy.set(answer.predictor, answer.predictions);
    return answer;
  };
  const fit = reductionFit(problem, await exponentiatedGradient(problem, oracle, { ...search, onProgress }));
  const selected = new Float64Array(blocks.counts.length);
  for (const [index, predictor] of fit.predictors.entries()) {
    const weight = fit.weights[index] as number;
    selectedBy.get(predictor)?.forEach((count, kind) => {
      selected[kind] = (selected[kind] as number) + weight * count;
    });
  }
  const json = { kind: REDUCTIONS_KIND, params: optionsToJson(options), state: fitToJson(fit) };
  return { wrapper: ReductionsWrapper.fromJSON(json), selected };
}
