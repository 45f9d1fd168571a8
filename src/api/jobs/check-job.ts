import { readFile } from 'node:fs/promises';

import { parseLlmEvalConfig } from '../../llm-evals/config/index.ts';
import { parseConfigText } from '../../pipeline/index.ts';
import { parseLlmEvalBody } from '../../schemas/llm-eval-body.ts';
import { parseTableJob, valuesOfForm } from '../../schemas/table-jobs.ts';
import { parseValidateTable } from '../../schemas/validate-table.ts';
import { parsePipelineFields, parseWorkflowFields } from '../../schemas/workflow-fields.ts';
import { parseJson } from '../problem/parse-json.ts';
import type { Job, TableJob } from './job.ts';
import { readRowsBody, readTablesBody } from './rows-body.ts';

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
      parseValidateTable(job.options, job.source);
      return;
    case 'predict':
    case 'calibrate':
    case 'ab-test':
    case 'train':
      parseTableJob(job.kind, await optionsOf(job));
      return;
    case 'validate-rows':
      readRowsBody(await readFile(job.path), job.maxItems);
      return;
    default:
  }
}

/** Returns the options of a form, or of a JSON body with rows. */
async function optionsOf({ kind, fields, files, maxItems }: TableJob): Promise<object> {
  if (fields !== null) return valuesOfForm(kind, fields);
  return readTablesBody(kind, await readFile(files['body'] as string), maxItems).options;
}

/** The maximum length of a configuration that is checked in the main thread: about 20 milliseconds of work. */
const MAX_INLINE = 16_384;

/** Returns whether a job is checked in the main thread. Otherwise, a thread checks it. */
export function isCheckedInline(job: Job): boolean {
  // A body with rows may be large.
  if (job.kind === 'validate-rows' || ('fields' in job && job.fields === null)) return false;
  const text = 'config' in job ? job.config : job.kind === 'llm-eval' ? job.body : '';
  return text.length <= MAX_INLINE;
}
