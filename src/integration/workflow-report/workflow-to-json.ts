import type { SnakeFields } from '../../internal/arguments.ts';
import { finiteOrNull, own } from '../../internal/values.ts';
import type { MetricResult, MetricResultJson } from '../../metrics/index.ts';
import { pipelineConfigToJson } from '../../pipeline/config/pipeline-config-json.ts';
import type { Verdict } from '../assertions.ts';
import type { ValidationResult, WorkflowFindings, WorkflowMetrics, WorkflowSplit } from '../workflow-result.ts';

/** The metrics of one step of a workflow as JSON. */
export interface WorkflowMetricsJson extends SnakeFields<
  Pick<WorkflowMetrics, 'n' | 'accuracy' | 'meanAbsoluteError'>
> {
  /** The 95% interval of the accuracy, if the rows come in clusters. */
  readonly accuracy_ci?: readonly [number, number] | null;
  /** The metrics by name. With several attributes, each metric has its worst value over the attributes. */
  readonly metrics: Readonly<Record<string, MetricResultJson>>;
  readonly attributes: Readonly<Record<string, Readonly<Record<string, MetricResultJson>>>>;
}

/** The verdict as JSON. An undefined value is null, with its reason. */
export interface WorkflowValidationJson extends SnakeFields<Verdict>, Pick<ValidationResult, 'metric' | 'attribute'> {
  readonly baseline_metric_value: number | null;
  readonly baseline_undefined_reason: string | null;
  readonly final_metric_value: number | null;
  readonly final_undefined_reason: string | null;
  /** 100 (final - baseline) / |baseline|, negative if unfairness falls. */
  readonly improvement_percent: number | null;
}

/** The content of `workflow_results.json`. */
export interface WorkflowJson extends SnakeFields<Pick<WorkflowFindings, PlainFinding>> {
  readonly validation: WorkflowValidationJson;
  readonly baseline_metrics: WorkflowMetricsJson;
  readonly final_metrics: WorkflowMetricsJson;
  readonly config: Readonly<Record<string, unknown>>;
  readonly method: string | null;
  readonly target: string | null;
  readonly split: SnakeFields<Pick<WorkflowSplit, 'nDropped' | 'trainSize' | 'seed'>> & {
    readonly n_train: number;
    readonly n_test: number;
  };
  readonly trade_off: readonly Readonly<Record<string, unknown>>[];
}

/** The findings whose values are the same in JSON. */
type PlainFinding =
  | 'seed'
  | 'transformersApplied'
  | 'task'
  | 'positiveLabel'
  | 'constraint'
  | 'classWeight'
  | 'decisionThreshold'
  | 'minGroupSize'
  | 'features'
  | 'warnings';

/**
 * Converts the findings of a workflow to plain JSON with snake_case keys. The JSON contains no time, so two runs with
 * the same seed are equal byte for byte.
 *
 * An undefined value is null. The reason is in `undefined_reason` of the metric, and in `baseline_undefined_reason` and
 * `final_undefined_reason` of the verdict.
 * @example
 * ```ts
 * import { executeWorkflow, sampleData } from 'evenhand';
 * import { workflowToJson } from 'evenhand/integration';
 *
 * const result = await executeWorkflow(
 *   {
 *     sensitive: ['gender'],
 *     features: ['education', 'experience', 'union'],
 *     pipeline: [{ name: 'reweigh', transformer: 'ReweighingTransformer' }],
 *     training: { method: 'reductions', targetColumn: 'wage_above_median' },
 *     validationThreshold: 0.3,
 *   },
 *   sampleData('cps-wages'),
 * );
 * const { validation, split } = workflowToJson(result);
 * console.log(validation.passed, validation.metric, split.n_test);
 * // true demographic_parity_difference 107
 * ```
 */
export function workflowToJson(findings: WorkflowFindings): WorkflowJson {
  const { config, split, features } = findings;
  return {
    ...workflowPartsToJson(findings),
    config: pipelineConfigToJson(config),
    seed: findings.seed,
    transformers_applied: findings.transformersApplied,
    task: findings.task,
    method: config.training?.method ?? null,
    target: config.training?.targetColumn ?? null,
    positive_label: findings.positiveLabel,
    constraint: findings.constraint,
    class_weight: findings.classWeight,
    decision_threshold: findings.decisionThreshold,
    min_group_size: findings.minGroupSize,
    split: {
      n_train: split.train.length,
      n_test: split.test.length,
      n_dropped: split.nDropped,
      train_size: split.trainSize,
      seed: split.seed,
    },
    features,
    trade_off: findings.tradeOff.map(({ label, accuracy, unfairness, kind }) => ({
      label,
      kind,
      accuracy: finiteOrNull(accuracy),
      unfairness: finiteOrNull(unfairness),
    })),
    warnings: findings.warnings,
  };
}

function validationToJson({ validation, baselineMetrics, finalMetrics }: JudgedFindings): WorkflowValidationJson {
  const { metric, verdict } = validation;
  return {
    passed: validation.passed,
    status: verdict.status,
    metric,
    attribute: validation.attribute,
    baseline_metric_value: finiteOrNull(validation.baselineMetricValue),
    baseline_undefined_reason: reasonOf(baselineMetrics, validation),
    final_metric_value: finiteOrNull(validation.finalMetricValue),
    final_undefined_reason: reasonOf(finalMetrics, validation),
    threshold: validation.threshold,
    comparator: verdict.comparator,
    improvement_percent: finiteOrNull(validation.improvementPercent),
    message: validation.message,
    straddles: verdict.straddles,
    unevenly_missing: verdict.unevenlyMissing,
  };
}

/** The metrics of both models, and the verdict. */
type JudgedFindings = Pick<WorkflowFindings, 'validation' | 'baselineMetrics' | 'finalMetrics'>;

/** Returns the verdict and the metrics of both models as JSON. */
export function workflowPartsToJson(
  findings: JudgedFindings,
): Pick<WorkflowJson, 'validation' | 'baseline_metrics' | 'final_metrics'> {
  return {
    validation: validationToJson(findings),
    baseline_metrics: metricsToJson(findings.baselineMetrics),
    final_metrics: metricsToJson(findings.finalMetrics),
  };
}

/** Returns the reason why the judged metric is undefined in a step of the workflow; null if the metric is defined. */
function reasonOf({ metrics }: WorkflowMetrics, { metric }: ValidationResult): string | null {
  return own(metrics, metric)?.undefinedReason ?? null;
}

function metricsToJson(of: WorkflowMetrics): WorkflowMetricsJson {
  const { n, accuracy, accuracyCi, meanAbsoluteError, metrics, attributes } = of;
  return {
    n,
    accuracy,
    ...(accuracyCi === undefined ? {} : { accuracy_ci: accuracyCi }),
    mean_absolute_error: meanAbsoluteError,
    metrics: resultsToJson(metrics),
    attributes: Object.fromEntries(Object.entries(attributes).map(([name, results]) => [name, resultsToJson(results)])),
  };
}

function resultsToJson(results: Readonly<Record<string, MetricResult>>): Record<string, MetricResultJson> {
  return Object.fromEntries(Object.entries(results).map(([name, result]) => [name, result.toJSON()]));
}
