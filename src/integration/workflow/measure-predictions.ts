import { computeMetric, metricOf, reduceRows } from '../../metrics/compute-metric.ts';
import type { MetricResult } from '../../metrics/index.ts';
import { metricDefinition, metricKind } from '../../metrics/metric-definitions.ts';
import type { MetricOptions } from '../../metrics/options.ts';
import type { MetricRows } from '../../metrics/row-options.ts';
import type { GroupStats } from '../../metrics/statistics/group-stats.ts';
import type { CategoricalColumn } from '../../table/index.ts';
import { decide } from '../../training/estimators/estimator-rows.ts';
import type { AttributeStatistics, KindStatistics } from '../measure-attributes.ts';
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
  /** The clusters of dependent rows; undefined if all rows are independent. */
  readonly clusters?: RowClusters | undefined;
}

/** The codes of clusters and strata, [rows]. */
export interface RowClusters {
  /** Undefined if each row is a cluster. */
  readonly cluster?: Int32Array | undefined;
  readonly strata?: Int32Array | undefined;
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

/** The metrics of predictions, and the statistics that they were computed from. */
export interface MeasuredPredictions {
  readonly metrics: WorkflowMetrics;
  readonly statistics: readonly KindStatistics[];
}

/** Measures predictions with the default metrics of the task and the judged metric, for every attribute. */
export function measurePredictions(
  judged: string,
  rows: JudgedRows,
  outputs: ModelOutputs,
  options: MetricOptions,
): MeasuredPredictions {
  const { task, attributes, clusters } = rows;
  const names = measuredNames(judged, task);
  const kinds = [...new Set(names.map((name) => metricKind(metricDefinition(name))))];
  const statistics = kinds.map((kind): KindStatistics => {
    const groups = Object.values(attributes);
    // The accuracy of all rows needs the clusters of all rows: those of groups do not add up.
    if (clusters !== undefined && kind === 'classification') groups.push(allRows(rows.y.length));
    return [
      kind,
      groups.map((sensitive) => ({ stats: countOutputs(kind, rows, outputs, sensitive), crossed: undefined })),
    ];
  });
  const metrics = metricsOfStatistics(names, Object.keys(attributes), statistics, options);
  return { metrics: Object.freeze({ n: rows.y.length, ...quality(rows, outputs), ...metrics }), statistics };
}

/** Returns the names of the metrics that a workflow measures. */
export function measuredNames(judged: string, task: JudgedRows['task']): string[] {
  return [...new Set([judged, ...USUAL[task]])];
}

/** One group of all rows. */
function allRows(count: number): CategoricalColumn {
  return { kind: 'categorical', codes: new Int32Array(count), labels: [ALL_ROWS] };
}

const ALL_ROWS = 'all rows';

function countOutputs(
  kind: GroupStats['kind'],
  { y, clusters }: JudgedRows,
  { decisions, scores }: ModelOutputs,
  sensitive: CategoricalColumn,
): GroupStats {
  const values: Partial<MetricRows> = kind === 'scores' ? { yScore: scores ?? decisions } : { yPred: decisions };
  return reduceRows(kind, { ...values, yTrue: y, sensitive, ...clusters }, 'executeWorkflow');
}

/** Computes the metrics of every attribute from statistics. */
export function metricsOfStatistics(
  names: readonly string[],
  attributes: readonly string[],
  statistics: readonly KindStatistics[],
  options: MetricOptions,
): Pick<WorkflowMetrics, 'metrics' | 'attributes' | 'accuracyCi'> {
  const byKind = new Map(statistics);
  const measured = attributes.map((attribute, index) => {
    const results = names.map((name) => {
      const { stats } = byKind.get(metricKind(metricDefinition(name)))?.[index] as AttributeStatistics;
      return [name, metricOf(name, stats, options)] as const;
    });
    return [attribute, Object.freeze(Object.fromEntries(results))] as const;
  });
  const all = byKind.get('classification')?.[attributes.length]?.stats;
  return {
    ...withWorst(names, Object.fromEntries(measured)),
    ...(all === undefined ? {} : { accuracyCi: accuracyCiOf(all) }),
  };
}

/** Returns the interval of the accuracy of all rows, which are one group. */
function accuracyCiOf(all: GroupStats): readonly [number, number] | null {
  const { perGroupCi } = metricOf('accuracy_difference', all, { minGroupSize: 1 });
  return perGroupCi?.[ALL_ROWS]?.['accuracy'] ?? null;
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
