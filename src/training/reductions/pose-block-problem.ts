import { ConstantClassifier } from '../estimators/constant-classifier.ts';
import type { DesignBlocks } from '../estimators/fitting/design-blocks.ts';
import { toScaled } from '../estimators/fitting/column-scales.ts';
import { fitLogisticBlocks, type KindLabels } from '../estimators/logistic-blocks.ts';
import type { LogisticRegression } from '../estimators/logistic-regression.ts';
import { pauseBetweenBlocks } from '../estimators/pause.ts';
import { sigmoid } from '../logistic.ts';
import { poseCellProblem } from './cell-problem.ts';
import type { ConstraintSettings } from './constraint-options.ts';
import { gapOfNoise } from './exponentiated-gradient.ts';
import { assertFiniteTotal, type Oracle, THRESHOLD } from './oracle.ts';
import type { RowProblem } from './reduction-problem.ts';

/** The learner's rows: a label and a weight for each kind of rows, 2 x group + label. */
interface BlockOracleRows extends KindLabels {
  /** The label of all rows with a weight above 0; null if both labels occur. */
  readonly onlyLabel: 0 | 1 | null;
}

/** A problem whose rows are in blocks. Predictions are the numbers of rows of each kind with the decision 1. */
export type BlockProblem = RowProblem<BlockOracleRows, Float64Array>;

/**
 * Sets up the optimization problem of a constraint on decisions, from the numbers of rows by group and label.
 * @param counts the number of rows of each kind, 2 x group + label
 * @throws {DataValidationError} if a parity constraint has fewer than two groups
 */
export function poseBlockProblem(
  settings: ConstraintSettings,
  groups: readonly string[],
  counts: Float64Array,
): BlockProblem {
  const isParity = settings.constraint !== 'bounded_group_loss';
  const kindOf = (kind: number): number => (isParity ? kind : kind - (kind % 2));
  const weights = new Float64Array(counts.length);
  for (const [kind, count] of counts.entries()) (weights[kindOf(kind)] as number) += count;
  const problem = poseCellProblem(settings, {
    ...{ groups, levels: undefined, weights, firstRows: undefined },
    totalWeight: counts.reduce((sum, count) => sum + count, 0),
    groupWeights: Float64Array.from(groups, (_, group) => countOf(2 * group) + countOf(2 * group + 1)),
    groupTruths: Float64Array.from(groups, (_, group) => countOf(2 * group + 1)),
  });
  const { cellOf, totalWeight, shares } = problem.cells;
  const cells = Int32Array.from(counts, (_, kind) => cellOf[kindOf(kind)] as number);
  const errorsOf = (kind: number, selected: number): number => (kind % 2 === 0 ? selected : countOf(kind) - selected);
  return {
    ...problem,
    respond(multipliers, withObjective) {
      const factors = problem.factors(multipliers, withObjective);
      const own = Float64Array.from(cells, (cell) => factors[cell] as number);
      const labels = Uint8Array.from(own, (factor, kind) => (problem.relabels ? Number(factor > 0) : kind % 2));
      return { labels, weights: own.map(Math.abs), onlyLabel: problem.relabels ? onlyLabelOf(own, counts) : null };
    },
    evaluate(selected) {
      const sums = new Float64Array(shares.length);
      for (const [kind, count] of selected.entries()) {
        (sums[cells[kind] as number] as number) += isParity ? count : errorsOf(kind, count);
      }
      return problem.evaluateSums(sums.map((sum) => sum / totalWeight));
    },
    automaticGap(selected) {
      const mean = selected.reduce((sum, count, kind) => sum + errorsOf(kind, count), 0) / totalWeight;
      // Errors are 0 or 1, so that their mean determines their variance.
      return gapOfNoise(mean * (1 - mean), totalWeight);
    },
  };

  function countOf(kind: number): number {
    return counts[kind] as number;
  }
}

/** Returns the label of all rows with a factor other than 0; null if both labels occur. */
function onlyLabelOf(factors: Float64Array, counts: Float64Array): 0 | 1 | null {
  const has = (isWanted: (factor: number) => boolean): boolean =>
    factors.some((factor, kind) => isWanted(factor) && (counts[kind] as number) > 0);
  const [zero, one] = [has((factor) => factor < 0), has((factor) => factor > 0)];
  if (zero && one) return null;
  return one ? 1 : 0;
}

/** Creates an oracle that fits copies of a logistic regression to rows in blocks. */
export function createBlockOracle(
  estimator: LogisticRegression,
  blocks: DesignBlocks,
  signal: AbortSignal | undefined,
): Oracle<BlockOracleRows, Float64Array> {
  const { counts } = blocks;
  return async ({ labels, weights, onlyLabel }, startFrom, scaledTo) => {
    const total = weights.reduce((sum, weight, kind) => sum + weight * (counts[kind] as number), 0);
    assertFiniteTotal(total);
    const factor = scaledTo === undefined || total === 0 ? 1 : scaledTo / total;
    const isConstant = onlyLabel !== null;
    const predictor = isConstant
      ? new ConstantClassifier(onlyLabel)
      : await fitLogisticBlocks(
          estimator,
          blocks,
          { labels, weights: weights.map((weight) => weight * factor) },
          { startFrom, signal },
        );
    return { predictor, predictions: await countSelected(predictor, blocks, signal), isConstant };
  };
}

/** Returns the number of rows of each kind for which a predictor decides 1. */
export async function countSelected(
  predictor: LogisticRegression | ConstantClassifier,
  { scales, sizes, counts, load }: DesignBlocks,
  signal: AbortSignal | undefined,
): Promise<Float64Array> {
  if (predictor instanceof ConstantClassifier) return counts.map((count) => count * predictor.probability);
  const { coefficients, intercept } = predictor;
  const c = toScaled({ coefficients, intercept }, scales);
  const scores = new Float64Array(Math.max(...sizes));
  const selected = new Float64Array(counts.length);
  for (const block of sizes.keys()) {
    await pauseBetweenBlocks(signal);
    const { design, kinds } = load(block);
    design.score(c, scores);
    for (let row = 0; row < design.rows; row++) {
      const kind = kinds[row] as number;
      if (sigmoid(scores[row] as number) >= THRESHOLD) selected[kind] = (selected[kind] as number) + 1;
    }
  }
  return selected;
}
