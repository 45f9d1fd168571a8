import { RUN_ENDPOINTS, RUN_STATUSES } from '../../runs/run-record.ts';
import { answer, BYTES, EVENTS, headersOf, jsonAnswer, TEXT } from '../answers.ts';
import { schemaRef } from '../component-schemas.ts';
import type { Operation } from '../open-api-types.ts';
import { parameterRef } from '../parameters.ts';
import { commonProblems, problems } from '../problem-responses.ts';

const tags = ['Results'];
const RUN_ID = [parameterRef('RunId')];

/** The operations on stored runs. */
export const RESULT_OPERATIONS = {
  listResults: {
    tags,
    summary: 'List the stored runs',
    description:
      'Returns the runs without their results, newest first. Above the limit of stored runs, the least recently used ones are dropped.',
    parameters: [
      {
        name: 'status',
        in: 'query',
        description: 'Return only runs in this state.',
        schema: { type: 'string', enum: RUN_STATUSES },
      },
      {
        name: 'endpoint',
        in: 'query',
        description: 'Return only runs of this endpoint.',
        schema: { type: 'string', enum: RUN_ENDPOINTS },
      },
      {
        name: 'limit',
        in: 'query',
        description: 'The maximum number of runs. Default: all.',
        schema: { type: 'integer', minimum: 1, maximum: 999_999_999 },
      },
    ],
    responses: { 200: jsonAnswer('The runs.', 'RunList'), ...commonProblems(), ...problems(422) },
  },
  getResult: {
    tags,
    summary: 'Get a run and its result',
    description:
      'Any process of the service can return any run. `result` is null until the run succeeds. If it failed, `problem` contains the reason. With `Accept: text/html` or `text/markdown`, the readable report is returned.',
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
    summary: 'Cancel or delete a run',
    description:
      'A run that has not ended is cancelled and stops at its next step. A run that has ended is deleted with its files.',
    parameters: RUN_ID,
    responses: {
      200: jsonAnswer('The run was cancelled.', 'Cancelled'),
      204: { description: 'The run was deleted.', headers: headersOf() },
      ...commonProblems(),
      ...problems(404),
    },
  },
  getResultData: {
    tags,
    summary: 'Get the transformed rows of a pipeline',
    description: 'CSV, or Parquet if `Accept` or `format` requests it.',
    parameters: [
      ...RUN_ID,
      {
        name: 'format',
        in: 'query',
        description: 'Replaces the Accept header, for use in links.',
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
    summary: 'Follow the progress of a run',
    description:
      'Server-sent events, past ones first: `status` with `{"status"}`, `progress` with `{"stage", "done", "total"}`. The stream ends with a final status. After a disconnect, a client can resume with Last-Event-ID.',
    parameters: [...RUN_ID, parameterRef('LastEventId')],
    responses: {
      200: answer('The events, until the run has ended.', { 'text/event-stream': EVENTS }),
      204: { description: 'There are no more events. A reconnecting EventSource stops.', headers: headersOf() },
      ...commonProblems(),
      ...problems(404, 503),
    },
  },
} as const satisfies Readonly<Record<string, Operation>>;
