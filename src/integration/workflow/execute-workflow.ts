import { formatShare } from '../../internal/format.ts';
import { assertKnownOptions } from '../../internal/arguments.ts';
import { assertReplaceable, assertWritable } from '../../io/atomic-write.ts';
import { MetricResult, type MissingRows } from '../../metrics/index.ts';
import { metricDefinition, metricKind } from '../../metrics/metric-definitions.ts';
import type { MetricResultFields } from '../../metrics/metric-result-fields.ts';
import {
  type FairnessPipeline,
  parsePipelineConfig,
  type PipelineConfigInput,
  type PipelineMetadata,
} from '../../pipeline/index.ts';
import { nameSome } from '../../pipeline/transformers/read-columns.ts';
import type { PipelineConfig } from '../../schemas/pipeline/pipeline-document.ts';
import type { Table, TableSource } from '../../table/index.ts';
import { describeModel, type SavableModel } from '../../training/models/describe-model.ts';
import { judge, type JudgeOptions } from '../assertions.ts';
import { trackWorkflow } from '../tracking/index.ts';
import type {
  HeldOutPredictions,
  TrackingOutcome,
  TradeOffPoint,
  ValidationResult,
  WorkflowArtifacts,
  WorkflowFindings,
  WorkflowMetrics,
} from '../workflow-result.ts';
import { type Baseline, judgedRows, measureBaseline, metricOptions } from './baseline.ts';
import { measureOne, quality, unfairness, worst } from './measure-predictions.ts';
import { describeSplit, type RowSplit, splitWorkflow } from './split-workflow.ts';
import { type TrainedWorkflow, transformAndTrain } from './transform-and-train.ts';
import { holdsOnlyWorkflow, writeWorkflow } from './workflow-files.ts';
import {
  type FilledWorkflowOptions,
  fillWorkflowOptions,
  WORKFLOW_OPTION_NAMES,
  type WorkflowOptions,
} from './workflow-options.ts';
import { readWorkflowRows, type WorkflowRows } from './workflow-rows.ts';

/** What a workflow found and made. Frozen. */
export interface WorkflowResult extends WorkflowFindings {
  /** The constrained model. A reduction takes encoded features; a trainer takes a table. */
  readonly model: SavableModel;
  /** The pipeline, fitted on the training rows. */
  readonly pipeline: FairnessPipeline;
  /** What each of its steps did to the training rows. */
  readonly pipelineMetadata: PipelineMetadata;
  /** All rows that have a target and a group, in their order, transformed by what was learned from the training rows. */
  readonly transformedData: Table;
  /** The pipeline's weights of those rows; null where it gives none. */
  readonly sampleWeight: Float64Array | null;
  readonly artifacts: WorkflowArtifacts;
}

/**
 * The three steps from data to a verdict.
 *
 * 1. Measurement: an unconstrained model is trained and measured on held-out rows.
 * 2. Pipeline and training: the pipeline is fitted on the training rows, and a
 *    model trained on what it makes of them, by `training.method`, under a
 *    fairness constraint between the groups of all sensitive attributes crossed.
 * 3. Validation: the same held-out rows are measured again, for each attribute
 *    and intersection, and the worst value is put before the gate.
 *
 * One partition, stratified by target and groups, serves all steps. Features are
 * encoded as the first step learned from the training rows; sensitive columns
 * are never features, but the pipeline sees them. Weights that it gives enter
 * the training. What a constraint takes in accuracy stands beside it in the result; it holds for
 * the groups and rates that it names, on the training rows, and on others up to
 * sampling error.
 * @param config from `loadConfig`, or an object with the same keys
 * @param data the rows; those without a target or a sensitive attribute are left out and counted
 * @throws {ConfigValidationError} for a configuration with faults, or without a training section
 * @throws {DataValidationError} for data that cannot be learned from, or a folder that cannot be written
 * @throws {PipelineExecutionError} where a step of the pipeline fails, with its name, index and cause
 * @throws {TrainingError} where the training fails
 * @throws {ValueError} for an unknown metric or a value out of range
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
  const rows = readWorkflowRows(parsed, data);
  await assertOutput(options.outputDir);
  const split = splitWorkflow(rows, filled);

  const baseline = await measureBaseline(rows, split, filled);
  const trained = await transformAndTrain(parsed, rows, split, baseline, filled);
  const findings = await gatherFindings({ config: parsed, rows, split, baseline, trained, options: filled });
  const made = {
    ...findings,
    model: trained.trained.model,
    pipeline: trained.pipeline,
    pipelineMetadata: trained.metadata,
    transformedData: trained.transformed,
    sampleWeight: trained.weights,
  };
  filled.signal?.throwIfAborted();
  const files =
    options.outputDir === undefined ? [] : await writeWorkflow(options.outputDir, made, rows, trained.trained.features);
  const tracking = await track(findings, options, files);
  return Object.freeze({
    ...made,
    artifacts: Object.freeze({ outputDir: options.outputDir ?? null, files: Object.freeze(files), tracking }),
  });
}

/** Checked before the work, so that its result is not lost to a bad path. */
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
  const artifacts = outputDir === undefined ? [] : trackedFiles(outputDir, files);
  return trackWorkflow(findings, { ...(tracking === true ? {} : tracking), artifacts, signal });
}

/** What a tracking server shows of a run: not the data. */
function trackedFiles(outputDir: string, files: readonly string[]): string[] {
  return files.filter((name) => /\.(json|md|html)$/.test(name)).map((name) => `${outputDir}/${name}`);
}

/** What the first two steps leave to the third. */
interface FinishedSteps {
  readonly config: PipelineConfig;
  readonly rows: WorkflowRows;
  readonly split: RowSplit;
  readonly baseline: Baseline;
  readonly trained: TrainedWorkflow;
  readonly options: FilledWorkflowOptions;
}

/** Step 3: puts the final model before the gate, and gathers all that reports show. */
async function gatherFindings(steps: FinishedSteps): Promise<WorkflowFindings> {
  const { config, rows, split, baseline, trained, options } = steps;
  const { metric, task, positiveLabel } = rows;
  const { randomState: seed, minGroupSize, classWeight, decisionThreshold } = options;
  const finalMetrics = onSameGroups(baseline.metrics, trained.metrics);
  const { y: yTest, attributes: groupsTest } = judgedRows(rows, split.test);
  const onFinal = { ...trained, metrics: finalMetrics };
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
      missing: rows.missing,
    }),
    constraint: describeModel(trained.trained.model).constraint,
    transformersApplied: Object.freeze(trained.pipeline.steps.map(({ name }) => name)),
    predictions: predictionsOf(baseline, trained),
    yTest,
    groupsTest,
    tradeOff: task === 'binary' ? await tradeOffOf(rows, split, baseline.metrics, onFinal, options) : [],
    warnings: Object.freeze([...new Set(warnings)]),
  };
}

function predictionsOf({ outputs: baseline }: Baseline, { outputs: final }: TrainedWorkflow): HeldOutPredictions {
  return Object.freeze({
    baseline: baseline.decisions,
    final: final.decisions,
    baselineScores: baseline.scores,
    finalScores: final.scores,
  });
}

/** A model that decides worse than a constant has paid for its evenness with all that it knew. */
function constantAnswerWarning({ accuracy }: WorkflowMetrics, y: ArrayLike<number>): string[] {
  let positives = 0;
  for (let row = 0; row < y.length; row++) positives += y[row] as number;
  const share = Math.max(positives, y.length - positives) / y.length;
  if (accuracy === null || accuracy >= share) return [];
  return [
    `the final model is right in ${formatShare(accuracy)} of rows, and the same answer for all would be right in ${formatShare(share)}`,
  ];
}

/**
 * Accuracy against unfairness: the baseline, the final model, and each predictor
 * that a mixture draws from. Points without a defined metric are left out; a
 * regression has none.
 */
async function tradeOffOf(
  rows: WorkflowRows,
  { test }: RowSplit,
  baseline: WorkflowMetrics,
  final: TrainedWorkflow,
  options: FilledWorkflowOptions,
): Promise<readonly TradeOffPoint[]> {
  const { metric } = rows;
  const judged = judgedRows(rows, test);
  const pointOf = (label: string, kind: TradeOffPoint['kind'], metrics: WorkflowMetrics): TradeOffPoint => ({
    label,
    kind,
    accuracy: metrics.accuracy ?? NaN,
    unfairness: unfairness(metric, metrics.metrics[metric]?.value ?? NaN),
  });
  // Decisions are no scores: beside gaps of scores they would be on another axis.
  const isOfScores = metricKind(metricDefinition(metric)) === 'scores';
  const drawnFrom = isOfScores ? [] : await final.trained.candidates(final.test);
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
  const points = [pointOf('baseline', 'baseline', baseline), ...candidates, pointOf('final', 'final', final.metrics)];
  return Object.freeze(points.filter((point) => Number.isFinite(point.accuracy) && Number.isFinite(point.unfairness)));
}

/** How the gate treats rows that were left out. */
interface WorkflowGateOptions extends JudgeOptions {
  /** Rows of each attribute's groups that were left out before the rows were split. */
  readonly missing?: Readonly<Record<string, MissingRows>> | undefined;
}

/**
 * Puts the final model before the gate: the worst value over attributes decides,
 * and an undefined one fails. The change is that of the distance from even, so
 * that it is negative whenever unfairness falls, for ratios too.
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
    // A gap that is now of more groups than before has not changed by so much: it is another one.
    improvementPercent: areSame ? changeInPercent(unfairness(metric, before), unfairness(metric, result.value)) : null,
    message: `${verdict.message} Judged by '${attribute}'.`,
    verdict: Object.freeze(verdict),
  });
}

/** null where the first is 0, or either is undefined. */
function changeInPercent(before: number, after: number): number | null {
  const change = (100 * (after - before)) / Math.abs(before);
  return Number.isFinite(change) ? change : null;
}

/** Groups (or rates of groups) that take part in one result and not in another. */
function groupsLost(before: MetricResult, after: MetricResult): string[] {
  return Object.keys(after.excluded).filter((name) => !Object.hasOwn(before.excluded, name));
}

/**
 * The final metrics as far as they are of the groups that the baseline
 * compared. A model that, say, selects nobody of a group leaves it without a
 * precision; a gap of the other groups would look like an improvement, and is
 * undefined here.
 */
function onSameGroups(baseline: WorkflowMetrics, final: WorkflowMetrics): WorkflowMetrics {
  const attributes = Object.fromEntries(
    Object.entries(final.attributes).map(([attribute, metrics]) => [
      attribute,
      Object.freeze(
        Object.fromEntries(
          Object.entries(metrics).map(([name, result]) => [
            name,
            undefinedWhereLost(baseline.attributes[attribute]?.[name], result),
          ]),
        ),
      ),
    ]),
  );
  const metrics = Object.fromEntries(Object.keys(final.metrics).map((name) => [name, worst(name, attributes)[1]]));
  return Object.freeze({ ...final, metrics: Object.freeze(metrics), attributes: Object.freeze(attributes) });
}

function undefinedWhereLost(before: MetricResult | undefined, after: MetricResult): MetricResult {
  const lost = before === undefined || Number.isNaN(after.value) ? [] : groupsLost(before, after);
  if (lost.length === 0) return after;
  const undefinedReason = `the baseline compares ${nameSome(lost)}, and the final model leaves nothing to compare there`;
  const fields: MetricResultFields = after;
  const unknown = { value: NaN, ci: null, effectSize: null, pValue: null, first: null, second: null };
  const missing = fields.missing === null ? null : { ...fields.missing, worstCase: null };
  return new MetricResult({ ...fields, ...unknown, missing, undefinedReason });
}
