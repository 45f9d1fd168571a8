import type { Command } from 'commander';

import { noteBlocks, type ReportDocument, type ReportTable } from '../../document/report-document.ts';
import { ConfigValidationError } from '../../exceptions/index.ts';
import { counted } from '../../internal/format.ts';
import type { PipelineRun } from '../../pipeline/index.ts';
import type { FoundFiles } from '../../schemas/data-source.ts';
import { defineCommand, OPTION } from '../define-command.ts';
import { assertExtension, assertOutputs, outputTableFormat } from '../output-places.ts';
import { type OutputOptions, printResult, remarkWritten } from '../output.ts';
import { progressBar } from '../progress-bar.ts';

interface PipelineOptions extends OutputOptions {
  readonly config?: string;
  readonly profile?: string;
  readonly csv: FoundFiles;
  readonly naValues?: readonly string[];
  readonly outCsv?: string;
  readonly rawCsv?: boolean;
  readonly detectorJson?: string;
  readonly reportMd?: string;
  readonly detectors: boolean;
  readonly savePipeline?: string;
  readonly applyPipeline?: string;
}

/** Returns the command `evenhand pipeline`. */
export function pipelineCommand(): Command {
  return defineCommand<PipelineOptions>({
    name: 'pipeline',
    options: `
${OPTION.config}
${OPTION.profile}
${OPTION.csv}
${OPTION.naValues}
--out-csv <path>  write the transformed rows: .csv, .tsv or .parquet; weights are the column sample_weight
${OPTION.rawCsv}
--detector-json <path>  write the findings of the detectors as JSON
--report-md <path>  write the findings of the detectors as Markdown
--no-detectors  only transform the data; run no detectors
--save-pipeline <path>  write the fitted pipeline as JSON, so that it can be applied to other rows
--apply-pipeline <path>  apply a pipeline written by --save-pipeline, instead of fitting one`,
    required: ['csv'],
    help: `
Examples:
  $ evenhand sample-data cps-wages --out wages.csv
  $ evenhand pipeline --config config/cps-wages.yml --csv wages.csv --out-csv transformed.csv --report-md data.md

  $ evenhand pipeline --config config/adult.yml --csv train.csv --out-csv train.parquet --save-pipeline fitted.json
  $ evenhand pipeline --config config/adult.yml --csv new.csv --out-csv new.parquet --apply-pipeline fitted.json

All rows are treated as training rows. For a model and a verdict on held-out rows, use run-pipeline.
Exit codes: 0 success, whatever the detectors find; 2 invalid options or data; 3 a step failed.`,
    async run(options) {
      const { done, outputs } = await run(options);
      const { pipelineRunToJson } = await import('../../pipeline/run-pipeline.ts');
      await printResult(options, { json: () => pipelineRunToJson(done), text: () => describe(done) });
      remarkWritten(outputs, options);
    },
  });
}

async function run(options: PipelineOptions): Promise<{ done: PipelineRun; outputs: readonly (string | undefined)[] }> {
  const [{ assertReportPath, findConfigFile, loadConfig, loadPipeline, runPipeline }, { loadData }] = await Promise.all(
    [import('../../pipeline/index.ts'), import('../../io/load-data.ts')],
  );
  assertDetectors(options);
  const { detectors } = options;
  const loaded = await loadConfig(options.config, { profile: options.profile });
  const config = options.naValues === undefined ? loaded : { ...loaded, naValues: options.naValues };
  const reportOut = detectors ? config.reportOut : undefined;
  if (reportOut !== undefined) assertReportPath(reportOut);
  const { csv, outCsv, detectorJson, reportMd, savePipeline, applyPipeline } = options;
  const outputs = [outCsv, detectorJson, reportMd, savePipeline, reportOut];
  await assertOutputs(outputs, [csv, options.config ?? findConfigFile(), applyPipeline]);
  if (outCsv !== undefined) await outputTableFormat('--out-csv', outCsv);
  assertExtension('--detector-json', detectorJson, 'JSON');
  assertExtension('--report-md', reportMd, 'Markdown');
  assertExtension('--save-pipeline', savePipeline, 'JSON');
  const pipeline = applyPipeline === undefined ? undefined : await loadPipeline(applyPipeline);
  const table = await loadData(csv, { labels: config.sensitive, decimal: csv.decimal ?? config.decimal });
  const done = await runPipeline(config, table, { detectors, pipeline, onProgress: progressBar(options) });
  await write(done, reportOut, options);
  return { done, outputs };
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
  { outCsv, rawCsv, detectorJson, reportMd, savePipeline: savePath }: PipelineOptions,
): Promise<void> {
  const [{ writeTableAs }, { savePipeline, withWeights, writeDetectorReport }, { writeFileAtomic }] = await Promise.all(
    [import('../../io/write-table.ts'), import('../../pipeline/index.ts'), import('../../io/atomic-write.ts')],
  );
  if (report !== null) {
    if (detectorJson !== undefined) await writeFileAtomic(detectorJson, `${JSON.stringify(report, undefined, 2)}\n`);
    if (reportMd !== undefined) await writeFileAtomic(reportMd, report.toMarkdown());
    if (reportOut !== undefined) await writeDetectorReport(report, reportOut);
  }
  if (outCsv !== undefined) {
    const format = await outputTableFormat('--out-csv', outCsv);
    await writeTableAs(outCsv, withWeights(result.data, result.sampleWeight), format, { raw: rawCsv });
  }
  if (savePath !== undefined) await savePipeline(pipeline, savePath);
}

/** The maximum number of columns that are listed by name; further columns are only counted. */
const MAX_NAMES = 6;

function describe({ report, result }: PipelineRun): ReportDocument {
  const { steps, rows } = result.metadata;
  const found = report?.body.summary.findings ?? [];
  const findings = found.length === 0 ? ['No finding.'] : found;
  const table: ReportTable = {
    kind: 'table',
    caption: outcome(rows, steps.length),
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
  return {
    title: '',
    subject: '',
    sections: [
      { title: 'Detectors', blocks: report === null ? [] : [{ kind: 'list', items: findings }] },
      {
        title: 'Transformation',
        blocks: [
          steps.length === 0 ? { kind: 'paragraph', text: `${table.caption}.` } : table,
          ...noteBlocks('Notes', notes),
        ],
      },
    ],
    made: [],
  };
}

function outcome(rows: number, steps: number): string {
  const text = counted(rows, 'row');
  return steps === 0 ? `${text}, no step to transform ${rows === 1 ? 'it' : 'them'}` : `${text} transformed`;
}

function names(columns: readonly string[]): string {
  const shown = columns.slice(0, MAX_NAMES).join(', ');
  return columns.length > MAX_NAMES ? `${shown} and ${String(columns.length - MAX_NAMES)} more` : shown;
}
