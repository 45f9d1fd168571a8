import { parseLlmEvalConfig } from '../../llm-evals/config/index.ts';
import { parseConfigText } from '../../pipeline/index.ts';
import { parseLlmEvalBody } from '../../schemas/llm-eval-body.ts';
import { parseTableJob, valuesOfForm } from '../../schemas/table-jobs.ts';
import { parseValidateCounts, parseValidateTable } from '../../schemas/validate-table.ts';
import { parsePipelineFields, parseWorkflowFields } from '../../schemas/workflow-fields.ts';
import { parseJson } from '../problem/parse-json.ts';
import type { Job } from './job.ts';

/**
 * Checks the configuration and the options of a job, without its data.
 * @throws {ServiceProblem} 400 if a body is not JSON
 * @throws {FairnessToolkitError} any error of the configuration that the job would throw
 */
export async function checkJob(job: Job): Promise<void> {
  switch (job.kind) {
    case 'pipeline':
    case 'workflow': {
      const { profile } = (job.kind === 'pipeline' ? parsePipelineFields : parseWorkflowFields)(job.fields);
      await parseConfigText(job.config, 'config', { profile: profile ?? null });
      return;
    }
    case 'llm-eval': {
      const { config } = parseLlmEvalBody(parseJson(job.body));
      if (typeof config === 'string') await parseLlmEvalConfig(config, 'config');
      else parseLlmEvalConfig(config);
      return;
    }
    case 'validate-table':
      if (job.source === 'counts') parseValidateCounts(job.options, 'form');
      else parseValidateTable(job.options, job.source);
      return;
    case 'predict':
    case 'calibrate':
    case 'ab-test':
    case 'train':
      // The options in a JSON body are read with its rows.
      if (job.fields !== null) parseTableJob(job.kind, valuesOfForm(job.kind, job.fields));
      return;
    default:
  }
}

/** The maximum length of a configuration that is checked in the main thread: about 20 milliseconds of work. */
const MAX_INLINE = 16_384;

/** Returns whether a job is checked in the main thread. Otherwise, a thread checks it. */
export function isCheckedInline(job: Job): boolean {
  const text = 'config' in job ? job.config : job.kind === 'llm-eval' ? job.body : '';
  return text.length <= MAX_INLINE;
}
