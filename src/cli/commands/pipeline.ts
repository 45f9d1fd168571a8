import { Command } from 'commander';

import { ConfigValidationError } from '../../exceptions/index.ts';
import type { PipelineRun } from '../../pipeline/index.ts';
import { count } from '../number-text.ts';
import { requireOptions } from '../option-parsers.ts';
import { type OutputOptions, prepareLogs, print, remark, textTable, withOutputOptions } from '../output.ts';
import { assertApart } from '../output-places.ts';
import { progressBar } from '../progress-bar.ts';

interface PipelineOptions extends OutputOptions {
  readonly config?: string;
  readonly profile?: string;
  readonly csv: string;
  readonly outCsv?: string;
  readonly detectorJson?: string;
  readonly reportMd?: string;
  readonly detectors: boolean;
  readonly savePipeline?: string;
  readonly applyPipeline?: string;
}

/** `evenhand pipeline` */
export function pipelineCommand(): Command {
  return withOutputOptions(
    new Command('pipeline')
      .description('Look at data for what may become unfair, and transform them as a configuration says.')
      .option('--config <path>', 'the configuration (default: EVENHAND_CONFIG_PATH, else .evenhand/config.yml above)')
      .option('--profile <name>', "one of the configuration's profiles (default: EVENHAND_PROFILE)")
      .option('--csv <path>', 'the rows: CSV, TSV (also .gz) or Parquet')
      .option(
        '--out-csv <path>',
        'write the transformed rows: .csv, .tsv or .parquet; weights as a column sample_weight',
      )
      .option('--detector-json <path>', 'write what the detectors found as JSON')
      .option('--report-md <path>', 'write what the detectors found as Markdown')
      .option('--no-detectors', 'transform only')
      .option('--save-pipeline <path>', 'write the fitted pipeline as JSON, to apply it to other rows')
      .option('--apply-pipeline <path>', 'apply a pipeline that --save-pipeline wrote, instead of fitting one')
      .addHelpText(
        'after',
        `
Examples:
  $ evenhand sample-data cps-wages --out wages.csv
  $ evenhand pipeline --config config/cps-wages.yml --csv wages.csv --out-csv transformed.csv --report-md data.md

  $ evenhand pipeline --config config/adult.yml --csv train.csv --out-csv train.parquet --save-pipeline fitted.json
  $ evenhand pipeline --config config/adult.yml --csv new.csv --out-csv new.parquet --apply-pipeline fitted.json

All rows are taken as training rows. For a model and a verdict on held-out rows use run-pipeline.`,
      ),
  ).action(async (options: PipelineOptions) => {
    requireOptions(options, ['csv']);
    await prepareLogs(options);
    const done = await run(options);
    if (options.json === true) process.stdout.write(`${JSON.stringify(toJson(done), undefined, 2)}\n`);
    else print(describe(done));
  });
}

async function run(options: PipelineOptions): Promise<PipelineRun> {
  const [{ assertReportPath, loadConfig, loadPipeline, runPipeline }, { loadData }] = await Promise.all([
    import('../../pipeline/index.ts'),
    import('../../io/load-data.ts'),
  ]);
  assertDetectors(options);
  const { detectors } = options;
  const config = await loadConfig(options.config, { profile: options.profile });
  const reportOut = detectors ? config.reportOut : undefined;
  if (reportOut !== undefined) assertReportPath(reportOut);
  await assertOutputs(options, reportOut);
  const pipeline = options.applyPipeline === undefined ? undefined : await loadPipeline(options.applyPipeline);
  const table = await loadData(options.csv);
  const done = await runPipeline(config, table, { detectors, pipeline, onProgress: progressBar(options) });
  await write(done, reportOut, options);
  for (const path of outputsOf(options, reportOut)) remark(`Wrote ${path}`, options);
  return done;
}

function assertDetectors({ detectors, detectorJson, reportMd }: PipelineOptions): void {
  if (detectors || (detectorJson === undefined && reportMd === undefined)) return;
  throw new ConfigValidationError('--no-detectors leaves nothing to write to --detector-json or --report-md.', {
    suggestion: 'Leave one of them out.',
  });
}

function outputsOf(
  { outCsv, detectorJson, reportMd, savePipeline }: PipelineOptions,
  reportOut: string | undefined,
): string[] {
  return [outCsv, detectorJson, reportMd, savePipeline, reportOut].filter((path) => path !== undefined);
}

/** Checked before the work, so that its result is not lost to a bad path. */
async function assertOutputs(options: PipelineOptions, reportOut: string | undefined): Promise<void> {
  const [{ assertFileWritable }, { tableFormat }] = await Promise.all([
    import('../../io/atomic-write.ts'),
    import('../../io/write-table.ts'),
  ]);
  if (options.outCsv !== undefined) tableFormat(options.outCsv);
  const paths = outputsOf(options, reportOut);
  assertApart(paths);
  for (const path of paths) await assertFileWritable(path);
}

async function write(
  { report, result, pipeline }: PipelineRun,
  reportOut: string | undefined,
  { outCsv, detectorJson, reportMd, savePipeline: savePath }: PipelineOptions,
): Promise<void> {
  const [{ writeTable }, { savePipeline, withWeights, writeDetectorReport }, { writeFileAtomic }] = await Promise.all([
    import('../../io/write-table.ts'),
    import('../../pipeline/index.ts'),
    import('../../io/atomic-write.ts'),
  ]);
  if (report !== null) {
    if (detectorJson !== undefined) await writeFileAtomic(detectorJson, `${JSON.stringify(report, undefined, 2)}\n`);
    if (reportMd !== undefined) await writeFileAtomic(reportMd, report.toMarkdown());
    if (reportOut !== undefined) await writeDetectorReport(report, reportOut);
  }
  if (outCsv !== undefined) await writeTable(outCsv, withWeights(result.data, result.sampleWeight));
  if (savePath !== undefined) await savePipeline(pipeline, savePath);
}

function toJson({ report, result }: PipelineRun): Record<string, unknown> {
  const { metadata, transformersApplied } = result;
  return {
    detector_report: report,
    transformed_rows: metadata.rows,
    transformers_applied: transformersApplied,
    columns_in: metadata.columnsIn,
    columns_out: metadata.columnsOut,
    steps: metadata.steps.map((step) => ({
      name: step.name,
      transformer: step.transformer,
      columns_dropped: step.columnsDropped,
      columns_changed: step.columnsChanged,
      weighs: step.weighs,
      warnings: step.warnings,
    })),
  };
}

/** Columns named one by one; more are counted. */
const MOST_NAMES = 6;

function describe({ report, result }: PipelineRun): string {
  const { steps, rows } = result.metadata;
  return [
    ...(report === null ? [] : [...report.body.summary.findings, '']),
    `${count(rows)} rows transformed${steps.length === 0 ? ' by no step' : ''}.`,
    ...(steps.length === 0
      ? []
      : [
          textTable(
            ['step', 'transformer', 'dropped', 'changed', 'weighs'],
            steps.map(({ name, transformer, columnsDropped, columnsChanged, weighs }) => [
              name,
              transformer,
              names(columnsDropped),
              names(columnsChanged),
              weighs ? 'yes' : '',
            ]),
          ),
        ]),
    ...steps.flatMap(({ name, warnings }) => warnings.map((warning) => `Note: ${name}: ${warning}.`)),
  ].join('\n');
}

function names(columns: readonly string[]): string {
  const shown = columns.slice(0, MOST_NAMES).join(', ');
  return columns.length > MOST_NAMES ? `${shown} and ${String(columns.length - MOST_NAMES)} more` : shown;
}
