import { assertKnownOptions } from '../../internal/arguments.ts';
import type { TrackingOutcome, WorkflowFindings, WorkflowMetrics } from '../workflow-result.ts';
import { addMetric, type RunEntries } from './run-entries.ts';
import { ARTIFACT_TRACKING_OPTION_NAMES, type ArtifactTrackingOptions, trackRun } from './track-run.ts';

/**
 * Logs a workflow to a run on an MLflow tracking server:
 * - parameters: the configuration, the seed and the split
 * - metrics: `baseline.*` and `final.*` of the held-out rows, `improvement_percent`, and `passed` (1 or 0; missing
 *   without a threshold)
 * - tags: the verdict and the warnings
 * - files, if the server accepts them
 *
 * `final.m` is the worst value over attributes. `final.attribute.m` is the value for one attribute; its interval and
 * groups are named as in {@link logFairnessMetrics}. The function does not throw; failures of the server are handled as
 * in {@link logFairnessMetrics}.
 * @returns whether everything was logged
 */
export async function logWorkflowResults(
  findings: WorkflowFindings,
  options: ArtifactTrackingOptions = {},
): Promise<boolean> {
  assertKnownOptions('logWorkflowResults', options, ARTIFACT_TRACKING_OPTION_NAMES);
  const { logged } = await trackWorkflow(findings, options);
  return logged;
}

/**
 * Logs a workflow like {@link logWorkflowResults}; returns the identifier and URL of the run, or the reason why the
 * logging failed.
 */
export async function trackWorkflow(
  findings: WorkflowFindings,
  options: ArtifactTrackingOptions = {},
): Promise<TrackingOutcome> {
  return trackRun((entries) => {
    addWorkflow(entries, findings, options.prefix ?? '');
  }, options);
}

/**
 * Adds a workflow to the content of a run: settings become parameters, results become metrics, and the verdict becomes
 * tags.
 */
function addWorkflow(entries: RunEntries, findings: WorkflowFindings, prefix: string): void {
  addParams(entries, findings);
  addMeasured(entries, `${prefix}baseline`, findings.baselineMetrics);
  addMeasured(entries, `${prefix}final`, findings.finalMetrics);
  addVerdict(entries, prefix, findings);
  if (findings.warnings.length > 0) entries.tag('evenhand.warnings', findings.warnings.join('\n'));
}

function addParams(entries: RunEntries, findings: WorkflowFindings): void {
  const { config, split, features } = findings;
  const params: Readonly<Record<string, unknown>> = {
    method: config.training?.method,
    target: config.training?.targetColumn,
    sensitive: config.sensitive,
    intersections: config.intersections.length === 0 ? undefined : config.intersections,
    transformers: findings.transformersApplied,
    task: findings.task,
    fairness_metric: findings.validation.metric,
    threshold: findings.validation.threshold,
    seed: findings.seed,
    train_size: split.trainSize,
    min_group_size: findings.minGroupSize,
    class_weight: findings.classWeight,
    decision_threshold: findings.decisionThreshold,
    n_train: split.train.length,
    n_test: split.test.length,
    n_dropped: split.nDropped,
    n_features_baseline: features.baseline.length,
    n_features_final: features.final.length,
    ...prefixed('constraint', findings.constraint ?? {}),
    ...prefixed('training', config.training?.params ?? {}),
  };
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== null) entries.param(name, textOf(value));
  }
}

function addMeasured(entries: RunEntries, name: string, measured: WorkflowMetrics): void {
  entries.metric(`${name}.n`, measured.n);
  if (measured.accuracy !== null) entries.metric(`${name}.accuracy`, measured.accuracy);
  if (measured.meanAbsoluteError !== null) entries.metric(`${name}.mean_absolute_error`, measured.meanAbsoluteError);
  for (const [metric, result] of Object.entries(measured.metrics)) {
    entries.metric(`${name}.${metric}`, result.value, result.undefinedReason);
  }
  for (const [attribute, metrics] of Object.entries(measured.attributes)) {
    for (const [metric, result] of Object.entries(metrics))
      addMetric(entries, `${name}.${attribute}.${metric}`, result);
  }
}

function addVerdict(entries: RunEntries, prefix: string, { validation }: WorkflowFindings): void {
  const { passed, improvementPercent, message } = validation;
  if (passed !== null) entries.metric(`${prefix}passed`, Number(passed));
  entries.metric(
    `${prefix}improvement_percent`,
    improvementPercent ?? NaN,
    'the baseline is 0, or it or the final value is undefined',
  );
  entries.tag('evenhand.verdict', message);
  entries.tag('evenhand.judged_attribute', validation.attribute);
}

function prefixed(prefix: string, values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [`${prefix}.${name}`, value]));
}

/** Formats a value as text. Names in a list are joined, and other values become JSON. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return isListOfNames(value) ? value.join(', ') : JSON.stringify(value);
}

function isListOfNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
