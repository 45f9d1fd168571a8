import { metricOf } from '../metrics/compute-metric.ts';
import { cellIndex, type ClassificationStats, sum, sumCells } from '../metrics/statistics/group-stats.ts';
import { reduceClassification } from '../metrics/reduce/reduce-classification.ts';
import { type Interval, wilsonInterval } from '../stats/proportion-interval.ts';
import type { CategoricalColumn } from '../table/index.ts';
import { crossEntropy } from './logistic.ts';

/** What a model's decisions on held-out rows come to. */
export interface DecisionQuality {
  readonly accuracy: number;
  readonly accuracyCi: Interval;
  readonly dpDiff: number;
  readonly dpDiffCi: Interval | null;
  readonly eoDiff: number;
  readonly loss: number;
}

/** The level of the intervals around a sweep's points. */
const POINT_CI_LEVEL = 0.95;

/**
 * Judges one model's logits: decisions are logit >= 0, so probability >= 0.5.
 * @param logits [n]
 * @param y [n], 0 or 1
 */
export function evaluateDecisions(
  logits: Float32Array,
  y: Uint8Array,
  groups: CategoricalColumn,
  options: { readonly minGroupSize: number; readonly seed: number },
): DecisionQuality {
  const yPred = Uint8Array.from(logits, (logit) => Number(logit >= 0));
  const stats = reduceClassification({ yPred, yTrue: y, sensitive: groups });
  const { right, rows } = countRight(stats);
  const metricOptions = { ...options, ciLevel: POINT_CI_LEVEL, withEffectSize: false };
  const dp = metricOf('demographic_parity_difference', stats, metricOptions);
  const eo = metricOf('equalized_odds_difference', stats, { ...metricOptions, withCi: false });
  return {
    accuracy: right / rows,
    accuracyCi: wilsonInterval(right, rows, POINT_CI_LEVEL),
    dpDiff: dp.value,
    dpDiffCi: dp.ci,
    eoDiff: eo.value,
    loss: meanCrossEntropy(logits, y),
  };
}

function countRight(stats: ClassificationStats): { right: number; rows: number } {
  return { right: sum(sumCells(stats.counts, [cellIndex(0, 0), cellIndex(1, 1)])), rows: sum(stats.counts) };
}

function meanCrossEntropy(logits: Float32Array, y: Uint8Array): number {
  let total = 0;
  for (let row = 0; row < y.length; row++) total += crossEntropy(logits[row] as number, y[row] as number);
  return total / y.length;
}
