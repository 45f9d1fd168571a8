import { z } from 'zod';

import { RUN_ENDPOINTS, RUN_STATUSES } from '../runs/run-record.ts';
import { llmEvalAnswerSchema } from './llm-eval-answer.ts';
import { pipelineAnswerSchema } from './pipeline-answer.ts';
import { model, moment, runId } from './plain.ts';
import { problemSchema } from './problem.ts';
import { validationAnswerSchema } from './validation-answer.ts';
import { workflowAnswerSchema } from './workflow-answer.ts';

const endpoint = z.enum(RUN_ENDPOINTS).describe('The endpoint of the request.');
const status = z
  .enum(RUN_STATUSES)
  .meta({ id: 'RunStatus', description: 'The state of a run; succeeded, failed and cancelled are final.' });

const SUMMARY = {
  run_id: runId,
  endpoint,
  status,
  created_at: moment,
  finished_at: moment.nullable().describe('The time at which the run ended; null before.'),
} as const;

/** The state of a run. */
export const runStatusSchema = status;

/** `GET /results/{run_id}` */
export const runSchema = model('Run', 'A run, with its result if there is one.', {
  ...SUMMARY,
  result: z
    .union([validationAnswerSchema, pipelineAnswerSchema, workflowAnswerSchema, llmEvalAnswerSchema])
    .nullable()
    .describe('The answer of POST; null unless the run succeeded.'),
  problem: problemSchema.nullable().describe('The reason why the run failed or was cancelled; null otherwise.'),
});

/** A run in a list. */
export const runSummarySchema = model('RunSummary', 'A run without its result.', SUMMARY);

/** `GET /results` */
export const runListSchema = model('RunList', 'The stored runs, newest first.', { results: z.array(runSummarySchema) });

/** The body of a 202 answer. */
export const acceptedSchema = model('Accepted', 'The run was accepted. Its result follows later.', {
  run_id: runId,
  endpoint: endpoint.optional(),
  status,
  created_at: moment.optional(),
  result: z.string().describe('The path of the result; send GET to retrieve it.'),
  events: z.string().describe('The path of the progress events.'),
});

/** `DELETE /results/{run_id}` of a run that had not ended. */
export const cancelledSchema = model('Cancelled', 'The run is cancelled.', {
  run_id: runId,
  status: z.literal('cancelled'),
});

/** An event of a run, with its data and the other fields of the event stream. */
export const runEventSchema = z
  .union([
    z.strictObject({ id: z.number().int().min(1), type: z.literal('status'), status }),
    z.strictObject({
      id: z.number().int().min(1),
      type: z.literal('progress'),
      stage: z.string(),
      done: z.number(),
      total: z.number(),
    }),
  ])
  .meta({ id: 'RunEvent', description: 'An event of a run. Events are numbered from 1 within each run.' });
