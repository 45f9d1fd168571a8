import { computeMetric } from '../../metrics/compute-metric.ts';
import type { MetricResult } from '../../metrics/index.ts';
import { metricDefinition, metricKind } from '../../metrics/metric-definitions.ts';
import type { MetricOptions } from '../../metrics/options.ts';
import type { MetricRows } from '../../metrics/row-options.ts';
import type { CategoricalColumn } from '../../table/index.ts';
import { decide } from '../../training/estimators/estimator-rows.ts';
import { unfairness, type WorkflowMetrics } from '../workflow-result.ts';

/** The metrics that are always measured, in addition to the judged metric. */
const USUAL = {
  binary: ['demographic_parity_difference', 'equalized_odds_difference'],
  regression: ['mae_parity_difference', 'mean_prediction_difference'],
} as const;

/** Held-out rows: the true values and the groups. */
export interface JudgedRows {
  readonly task: 'binary' | 'regression';
  readonly y: Uint8Array | Float64Array;
  readonly attributes: Readonly<Record<string, CategoricalColumn>>;
}

/** The predictions of a model. */
export interface ModelOutputs {
  /** Decisions 0 or 1, or values: [rows]. */
  readonly decisions: Uint8Array | Float64Array;
  /** Probabilities of class 1; null for a regression. */
  readonly scores: Float64Array | null;
}

/** Converts the scores of a model to its predictions: to decisions by a threshold, or to the values of a regression. */
export function outputsOf(scores: Float64Array, task: JudgedRows['task'], threshold: number | null): ModelOutputs {
  if (task === 'regression') return { decisions: scores, scores: null };
  return { decisions: decide(scores, threshold ?? 0.5), scores };
}

/** Measures predictions with the default metrics of the task and the judged metric, for every attribute. */
export function measurePredictions(
  judged: string,
  rows: JudgedRows,
  outputs: ModelOutputs,
  options: MetricOptions,
): WorkflowMetrics {
  const names = [...new Set([judged, ...USUAL[rows.task]])];
  const attributes = Object.fromEntries(
    Object.entries(rows.attributes).map(([attribute, groups]) => [
      attribute,
      Object.freeze(
        Object.fromEntries(names.map((name) => [name, measureOne(name, rows.y, groups, outputs, options)])),
      ),
    ]),
  );
  return Object.freeze({ n: rows.y.length, ...quality(rows, outputs), ...withWorst(names, attributes) });
}

/** Returns the metrics of all attributes, and the worst value of each metric over all attributes. */
export function withWorst(
  names: readonly string[],
  attributes: WorkflowMetrics['attributes'],
): Pick<WorkflowMetrics, 'metrics' | 'attributes'> {
  const metrics = Object.fromEntries(names.map((name) => [name, worst(name, attributes)[1]]));
  return { metrics: Object.freeze(metrics), attributes: Object.freeze(attributes) };
}

/** Computes one metric of one attribute. */
export function measureOne(
  name: string,
  y: ArrayLike<number>,
  groups: CategoricalColumn,
  { decisions, scores }: ModelOutputs,
  options: MetricOptions,
): MetricResult {
  const isOfScores = metricKind(metricDefinition(name)) === 'scores';
  const rows: MetricRows = isOfScores
    ? { yTrue: y, yScore: scores ?? decisions, sensitive: groups }
    : { yTrue: y, yPred: decisions, sensitive: groups };
  return computeMetric(name, rows, options);
}

/** Returns the attribute farthest from parity; an attribute with an undefined metric counts as the farthest. */
export function worst(
  name: string,
  attributes: WorkflowMetrics['attributes'],
): readonly [attribute: string, result: MetricResult] {
  const all = Object.entries(attributes).map(
    ([attribute, metrics]) => [attribute, metrics[name] as MetricResult] as const,
  );
  const size = ([, result]: (typeof all)[number]): number =>
    Number.isNaN(result.value) ? Infinity : unfairness(name, result.value);
  return all.reduce((most, next) => (size(next) > size(most) ? next : most));
}

/** Returns the accuracy of decisions, or the mean absolute error of values. */
export function quality(
  { y, task }: JudgedRows,
  { decisions }: ModelOutputs,
): Pick<WorkflowMetrics, 'accuracy' | 'meanAbsoluteError'> {
  let sum = 0;
  for (let row = 0; row < y.length; row++) {
    const error = Math.abs((y[row] as number) - (decisions[row] as number));
    sum += task === 'binary' ? Number(error === 0) : error;
  }
  const mean = sum / y.length;
  return task === 'binary' ? { accuracy: mean, meanAbsoluteError: null } : { accuracy: null, meanAbsoluteError: mean };
}
