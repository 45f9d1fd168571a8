import { createHash } from 'node:crypto';

import { FairnessToolkitError } from '../../exceptions/index.ts';
import { MonitoredStream } from '../../integration/monitor/monitored-stream.ts';
import { type MonitorTexts, parseMonitorWire } from '../../schemas/monitor-wire.ts';
import { problemOfToolkitError } from '../jobs/problem-of-toolkit-error.ts';
import { fieldProblem, ServiceProblem, unavailable } from '../problem/service-problem.ts';
import { type Appended, LiveStream } from './live-stream.ts';
import { STREAM_NAME, type StreamLines, type StreamName, type StreamSummary } from './streams.ts';

/** The name and the options of a stream, which its first events fix. */
export interface StreamConfig extends StreamSummary {
  readonly tenant: string;
  /** The column of times; null if events are timed when they arrive. */
  readonly timestamp: string | null;
}

/** Returns the key of a stream in a map. */
export function keyOfStream({ tenant, stream }: StreamName): string {
  return `${tenant}\0${stream}`;
}

/** Returns a digest of a text, which is a valid name of a file and a part of a key. */
export function shortDigest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/**
 * Splits the text of a request.
 * @throws {ServiceProblem} 422 if there are no lines
 */
export function linesOf(text: string): string[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.length > 0) return lines;
  throw fieldProblem(422, '', 'There are no lines.', 'Send one JSON object per line.');
}

/**
 * Checks the first lines of a new stream, and returns its configuration. A request with an invalid line creates nothing.
 * @throws {ServiceProblem} 404 if the lines are labels, 422 if the name, an option or a line is invalid
 */
export async function newConfig(
  { kind, options, tenant, stream }: Pick<StreamLines, 'kind' | 'options' | 'tenant' | 'stream'>,
  lines: readonly string[],
  time: number,
): Promise<StreamConfig> {
  if (kind === 'labels') throw unknownStream(stream);
  if (!STREAM_NAME.test(stream)) {
    const detail = 'The name of a stream has 1 to 100 letters, digits, dots, dashes and underscores.';
    throw fieldProblem(422, 'stream', detail, 'Use another name, such as credit-decisions.');
  }
  const request = explained(() => parseMonitorWire(options));
  const timestamp = MonitoredStream.timestampOf(request, lines[0] ?? '');
  const monitored = explained(() => new MonitoredStream({ request, timestamp }));
  const found = await monitored.check('events', lines);
  if (!('rows' in found)) throw LiveStream.invalid(found);
  return { tenant, stream, createdAt: new Date(time).toISOString(), options, timestamp: timestamp ?? null };
}

/**
 * Checks that lines fit an existing stream.
 * @throws {ServiceProblem} 422 if it has other options, or takes no labels
 */
export function assertFits(config: StreamConfig, { kind, options }: Pick<StreamLines, 'kind' | 'options'>): void {
  assertSameOptions(config, options);
  if (kind === 'events' || config.options['y_true'] !== undefined) return;
  const detail = `The stream '${config.stream}' has no field of true labels.`;
  throw fieldProblem(422, 'y_true', detail, 'Name it as y_true in the query of the first events.');
}

function assertSameOptions({ options, stream }: StreamConfig, given: MonitorTexts): void {
  const other = Object.keys(given).find((name) => JSON.stringify(given[name]) !== JSON.stringify(options[name]));
  if (other === undefined) return;
  const was = options[other];
  const detail = `The stream '${stream}' was created with ${was === undefined ? `no ${other}` : `${other}=${[was].flat().join(', ')}`}.`;
  throw fieldProblem(422, other, detail, 'Omit the parameter, or use another stream for other options.');
}

/** Returns the parts of a configuration that a live stream needs. */
export function liveOptionsOf({ options, timestamp }: StreamConfig): {
  readonly request: ReturnType<typeof parseMonitorWire>;
  readonly timestamp: string | undefined;
} {
  return { request: parseMonitorWire(options), timestamp: timestamp ?? undefined };
}

/** Returns the answer to lines that were counted, as JSON. */
export function appendedJson(
  { stream, kind }: Pick<StreamLines, 'stream' | 'kind'>,
  { accepted, repeated, unknown, faults, alerts }: Appended,
  { events, labels }: LiveStream['counts'],
): string {
  return JSON.stringify({
    stream,
    accepted,
    repeated,
    ...(kind === 'labels' ? { unknown } : {}),
    n_events: events,
    n_labels: labels,
    faults,
    alerts,
  });
}

/** Returns the answer to a request for the state of a stream, as JSON. */
export function streamJson({ stream, createdAt }: StreamSummary, live: LiveStream): string {
  return JSON.stringify({ stream, created_at: createdAt, ...live.toJson() });
}

/** Returns the list of streams, sorted by name. */
export function summariesOf(configs: readonly StreamConfig[]): StreamSummary[] {
  const summaries = configs.map(({ stream, createdAt, options }) => ({ stream, createdAt, options }));
  return summaries.sort((a, b) => (a.stream < b.stream ? -1 : 1));
}

/** Returns the problem for an unknown stream. */
export function unknownStream(stream: string): ServiceProblem {
  return new ServiceProblem(404, {
    detail: `There is no stream '${stream.slice(0, 100)}'.`,
    suggestion: 'Send its first events to POST /monitor/{stream}/events, with y_pred and sensitive in the query.',
  });
}

/** Returns the problem for a stream that would be one too many. */
export function tooManyStreams(maxStreams: number): ServiceProblem {
  const detail = `There are ${String(maxStreams)} streams already, which is the limit of this service.`;
  return unavailable(detail, 'Delete a stream, or ask the operator for a higher limit.', 60);
}

/** Calls a function of the library, whose errors become problems of the request. */
function explained<Value>(step: () => Value): Value {
  try {
    return step();
  } catch (error) {
    if (!FairnessToolkitError.isInstance(error)) throw error;
    throw problemOfToolkitError(error, 'monitor-report') ?? error;
  }
}
