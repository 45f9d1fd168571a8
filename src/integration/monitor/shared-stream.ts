import { FairnessReportingDashboard } from '../../monitoring/dashboard/fairness-reporting-dashboard.ts';
import type { EventSource } from '../../monitoring/streams/event-source.ts';
import { followStream, type FollowStreamResult, type MergedStream } from '../../monitoring/streams/follow-stream.ts';
import { KafkaSource } from '../../monitoring/streams/kafka-source.ts';
import { RedisStreamSource } from '../../monitoring/streams/redis-stream-source.ts';
import { RealTimeFairnessTracker } from '../../monitoring/tracker/real-time-fairness-tracker.ts';
import type { MonitorRequest } from '../../schemas/monitor.ts';
import { DataValidationError } from '../../exceptions/index.ts';
import { noMessages } from './assert-counted.ts';
import type { MonitorHooks, MonitorOutcome } from './monitor-outcome.ts';
import { outcomeOf } from './monitor-outcome.ts';
import { assertReachable, engineOptionsOf, type MonitorPaths, trackerOptionsOf } from './monitor-parts.ts';
import type { WriteOutcome } from './write-outputs.ts';

const DEFAULT_LEASE_SECONDS = 10;
const DEFAULT_OUTAGE_SECONDS = 300;

/** Returns the time after which a process that does not answer loses its partitions, in milliseconds. */
export function leaseMillisOf({ leaseSeconds = DEFAULT_LEASE_SECONDS }: MonitorRequest): number {
  return Math.round(1000 * leaseSeconds);
}

/** Returns the longest outage of a server, in milliseconds. */
export function outageMillisOf({ outageSeconds = DEFAULT_OUTAGE_SECONDS }: MonitorRequest): number {
  return Math.round(1000 * outageSeconds);
}

/** Returns the topic of a request. */
export function kafkaSourceOf({ kafka, topic, consumerGroup, from, kafkaTls, kafkaSasl }: MonitorRequest): KafkaSource {
  return new KafkaSource({
    brokers: kafka ?? [],
    topic: topic ?? '',
    group: consumerGroup,
    from,
    tls: kafkaTls,
    sasl: kafkaSasl,
  });
}

function sourceOf(request: MonitorRequest): EventSource {
  const { redisStream, consumerGroup, consumer, from } = request;
  if (redisStream === undefined) return kafkaSourceOf(request);
  return new RedisStreamSource({ key: redisStream, group: consumerGroup, consumer, from });
}

/**
 * Follows a stream at a broker together with other processes, until it ends or is stopped. The state of the stream is in
 * Redis.
 */
export async function followShared(
  request: MonitorRequest,
  paths: MonitorPaths,
  hooks: MonitorHooks,
): Promise<MonitorOutcome> {
  const tracker = trackerOptionsOf(request, request.timestamp);
  const fresh = new RealTimeFairnessTracker(tracker);
  assertReachable(request, fresh);
  const { detectors: _, ...engine } = engineOptionsOf(request, fresh, paths.sinks);
  if (request.redisStream !== undefined && request.id !== undefined)
    hooks.onWarning?.(
      'Redis does not deliver an event and its later label to the same process. If several processes share this stream, put the label into the event.',
    );
  const reported = new Set<string>();
  const result = await followStream(sourceOf(request), {
    tracker: { ...tracker, store: paths.store },
    engine,
    redis: request.redis ?? '',
    prefix: request.redisPrefix,
    checkpointEvents: request.checkpointEvents,
    checkpointMillis: millisOf(request.checkpointSeconds),
    checkMillis: millisOf(request.checkSeconds),
    leaseMillis: leaseMillisOf(request),
    outageMillis: outageMillisOf(request),
    untilEnd: request.untilEnd,
    signal: hooks.signal,
    onAlert: ({ change, alert }) => {
      if (change !== 'raised' && change !== 'repeated') return;
      hooks.onAlarm?.(alert, change === 'repeated' || reported.has(alert.id));
      reported.add(alert.id);
    },
    onWatch: (watch) => hooks.onWatch?.(watch),
    onRefused: (partition, position, reason) => hooks.onInvalidMessage?.(partition, position, reason),
    onWarning: (warning) => hooks.onWarning?.(warning),
    refreshMillis: Math.round(1000 * request.refreshSeconds),
    onRefresh: dashboardRefresher(request, hooks.onProblem),
  });
  if (hooks.isStopped?.() !== true) assertCounted(request, result);
  const { alerts, watches, states, preview, counts } = result;
  const { engine: ended } = result;
  // Alarms that were not raised during this run were known before.
  const raised = new Set(alerts.map(({ id }) => id));
  const known = new Set(ended.alerts.map(({ alert }) => alert.id).filter((id) => !raised.has(id)));
  return outcomeOf(
    request,
    paths,
    { tracker: result.tracker, engine: ended, shownEngine: ended },
    { alerts, watches, states, preview, known, refusedLines: counts.refused, remarks: [] },
    await writeDashboard(request, result),
  );
}

function millisOf(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : Math.max(1, Math.round(1000 * seconds));
}

async function writeDashboard({ outputDir }: MonitorRequest, { tracker, engine }: MergedStream): Promise<WriteOutcome> {
  if (outputDir === undefined || tracker.nEvents === 0) return { written: [], problems: [] };
  try {
    const saved = await new FairnessReportingDashboard({ tracker, engine }).save(outputDir);
    return { written: [saved.dashboard, saved.report, saved.activeAlerts], problems: [] };
  } catch (cause) {
    return { written: [], problems: [cause] };
  }
}

/** Returns a function that writes the dashboard. If it fails several times in a row, only the first failure is reported. */
function dashboardRefresher(
  request: MonitorRequest,
  onProblem: MonitorHooks['onProblem'],
): ((view: MergedStream) => Promise<void>) | undefined {
  if (request.outputDir === undefined) return undefined;
  let isOutage = false;
  return async (view) => {
    const { problems } = await writeDashboard(request, view);
    const [first] = problems;
    if (problems.length > 0 && !isOutage) onProblem?.(first instanceof Error ? first.message : String(first));
    isOutage = problems.length > 0;
  };
}

/** Checks that at least one event of the stream was counted. Otherwise a run that counted nothing would look safe. */
function assertCounted(request: MonitorRequest, { tracker, counts, refused }: FollowStreamResult): void {
  const { yPred } = request;
  if (tracker.nEvents > 0) return;
  if (counts.messages === 0) throw noMessages(request);
  throw new DataValidationError(
    `No message was counted: ${String(refused)} of ${String(counts.messages)} could not be read.`,
    {
      code: 'empty-data',
      context: { messages: counts.messages, refused, column: yPred },
      suggestion: `Each message must be a JSON object with a value of '${yPred}', as in {"${yPred}": 1, "sex": "female"}.`,
    },
  );
}
