import { assertKnownOptions } from '../../internal/known-options.ts';
import {
  type FairnessPipeline,
  type PipelineConfigInput,
  type PipelineMetadata,
  parsePipelineConfig,
} from '../../pipeline/index.ts';
import { assertReplaceable, assertWritable } from '../../io/atomic-write.ts';
import type { Table, TableSource } from '../../table/index.ts';
import type { SavableModel } from '../../training/models/describe-model.ts';
import { trackWorkflow } from '../tracking/index.ts';
import { measureBaseline } from './baseline.ts';
import { gatherFindings } from './gather-findings.ts';
import { splitWorkflow } from './split-workflow.ts';
import { transformAndTrain } from './transform-and-train.ts';
import { fillWorkflowOptions, WORKFLOW_OPTION_NAMES, type WorkflowOptions } from './workflow-options.ts';
import { holdsOnlyWorkflow, writeWorkflow } from './workflow-files.ts';
import type { TrackingOutcome, WorkflowArtifacts, WorkflowFindings } from './workflow-result.ts';
import { readWorkflowRows } from './workflow-rows.ts';

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
