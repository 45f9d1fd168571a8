import { z } from 'zod';

import { PROBLEM_KINDS } from '../problem/service-problem.ts';
import { RUN_ENDPOINTS, RUN_STATUSES } from '../runs/runs.ts';
import { count, model, moment, runId } from './answer-fields.ts';
import { llmEvalAnswerSchema } from './llm-eval-answer.ts';
import { pipelineAnswerSchema } from './pipeline-answer.ts';
import { abTestAnswerSchema, calibrateAnswerSchema, predictAnswerSchema, trainAnswerSchema } from './table-answers.ts';
import { validationAnswerSchema } from './validation-answer.ts';
import { workflowAnswerSchema } from './workflow-answer.ts';

/** The answer of `GET /health`. */
export const healthSchema = model(
  'Health',
  'The process is running.',
  { status: z.literal('ok'), version: z.string().describe('The version of evenhand.'), timestamp: moment },
  { status: 'ok', version: '0.9.0', timestamp: '2026-01-31T09:30:00.000Z' },
);

/** The answer of `GET /ready`. */
export const readinessSchema = model(
  'Readiness',
  'The service accepts new work; with the current load.',
  {
    status: z.literal('ready'),
    queued: count.describe('The number of runs that wait for a thread.'),
    running: count.describe('The number of busy threads, including those of cancelled runs that have not stopped yet.'),
    kept: count.describe('The number of runs whose answers are stored.'),
  },
  { status: 'ready', queued: 0, running: 1, kept: 12 },
);

const STATUSES = Object.keys(PROBLEM_KINDS).map(Number);

/** An invalid field. */
export const invalidFieldSchema = model('FieldFault', 'An invalid field.', {
  pointer: z.string().meta({
    description:
      'A JSON pointer into the body; the parts of a form are fields (/config). For a query parameter or a header, its name.',
    examples: ['/y_pred/3'],
  }),
  detail: z.string().meta({ description: 'What is wrong with the field.', examples: ['must be 0 or 1; got 2'] }),
});

/** The body of an error response: RFC 9457. */
export const problemSchema = model(
  'Problem',
  'The reason why there is no result (RFC 9457, application/problem+json).',
  {
    type: z
      .enum(Object.values(PROBLEM_KINDS).map(([slug]) => `urn:evenhand:problem:${slug}`))
      .describe('The kind of problem, for programs.'),
    title: z.string().describe('The kind of problem, for people.'),
    status: z.literal(STATUSES),
    code: z.string().meta({
      description: 'The stable code of the problem, for programs. docs/errors.md lists all codes.',
      examples: ['unknown-column'],
    }),
    detail: z.string().describe('What is wrong with this request.'),
    errors: z.array(invalidFieldSchema).optional().describe('The invalid fields.'),
    suggestion: z.string().optional().describe('How to fix the problem.'),
    run_id: z.string().optional().describe('The ID of the run concerned.'),
  },
  {
    type: 'urn:evenhand:problem:invalid-request',
    title: 'The request cannot be processed',
    status: 422,
    code: 'invalid-request',
    detail: 'y_pred and sensitive must have the same length.',
    errors: [{ pointer: '/sensitive', detail: 'has 3 items; y_pred has 4' }],
    suggestion: 'Send one group for every decision.',
  },
);

const endpoint = z.enum(RUN_ENDPOINTS).describe('The endpoint of the request.');

/** The state of a run. */
export const runStatusSchema = z
  .enum(RUN_STATUSES)
  .meta({ id: 'RunStatus', description: 'The state of a run; succeeded, failed and cancelled are final.' });

const SUMMARY = {
  run_id: runId,
  endpoint,
  status: runStatusSchema,
  created_at: moment,
  finished_at: moment.nullable().describe('The time at which the run ended; null if the run has not ended.'),
} as const;

/** The answer of `GET /results/{run_id}`. */
export const runSchema = model('Run', 'A run, with its result if there is one.', {
  ...SUMMARY,
  result: z
    .union([
      validationAnswerSchema,
      pipelineAnswerSchema,
      workflowAnswerSchema,
      llmEvalAnswerSchema,
      predictAnswerSchema,
      calibrateAnswerSchema,
      abTestAnswerSchema,
      trainAnswerSchema,
    ])
    .nullable()
    .describe('The answer of POST; null unless the run succeeded.'),
  problem: problemSchema.nullable().describe('The reason why the run failed or was cancelled; null otherwise.'),
});

/** A run in a list. */
export const runSummarySchema = model('RunSummary', 'A run without its result.', SUMMARY);

/** The answer of `GET /results`. */
export const runListSchema = model('RunList', 'The stored runs, newest first.', { results: z.array(runSummarySchema) });

/** The body of a 202 answer. */
export const acceptedSchema = model('Accepted', 'The run was accepted. Its result follows later.', {
  run_id: runId,
  endpoint: endpoint.optional(),
  status: runStatusSchema,
  created_at: moment.optional(),
  result: z.string().describe('The path of the result; send GET to retrieve it.'),
  events: z.string().describe('The path of the progress events.'),
});

/** The answer of `DELETE /results/{run_id}` if the run had not ended. */
export const cancelledSchema = model('Cancelled', 'The run is cancelled.', {
  run_id: runId,
  status: z.literal('cancelled'),
});

/** An event of a run, with its data and the other fields of the event stream. */
export const runEventSchema = z
  .union([
    z.strictObject({ id: z.number().int().min(1), type: z.literal('status'), status: runStatusSchema }),
    z.strictObject({
      id: z.number().int().min(1),
      type: z.literal('progress'),
      stage: z.string(),
      done: z.number(),
      total: z.number(),
    }),
  ])
  .meta({ id: 'RunEvent', description: 'An event of a run. Events are numbered from 1 within each run.' });
