import { assertKnownOptions, type OptionNames, snakeFields } from '../internal/arguments.ts';
import { getLogger } from '../internal/logger.ts';
import type { OnProgress } from '../internal/progress.ts';
import type { PipelineConfig } from '../schemas/pipeline/pipeline-document.ts';
import { readTable, readTexts, type Table, type TableSource } from '../table/index.ts';
import { parsePipelineConfig } from './config/load-config.ts';
import type { PipelineConfigInput } from './config/pipeline-config-input.ts';
import type { DetectorReport } from './detectors/detector-report.ts';
import { runDetectors } from './detectors/run-detectors.ts';
import { type DataLike, FairnessPipeline } from './fairness-pipeline.ts';
import type { PipelineResult } from './pipeline-result.ts';
import { createTransformer } from './transformers/registry.ts';
import {
  type StepDefaults,
  TRANSFORMER_FIT_OPTION_NAMES,
  type TransformerFitOptions,
} from './transformers/transformer.ts';

/** Options of {@link runPipeline}. */
export interface RunPipelineOptions {
  /**
   * Whether to run the detectors on the data first.
   * @defaultValue true
   */
  readonly detectors?: boolean | undefined;
  /**
   * A fitted pipeline to apply.
   * @defaultValue the pipeline of the configuration, fitted on these rows
   */
  readonly pipeline?: FairnessPipeline | undefined;
  readonly onProgress?: OnProgress | undefined;
  /** Stops the work. The promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

const RUN_PIPELINE_OPTION_NAMES: OptionNames<RunPipelineOptions> = {
  detectors: true,
  pipeline: true,
  onProgress: true,
  signal: true,
};

/** The result of {@link runPipeline}. */
export interface PipelineRun {
  /** The detectors' report on the original data; null if the detectors were not run. */
  readonly report: DetectorReport | null;
  readonly result: PipelineResult<Table>;
  /** The fitted pipeline. */
  readonly pipeline: FairnessPipeline;
}

/**
 * Runs the parts of a configuration except training: the detectors, and the steps that transform the data. All rows are
 * treated as training rows.
 * @throws {ConfigValidationError} if the configuration has errors
 * @throws {DataValidationError} if a column does not exist
 * @throws {PipelineExecutionError} if a step fails; the error contains the name and index of the step, and the cause
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
  const given = await readTable(data);
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

/**
 * Checks that data have the columns that a configuration names: sensitive attributes, features, clusters and strata.
 * @throws {DataValidationError} if a column does not exist; the error contains the names most similar to the first
 *   missing column
 */
export function assertConfigColumns(config: PipelineConfig, table: Table): void {
  for (const name of columnsOf(config)) table.column(name);
}

/** Returns the columns whose texts stay as they are: those of groups, clusters and strata. */
export function labelColumns({ sensitive, cluster, strata }: PipelineConfig): string[] {
  return [...sensitive, ...[cluster, strata].filter((name) => name !== undefined)];
}

/** Returns whether data have all columns that a configuration names, with its target. */
export function hasConfigColumns(config: PipelineConfig, table: Table): boolean {
  const target = config.training?.targetColumn;
  return [...columnsOf(config), ...(target === undefined ? [] : [target])].every((name) => table.has(name));
}

function columnsOf(config: PipelineConfig): string[] {
  return [...labelColumns(config), ...(config.features ?? [])];
}

/**
 * Converts a pipeline's run to the JSON that the command line prints with `--json`. The transformed rows are not
 * included.
 */
export function pipelineRunToJson({ report, result }: PipelineRun): Record<string, unknown> {
  const { metadata, transformersApplied } = result;
  return {
    detector_report: report,
    transformed_rows: metadata.rows,
    transformers_applied: transformersApplied,
    columns_in: metadata.columnsIn,
    columns_out: metadata.columnsOut,
    steps: metadata.steps.map((step) => snakeFields(step)),
  };
}

/**
 * Applies a pipeline to rows. A pipeline that has not been fitted is first fitted on the given rows. A fitted pipeline
 * is applied unchanged.
 * @param data the rows. The `data` of the result has the same type
 * @throws {PipelineExecutionError} if a step fails; the error contains the name and index of the step, and the cause
 * @example
 * ```ts
 * import { applyPipeline, buildPipeline } from 'evenhand/pipeline';
 *
 * const rows = { sex: ['f', 'f', 'f', 'm'], hired: [0, 1, 0, 1] };
 * const pipeline = buildPipeline({ sensitive: ['sex'], pipeline: [{ transformer: 'InstanceReweighting' }] });
 * const result = await applyPipeline(pipeline, rows);
 * console.log(Array.from(result.sampleWeight ?? [], (weight) => weight.toFixed(2)));
 * // [ '0.67', '0.67', '0.67', '2.00' ]
 * ```
 */
export async function applyPipeline<Source extends TableSource>(
  pipeline: FairnessPipeline,
  data: Source,
  options: TransformerFitOptions = {},
): Promise<PipelineResult<DataLike<Source>>> {
  assertKnownOptions('applyPipeline', options, TRANSFORMER_FIT_OPTION_NAMES);
  return pipeline.isFitted ? pipeline.transform(data) : pipeline.fitTransform(data, options);
}

/**
 * Creates the pipeline that a configuration describes. The pipeline is not yet fitted. If a step does not set
 * `sensitive`, `benchmarks`, `features` or `label`, the missing values come from the rest of the configuration.
 * @throws {ConfigValidationError} if the configuration has errors
 * @example
 * ```ts
 * import { applyPipeline, buildPipeline } from 'evenhand/pipeline';
 * import { sampleData } from 'evenhand';
 *
 * const pipeline = buildPipeline({
 *   sensitive: ['gender'],
 *   pipeline: [{ name: 'balance', transformer: 'InstanceReweighting' }],
 * });
 * const { transformersApplied, sampleWeight } = await applyPipeline(pipeline, sampleData('cps-wages'));
 * console.log(transformersApplied, sampleWeight?.length);
 * // [ 'balance' ] 534
 * ```
 */
export function buildPipeline(config: PipelineConfigInput): FairnessPipeline {
  return assemblePipeline(parsePipelineConfig(config));
}

/**
 * Creates the pipeline that a parsed configuration describes. Feature names need not be valid in a configuration file,
 * as long as the data have these columns.
 */
export function assemblePipeline(config: PipelineConfig): FairnessPipeline {
  const defaults = stepDefaults(config);
  return new FairnessPipeline(
    config.pipeline.map(({ name, transformer, params }) => ({
      name,
      transformer: createTransformer(transformer, params, defaults),
    })),
  );
}

function stepDefaults({ sensitive, benchmarks, features, training }: PipelineConfig): StepDefaults {
  return { sensitive, benchmarks, features, label: training?.targetColumn, positiveLabel: training?.positiveLabel };
}
