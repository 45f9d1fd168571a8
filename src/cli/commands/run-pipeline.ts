import { Command } from 'commander';

import type { WorkflowOptions, WorkflowResult } from '../../integration/index.ts';
import type { MetricResult } from '../../metrics/index.ts';
import { DEFAULT_MIN_GROUP_SIZE } from '../../schemas/min-group-size.ts';
import type { PipelineConfig } from '../../schemas/pipeline/pipeline-document.ts';
import { CHECK_FAILED } from '../exit-codes.ts';
import { flagName, NA_VALUES_HELP, parseNumber, parseTexts, requireOptions } from '../option-parsers.ts';
import { assertInputsKept } from '../output-places.ts';
import {
  asOneLine,
  change,
  count,
  jsonText,
  number,
  type OutputOptions,
  prepareLogs,
  print,
  range,
  remark,
  showsLoggedWarnings,
  textTable,
  warn,
  withOutputOptions,
} from '../output.ts';
import { progressBar } from '../progress-bar.ts';

interface RunPipelineOptions extends OutputOptions {
  readonly config?: string;
  readonly profile?: string;
  readonly csv: string;
  readonly naValues?: readonly string[];
  readonly outputDir?: string;
  readonly threshold?: number;
  readonly mlflowExperiment?: string;
  readonly mlflowRunName?: string;
}

/** Returns the command `evenhand run-pipeline`. */
export function runPipelineCommand(): Command {
  return withOutputOptions(
    new Command('run-pipeline')
      .description(
        'Run the three-step workflow of a configuration: measure a baseline, mitigate and train, validate against a threshold.',
      )
      .option(
        '--config <path>',
        'configuration file (default: EVENHAND_CONFIG_PATH, else .evenhand/config.yml in this folder or a parent)',
      )
      .option('--profile <name>', 'profile of the configuration (default: EVENHAND_PROFILE)')
      .option('--csv <path>', 'file with the rows: CSV, TSV (also .gz) or Parquet')
      .option('--na-values <texts>', NA_VALUES_HELP, parseTexts)
      .option(
        '--output-dir <folder>',
        'folder for results, transformed data, model and reports; replaces earlier output',
      )
      .option(
        '--min-group-size <n>',
        `minimum held-out rows of a group; smaller groups are excluded from metrics (default: ${String(DEFAULT_MIN_GROUP_SIZE)})`,
        parseNumber,
      )
      .option('--train-size <share>', 'share of rows to train on (default: 0.8)', parseNumber)
      .option('--random-state <n>', 'seed of the split and all other random numbers (default: 42)', parseNumber)
      .option(
        '--threshold <number>',
        "largest difference, or smallest ratio, that passes (default: the configuration's)",
        parseNumber,
      )
      .option('--class-weight <name>', 'class weights in training: balanced or none (default: balanced)')
      .option('--backend <name>', 'tensor backend: auto, node-gpu, webgpu, node, wasm or cpu (default: auto)')
      .option(
        '--mlflow-experiment <name>',
        'log the run to this MLflow experiment, on the server at MLFLOW_TRACKING_URI',
      )
      .option('--mlflow-run-name <name>', 'name of the logged MLflow run')
      .addHelpText(
        'after',
        `
Examples:
  $ evenhand sample-data cps-wages --out wages.csv
  $ evenhand run-pipeline --config config/cps-wages.yml --csv wages.csv --output-dir out

  $ evenhand run-pipeline --config config/adult.yml --csv adult.csv --output-dir out --threshold 0.05
  $ evenhand predict --model out/model --csv applicants.csv --out-csv decisions.csv

The three steps use one split of the rows:
  1. Measure an unconstrained model on the held-out rows (baseline).
  2. Transform the training rows with the pipeline, and train a model on them.
  3. Measure that model on the same held-out rows (final).
The worst value over the sensitive attributes is compared with the threshold.
Exit codes: 0 the value is within the threshold, or there is no threshold; 1 it is not; 2 invalid options
or data; 3 a step of the pipeline or the training failed.`,
      ),
  ).action(async (options: RunPipelineOptions) => {
    requireOptions(options, ['csv']);
    await prepareLogs(options);
    const result = await run(options);
    if (options.json === true) {
      const { workflowToJson } = await import('../../integration/workflow-report/index.ts');
      process.stdout.write(jsonText(workflowToJson(result)));
    } else {
      print(describe(result));
    }
    await tell(result, options);
    if (result.validation.passed === false) process.exitCode = CHECK_FAILED;
  });
}

async function run(options: RunPipelineOptions): Promise<WorkflowResult> {
  const [{ loadConfig }, { findConfigFile }, { parseBy }, { runPipelineSchema }, { executeWorkflow }, { loadData }] =
    await Promise.all([
      import('../../pipeline/config/load-config.ts'),
      import('../../pipeline/config/config-text.ts'),
      import('../../schemas/parse.ts'),
      import('../../schemas/workflow-fields.ts'),
      import('../../integration/workflow/execute-workflow.ts'),
      import('../../io/load-data.ts'),
    ]);
  const { threshold, classWeight, ...how } = parseBy(runPipelineSchema, options, 'run-pipeline', flagName);
  if (options.outputDir !== undefined)
    assertInputsKept([options.outputDir], [options.csv, options.config ?? findConfigFile()]);
  const config: PipelineConfig = await loadConfig(options.config, { profile: options.profile });
  if (config.reportOut !== undefined) remark('report_out is written by evenhand pipeline only', options);
  const judged = {
    ...config,
    ...(threshold === undefined ? {} : { validationThreshold: threshold }),
    ...(options.naValues === undefined ? {} : { naValues: options.naValues }),
  };
  const workflowOptions: WorkflowOptions = {
    ...how,
    classWeight: classWeight === 'none' ? null : classWeight,
    outputDir: options.outputDir,
    tracking: trackingOf(options),
    onProgress: progressBar(options),
  };
  return executeWorkflow(judged, await loadData(options.csv, { labels: config.sensitive }), workflowOptions);
}

function trackingOf({ mlflowExperiment, mlflowRunName }: RunPipelineOptions): WorkflowOptions['tracking'] {
  if (mlflowExperiment === undefined && mlflowRunName === undefined) return false;
  return { experiment: mlflowExperiment, runName: mlflowRunName };
}

/** Prints the files that were written and the outcome of tracking, on stderr. */
async function tell({ artifacts }: WorkflowResult, options: RunPipelineOptions): Promise<void> {
  const { outputDir, files, tracking } = artifacts;
  if (outputDir !== null) remark(`Wrote ${outputDir}: ${files.join(', ')}`, options);
  if (tracking === null) return;
  if (tracking.logged)
    remark(
      `Logged to MLflow as run ${tracking.runId ?? ''}${tracking.url === null ? '' : `, ${tracking.url}`}`,
      options,
    );
  else if (!(await showsLoggedWarnings()))
    warn(`Tracking failed, the run is not logged: ${tracking.reason ?? 'unknown reason'}`);
}

function describe(result: WorkflowResult): string {
  const { config, split, validation, transformersApplied, warnings, task } = result;
  const target = `'${config.training?.targetColumn ?? ''}'`;
  const outcome = result.positiveLabel === null ? target : `${target} = '${result.positiveLabel}' as positive`;
  const steps = transformersApplied.length === 0 ? 'no step' : transformersApplied.join(', ');
  const above = [
    `Predicting ${outcome}, by ${config.sensitive.map((name) => `'${name}'`).join(' and ')}: ${count(split.train.length)} rows trained on, ${count(split.test.length)} held out.`,
    `Pipeline: ${steps}. Training: ${config.training?.method ?? ''}, seed ${String(result.seed)}.`,
    '',
    `Baseline (Step 1): ${summary(result, 'baseline')}`,
    `Final (Step 3):    ${summary(result, 'final')}`,
    '',
  ];
  const below = [
    '',
    validation.message,
    improvement(validation.improvementPercent),
    ...(task === 'binary' ? [] : ['Errors are in the units of the target.']),
    ...warnings.map((warning) => `Note: ${warning}.`),
  ];
  return [...above.map(asOneLine), changeTable(result), ...below.map(asOneLine)].join('\n');
}

function summary(
  { baselineMetrics, finalMetrics, validation, config }: WorkflowResult,
  step: 'baseline' | 'final',
): string {
  const { accuracy, meanAbsoluteError, metrics } = step === 'baseline' ? baselineMetrics : finalMetrics;
  const model = step === 'baseline' ? 'without constraint' : `${config.training?.method ?? ''} after the pipeline`;
  const quality =
    accuracy === null ? `mean absolute error ${number(meanAbsoluteError ?? NaN)}` : `accuracy ${number(accuracy)}`;
  return `${model}, ${quality}, ${validation.metric} ${number(metrics[validation.metric]?.value ?? NaN)}`;
}

function improvement(percent: number | null): string {
  if (percent === null) return 'Change of unfairness: undefined, since the baseline is at parity or undefined.';
  return `Change of unfairness: ${percent > 0 ? '+' : ''}${percent.toFixed(1)}% (negative: less unfairness).`;
}

function changeTable({ baselineMetrics, finalMetrics }: WorkflowResult): string {
  const quality = (key: 'accuracy' | 'meanAbsoluteError', name: string): string[][] => {
    const [before, after] = [baselineMetrics[key], finalMetrics[key]];
    if (before === null || after === null) return [];
    return [[name, '', number(before), '', number(after), '', change(after - before)]];
  };
  const rows = Object.entries(finalMetrics.attributes).flatMap(([attribute, metrics]) =>
    Object.entries(metrics).map(([name, after]) => {
      const before = baselineMetrics.attributes[attribute]?.[name] as MetricResult;
      const gap = after.value - before.value;
      return [
        name,
        attribute,
        number(before.value),
        range(before.ci),
        number(after.value),
        range(after.ci),
        change(gap),
      ];
    }),
  );
  return textTable(
    ['', 'by', 'baseline', '95%', 'final', '95%', 'change'],
    [...quality('accuracy', 'accuracy'), ...quality('meanAbsoluteError', 'mean absolute error'), ...rows],
  );
}
