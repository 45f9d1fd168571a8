import { createHash } from 'node:crypto';

import { snakeFields } from '../../internal/arguments.ts';
import { VERSION } from '../../internal/version.ts';
import type { Handler, Service } from '../context/service-context.ts';
import { requireMediaType } from '../intake/media-type.ts';
import { receiveBody } from '../intake/receive-body.ts';
import { receiveForm } from '../intake/receive-form.ts';
import { openApiDocument } from '../openapi/open-api-document.ts';
import type { OperationId } from '../openapi/operation-ids.ts';
import { decodeBody, parseJson } from '../problem/parse-json.ts';
import { fieldProblem, type ServiceProblem, unavailable } from '../problem/service-problem.ts';
import { isOf, RUN_ENDPOINTS, RUN_STATUSES } from '../runs/runs.ts';
import { WEBHOOK_PARAMETER } from '../webhooks/webhooks.ts';
import { answerRun, readIdempotencyKey, readQuery } from './answer-run.ts';
import { dashboardEventsRoute, dashboardPageRoute, dashboardRoute } from './dashboard.ts';
import { docsRoutes } from './docs.ts';
import {
  deleteStreamRoute,
  getStreamRoute,
  listStreamsRoute,
  streamDashboardRoute,
  streamLinesRoute,
} from './monitor.ts';
import { deleteResultRoute, getResultDataRoute, getResultModelRoute, getResultRoute } from './results.ts';
import { runEventsRoute } from './run-events.ts';
import { tableRoute } from './tables.ts';
import { validateRoute } from './validate.ts';

/** The fields that each form may contain besides `file` and `config`. */
const FIELDS = {
  pipeline: ['profile', 'detectors'],
  workflow: ['min_group_size', 'train_size', 'random_state', 'threshold', 'class_weight', 'profile'],
} as const;

/** Handles POST /pipeline and POST /workflow: a table and a configuration as a form. */
function formRunRoute(service: Service, kind: keyof typeof FIELDS): Handler {
  return async (context) => {
    readQuery(context, [WEBHOOK_PARAMETER]);
    const idempotency = readIdempotencyKey(context);
    const { fields, files, folder, digest } = await receiveForm(context.req, service, {
      fields: ['config', ...FIELDS[kind]],
    });
    const { config, ...others } = fields;
    if (config === undefined) {
      await folder.remove();
      throw fieldProblem(422, '/config', "The form has no part 'config'.", 'Send the YAML text as the field config.');
    }
    await answerRun(context, service, {
      endpoint: `/${kind}`,
      job: { kind, path: files['file'] ?? '', config, fields: others },
      inputFolder: folder.path,
      idempotency: idempotency.claim(digest),
      ...(kind === 'pipeline' ? { download: `${service.basePath}/results/{run_id}/data` } : {}),
    });
  };
}

/** The maximum size of a JSON body. A configuration has at most 256 KiB of text, and escapes in JSON make it longer. */
const MAX_BYTES = 2 ** 20;

/** Handles POST /llm-eval: the configuration of an evaluation as JSON. */
function llmEvalRoute(service: Service): Handler {
  const maxBytes = Math.min(service.limits.jsonBytes, MAX_BYTES);
  return async (context) => {
    requireMediaType(context.get('content-type'), ['application/json']);
    readQuery(context, [WEBHOOK_PARAMETER]);
    const idempotency = readIdempotencyKey(context);
    const { idleMillis } = service.limits;
    const limits = { maxBytes, inlineBytes: maxBytes, idleMillis, spoolRoot: service.spoolFolder };
    const received = await receiveBody(context.req, limits);
    // A body within the memory limit is never written to a file.
    const body = received.kind === 'memory' ? decodeBody(received.bytes) : '';
    parseJson(body);
    await answerRun(context, service, {
      endpoint: '/llm-eval',
      job: { kind: 'llm-eval', body, llmFolder: service.llmFolder },
      inputFolder: null,
      idempotency: idempotency.claim(createHash('sha256').update(body).digest('hex')),
    });
  };
}

/** Returns the handler of each operation. */
export function handlersOf(service: Service): Readonly<Record<OperationId, Handler>> {
  return {
    getHealth: healthRoute(service),
    getReadiness: readinessRoute(service),
    getMetrics: metricsRoute(service),
    getOpenApi: openApiRoute(service),
    ...docsRoutes(service),
    getDashboard: dashboardRoute(service),
    getDashboardPage: dashboardPageRoute(service),
    followDashboard: dashboardEventsRoute(service),
    validate: validateRoute(service),
    runPipeline: formRunRoute(service, 'pipeline'),
    runWorkflow: formRunRoute(service, 'workflow'),
    evaluateLlm: llmEvalRoute(service),
    predict: tableRoute(service, 'predict'),
    calibrate: tableRoute(service, 'calibrate'),
    compareArms: tableRoute(service, 'ab-test'),
    train: tableRoute(service, 'train'),
    listStreams: listStreamsRoute(service),
    getStream: getStreamRoute(service),
    deleteStream: deleteStreamRoute(service),
    addEvents: streamLinesRoute(service, 'events'),
    addLabels: streamLinesRoute(service, 'labels'),
    getStreamDashboard: streamDashboardRoute(service),
    listResults: listResultsRoute(service),
    getResult: getResultRoute(service),
    deleteResult: deleteResultRoute(service),
    getResultData: getResultDataRoute(service),
    getResultModel: getResultModelRoute(service),
    followResult: runEventsRoute(service),
  };
}

/** Handles GET /metrics: the metrics of the complete service in the format of Prometheus. */
export function metricsRoute({ renderMetrics }: Service): Handler {
  return async (context) => {
    const { text, contentType } = await renderMetrics();
    // The header is set directly, because Koa would guess another type for text.
    context.set('Content-Type', contentType);
    context.body = text;
  };
}

/** Handles GET /openapi.json: the OpenAPI document. */
function openApiRoute({ basePath }: Service): Handler {
  // Generating the document takes a tenth of a second, and many services are never asked for it.
  let text: string | undefined;
  return (context) => {
    context.type = 'application/json; charset=utf-8';
    context.set('Cache-Control', 'no-cache');
    context.body = text ??= JSON.stringify(openApiDocument({ basePath }));
  };
}

/** Handles GET /health: reports that the process is running. */
export function healthRoute({ clock }: Service): Handler {
  return (context) => {
    context.body = { status: 'ok', version: VERSION, timestamp: new Date(clock()).toISOString() };
  };
}

/** Handles GET /ready: reports the current load if new work is accepted. Otherwise, answers 503 with the reason. */
export function readinessRoute({ runs, notReady }: Service): Handler {
  return async (context) => {
    const reason = notReady();
    if (reason !== null) throw unavailable(reason, 'Try again in a few seconds.', 5);
    const { queued, running, kept } = await runs.counts();
    context.body = { status: 'ready', queued, running, kept };
  };
}

/**
 * Handles GET /results: returns the stored runs that match the query, newest first. Without a query, returns all of
 * them.
 */
function listResultsRoute({ runs }: Service): Handler {
  return async (context) => {
    const { status, endpoint, limit } = readQuery(context, ['status', 'endpoint', 'limit']);
    assertOneOf('status', status, RUN_STATUSES);
    assertOneOf('endpoint', endpoint, RUN_ENDPOINTS);
    if (limit !== undefined && !/^[1-9]\d{0,8}$/.test(limit)) throw wrongValue('limit', 'a whole number from 1');
    const wanted = (await runs.list()).filter(
      (run) =>
        isOf(run, context.state.tenant) &&
        (status === undefined || run.status === status) &&
        (endpoint === undefined || run.endpoint === endpoint),
    );
    const listed = wanted.slice(0, limit === undefined ? Infinity : Number(limit));
    context.body = { results: listed.map(({ tenant: _, ...run }) => snakeFields(run)) };
  };
}

function assertOneOf(name: string, value: string | undefined, known: readonly string[]): void {
  if (value === undefined || known.includes(value)) return;
  throw wrongValue(name, `one of ${known.join(', ')}`);
}

function wrongValue(name: string, wanted: string): ServiceProblem {
  return fieldProblem(422, name, `The parameter ${name} must be ${wanted}.`, 'Omit it to get all results.');
}
