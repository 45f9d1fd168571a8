import { assertKnownOptions, type OptionNames } from '../internal/known-options.ts';
import { getLogger } from '../internal/logger.ts';
import type { OnProgress } from '../internal/progress.ts';
import { readTexts, Table, type TableSource } from '../table/index.ts';
import { applyPipeline } from './apply-pipeline.ts';
import { assertConfigColumns } from './assert-config-columns.ts';
import { assemblePipeline } from './build-pipeline.ts';
import { parsePipelineConfig } from './config/parse-pipeline-config.ts';
import type { PipelineConfigInput } from './config/pipeline-config-input.ts';
import type { DetectorReport } from './detectors/detector-report.ts';
import { runDetectors } from './detectors/run-detectors.ts';
import type { FairnessPipeline } from './fairness-pipeline.ts';
import type { PipelineResult } from './pipeline-result.ts';

/** Options of {@link runPipeline}. */
export interface RunPipelineOptions {
  /**
   * Whether the detectors look at the data first.
   * @defaultValue true
   */
  readonly detectors?: boolean | undefined;
  /**
   * A fitted pipeline to apply.
   * @defaultValue the configuration's, fitted on these rows
   */
  readonly pipeline?: FairnessPipeline | undefined;
  readonly onProgress?: OnProgress | undefined;
  /** Stops the work; the promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

const RUN_PIPELINE_OPTION_NAMES: OptionNames<RunPipelineOptions> = {
  detectors: true,
  pipeline: true,
  onProgress: true,
  signal: true,
};

/** What {@link runPipeline} found and made. */
export interface PipelineRun {
  /** What the detectors found in the data as given; null where they were left out. */
  readonly report: DetectorReport | null;
  readonly result: PipelineResult<Table>;
  /** Fitted. */
  readonly pipeline: FairnessPipeline;
}

/**
 * Looks at data with the detectors, and transforms them: what a configuration
 * asks for without its training. All rows are taken as training rows.
 * @throws {ConfigValidationError} for a configuration with faults
 * @throws {DataValidationError} for columns that are not there
 * @throws {PipelineExecutionError} with the name and index of the step that failed, and its cause
 * @example
 * ```ts
 * import { runPipeline } from 'evenhand/pipeline';
 * import { sampleData } from 'evenhand';
 *
 * const { report, result } = await runPipeline(
 *   { sensitive: 'gender', pipeline: [{ transformer: 'InstanceReweighting' }] },
 *   sampleData('cps-wages'),
 * );
 * console.log(report?.meta.rows, result.transformersApplied);
 * // 534 [ 'InstanceReweighting' ]
 * ```
 */
export async function runPipeline(
  config: PipelineConfigInput,
  data: TableSource,
  options: RunPipelineOptions = {},
): Promise<PipelineRun> {
  assertKnownOptions('runPipeline', options, RUN_PIPELINE_OPTION_NAMES);
  const { signal, onProgress } = options;
  const parsed = parsePipelineConfig(config);
  const pipeline = options.pipeline ?? assemblePipeline(parsed);
  const given = Table.from(data);
  assertConfigColumns(parsed, given);
  const { sensitive, training, naValues } = parsed;
  const { table, warnings } = readTexts(given, {
    groups: sensitive,
    target: training?.targetColumn,
    positiveLabel: training?.positiveLabel,
    others: given.columnNames,
    naValues,
  });
  for (const warning of warnings) getLogger().warn(warning);
  const report = options.detectors === false ? null : await runDetectors(table, parsed, { onProgress, signal });
  const result = await applyPipeline(pipeline, table, { onProgress, signal });
  return Object.freeze({ report, result, pipeline });
}
