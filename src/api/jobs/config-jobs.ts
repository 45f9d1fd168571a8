import { workflowToHtml, workflowToMarkdown } from '../../integration/workflow-report/render-report.ts';
import { workflowToJson } from '../../integration/workflow-report/workflow-to-json.ts';
import { executeWorkflow } from '../../integration/workflow/execute-workflow.ts';
import { reportToHtml } from '../../pipeline/detectors/report-html.ts';
import { runPipeline } from '../../pipeline/index.ts';
import { pipelineRunToJson } from '../../pipeline/run-pipeline.ts';
import { parsePipelineFields, parseWorkflowFields } from '../../schemas/workflow-fields.ts';
import { loadForm } from './job-config.ts';
import type { FormJob, JobContext, JobOutcome } from './job.ts';
import { writeData, writeReports } from './run-files.ts';

/** Runs `POST /pipeline`: detectors and transformers. Output paths in the configuration are ignored. */
export async function runPipelineJob(job: FormJob, { folder, signal, onProgress }: JobContext): Promise<JobOutcome> {
  const { detectors, profile } = parsePipelineFields(job.fields);
  const { config, table } = await loadForm(job, profile);
  signal.throwIfAborted();
  const run = await runPipeline(config, table, { detectors, signal, onProgress });
  const { report, result } = run;
  const data = await writeData(folder, result.data, result.sampleWeight);
  const reports = report === null ? [] : await writeReports(folder, report.toMarkdown(), await reportToHtml(report));
  return { body: JSON.stringify(pipelineRunToJson(run)), files: [...reports, ...data] };
}

/** Runs `POST /workflow`: baseline, transformation and training, validation. */
export async function runWorkflowJob(job: FormJob, { folder, signal, onProgress }: JobContext): Promise<JobOutcome> {
  const { threshold, profile, class_weight: classWeight, ...how } = parseWorkflowFields(job.fields);
  const { config, table } = await loadForm(job, profile);
  signal.throwIfAborted();
  const result = await executeWorkflow(
    threshold === undefined ? config : { ...config, validationThreshold: threshold },
    table,
    {
      minGroupSize: how.min_group_size,
      trainSize: how.train_size,
      randomState: how.random_state,
      classWeight: classWeight === 'none' ? null : classWeight,
      signal,
      onProgress,
    },
  );
  const data = await writeData(folder, result.transformedData, result.sampleWeight);
  const reports = await writeReports(folder, workflowToMarkdown(result), await workflowToHtml(result));
  return { body: JSON.stringify(workflowToJson(result)), files: [...reports, ...data] };
}
