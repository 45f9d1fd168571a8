import { TrainingError } from '../../exceptions/index.ts';
import { assertKnownOptions } from '../../internal/arguments.ts';
import type { MetricOptions } from '../../metrics/options.ts';
import {
  type DetectorReport,
  parsePipelineConfig,
  type PipelineConfigInput,
  runDetectors,
} from '../../pipeline/index.ts';
import { readTable, type Table, type TableSource, takeRows } from '../../table/index.ts';
import { encodedWidth, encodeFeatures, type FeatureSpec, fitFeatures } from '../../training/data/feature-encoder.ts';
import type { Estimator } from '../../training/estimators/estimator.ts';
import { LinearRegression } from '../../training/estimators/linear-regression.ts';
import { LogisticRegression } from '../../training/estimators/logistic-regression.ts';
import type { KindStatistics } from '../measure-attributes.ts';
import type { WorkflowMetrics, WorkflowSplit } from '../workflow-result.ts';
import { type JudgedRows, measurePredictions, type ModelOutputs, outputsOf } from './measure-predictions.ts';
import { describeSplit, type RowSplit, splitWorkflow } from './split-workflow.ts';
import type { EncodedRows } from './training-methods.ts';
import {
  BASELINE_OPTION_NAMES,
  type BaselineOptions,
  type FilledWorkflowOptions,
  fillWorkflowOptions,
} from './workflow-options.ts';
import { readWorkflowRows, takeClusters, type WorkflowRows } from './workflow-rows.ts';

/** The result of the first step. */
export interface Baseline {
  /**
   * The encoding of features. The encoding is learned from the training rows in this step, and later steps apply it
   * unchanged.
   */
  readonly specs: readonly FeatureSpec[];
  readonly model: Estimator;
  readonly outputs: ModelOutputs;
  readonly metrics: WorkflowMetrics;
  /** What the metrics were computed from. */
  readonly statistics: readonly KindStatistics[];
  readonly warnings: readonly string[];
}

/** Runs step 1: learns the encoding, trains without a constraint, and measures on the held-out rows. */
export async function measureBaseline(
  rows: WorkflowRows,
  { train, test }: RowSplit,
  options: FilledWorkflowOptions,
): Promise<Baseline> {
  const { signal, onProgress, decisionThreshold } = options;
  onProgress?.({ stage: 'baseline', done: 0, total: 1 });
  const { specs, warnings } = fitFeatures(rows.table.take(train), rows.features);
  const encode = (part: Int32Array): EncodedRows['x'] => encodeRows(rows.table.take(part), specs).x;
  const model = await createModel(rows, options).fit(encode(train), takeValues(rows.y, train), { signal });
  const x = encode(test);
  const scores = rows.task === 'binary' ? await model.predictProba(x) : Float64Array.from(await model.predict(x));
  const outputs = outputsOf(scores, rows.task, decisionThreshold);
  const measured = measurePredictions(rows.metric, judgedRows(rows, test), outputs, metricOptions(options));
  onProgress?.({ stage: 'baseline', done: 1, total: 1 });
  return { specs, model, outputs, ...measured, warnings };
}

/** Returns the true values and groups of the given rows, for the metrics. */
export function judgedRows({ task, y, attributes, clusters }: WorkflowRows, part: Int32Array): JudgedRows {
  return {
    task,
    y: takeValues(y, part),
    attributes: Object.fromEntries(Object.entries(attributes).map(([name, groups]) => [name, takeRows(groups, part)])),
    clusters: clusters && takeClusters(clusters, part),
  };
}

/** Returns the metric options of a workflow. */
export function metricOptions({ minGroupSize, randomState }: FilledWorkflowOptions): MetricOptions {
  return { minGroupSize, seed: randomState };
}

/** Returns the values of the given rows. */
export function takeValues<Values extends Uint8Array | Float64Array>(values: Values, rows: Int32Array): Values {
  return values.slice(0, rows.length).map((_, index) => values[rows[index] as number] as number) as Values;
}

function createModel({ task }: WorkflowRows, { classWeight }: FilledWorkflowOptions): Estimator {
  // The model is trained on the host, so that the baseline does not depend on the backend.
  return task === 'regression'
    ? new LinearRegression({ precision: 'float64' })
    : new LogisticRegression({ precision: 'float64', classWeight });
}

/** Encodes rows with an encoding that was learned before. */
export function encodeRows(table: Table, specs: readonly FeatureSpec[]): EncodedRows {
  const own = table.select(specs.map(({ name }) => name));
  return { table: own, x: { rows: own.rowCount, columns: encodedWidth(specs), values: encodeFeatures(own, specs) } };
}

/**
 * Returns an encoding without the columns that the pipeline removed.
 * @throws {TrainingError} if no column remains
 */
export function remainingFeatures(specs: readonly FeatureSpec[], table: Table): readonly FeatureSpec[] {
  const remaining = specs.filter(({ name }) => table.has(name));
  if (remaining.length > 0) return remaining;
  throw new TrainingError('The pipeline dropped every feature, so there is nothing to train on.', {
    context: { features: specs.map(({ name }) => name) },
    suggestion: 'Raise the threshold of ProxyDropper, or limit it by max_drop.',
  });
}

/** The result of {@link runBaselineMeasurement}. */
export interface BaselineMeasurement {
  /** The findings of the detectors in the data. */
  readonly detectorReport: DetectorReport;
  /** Metrics of an unconstrained model on held-out rows; null without a training section. */
  readonly baselineMetrics: WorkflowMetrics | null;
  /** The partition of the rows; null without a training section. */
  readonly split: WorkflowSplit | null;
  readonly warnings: readonly string[];
}

/**
 * Runs the detectors on the data and, if the configuration has a training section, measures the fairness of an
 * unconstrained model. The model is a logistic regression, or a linear regression for a regression metric.
 * `executeWorkflow` with the same options has the same split, encoding and model in its first step.
 * @throws {ConfigValidationError} if the configuration has errors
 * @throws {DataValidationError} if the data cannot be used for training
 * @throws {ValueError} if a metric is unknown or a value is out of range
 * @example
 * ```ts
 * import { runBaselineMeasurement, sampleData } from 'evenhand';
 *
 * const { baselineMetrics, split } = await runBaselineMeasurement(
 *   {
 *     sensitive: ['gender'],
 *     features: ['education', 'experience', 'union'],
 *     training: { method: 'reductions', targetColumn: 'wage_above_median' },
 *     fairnessMetric: 'demographic_parity_difference',
 *   },
 *   sampleData('cps-wages'),
 *   { trainSize: 0.75 },
 * );
 * console.log(split?.test.length, Object.keys(baselineMetrics?.metrics ?? {}));
 * // 133 [ 'demographic_parity_difference', 'equalized_odds_difference' ]
 * ```
 */
export async function runBaselineMeasurement(
  config: PipelineConfigInput,
  data: TableSource,
  options: BaselineOptions = {},
): Promise<BaselineMeasurement> {
  assertKnownOptions('runBaselineMeasurement', options, BASELINE_OPTION_NAMES);
  const parsed = parsePipelineConfig(config);
  const filled = fillWorkflowOptions(options);
  const { signal, onProgress } = filled;
  signal?.throwIfAborted();
  const table = await readTable(data);
  const detectorReport = await runDetectors(table, parsed, { signal, onProgress });
  if (parsed.training === undefined) {
    return Object.freeze({ detectorReport, baselineMetrics: null, split: null, warnings: Object.freeze([]) });
  }
  const rows = readWorkflowRows(parsed, table);
  const split = splitWorkflow(rows, filled);
  const { metrics, warnings } = await measureBaseline(rows, split, filled);
  return Object.freeze({
    detectorReport,
    baselineMetrics: metrics,
    split: describeSplit(split, rows, filled),
    warnings: Object.freeze([...rows.warnings, ...warnings]),
  });
}
