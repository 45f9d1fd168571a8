import { cellIndex, type ClassificationStats, sumCells } from '../metrics/group-stats.ts';
import { demographicParityDifferenceOf } from '../metrics/demographic-parity-difference.ts';
import { equalizedOddsDifferenceOf } from '../metrics/equalized-odds-difference.ts';
import { reduceClassification } from '../metrics/reduce-rows.ts';
import { type Interval, wilsonInterval } from '../stats/index.ts';
import type { CategoricalColumn } from '../table/index.ts';

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
  const dp = demographicParityDifferenceOf(stats, metricOptions);
  const eo = equalizedOddsDifferenceOf(stats, { ...metricOptions, withCi: false });
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
  const total = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0);
  return { right: total(sumCells(stats.counts, [cellIndex(0, 0), cellIndex(1, 1)])), rows: total(stats.counts) };
}

/** Mean of log(1 + exp(-x)) for positives and log(1 + exp(x)) for negatives. */
function meanCrossEntropy(logits: Float32Array, y: Uint8Array): number {
  let sum = 0;
  for (let row = 0; row < y.length; row++) {
    const x = (logits[row] as number) * (y[row] === 1 ? 1 : -1);
    sum += Math.log1p(Math.exp(-Math.abs(x))) + Math.max(-x, 0);
  }
  return sum / y.length;
}
