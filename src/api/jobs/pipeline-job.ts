import { runPipeline } from '../../pipeline/index.ts';
import { reportToHtml } from '../../pipeline/detectors/report-html.ts';
import { pipelineRunToJson } from '../../pipeline/pipeline-run-json.ts';
import { parsePipelineFields } from '../../schemas/pipeline-fields.ts';
import { loadJobTable, readJobConfig } from './job-config.ts';
import type { JobContext, JobOutcome, PipelineJob } from './job.ts';
import { writeData, writeReports } from './run-files.ts';

/** `POST /pipeline`: detectors and transformers. Where a configuration would write its report is left aside. */
export async function runPipelineJob(
  { path, config: text, fields }: PipelineJob,
  { folder, signal, onProgress }: JobContext,
): Promise<JobOutcome> {
  const { detectors, profile } = parsePipelineFields(fields);
  const config = await readJobConfig(text, profile);
  const table = await loadJobTable(path, config);
  signal.throwIfAborted();
  const run = await runPipeline(config, table, { detectors, signal, onProgress });
  const { report, result } = run;
  const data = await writeData(folder, result.data, result.sampleWeight);
  const reports = report === null ? [] : await writeReports(folder, report.toMarkdown(), await reportToHtml(report));
  return { body: JSON.stringify(pipelineRunToJson(run)), files: [...reports, ...data] };
}
