import { classFactors } from './class-weight.ts';
import { totalOf } from './estimator-rows.ts';
import type { FitOptions } from './estimator.ts';
import type { DesignBlocks } from './fitting/design-blocks.ts';
import { fitBlockModel } from './fitting/fit-block-model.ts';
import { oneClassFit } from './linear-model.ts';
import { certainFit, type LogisticFit, logisticFit, logisticTask } from './logistic-fit.ts';
import { LogisticRegression, startOf } from './logistic-regression.ts';

/** What to learn from rows in blocks: the label and the weight of the rows of each kind, [kinds]. */
export interface KindLabels {
  /** 0 or 1. */
  readonly labels: Uint8Array;
  /** 0 or more. */
  readonly weights: Float64Array;
}

/**
 * Fits a copy of a logistic regression to rows in blocks, on the host in float64, for any `precision`. The result
 * is that of `fit` on the same rows, up to rounding errors.
 * @throws {TrainingError} if the coefficients are not finite
 */
export async function fitLogisticBlocks(
  estimator: LogisticRegression,
  blocks: DesignBlocks,
  rows: KindLabels,
  options: Pick<FitOptions, 'startFrom' | 'signal'>,
): Promise<LogisticRegression> {
  const { coefficients, ...fit } = await solve(estimator, blocks, rows, options);
  const state = { ...fit, coefficients: [...coefficients] };
  return LogisticRegression.fromJSON({ ...estimator.toJSON(), state });
}

async function solve(
  estimator: LogisticRegression,
  blocks: DesignBlocks,
  { labels, weights }: KindLabels,
  { startFrom, signal }: Pick<FitOptions, 'startFrom' | 'signal'>,
): Promise<LogisticFit> {
  const columns = blocks.scales.shift.length;
  const totals = totalsOf(blocks.counts, labels, weights);
  totalOf(Float64Array.from(totals));
  const constant = oneClassFit(columns, totals);
  if (constant !== undefined) return certainFit(constant, totals);
  const factors = classFactors(estimator.classWeight, totals);
  const weighted = weights.map((weight, kind) => weight * factors[labels[kind] as 0 | 1]);
  const used = blocks.counts.reduce((sum, count, kind) => sum + ((weights[kind] as number) > 0 ? count : 0), 0);
  const [zero, one] = totalsOf(blocks.counts, labels, weighted);
  const mean = (zero + one) / used;
  const found = await fitBlockModel(
    blocks,
    { targets: Float64Array.from(labels, (label) => 2 * label - 1), weights: weighted.map((weight) => weight / mean) },
    logisticTask(estimator, [zero / mean, one / mean], mean, { startFrom: startOf(startFrom, columns), signal }),
  );
  return logisticFit(found, mean);
}

/** Returns the sums of the weights of class 0 and class 1. */
function totalsOf(counts: Float64Array, labels: Uint8Array, weights: Float64Array): [number, number] {
  const totals: [number, number] = [0, 0];
  for (const [kind, count] of counts.entries()) totals[labels[kind] as 0 | 1] += count * (weights[kind] as number);
  return totals;
}
