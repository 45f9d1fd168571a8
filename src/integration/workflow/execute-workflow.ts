import { formatShare, nameSome } from '../../internal/format.ts';
import { assertKnownOptions } from '../../internal/arguments.ts';
import { assertReplaceable, assertWritable } from '../../io/atomic-write.ts';
import { MetricResult, type MissingRows } from '../../metrics/index.ts';
import { metricDefinition, metricKind } from '../../metrics/metric-definitions.ts';
import type { MetricResultFields } from '../../metrics/metric-result.ts';
import { parsePipelineConfig, type PipelineConfigInput } from '../../pipeline/index.ts';
import type { PipelineConfig } from '../../schemas/pipeline/pipeline-document.ts';
import { readTable, type TableSource } from '../../table/index.ts';
import { describeModel } from '../../training/models/describe-model.ts';
import { judge, type JudgeOptions } from '../assertions.ts';
import { trackWorkflow } from '../tracking/index.ts';
import {
  type TrackingOutcome,
  type TradeOffPoint,
  unfairness,
  type ValidationResult,
  type WorkflowFindings,
  type WorkflowMetrics,
  type WorkflowResult,
} from '../workflow-result.ts';
import { type Baseline, judgedRows, measureBaseline, metricOptions } from './baseline.ts';
import { type JudgedRows, measureOne, quality, withWorst, worst } from './measure-predictions.ts';
import { describeSplit, type RowSplit, splitWorkflow } from './split-workflow.ts';
import { type TrainedWorkflow, transformAndTrain } from './transform-and-train.ts';
import { holdsOnlyWorkflow, writeWorkflow } from './workflow-files.ts';
import {
  type FilledWorkflowOptions,
  fillWorkflowOptions,
  WORKFLOW_OPTION_NAMES,
  type WorkflowOptions,
} from './workflow-options.ts';
import { missingOf, readWorkflowRows, type WorkflowRows } from './workflow-rows.ts';

/**
 * Runs a fairness workflow in three steps, from data to a verdict.
 *
 * 1. Baseline: trains an unconstrained model and measures it on held-out rows.
 * 2. Pipeline and training: fits the pipeline on the training rows, and trains a model on the transformed rows by
 *    `training.method`. The fairness constraint compares the groups that result from crossing all sensitive attributes.
 * 3. Validation: measures the same held-out rows again, for each attribute and intersection, and applies the gate to
 *    the worst value.
 *
 * All steps use the same partition, stratified by target and groups. Features are encoded as learned from the training
 * rows in the first step. Sensitive columns are never features, but the steps of the pipeline can use them. Weights
 * from the pipeline are used in training. The result contains the cost in accuracy in addition to the metrics. A
 * constraint applies only to the groups and rates that it names. The constraint holds on the training rows. On other
 * rows, it holds only up to sampling error.
 * @param config from `loadConfig`, or an object with the same keys
 * @param data the rows; rows without a target or a sensitive attribute are excluded and counted
 * @throws {ConfigValidationError} if the configuration has errors or no training section
 * @throws {DataValidationError} if the data cannot be used for training, or the folder cannot be written
 * @throws {PipelineExecutionError} if a step of the pipeline fails; the error has the name, the index and the cause of
 *   the failed step
 * @throws {TrainingError} if the training fails
 * @throws {ValueError} if a metric is unknown or a value is out of range
 * @example
 * ```ts
 * import { executeWorkflow, sampleData } from 'evenhand';
 *
 * const { validation, finalMetrics, transformersApplied } = await executeWorkflow(
 *   {
 *     sensitive: ['gender'],
 *     features: ['education', 'experience', 'union'],
 *     pipeline: [{ name: 'reweigh', transformer: 'ReweighingTransformer' }],
 *     training: { method: 'reductions', targetColumn: 'wage_above_median', params: { eps: 0.02 } },
 *     fairnessMetric: 'demographic_parity_difference',
 *     validationThreshold: 0.2,
 *   },
 *   sampleData('cps-wages'),
 * );
 * console.log(validation.passed, finalMetrics.n, transformersApplied);
 * // true 107 [ 'reweigh' ]
 * ```
 */
export async function executeWorkflow(
  config: PipelineConfigInput,
  data: TableSource,
  options: WorkflowOptions = {},
): Promise<WorkflowResult> {
  assertKnownOptions('executeWorkflow', options, WORKFLOW_OPTION_NAMES);
  const parsed = parsePipelineConfig(config);
  const filled = fillWorkflowOptions(options);
  filled.signal?.throwIfAborted();
  const given = await readTable(data);
  const rows = readWorkflowRows(parsed, given);
  await assertOutput(options.outputDir);
  const split = splitWorkflow(rows, filled);

  const baseline = await measureBaseline(rows, split, filled);
  const trained = await transformAndTrain(parsed, rows, split, baseline, filled);
  const findings = await gatherFindings({ config: parsed, rows, split, baseline, trained, options: filled });
  const { pipeline, pipelineMetadata, transformedData, sampleWeight } = trained;
  const { model, features } = trained.trained;
  const made = { ...findings, model, pipeline, pipelineMetadata, transformedData, sampleWeight };
  filled.signal?.throwIfAborted();
  const { outputDir, provenance } = options;
  const statistics = { baseline: baseline.statistics, final: trained.statistics };
  const evidence = { findings, given, options: filled, statistics, leftOut: rows.leftOut, provenance };
  const written = { workflow: made, rows, features, evidence };
  const files = outputDir === undefined ? [] : await writeWorkflow(outputDir, written);
  const tracking = await track(findings, options, files);
  return Object.freeze({
    ...made,
    artifacts: Object.freeze({ outputDir: outputDir ?? null, files: Object.freeze(files), tracking }),
  });
}

/** Checks the output folder before the workflow starts, so that an invalid path does not lose the result. */
async function assertOutput(outputDir: string | undefined): Promise<void> {
  if (outputDir === undefined) return;
  assertReplaceable(outputDir, holdsOnlyWorkflow);
  await assertWritable(outputDir);
}

async function track(
  findings: WorkflowFindings,
  { tracking, outputDir, signal }: WorkflowOptions,
  files: readonly string[],
): Promise<TrackingOutcome | null> {
  if (tracking === undefined || tracking === false) return null;
  // Reports and JSON are uploaded to the tracking server, but not the data.
  const uploaded = files.filter((name) => /\.(json|md|html)$/.test(name));
  const artifacts = uploaded.map((name) => `${outputDir ?? ''}/${name}`);
  return trackWorkflow(findings, { ...(tracking === true ? {} : tracking), artifacts, signal });
}

/** The results of the first two steps. */
interface FinishedSteps {
  readonly config: PipelineConfig;
  readonly rows: WorkflowRows;
  readonly split: RowSplit;
  readonly baseline: Baseline;
  readonly trained: TrainedWorkflow;
  readonly options: FilledWorkflowOptions;
}

/** Runs step 3: applies the gate to the final model, and gathers the findings for the reports. */
async function gatherFindings(steps: FinishedSteps): Promise<WorkflowFindings> {
  const { config, rows, split, baseline, trained, options } = steps;
  const { metric, task, positiveLabel } = rows;
  const { randomState: seed, minGroupSize, classWeight, decisionThreshold } = options;
  const finalMetrics = onSameGroups(baseline.metrics, trained.metrics);
  const judged = judgedRows(rows, split.test);
  const { y: yTest, attributes: groupsTest } = judged;
  const warnings = [
    ...rows.warnings,
    ...baseline.warnings,
    ...trained.warnings,
    ...constantAnswerWarning(finalMetrics, yTest),
  ];
  return {
    config,
    seed,
    task,
    positiveLabel,
    minGroupSize,
    classWeight,
    decisionThreshold,
    features: Object.freeze({ baseline: baseline.specs.map(({ name }) => name), final: trained.features }),
    split: describeSplit(split, rows, options),
    baselineMetrics: baseline.metrics,
    finalMetrics,
    validation: validateWorkflow(metric, baseline.metrics, finalMetrics, config.validationThreshold, {
      strictMissing: config.strictMissing,
      missing: missingOf(rows.leftOut),
    }),
    constraint: describeModel(trained.trained.model).constraint,
    transformersApplied: Object.freeze(trained.pipeline.steps.map(({ name }) => name)),
    predictions: Object.freeze({
      baseline: baseline.outputs.decisions,
      final: trained.outputs.decisions,
      baselineScores: baseline.outputs.scores,
      finalScores: trained.outputs.scores,
    }),
    yTest,
    groupsTest,
    tradeOff:
      task === 'binary' ? await tradeOffOf(metric, judged, baseline.metrics, finalMetrics, trained, options) : [],
    warnings: Object.freeze([...new Set(warnings)]),
  };
}

/** Returns a warning if the final model is less accurate than a constant prediction. */
function constantAnswerWarning({ accuracy }: WorkflowMetrics, y: ArrayLike<number>): string[] {
  let positives = 0;
  for (let row = 0; row < y.length; row++) positives += y[row] as number;
  const share = Math.max(positives, y.length - positives) / y.length;
  if (accuracy === null || accuracy >= share) return [];
  return [
    `the final model is correct for ${formatShare(accuracy)} of rows; the same answer for all rows would be correct for ${formatShare(share)}`,
  ];
}

/**
 * Returns the points of accuracy against unfairness: the baseline, the final model, and each predictor of a mixture.
 * Points without a defined metric are omitted; a regression has no points.
 */
async function tradeOffOf(
  metric: string,
  judged: JudgedRows,
  baseline: WorkflowMetrics,
  final: WorkflowMetrics,
  { trained, test }: TrainedWorkflow,
  options: FilledWorkflowOptions,
): Promise<readonly TradeOffPoint[]> {
  const pointOf = (label: string, kind: TradeOffPoint['kind'], metrics: WorkflowMetrics): TradeOffPoint => ({
    label,
    kind,
    accuracy: metrics.accuracy ?? NaN,
    unfairness: unfairness(metric, metrics.metrics[metric]?.value ?? NaN),
  });
  // Gaps between the decisions of candidates are not comparable with gaps between scores.
  const isOfScores = metricKind(metricDefinition(metric)) === 'scores';
  const drawnFrom = isOfScores ? [] : await trained.candidates(test);
  const plain = { ...metricOptions(options), withCi: false };
  const candidates = drawnFrom.map((decisions, index): TradeOffPoint => {
    const outputs = { decisions, scores: null };
    const gaps = Object.values(judged.attributes).map((groups) => {
      const { value } = measureOne(metric, judged.y, groups, outputs, plain);
      return unfairness(metric, value);
    });
    return {
      label: `predictor ${String(index + 1)}`,
      kind: 'candidate',
      accuracy: quality(judged, outputs).accuracy ?? NaN,
      unfairness: Math.max(...gaps),
    };
  });
  const points = [pointOf('baseline', 'baseline', baseline), ...candidates, pointOf('final', 'final', final)];
  return Object.freeze(points.filter((point) => Number.isFinite(point.accuracy) && Number.isFinite(point.unfairness)));
}

/** Options of the gate on a workflow. */
interface WorkflowGateOptions extends JudgeOptions {
  /** For each attribute, the rows of its groups that were excluded before the split. */
  readonly missing?: Readonly<Record<string, MissingRows>> | undefined;
}

/**
 * Applies the gate to the final model: the worst value over attributes is judged, and an undefined value fails. The
 * result includes the change of the distance from parity. For differences and for ratios, a negative change means that
 * unfairness decreased.
 */
export function validateWorkflow(
  metric: string,
  baseline: WorkflowMetrics,
  final: WorkflowMetrics,
  threshold: number | undefined,
  { strictMissing, missing = {} }: WorkflowGateOptions = {},
): ValidationResult {
  const [attribute, result] = worst(metric, final.attributes);
  const [, beforeResult] = worst(metric, baseline.attributes);
  const before = beforeResult.value;
  const areSame = Object.entries(final.attributes).every(([name, metrics]) => {
    const [first, second] = [baseline.attributes[name]?.[metric], metrics[metric]];
    return first === undefined || second === undefined || groupsLost(second, first).length === 0;
  });
  const { value, ci, undefinedReason, compat } = result;
  const judged = { metric: result.metric, value, ci, undefinedReason, compat, missing: missing[attribute] ?? null };
  const verdict = judge(judged, threshold, undefined, { strictMissing });
  return Object.freeze({
    passed: verdict.passed,
    metric,
    attribute,
    baselineMetricValue: before,
    finalMetricValue: result.value,
    threshold: verdict.threshold,
    // If the two models are compared on different groups, the two gaps are not comparable.
    improvementPercent: areSame ? changeInPercent(unfairness(metric, before), unfairness(metric, result.value)) : null,
    message: `${verdict.message} Judged by '${attribute}'.`,
    verdict: Object.freeze(verdict),
  });
}

/** Returns the change in percent; null if the first value is 0, or if either value is undefined. */
function changeInPercent(before: number, after: number): number | null {
  const change = (100 * (after - before)) / Math.abs(before);
  return Number.isFinite(change) ? change : null;
}

/** Returns the groups (or rates of groups) that the first result compares and the second result excludes. */
function groupsLost(before: MetricResult, after: MetricResult): string[] {
  return Object.keys(after.excluded).filter((name) => !Object.hasOwn(before.excluded, name));
}

/**
 * Sets final metrics to undefined if they exclude groups that the baseline compares. For example, if a model selects
 * nobody in a group, the group has no precision. A gap between the remaining groups would then look like an
 * improvement.
 */
export function onSameGroups(baseline: WorkflowMetrics, final: WorkflowMetrics): WorkflowMetrics {
  const attributes = Object.entries(final.attributes).map(([attribute, metrics]) => {
    const results = Object.entries(metrics).map(([name, result]) => [
      name,
      undefinedWhereLost(baseline.attributes[attribute]?.[name], result),
    ]);
    return [attribute, Object.freeze(Object.fromEntries(results))] as const;
  });
  return Object.freeze({ ...final, ...withWorst(Object.keys(final.metrics), Object.fromEntries(attributes)) });
}

function undefinedWhereLost(before: MetricResult | undefined, after: MetricResult): MetricResult {
  const lost = before === undefined || Number.isNaN(after.value) ? [] : groupsLost(before, after);
  if (lost.length === 0) return after;
  const undefinedReason = `the baseline compares ${nameSome(lost)}, and the final model has no defined rate there`;
  const fields: MetricResultFields = after;
  const unknown = { value: NaN, ci: null, effectSize: null, pValue: null, first: null, second: null };
  const missing = fields.missing === null ? null : { ...fields.missing, worstCase: null };
  return new MetricResult({ ...fields, ...unknown, missing, undefinedReason });
}
