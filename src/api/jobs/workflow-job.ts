import { executeWorkflow } from '../../integration/workflow/execute-workflow.ts';
import { workflowToHtml, workflowToJson, workflowToMarkdown } from '../../integration/workflow-report/index.ts';
import { parseWorkflowFields } from '../../schemas/workflow-fields.ts';
import { loadJobTable, readJobConfig } from './job-config.ts';
import type { JobContext, JobOutcome, WorkflowJob } from './job.ts';
import { writeData, writeReports } from './run-files.ts';

/** `POST /workflow`: baseline, transformation and training, validation. */
export async function runWorkflowJob(
  { path, config: text, fields }: WorkflowJob,
  { folder, signal, onProgress }: JobContext,
): Promise<JobOutcome> {
  const { threshold, profile, class_weight: classWeight, ...how } = parseWorkflowFields(fields);
  const config = await readJobConfig(text, profile);
  const table = await loadJobTable(path, config);
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
