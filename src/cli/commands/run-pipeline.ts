import path from 'node:path';

import type { Command } from 'commander';
import type { z } from 'zod';

import type { Provenance } from '../../document/provenance.ts';
import type { GateReport } from '../../document/gate-report.ts';
import type { ReportDocument } from '../../document/report-document.ts';
import type { WorkflowOptions, WorkflowResult } from '../../integration/index.ts';
import { formatCount } from '../../internal/format.ts';
import type { FoundFiles } from '../../schemas/data-source.ts';
import { DEFAULT_MIN_GROUP_SIZE } from '../../schemas/min-group-size.ts';
import type { PipelineConfig } from '../../schemas/pipeline/pipeline-document.ts';
import type { runPipelineSchema } from '../../schemas/workflow-fields.ts';
import { defineCommand, OPTION } from '../define-command.ts';
import { CHECK_FAILED } from '../exit-codes.ts';
import { settingsOf, writeGateReports } from '../gate-reports.ts';
import { assertOutputs } from '../output-places.ts';
import { type OutputOptions, printResult, remark, remarkTracking, remarkWritten } from '../output.ts';
import { progressBar } from '../progress-bar.ts';
import { startProvenance } from '../provenance.ts';
import { reportSigner } from '../report-signer.ts';
import { outcomeText, quoted } from '../training-job.ts';

interface RunPipelineOptions extends OutputOptions {
  readonly config?: string;
  readonly profile?: string;
  readonly csv: FoundFiles;
  readonly naValues?: readonly string[];
  readonly outputDir?: string;
  readonly threshold?: number;
  readonly junit?: string;
  readonly sign?: string;
  readonly mlflowExperiment?: string;
  readonly mlflowRunName?: string;
}

/** Returns the command `evenhand run-pipeline`. */
export function runPipelineCommand(): Command {
  return defineCommand({
    name: 'run-pipeline',
    options: `
${OPTION.config}
${OPTION.profile}
${OPTION.csv}
${OPTION.naValues}
--output-dir <folder>  folder for results, transformed data, model and reports; replaces earlier output
--min-group-size <n>  minimum held-out rows of a group; smaller groups are excluded from metrics (default: ${String(DEFAULT_MIN_GROUP_SIZE)})
${OPTION.trainSize}
--random-state <n>  seed of the split and all other random numbers (default: 42)
--threshold <number>  largest difference, or smallest ratio, that passes (default: the threshold in the configuration)
--class-weight <name>  class weights in training: balanced or none (default: balanced)
${OPTION.backend}
${OPTION.junit}
--sign <path>  secret key of 'evenhand keygen': sign the manifest of --output-dir, which names all its files
${OPTION.mlflow}`,
    required: ['csv'],
    schema: async () => (await import('../../schemas/workflow-fields.ts')).runPipelineSchema,
    help: `
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
Exit codes: 0 the value is within the threshold, or there is no threshold; 1 it is not, or it is undefined; 2
invalid options or data; 3 a step of the pipeline or the training failed.`,
    async run(options: RunPipelineOptions, request, _, call) {
      const { outputDir: folder } = options;
      const signed = folder === undefined ? undefined : [path.join(folder, 'manifest.json')];
      const signReports = await reportSigner(options.sign, signed, 'Add --output-dir.');
      const { result, provenance } = await run(options, request, call);
      await signReports?.();
      const [{ workflowToJson }, { withManifest }] = await Promise.all([
        import('../../integration/workflow-report/workflow-to-json.ts'),
        import('../../document/provenance.ts'),
      ]);
      await printResult(options, {
        json: () => withManifest(workflowToJson(result), provenance),
        text: () => describe(result),
      });
      await writeGateReports(() => gateReportOf(result, settingsOf(options)), options.junit);
      remarkWritten([options.junit], options);
      const { outputDir, files, tracking } = result.artifacts;
      if (outputDir !== null) remark(`Wrote ${outputDir}: ${files.join(', ')}`, options);
      if (tracking !== null) await remarkTracking(tracking, options);
      if (result.validation.passed === false) process.exitCode = CHECK_FAILED;
    },
  });
}

/** A result, and where it comes from, if a report shows that. */
interface Run {
  readonly result: WorkflowResult;
  readonly provenance: Provenance | undefined;
}

async function run(
  options: RunPipelineOptions,
  request: z.output<typeof runPipelineSchema>,
  call: readonly string[],
): Promise<Run> {
  const [{ findConfigFile, loadConfig }, { hasConfigColumns, labelColumns }, { executeWorkflow }, { loadData }] =
    await Promise.all([
      // prettier-ignore
      import('../../pipeline/index.ts'),
      import('../../pipeline/run-pipeline.ts'),
      import('../../integration/workflow/execute-workflow.ts'),
      import('../../io/load-data.ts'),
    ]);
  const { threshold, classWeight, ...how } = request;
  const { csv, json, outputDir } = options;
  const inputs = [csv, options.config ?? pathFromHere(findConfigFile())];
  await assertOutputs([options.junit], [...inputs, options.sign], [outputDir]);
  const isShown = json === true || outputDir !== undefined;
  const findProvenance = startProvenance(isShown, { call, options, inputs, variables: VARIABLES });
  const config: PipelineConfig = await loadConfig(options.config, { profile: options.profile });
  if (config.reportOut !== undefined) remark('Only evenhand pipeline writes report_out.', options);
  const judged = {
    ...config,
    ...(threshold === undefined ? {} : { validationThreshold: threshold }),
    ...(options.naValues === undefined ? {} : { naValues: options.naValues }),
  };
  if (options.junit !== undefined && judged.validationThreshold === undefined) throw await nothingJudged();
  const labels = labelColumns(config);
  const table = await loadData(csv, { labels, decimal: csv.decimal ?? config.decimal });
  // The error names the line of the column.
  if (!hasConfigColumns(config, table)) await loadConfig(options.config, { profile: options.profile, columns: table.columnNames }); // prettier-ignore
  const provenance = await findProvenance(table.rowCount);
  const workflowOptions: WorkflowOptions = {
    ...how,
    classWeight: classWeight === 'none' ? null : classWeight,
    outputDir,
    provenance,
    tracking: trackingOf(options),
    onProgress: progressBar(options),
  };
  const result = await executeWorkflow(judged, table, workflowOptions);
  return { result, provenance };
}

/** The environment variables that choose the configuration and the arithmetic. */
const VARIABLES = ['EVENHAND_CONFIG_PATH', 'EVENHAND_PROFILE', 'EVENHAND_TF_BACKEND'];

async function nothingJudged(): Promise<Error> {
  const { ConfigValidationError } = await import('../../exceptions/index.ts');
  return new ConfigValidationError('--junit writes the verdict of the gate, but there is no threshold.', {
    context: { parameter: 'junit' },
    suggestion: 'Add --threshold, or validation_threshold in the configuration.',
  });
}

/** Returns the gate of a workflow for the reports of continuous integration. */
function gateReportOf({ validation }: WorkflowResult, settings: Readonly<Record<string, string>>): GateReport {
  const { passed, metric, attribute, threshold, message, verdict } = validation;
  const name = `${metric} ${verdict.comparator ?? ''} ${String(threshold)}`;
  return {
    command: 'evenhand run-pipeline',
    passed,
    cases: [{ attribute, name, status: verdict.status, message }],
    settings,
  };
}

function trackingOf({ mlflowExperiment, mlflowRunName }: RunPipelineOptions): WorkflowOptions['tracking'] {
  if (mlflowExperiment === undefined && mlflowRunName === undefined) return false;
  return { experiment: mlflowExperiment, runName: mlflowRunName };
}

/** Returns the verdict, how the models were trained, and the change of every metric. */
async function describe(result: WorkflowResult): Promise<ReportDocument> {
  const { workflowDocument } = await import('../../integration/workflow-report/workflow-document.ts');
  const { title, verdict, sections } = workflowDocument(result);
  const { config, split, transformersApplied, task } = result;
  const outcome = outcomeText(config.training?.targetColumn ?? '', result.positiveLabel);
  const steps = transformersApplied.length === 0 ? 'no step' : transformersApplied.join(', ');
  return {
    title,
    subject: `Predicting ${outcome}, by ${quoted(config.sensitive, ' and ')}: ${formatCount(split.train.length)} rows trained on, ${formatCount(split.test.length)} held out. Pipeline: ${steps}. Training: ${config.training?.method ?? ''}, seed ${String(result.seed)}.${task === 'binary' ? '' : ' Errors are in the units of the target.'}`,
    verdict,
    sections: sections.slice(0, 1),
    made: [],
  };
}

function pathFromHere(file: string | undefined): string | undefined {
  return file === undefined ? undefined : path.relative('', file);
}
