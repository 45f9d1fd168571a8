import { snakeFields } from '../../internal/arguments.ts';
import { monitorWireSchema } from '../../schemas/monitor-wire.ts';
import type { Handler, Service, ServiceContext } from '../context/service-context.ts';
import { requireMediaType } from '../intake/media-type.ts';
import { receiveBody } from '../intake/receive-body.ts';
import { decodeBody } from '../problem/parse-json.ts';
import { ServiceProblem } from '../problem/service-problem.ts';
import type { StreamLines, StreamName } from '../streams/streams.ts';
import { answerText, readQuery } from './answer-run.ts';
import { setReportPolicy } from './results.ts';

/** The media types of JSON lines. */
const LINE_TYPES = ['application/x-ndjson', 'application/ndjson', 'application/jsonl'] as const;

/** The maximum size of the lines of one request. They are counted in the main thread, with pauses. */
const MAX_BYTES = 8 * 2 ** 20;

const OPTIONS = Object.keys(monitorWireSchema.shape);

/** Handles POST /monitor/{stream}/events and POST /monitor/{stream}/labels. */
export function streamLinesRoute(service: Service, kind: StreamLines['kind']): Handler {
  const { limits, spoolFolder: spoolRoot, streams } = service;
  const maxBytes = Math.min(limits.jsonBytes, MAX_BYTES);
  return async (context) => {
    requireMediaType(context.get('content-type'), LINE_TYPES);
    const options = kind === 'events' ? streamOptions(context) : readQuery(context, []);
    const { idleMillis } = limits;
    const received = await receiveBody(context.req, { maxBytes, inlineBytes: maxBytes, idleMillis, spoolRoot });
    // A body within the memory limit is never written to a file.
    const text = received.kind === 'memory' ? decodeBody(received.bytes) : '';
    answerText(context, await streams.append({ ...nameOf(context), kind, text, options }));
  };
}

/** Returns the options of a stream in the query. */
function streamOptions(context: ServiceContext): StreamLines['options'] {
  const { sensitive, ...single } = context.query;
  // Repeated parameters are rejected, except the sensitive attributes.
  readQuery({ query: single }, OPTIONS);
  const others = Object.entries(single).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return { ...Object.fromEntries(others), ...(sensitive === undefined ? {} : { sensitive }) };
}

/** Handles GET /monitor: lists the streams of the client's tenant. */
export function listStreamsRoute({ streams }: Service): Handler {
  return async (context) => {
    readQuery(context, []);
    const found = await streams.list(context.state.tenant);
    context.body = { streams: found.map(snakeFields) };
  };
}

/** Handles GET /monitor/{stream}: returns states, alerts and metrics. */
export function getStreamRoute({ streams }: Service): Handler {
  return async (context) => {
    readQuery(context, []);
    answerText(context, await streams.get(nameOf(context)));
  };
}

/** Handles DELETE /monitor/{stream}. */
export function deleteStreamRoute({ streams }: Service): Handler {
  return async (context) => {
    await streams.remove(nameOf(context));
    context.status = 204;
  };
}

/** Handles GET /monitor/{stream}/dashboard: returns the page, or Markdown. */
export function streamDashboardRoute({ streams, runs }: Service): Handler {
  return async (context) => {
    readQuery(context, []);
    context.vary('Accept');
    const type = context.accepts('text/html', 'text/markdown');
    const name = nameOf(context);
    const view = await streams.view(name);
    if (type === false) {
      throw new ServiceProblem(406, {
        detail: 'The dashboard is not available in a format that the Accept header names.',
        suggestion: 'Request text/html or text/markdown.',
      });
    }
    const form = type === 'text/markdown' ? 'markdown' : 'html';
    const report = await runs.work({ kind: 'monitor-report', form, title: `Fairness of ${name.stream}`, view });
    setReportPolicy(context);
    context.type = `${type}; charset=utf-8`;
    context.body = JSON.parse(report.body) as string;
  };
}

function nameOf(context: ServiceContext): StreamName {
  const { stream = '' } = context['params'] as Readonly<Record<string, string>>;
  return { tenant: context.state.tenant, stream };
}
