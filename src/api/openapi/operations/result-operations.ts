import { RUN_ENDPOINTS, RUN_STATUSES } from '../../runs/run-record.ts';
import { answer, BYTES, EVENTS, headersOf, jsonAnswer, TEXT } from '../answers.ts';
import { schemaRef } from '../component-schemas.ts';
import type { Operation } from '../open-api-types.ts';
import { parameterRef } from '../parameters.ts';
import { commonProblems, problems } from '../problem-responses.ts';

const tags = ['Results'];
const RUN_ID = [parameterRef('RunId')];

/** What is kept of runs. */
export const RESULT_OPERATIONS = {
  listResults: {
    tags,
    summary: 'The runs that are kept',
    description:
      'The newest first, without their results. Where there are too many, those least recently used are dropped.',
    parameters: [
      {
        name: 'status',
        in: 'query',
        description: 'Only runs in this state.',
        schema: { type: 'string', enum: RUN_STATUSES },
      },
      {
        name: 'endpoint',
        in: 'query',
        description: 'Only runs of this path.',
        schema: { type: 'string', enum: RUN_ENDPOINTS },
      },
      {
        name: 'limit',
        in: 'query',
        description: 'As many at most. Default: all.',
        schema: { type: 'integer', minimum: 1, maximum: 999_999_999 },
      },
    ],
    responses: { 200: jsonAnswer('The runs.', 'RunList'), ...commonProblems(), ...problems(422) },
  },
  getResult: {
    tags,
    summary: 'A run and its result',
    description:
      'Any process of the service answers for any run. `result` is null until it succeeded; where it failed, `problem` says why. With `Accept: text/html` or `text/markdown` the report for people.',
    parameters: RUN_ID,
    responses: {
      200: answer('The run.', {
        'application/json': { schema: schemaRef('Run') },
        'text/html': TEXT,
        'text/markdown': TEXT,
      }),
      ...commonProblems(),
      ...problems(404, 406, 422),
    },
  },
  deleteResult: {
    tags,
    summary: 'Cancel or forget a run',
    description:
      'A run that has not ended is cancelled, and stops at its next step. One that has is forgotten, with its files.',
    parameters: RUN_ID,
    responses: {
      200: jsonAnswer('It is cancelled.', 'Cancelled'),
      204: { description: 'It is forgotten.', headers: headersOf() },
      ...commonProblems(),
      ...problems(404),
    },
  },
  getResultData: {
    tags,
    summary: 'The transformed rows of a pipeline',
    description: 'As CSV, or as Parquet where `Accept` or `format` asks for it.',
    parameters: [
      ...RUN_ID,
      {
        name: 'format',
        in: 'query',
        description: 'In place of the Accept header, for links.',
        schema: { type: 'string', enum: ['csv', 'parquet'] },
      },
    ],
    responses: {
      200: answer('The rows.', { 'text/csv': TEXT, 'application/vnd.apache.parquet': BYTES }),
      ...commonProblems(),
      ...problems(404, 406, 422),
    },
  },
  followResult: {
    tags,
    summary: 'The progress of a run as it happens',
    description:
      'Server-sent events, those of the past first: `status` with `{"status"}`, `progress` with `{"stage", "done", "total"}`. The stream ends with a final status. A client that lost it goes on with Last-Event-ID.',
    parameters: [...RUN_ID, parameterRef('LastEventId')],
    responses: {
      200: answer('The events, until the run has ended.', { 'text/event-stream': EVENTS }),
      204: { description: 'Nothing more will come: a reconnecting EventSource stops.', headers: headersOf() },
      ...commonProblems(),
      ...problems(404, 503),
    },
  },
} as const satisfies Readonly<Record<string, Operation>>;
