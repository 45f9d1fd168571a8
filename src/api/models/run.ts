import { z } from 'zod';

import { RUN_ENDPOINTS, RUN_STATUSES } from '../runs/run-record.ts';
import { llmEvalAnswerSchema } from './llm-eval-answer.ts';
import { pipelineAnswerSchema } from './pipeline-answer.ts';
import { moment, runId } from './plain.ts';
import { problemSchema } from './problem.ts';
import { validationAnswerSchema } from './validation-answer.ts';
import { workflowAnswerSchema } from './workflow-answer.ts';

const endpoint = z.enum(RUN_ENDPOINTS).meta({ description: 'The endpoint of the request.' });
const status = z
  .enum(RUN_STATUSES)
  .meta({ id: 'RunStatus', description: 'The state of a run; succeeded, failed and cancelled are final.' });

const SUMMARY = {
  run_id: runId,
  endpoint,
  status,
  created_at: moment,
  finished_at: moment.nullable().meta({ description: 'The time at which the run ended; null before.' }),
} as const;

/** The state of a run. */
export const runStatusSchema = status;

/** `GET /results/{run_id}` */
export const runSchema = z
  .strictObject({
    ...SUMMARY,
    result: z
      .union([validationAnswerSchema, pipelineAnswerSchema, workflowAnswerSchema, llmEvalAnswerSchema])
      .nullable()
      .meta({ description: 'The answer of POST; null unless the run succeeded.' }),
    problem: problemSchema
      .nullable()
      .meta({ description: 'The reason why the run failed or was cancelled; null otherwise.' }),
  })
  .meta({ id: 'Run', description: 'A run, with its result if there is one.' });

/** A run in a list. */
export const runSummarySchema = z
  .strictObject(SUMMARY)
  .meta({ id: 'RunSummary', description: 'A run without its result.' });

/** `GET /results` */
export const runListSchema = z
  .strictObject({ results: z.array(runSummarySchema) })
  .meta({ id: 'RunList', description: 'The stored runs, newest first.' });

/** The body of a 202 answer. */
export const acceptedSchema = z
  .strictObject({
    run_id: runId,
    endpoint: endpoint.optional(),
    status,
    created_at: moment.optional(),
    result: z.string().meta({ description: 'The path of the result; send GET to retrieve it.' }),
    events: z.string().meta({ description: 'The path of the progress events.' }),
  })
  .meta({ id: 'Accepted', description: 'The run was accepted. Its result follows later.' });

/** `DELETE /results/{run_id}` of a run that had not ended. */
export const cancelledSchema = z
  .strictObject({ run_id: runId, status: z.literal('cancelled') })
  .meta({ id: 'Cancelled', description: 'The run is cancelled.' });

/** An event of a run: its data, and the fields next to it in the stream. */
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
