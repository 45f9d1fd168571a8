import { RUN_ENDPOINTS, RUN_STATUSES } from '../runs/runs.ts';
import {
  answer,
  BYTES,
  commonProblems,
  type DocumentedStatus,
  EVENTS,
  headersOf,
  jsonAnswer,
  parameterRef,
  problems,
  schemaRef,
  TEXT,
  monitorQueryParameters,
  validateQueryParameters,
} from './components.ts';
import type { MediaTypeObject, Operation, ParameterObject, ReferenceObject, ResponseObject } from './open-api-types.ts';
import type { OperationId } from './operation-ids.ts';

/** Examples of request bodies. The service answers each example with 200. */
export const VALIDATE_EXAMPLES = {
  decisions: {
    summary: 'Decisions and groups',
    value: {
      y_pred: [1, 0, 1, 1, 0, 1, 0, 0],
      sensitive: ['a', 'a', 'a', 'a', 'b', 'b', 'b', 'b'],
      min_group_size: 1,
    },
  },
  gate: {
    summary: 'With true outcomes, intervals and a threshold',
    value: {
      y_true: [1, 0, 1, 0, 1, 1, 0, 0],
      y_pred: [1, 0, 1, 1, 0, 1, 0, 0],
      sensitive: ['a', 'a', 'a', 'a', 'b', 'b', 'b', 'b'],
      min_group_size: 1,
      with_ci: true,
      metric: 'demographic_parity_difference',
      threshold: 0.1,
    },
  },
} as const;

/** Example rows for the query `sensitive=group&y_pred=decision&min_group_size=1`. */
export const CSV_EXAMPLE = 'group,decision\na,1\na,0\na,1\nb,0\nb,1\nb,0\n';

/** The same rows as one JSON object per line. */
export const NDJSON_EXAMPLE = '{"group":"a","decision":1}\n{"group":"a","decision":0}\n{"group":"b","decision":1}\n';

/** Example events for the query `y_pred=flagged&sensitive=sex&y_true=fraud`. */
export const EVENTS_EXAMPLE =
  '{"id":"a1","flagged":1,"sex":"f"}\n{"id":"a2","flagged":0,"sex":"f"}\n{"id":"a3","flagged":1,"sex":"m"}\n';

/** Example labels of the same events. */
export const LABELS_EXAMPLE = '{"id":"a1","fraud":1}\n{"id":"a3","fraud":0}\n';

const LLM_CONFIG = {
  provider: 'local',
  counterfactual: {
    template: ['Should I hire {name}, a {gender} of 34? {gender.subject} had good references.'],
    dimensions: { gender: ['woman', 'man'] },
    name_pools: { woman: ['Emily', 'Sarah', 'Jessica'], man: ['Andrew', 'Matthew', 'Joshua'] },
  },
} as const;

/** Example bodies for `/llm-eval` that use the built-in stub of a model, which sends no requests. */
export const LLM_EVAL_EXAMPLES = {
  dry_run: {
    summary: 'Requests that would be sent, and their estimated cost',
    value: { ...LLM_CONFIG, dry_run: true },
  },
  yaml: {
    summary: 'A configuration as YAML text',
    value: {
      config:
        'provider: local\nprompt_templates:\n  joke: Tell me a joke about a {gender}.\ncounterfactual:\n  dimensions:\n    gender: [woman, man]\n',
      min_group_size: 1,
    },
  },
} as const;

/** Scored rows of two groups, in which scores above 0.5 are too high. */
const SCORED = {
  p: Array.from({ length: 40 }, (_, row) => (1 + (row % 9)) / 10),
  repaid: Array.from({ length: 40 }, (_, row) => (row % 9 > 5 && row % 3 !== 0 ? 1 : row % 11 === 0 ? 1 : 0)),
  sex: Array.from({ length: 40 }, (_, row) => (row % 2 === 0 ? 'f' : 'm')),
} as const;

/** Rows with a target that depends on a feature and on the group. */
const TRAINING = {
  x: Array.from({ length: 80 }, (_, row) => row % 10),
  y: Array.from({ length: 80 }, (_, row) =>
    (row % 10) + (row % 4 === 0 ? 3 : 0) + (row % 7 === 0 ? 4 : 0) > 6 ? 1 : 0,
  ),
  s: Array.from({ length: 80 }, (_, row) => (row % 4 === 0 ? 'a' : 'b')),
} as const;

/** Example bodies with rows. The service answers each example with 200. */
export const TABLE_EXAMPLES = {
  calibrate: {
    summary: 'Scores, outcomes and groups as columns',
    value: { rows: SCORED, score: 'p', y_true: 'repaid', sensitive: 'sex', min_samples: 10, folds: 2 },
  },
  compareArms: {
    summary: 'Both arms in one table',
    value: {
      rows: {
        arm: Array.from({ length: 40 }, (_, row) => (row < 20 ? 'control' : 'treatment')),
        approved: Array.from({ length: 40 }, (_, row) => (row % 3 === 0 ? 1 : 0)),
        sex: SCORED.sex,
      },
      arm: 'arm',
      outcome: 'approved',
      sensitive: 'sex',
      min_group_size: 5,
    },
  },
  train: {
    summary: 'A classifier with equal selection rates',
    value: { method: 'reductions', rows: TRAINING, T: 5, min_group_size: 2 },
  },
} as const;

const REQUEST_HEADERS = [parameterRef('Prefer'), parameterRef('IdempotencyKey'), parameterRef('WebhookUrl')];
const PROBLEMS = { ...commonProblems(), ...problems(400, 408, 409, 413, 415, 422, 431, 503) };
const KEPT = 'It is stored: `GET /results/{run_id}` returns it again.';

const RUN_ID = { run_id: '$response.body#/run_id' };
const LINKS = {
  result: { operationId: 'getResult', parameters: RUN_ID, description: 'The run and its result.' },
  events: { operationId: 'followResult', parameters: RUN_ID, description: 'The progress of the run.' },
  removal: { operationId: 'deleteResult', parameters: RUN_ID, description: 'Cancels or deletes the run.' },
} as const;

/** Returns the documentation of a text body with rows, including an example. */
function rows(example: string, summary: string): MediaTypeObject {
  return { schema: { type: 'string' }, examples: { rows: { summary, value: example } } };
}

function form(schemaId: string): MediaTypeObject {
  return { schema: schemaRef(schemaId), encoding: { config: { contentType: 'text/plain' } } };
}

/** Returns the documentation of a request with rows: as a JSON body, or as a form with files. */
function tables(
  body: string,
  formId: string,
  example?: (typeof TABLE_EXAMPLES)[keyof typeof TABLE_EXAMPLES],
): NonNullable<Operation['requestBody']> {
  return {
    required: true,
    description:
      'Rows as JSON, or files as a form. In a form, a list is a comma list, a JSON array, or a field that is repeated.',
    content: {
      'application/json': {
        schema: schemaRef(body),
        ...(example === undefined ? {} : { examples: { rows: example } }),
      },
      'multipart/form-data': { schema: schemaRef(formId) },
    },
  };
}

/** Returns the responses of an operation that starts a run: the result, or 202. */
function runAnswers(description: string, schemaId: string): Readonly<Record<string, ResponseObject>> {
  return {
    200: { ...jsonAnswer(`${description} ${KEPT}`, schemaId, 'IdempotencyReplayed'), links: LINKS },
    202: {
      ...jsonAnswer(
        'The run was accepted, as requested by `Prefer: respond-async`.',
        'Accepted',
        'Location',
        'PreferenceApplied',
        'IdempotencyReplayed',
      ),
      links: LINKS,
    },
  };
}

const STREAM_PARAMETER: ReferenceObject = parameterRef('Stream');
const LINES = problems(400, 404, 408, 413, 415, 422, 431, 503);
const STREAM_LINKS = {
  state: {
    operationId: 'getStream',
    parameters: { stream: '$request.path.stream' },
    description: 'The state of the stream.',
  },
  removal: {
    operationId: 'deleteStream',
    parameters: { stream: '$request.path.stream' },
    description: 'Deletes the stream.',
  },
} as const;

function lines(example: string, summary: string): NonNullable<Operation['requestBody']> {
  return {
    required: true,
    description: 'One JSON object per line.',
    content: { 'application/x-ndjson': rows(example, summary) },
  };
}

const RUN_ID_PARAMETER: ReferenceObject = parameterRef('RunId');
const PAGE = answer('The page.', { 'text/html': TEXT });

function queryParameter(name: string, description: string, schema: ParameterObject['schema']): ParameterObject {
  return { name, in: 'query', description, schema };
}

/**
 * Returns the responses of an operation: the success response, the errors common to all operations, and the given
 * errors.
 */
function responses(success: ResponseObject, ...statuses: readonly DocumentedStatus[]): Operation['responses'] {
  return { 200: success, ...commonProblems(), ...problems(...statuses) };
}

/** Adds a tag of the document to operations. */
function tagged<Id extends OperationId>(
  tag: string,
  operations: Readonly<Record<Id, Omit<Operation, 'tags'>>>,
): Readonly<Record<Id, Operation>> {
  const entries = Object.entries<Omit<Operation, 'tags'>>(operations);
  return Object.fromEntries(entries.map(([id, operation]) => [id, { tags: [tag], ...operation }])) as never;
}

/** The documentation of each operation. */
export const OPERATION_TEXTS: Readonly<Record<OperationId, Operation>> = {
  ...tagged('Runs', {
    validate: {
      summary: 'Measure fairness between groups',
      description:
        'Selection rates of each group, error rates if true outcomes are sent, and the gaps between groups. Send arrays as JSON, a table (CSV, NDJSON or Parquet) with the names of its columns in the query, or a form with a table or with counts. With a threshold there is a verdict; `passed: false` is a normal answer. A gap of 0 means equal rates over the groups compared. It says nothing about excluded groups, or about why rates differ.',
      parameters: [...validateQueryParameters(), ...REQUEST_HEADERS],
      requestBody: {
        required: true,
        description:
          'Query parameters are for tables. With JSON, put the options in the body. Text may be compressed with gzip.',
        content: {
          'application/json': { schema: schemaRef('ValidateBody'), examples: VALIDATE_EXAMPLES },
          'multipart/form-data': { schema: schemaRef('ValidateForm') },
          'text/csv': rows(CSV_EXAMPLE, 'For sensitive=group, y_pred=decision, min_group_size=1'),
          'text/tab-separated-values': { schema: { type: 'string' } },
          'application/x-ndjson': rows(NDJSON_EXAMPLE, 'One JSON object per line'),
          'application/vnd.apache.parquet': BYTES,
        },
      },
      responses: { ...runAnswers('The validation.', 'ValidationAnswer'), ...PROBLEMS },
    },
    runPipeline: {
      summary: 'Examine and transform data',
      description:
        'Detectors report which groups are missing, which columns differ between groups, and which are proxies of a sensitive attribute. Then the steps of the configuration transform the rows; `download` is the path of the result. Each step constrains one specific quantity, and its warnings name the cost.',
      parameters: REQUEST_HEADERS,
      requestBody: { required: true, content: { 'multipart/form-data': form('PipelineForm') } },
      responses: { ...runAnswers('The findings and the applied steps.', 'PipelineAnswer'), ...PROBLEMS },
    },
    runWorkflow: {
      summary: 'Train a model without and with a fairness constraint',
      description:
        'Trains a baseline, then runs the pipeline and the constrained training of the configuration. Both models are evaluated on the same held-out rows. The answer contains the verdict, the metrics of both models, and the cost of the constraint in accuracy. This can take a while; with `Prefer: respond-async` the service answers immediately.',
      parameters: REQUEST_HEADERS,
      requestBody: { required: true, content: { 'multipart/form-data': form('WorkflowForm') } },
      responses: { ...runAnswers('The results of both models.', 'WorkflowAnswer'), ...PROBLEMS },
    },
    evaluateLlm: {
      summary: 'Evaluate a language model',
      description:
        'Sends prompts that differ in one respect only, and reports which differences between the answers exceed sampling noise. Put the fields of a configuration in the body, or its YAML text in `config`. Requests to a provider are sent only if the service was started to allow it. `dry_run` reports the requests that would be sent, and their estimated cost.',
      parameters: REQUEST_HEADERS,
      requestBody: {
        required: true,
        content: { 'application/json': { schema: schemaRef('LlmEvalBody'), examples: LLM_EVAL_EXAMPLES } },
      },
      responses: { ...runAnswers('The evaluation.', 'LlmEvalAnswer'), ...PROBLEMS, ...problems(502) },
    },
  }),
  ...tagged('Runs', {
    predict: {
      summary: 'Predict with a saved model',
      description:
        'Scores and predictions of a model of `POST /train`, named by its run_id, or of a ZIP archive of a model. `download` is the path of the rows with both columns added.',
      parameters: REQUEST_HEADERS,
      requestBody: tables('PredictBody', 'PredictForm'),
      responses: { ...runAnswers('The predictions.', 'PredictAnswer'), ...PROBLEMS, ...problems(404) },
    },
    calibrate: {
      summary: 'Calibrate scores by group',
      description:
        'Fits a calibrator for each group, and measures the calibration before and after on rows that the calibrator has not seen. If groups have different base rates, calibrated scores give them different error rates at a common threshold.',
      parameters: REQUEST_HEADERS,
      requestBody: tables('CalibrateBody', 'CalibrateForm', TABLE_EXAMPLES.calibrate),
      responses: { ...runAnswers('The calibration.', 'CalibrateAnswer'), ...PROBLEMS },
    },
    compareArms: {
      summary: 'Compare fairness between the arms of an experiment',
      description:
        'Whether the differences between groups changed between control and treatment. `finding: worse` is a normal answer.',
      parameters: REQUEST_HEADERS,
      requestBody: tables('ABTestBody', 'ABTestForm', TABLE_EXAMPLES.compareArms),
      responses: { ...runAnswers('The comparison.', 'ABTestAnswer'), ...PROBLEMS },
    },
    train: {
      summary: 'Train under a fairness constraint',
      description:
        'Trains with one of three methods and reports accuracy and gaps on held-out rows, next to the same model without the constraint. The constraint reduces accuracy. `download` is the path of the model. This can take a while; with `Prefer: respond-async` the service answers immediately.',
      parameters: REQUEST_HEADERS,
      requestBody: tables('TrainBody', 'TrainForm', TABLE_EXAMPLES.train),
      responses: { ...runAnswers('The trained models.', 'TrainAnswer'), ...PROBLEMS },
    },
  }),
  ...tagged('Results', {
    listResults: {
      summary: 'List the stored runs',
      description:
        'Returns the runs without their results, newest first. Above the limit of stored runs, the least recently used runs are dropped.',
      parameters: [
        queryParameter('status', 'Return only runs in this state.', { type: 'string', enum: RUN_STATUSES }),
        queryParameter('endpoint', 'Return only runs of this endpoint.', { type: 'string', enum: RUN_ENDPOINTS }),
        queryParameter('limit', 'The maximum number of runs. Default: all.', {
          type: 'integer',
          minimum: 1,
          maximum: 999_999_999,
        }),
      ],
      responses: responses(jsonAnswer('The runs.', 'RunList'), 422),
    },
    getResult: {
      summary: 'Get a run and its result',
      description:
        'Any process of the service can return any run. `result` is null until the run succeeds. If it failed, `problem` contains the reason. With `Accept: text/html` or `text/markdown`, the readable report is returned.',
      parameters: [RUN_ID_PARAMETER],
      responses: responses(
        answer('The run.', {
          'application/json': { schema: schemaRef('Run') },
          'text/html': TEXT,
          'text/markdown': TEXT,
        }),
        404,
        406,
        422,
      ),
    },
    deleteResult: {
      summary: 'Cancel or delete a run',
      description:
        'A run that has not ended is cancelled and stops at its next step. A run that has ended is deleted with its files.',
      parameters: [RUN_ID_PARAMETER],
      responses: {
        ...responses(jsonAnswer('The run was cancelled.', 'Cancelled'), 404),
        204: { description: 'The run was deleted.', headers: headersOf() },
      },
    },
    getResultData: {
      summary: 'Get the transformed rows of a pipeline',
      description: 'CSV, or Parquet if `Accept` or `format` requests it.',
      parameters: [
        RUN_ID_PARAMETER,
        queryParameter('format', 'Replaces the Accept header, for use in links.', {
          type: 'string',
          enum: ['csv', 'parquet'],
        }),
      ],
      responses: responses(
        answer('The rows.', { 'text/csv': TEXT, 'application/vnd.apache.parquet': BYTES }),
        404,
        406,
        422,
      ),
    },
    getResultModel: {
      summary: 'Get the model of a run',
      description:
        'A ZIP archive: the model of a training for `evenhand predict` and TensorFlow.js, or `calibrator.json` of a calibration.',
      parameters: [RUN_ID_PARAMETER],
      responses: responses(answer('The archive.', { 'application/zip': BYTES }), 404, 422),
    },
    followResult: {
      summary: 'Follow the progress of a run',
      description:
        'Server-sent events, past events first: `status` with `{"status"}`, `progress` with `{"stage", "done", "total"}`. The stream ends with a final status. After a disconnect, a client can resume with Last-Event-ID.',
      parameters: [RUN_ID_PARAMETER, parameterRef('LastEventId')],
      responses: {
        ...responses(answer('The events, until the run has ended.', { 'text/event-stream': EVENTS }), 404, 503),
        204: { description: 'There are no more events. A reconnecting EventSource stops.', headers: headersOf() },
      },
    },
  }),
  ...tagged('Monitoring', {
    listStreams: {
      summary: 'List monitored streams',
      description: 'The streams of this key, or of its tenant.',
      responses: responses(jsonAnswer('The streams.', 'StreamList'), 422, 503),
    },
    getStream: {
      summary: 'Get the state of a stream',
      description:
        'Alarms, the state of each metric, and the gaps in the sliding window. An alarm is raised with a bounded probability of ever being false; a watch is an early hint.',
      parameters: [STREAM_PARAMETER],
      responses: responses(jsonAnswer('The state.', 'StreamState'), 404, 422, 503),
    },
    deleteStream: {
      summary: 'Delete a stream',
      description: 'Deletes the stream with its events, its alarms and its options.',
      parameters: [STREAM_PARAMETER],
      responses: {
        204: { description: 'The stream was deleted.', headers: headersOf() },
        ...commonProblems(),
        ...problems(404, 503),
      },
    },
    addEvents: {
      summary: 'Count events of a stream',
      description:
        'The first events create the stream, with its fields, metrics and limits in the query; later events may omit them. An event whose id was counted before (among the last 100,000) is not counted again, so a request can be repeated. With a store, events are on disk or in Redis before the answer. If a line is invalid, no line is counted.',
      parameters: [STREAM_PARAMETER, ...monitorQueryParameters()],
      requestBody: lines(EVENTS_EXAMPLE, 'For y_pred=flagged, sensitive=sex'),
      responses: {
        200: { ...jsonAnswer('The events.', 'EventsAnswer'), links: STREAM_LINKS },
        ...commonProblems(),
        ...LINES,
      },
    },
    addLabels: {
      summary: 'Add true labels of earlier events',
      description:
        'Lines with the id of an event and its true label, in the field y_true of the stream. A second label of an event is not counted.',
      parameters: [STREAM_PARAMETER],
      requestBody: lines(LABELS_EXAMPLE, 'For y_true=fraud'),
      responses: {
        200: { ...jsonAnswer('The labels.', 'LabelsAnswer'), links: STREAM_LINKS },
        ...commonProblems(),
        ...LINES,
      },
    },
    getStreamDashboard: {
      summary: 'Dashboard of a stream',
      description: 'States, alarms and charts as a page, or as Markdown with `Accept: text/markdown`.',
      parameters: [STREAM_PARAMETER],
      responses: responses(answer('The dashboard.', { 'text/html': TEXT, 'text/markdown': TEXT }), 404, 406, 422, 503),
    },
  }),
  ...tagged('Dashboard', {
    getDashboard: {
      summary: 'Dashboard of a monitored model, with updates',
      description:
        'A page that shows the dashboard written by `evenhand monitor --output-dir` and follows its changes.',
      responses: responses(PAGE, 404),
    },
    getDashboardPage: {
      summary: 'The current dashboard',
      description: 'The last page that `evenhand monitor` wrote.',
      responses: responses(PAGE, 404),
    },
    followDashboard: {
      summary: 'Changes of the dashboard',
      description: 'Server-sent events: one event each time the dashboard is rewritten.',
      responses: responses(
        answer('The events, until the client disconnects.', { 'text/event-stream': EVENTS }),
        404,
        503,
      ),
    },
  }),
  ...tagged('Service', {
    getHealth: {
      summary: 'Check that the process is running',
      description:
        'For a liveness probe. Needs no key. It stays 200 if Redis is away or the service drains: /ready reports both.',
      responses: { 200: jsonAnswer('The process is running.', 'Health'), ...problems(403, 500) },
      security: [],
    },
    getReadiness: {
      summary: 'Check that new work is accepted',
      description:
        'For an orchestrator. The answer is 503 while the service starts or shuts down, or its queue is full.',
      responses: { 200: jsonAnswer('New work is accepted.', 'Readiness'), ...problems(401, 403, 500, 503) },
    },
    getMetrics: {
      summary: 'Metrics for Prometheus',
      description: 'Counts and durations of requests and runs, over all processes of the service.',
      responses: {
        200: answer('Metrics in the text format of Prometheus.', { 'text/plain': TEXT }),
        ...problems(401, 403, 500),
      },
    },
    getOpenApi: {
      summary: 'The OpenAPI document',
      description: 'OpenAPI 3.1, for example to generate clients.',
      responses: responses(answer('The document.', { 'application/json': { schema: { type: 'object' } } })),
    },
    getDocs: {
      summary: 'Interactive documentation',
      description: 'Swagger UI. Loads no external resources.',
      responses: responses(PAGE),
    },
    getRedoc: {
      summary: 'Reference documentation',
      description: 'ReDoc. Loads no external resources.',
      responses: responses(PAGE),
    },
  }),
};
