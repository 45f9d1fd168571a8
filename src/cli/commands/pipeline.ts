import type { Command } from 'commander';

import { noteBlocks, type ReportBlock, type ReportDocument } from '../../document/report-document.ts';
import { ConfigValidationError } from '../../exceptions/index.ts';
import { counted } from '../../internal/format.ts';
import type { DetectorReport, PipelineConfig, PipelineRun, StepRecord, WeightsSql } from '../../pipeline/index.ts';
import type { FoundFiles } from '../../schemas/data-source.ts';
import { defineCommand, OPTION } from '../define-command.ts';
import { assertExtension, assertOutputs, outputTableFormat } from '../output-places.ts';
import { flagName } from '../option-parsers.ts';
import { type OutputOptions, printResult, remarkWritten } from '../output.ts';
import { progressBar } from '../progress-bar.ts';
import { assertOneSource, SQL_OPTIONS, type SqlOptions } from '../sql-rows.ts';

interface PipelineOptions extends OutputOptions, SqlOptions {
  readonly config?: string;
  readonly profile?: string;
  readonly csv?: FoundFiles;
  readonly naValues?: readonly string[];
  readonly outCsv?: string;
  readonly rawCsv?: boolean;
  readonly detectorJson?: string;
  readonly reportMd?: string;
  readonly detectors: boolean;
  readonly savePipeline?: string;
  readonly applyPipeline?: string;
  readonly outSql?: string;
}

/** Returns the command `evenhand pipeline`. */
export function pipelineCommand(): Command {
  return defineCommand<PipelineOptions>({
    name: 'pipeline',
    options: `
${OPTION.config}
${OPTION.profile}
${OPTION.csv}
${SQL_OPTIONS}
${OPTION.naValues}
--out-csv <path>  write the transformed rows: .csv, .tsv or .parquet; weights are the column sample_weight
${OPTION.rawCsv}
--detector-json <path>  write the findings of the detectors as JSON
--report-md <path>  write the findings of the detectors as Markdown
--no-detectors  only transform the data; run no detectors
--save-pipeline <path>  write the fitted pipeline as JSON, so that it can be applied to other rows
--apply-pipeline <path>  apply a pipeline written by --save-pipeline, instead of fitting one
--out-sql <path>  with --sql: write a SELECT statement that returns the rows with their weights, in the column sample_weight; the steps must be weights`,
    required: ['csv|sql'],
    help: `
Examples:
  $ evenhand sample-data cps-wages --out wages.csv
  $ evenhand pipeline --config config/cps-wages.yml --csv wages.csv --out-csv transformed.csv --report-md data.md

  $ evenhand pipeline --config config/adult.yml --csv train.csv --out-csv train.parquet --save-pipeline fitted.json
  $ evenhand pipeline --config config/adult.yml --csv new.csv --out-csv new.parquet --apply-pipeline fitted.json

  Rows in a database, which only counts leave: detectors, and a statement that returns the rows with their weights:
  $ EVENHAND_SQL_PASSWORD=… evenhand pipeline --config config/adult.yml --sql postgres://ana@db.example/shop \\
      --table loans --out-sql weighted.sql

All rows are treated as training rows. For a model and a verdict on held-out rows, use run-pipeline.
Exit codes: 0 success, whatever the detectors find; 2 invalid options or data; 3 a step failed.`,
    async run(options) {
      if (options.sql !== undefined) {
        await runOnDatabase(options, options.sql);
        return;
      }
      const { done, outputs } = await run(options, options.csv as FoundFiles);
      const { pipelineRunToJson } = await import('../../pipeline/run-pipeline.ts');
      await printResult(options, {
        json: () => pipelineRunToJson(done),
        text: () => describe(done.report, transformation(done)),
      });
      remarkWritten(outputs, options);
    },
  });
}

async function run(
  options: PipelineOptions,
  csv: FoundFiles,
): Promise<{ done: PipelineRun; outputs: readonly (string | undefined)[] }> {
  const [{ findConfigFile, loadPipeline, runPipeline }, { loadData }] = await Promise.all([
    import('../../pipeline/index.ts'),
    import('../../io/load-data.ts'),
  ]);
  assertOneSource(options, ['csv', 'sql'], ['table', 'query', 'sqlTimeout', 'outSql']);
  const { detectors } = options;
  const { config, reportOut } = await openConfig(options);
  const { outCsv, detectorJson, reportMd, savePipeline, applyPipeline } = options;
  const outputs = [outCsv, detectorJson, reportMd, savePipeline, reportOut];
  await assertOutputs(outputs, [csv, options.config ?? findConfigFile(), applyPipeline]);
  if (outCsv !== undefined) await outputTableFormat('--out-csv', outCsv);
  assertExtensions(options);
  const pipeline = applyPipeline === undefined ? undefined : await loadPipeline(applyPipeline);
  const table = await loadData(csv, { labels: config.sensitive, decimal: csv.decimal ?? config.decimal });
  const done = await runPipeline(config, table, { detectors, pipeline, onProgress: progressBar(options) });
  await write(done, reportOut, options);
  return { done, outputs };
}

/** Runs the detectors on a database, and writes the statement with weights. */
async function runOnDatabase(options: PipelineOptions, url: string): Promise<void> {
  const [{ findConfigFile, runDetectors, savePipeline, weightsSql }, { onDatabase, openSql }, { snakeFields }] =
    await Promise.all([
      import('../../pipeline/index.ts'),
      import('../sql-rows.ts'),
      import('../../internal/arguments.ts'),
    ]);
  assertWithSql(options);
  const { config, reportOut } = await openConfig(options);
  const { outSql, detectorJson, reportMd } = options;
  const outputs = [outSql, detectorJson, reportMd, options.savePipeline, reportOut];
  await assertOutputs(outputs, [options.config ?? findConfigFile()]);
  assertExtensions(options);
  const source = await openSql(url, options);
  const { report, weights } = await onDatabase(source, async (rows, signal) => ({
    report: options.detectors ? await runDetectors(rows, config, { signal, onProgress: progressBar(options) }) : null,
    weights: outSql === undefined ? null : await weightsSql(rows, config, { signal }),
  }));
  await writeReport(report, reportOut, options);
  if (weights !== null && outSql !== undefined) {
    const { writeFileAtomic } = await import('../../io/atomic-write.ts');
    await writeFileAtomic(outSql, `${weights.sql}\n`);
    if (options.savePipeline !== undefined) await savePipeline(weights.pipeline, options.savePipeline);
  }
  await printResult(options, {
    json: () => ({
      detector_report: report,
      weighted_rows: weights?.rows ?? null,
      weight_column: weights?.weightColumn ?? null,
      steps: (weights?.steps ?? []).map((step) => snakeFields(step)),
    }),
    text: () => describe(report, weights === null ? untransformed(config) : weighting(weights)),
  });
  remarkWritten(outputs, options);
}

/** Reads the configuration, and checks the paths of reports. */
async function openConfig(
  options: PipelineOptions,
): Promise<{ readonly config: PipelineConfig; readonly reportOut: string | undefined }> {
  const { assertReportPath, loadConfig } = await import('../../pipeline/index.ts');
  assertDetectors(options);
  const loaded = await loadConfig(options.config, { profile: options.profile });
  const config = options.naValues === undefined ? loaded : { ...loaded, naValues: options.naValues };
  const reportOut = options.detectors ? config.reportOut : undefined;
  if (reportOut !== undefined) assertReportPath(reportOut);
  return { config, reportOut };
}

function assertExtensions({ detectorJson, reportMd, savePipeline }: PipelineOptions): void {
  assertExtension('--detector-json', detectorJson, 'JSON');
  assertExtension('--report-md', reportMd, 'Markdown');
  assertExtension('--save-pipeline', savePipeline, 'JSON');
}

/** The options that need rows in memory. */
const WITH_ROWS = ['csv', 'outCsv', 'rawCsv', 'applyPipeline'] as const;

function assertWithSql(options: PipelineOptions): void {
  const given = WITH_ROWS.find((name) => options[name] !== undefined);
  const isIdle = !options.detectors && options.outSql === undefined;
  const needsFit = options.savePipeline !== undefined && options.outSql === undefined;
  if (given === undefined && !isIdle && !needsFit) return;
  throw new ConfigValidationError(
    given !== undefined
      ? `${flagName(given)} needs rows in files, but with --sql the rows stay in the database.`
      : `${isIdle ? '--no-detectors' : '--save-pipeline'} needs --out-sql, if there is --sql.`,
    {
      context: { parameter: 'sql' },
      suggestion:
        given !== undefined
          ? `Remove ${flagName(given)}. For weights, add --out-sql. For other steps, write the rows to a Parquet file.`
          : 'Add --out-sql to fit weights.',
    },
  );
}

function assertDetectors({ detectors, detectorJson, reportMd }: PipelineOptions): void {
  if (detectors || (detectorJson === undefined && reportMd === undefined)) return;
  throw new ConfigValidationError('--detector-json and --report-md need the detectors, but --no-detectors is given.', {
    suggestion: 'Remove --no-detectors, or remove --detector-json and --report-md.',
  });
}

async function write(
  { report, result, pipeline }: PipelineRun,
  reportOut: string | undefined,
  options: PipelineOptions,
): Promise<void> {
  const [{ writeTableAs }, { savePipeline, withWeights }] = await Promise.all([
    import('../../io/write-table.ts'),
    import('../../pipeline/index.ts'),
  ]);
  const { outCsv, rawCsv, savePipeline: savePath } = options;
  await writeReport(report, reportOut, options);
  if (outCsv !== undefined) {
    const format = await outputTableFormat('--out-csv', outCsv);
    await writeTableAs(outCsv, withWeights(result.data, result.sampleWeight), format, { raw: rawCsv });
  }
  if (savePath !== undefined) await savePipeline(pipeline, savePath);
}

async function writeReport(
  report: DetectorReport | null,
  reportOut: string | undefined,
  { detectorJson, reportMd }: PipelineOptions,
): Promise<void> {
  if (report === null) return;
  const [{ writeDetectorReport }, { writeFileAtomic }] = await Promise.all([
    import('../../pipeline/index.ts'),
    import('../../io/atomic-write.ts'),
  ]);
  if (detectorJson !== undefined) await writeFileAtomic(detectorJson, `${JSON.stringify(report, undefined, 2)}\n`);
  if (reportMd !== undefined) await writeFileAtomic(reportMd, report.toMarkdown());
  if (reportOut !== undefined) await writeDetectorReport(report, reportOut);
}

/** The maximum number of columns that are listed by name; further columns are only counted. */
const MAX_NAMES = 6;

function describe(report: DetectorReport | null, transformed: readonly ReportBlock[]): ReportDocument {
  const found = report?.body.summary.findings ?? [];
  const findings = found.length === 0 ? ['No finding.'] : found;
  return {
    title: '',
    subject: '',
    sections: [
      { title: 'Detectors', blocks: report === null ? [] : [{ kind: 'list', items: findings }] },
      { title: 'Transformation', blocks: transformed },
    ],
    made: [],
  };
}

function transformation({ result }: PipelineRun): ReportBlock[] {
  const { steps, rows } = result.metadata;
  return describeSteps(steps, outcome(rows, steps.length));
}

function weighting({ steps, rows, weightColumn }: WeightsSql): ReportBlock[] {
  return describeSteps(steps, `${counted(rows, 'row')} counted in the database, weights in the column ${weightColumn}`);
}

function untransformed({ pipeline }: PipelineConfig): ReportBlock[] {
  const text = 'The steps of the pipeline were not run, because the rows stay in the database. --out-sql fits weights.';
  return pipeline.length === 0 ? [] : [{ kind: 'paragraph', text }];
}

function describeSteps(steps: readonly StepRecord[], caption: string): ReportBlock[] {
  if (steps.length === 0) return [{ kind: 'paragraph', text: `${caption}.` }];
  const table: ReportBlock = {
    kind: 'table',
    caption,
    columns: [
      { name: 'Step' },
      { name: 'Transformer', isEssential: true },
      { name: 'Dropped' },
      { name: 'Changed' },
      { name: 'Weighs' },
    ],
    rows: steps.map(({ name, transformer, columnsDropped, columnsChanged, weighs }) => [
      name,
      transformer,
      names(columnsDropped),
      names(columnsChanged),
      weighs ? 'yes' : '',
    ]),
  };
  const notes = steps.flatMap(({ name, warnings }) => warnings.map((warning) => `${name}: ${warning}.`));
  return [table, ...noteBlocks('Notes', notes)];
}

function outcome(rows: number, steps: number): string {
  const text = counted(rows, 'row');
  return steps === 0 ? `${text}, no step to transform ${rows === 1 ? 'it' : 'them'}` : `${text} transformed`;
}

function names(columns: readonly string[]): string {
  const shown = columns.slice(0, MAX_NAMES).join(', ');
  return columns.length > MAX_NAMES ? `${shown} and ${String(columns.length - MAX_NAMES)} more` : shown;
}
