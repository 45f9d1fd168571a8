import { existsSync } from 'node:fs';

import { parseObject } from '../../internal/values.ts';
import { readTextFile } from '../../io/read-text-file.ts';
import { assertThreshold, rangeOfName } from '../../metrics/threshold-range.ts';
import type { AlertSink } from '../../monitoring/alarms/alert-event.ts';
import { type AlertEngineOptions, fillEngineOptions, limitOf } from '../../monitoring/alarms/engine-options.ts';
import { FairnessDriftAndAlertEngine } from '../../monitoring/alarms/fairness-drift-and-alert-engine.ts';
import type { DriftDetectorName } from '../../monitoring/drift/create-drift-detector.ts';
import type { MonitoringRecord, RecordStore } from '../../monitoring/records/monitoring-record.ts';
import { openRecordStore } from '../../monitoring/records/open-record-store.ts';
import { readRecords } from '../../monitoring/records/read-records.ts';
import { ndjsonSink } from '../../monitoring/sinks/ndjson-sink.ts';
import { transitionToJson } from '../../monitoring/sinks/transition-json.ts';
import { webhookSink } from '../../monitoring/sinks/webhook-sink.ts';
import { RealTimeFairnessTracker } from '../../monitoring/tracker/real-time-fairness-tracker.ts';
import type { TrackerOptions } from '../../monitoring/tracker/tracker-options.ts';
import type { MonitorRequest } from '../../schemas/monitor.ts';
import { lenientValues } from '../assertions.ts';
import type { KafkaLines } from './kafka-lines.ts';
import { type MonitorPolicy, type MonitorState, readState } from './monitor-state.ts';

/** The maximum size of an alert file that is searched. Alert files are usually much smaller, since alerts are rare. */
const MAX_ALERT_BYTES = 64 * 1024 * 1024;

/** For each key, the number of records in the file that are not yet matched by a new record. */
type Expected = Map<string, number>;

/**
 * Returns a store that appends only records that its file does not contain yet. A killed run may have written records
 * after its last saved state. The resumed run creates these records again.
 * @param after the time of the last record in the state, in milliseconds since 1970
 */
async function skipStoredRecords(store: RecordStore, path: string, after: number): Promise<RecordStore> {
  if (!existsSync(path)) return store;
  const stored = new Map<string, MonitoringRecord[]>();
  for (const record of (await readRecords(path)).toRecords()) {
    if (Date.parse(record.timestamp) <= after) continue;
    const together = stored.get(record.timestamp);
    if (together === undefined) stored.set(record.timestamp, [record]);
    else together.push(record);
  }
  const expected = countKeys(Array.from(stored.values(), recordsKey));
  return {
    append: (records) => {
      if (!takeKey(expected, recordsKey(records))) store.append(records);
    },
    status: () => store.status(),
    close: () => {
      store.close();
    },
  };
}

/** Returns a sink that writes only alert changes that its file does not contain yet. */
async function skipStoredAlerts(sink: AlertSink, path: string): Promise<AlertSink> {
  const { text } = await readTextFile(path, MAX_ALERT_BYTES);
  const lines = (text ?? '').split('\n').map(parseObject);
  const expected = countKeys(lines.flatMap((line) => (line === undefined ? [] : [alertKey(line)])));
  return {
    name: sink.name,
    get failures() {
      return sink.failures;
    },
    send: (transition) => {
      if (!takeKey(expected, alertKey(transitionToJson(transition)))) sink.send(transition);
    },
    close: () => sink.close(),
  };
}

/**
 * Returns a key that identifies the records of one point in time. The key consists of their cumulative values, because
 * the times can differ between runs.
 */
function recordsKey(records: readonly MonitoringRecord[]): string {
  const overall = records.filter(({ window }) => window === 'cumulative');
  return JSON.stringify(overall.map(({ metric, attribute, group, n, value }) => [metric, attribute, group, n, value]));
}

function alertKey({ change, alert }: Readonly<Record<string, unknown>>): string {
  const { id, n, value } = (alert ?? {}) as Readonly<Record<string, unknown>>;
  return JSON.stringify([change, id, n, value]);
}

function countKeys(keys: readonly string[]): Expected {
  const counts: Expected = new Map();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

/** Returns whether the file contains another record with a key, and reduces the expected number by one. */
function takeKey(expected: Expected, key: string): boolean {
  const times = expected.get(key) ?? 0;
  if (times > 0) expected.set(key, times - 1);
  return times > 0;
}

/** The saved state of an earlier run, and the outputs that stay open during this run. */
export interface MonitorPaths {
  /** The state of an earlier run; undefined if there is none. */
  readonly saved: MonitorState | undefined;
  readonly store: RecordStore | undefined;
  /** The sink that appends alerts to a file, if alerts are written to a file. `sinks` contains this sink too. */
  readonly file: AlertSink | undefined;
  readonly sinks: readonly AlertSink[];
  /** Waits until all messages are delivered or have failed, and closes the files. Repeated calls have no effect. */
  close(): Promise<void>;
}

/** The parts of a monitoring run. */
export interface MonitorParts extends MonitorPaths {
  readonly tracker: RealTimeFairnessTracker;
  readonly engine: FairnessDriftAndAlertEngine;
  readonly policy: MonitorPolicy;
  /** The topic that this process reads alone; undefined if events come from elsewhere. */
  readonly kafka?: KafkaLines | undefined;
  /** The SHA-256 of the files that this run and earlier runs with its state have counted. */
  readonly files?: readonly string[] | undefined;
}

/** The default timestamp column. It is used if the request names no column and the data contain this column. */
export const USUAL_TIMESTAMP = 'timestamp';

const MINUTE_MILLIS = 60_000;

/** Checks a request and opens its outputs, before any event is read. */
export async function openPaths(request: MonitorRequest): Promise<MonitorPaths> {
  const { state, alerts, webhook, records } = request;
  const saved = state === undefined ? undefined : await readState(state);
  saved?.assertTopic(request.topic);
  // Invalid options must be rejected before files are opened.
  const none = { saved, store: undefined, file: undefined, sinks: [], close: () => Promise.resolve() };
  makeParts(request, none, savedTimestamp(request, saved));
  const post = webhook === undefined ? [] : [webhookSink({ url: webhook })];
  const file = alerts === undefined ? undefined : await openAlerts(alerts, state ?? request.redis);
  const store = records === undefined ? undefined : await openRecords(records, state, saved);
  const sinks = file === undefined ? post : [file, ...post];
  let closing: Promise<void> | undefined;
  return { saved, store, file, sinks, close: () => (closing ??= closeAll(sinks, store)) };
}

/**
 * Opens the alert file. With a saved state, alert changes that a killed run has already written are not written again.
 * @param state the place of the state: a file or Redis
 */
async function openAlerts(path: string, state: string | undefined): Promise<AlertSink> {
  const sink = ndjsonSink(path);
  return state === undefined ? sink : skipStoredAlerts(sink, path);
}

async function openRecords(
  path: string,
  state: string | undefined,
  saved: MonitorState | undefined,
): Promise<RecordStore> {
  const store = openRecordStore(path);
  if (state === undefined) return store;
  const history = saved === undefined ? undefined : RealTimeFairnessTracker.restore(saved.tracker).history;
  const after = history === undefined || history.length === 0 ? -Infinity : (history.index.at(-1) as number);
  return skipStoredRecords(store, path, after);
}

async function closeAll(sinks: readonly AlertSink[], store: RecordStore | undefined): Promise<void> {
  await Promise.all(sinks.map((sink) => sink.close()));
  store?.close();
}

/** Returns the timestamp column if it is known before the data are read, from the request or from an earlier run. */
export function savedTimestamp({ timestamp }: MonitorRequest, saved: MonitorState | undefined): string | undefined {
  if (timestamp !== undefined || saved === undefined) return timestamp;
  return saved.tracker.options.columns.timestamp === undefined ? undefined : USUAL_TIMESTAMP;
}

/**
 * Creates the tracker and the engine of a request, and restores the saved state, if there is one.
 * @param timestamp the timestamp column of the data, if any
 * @param clock returns the time of events without a timestamp; by default, the clock of this machine
 */
export function makeParts(
  request: MonitorRequest,
  paths: MonitorPaths,
  timestamp: string | undefined,
  clock?: () => number,
): MonitorParts {
  const { saved, store, sinks } = paths;
  const fresh = new RealTimeFairnessTracker({ ...trackerOptionsOf(request, timestamp), store, clock });
  assertReachable(request, fresh);
  const engineOptions = engineOptionsOf(request, fresh, sinks);
  const policy = policyOf(engineOptions, fresh);
  if (saved === undefined) {
    const engine = new FairnessDriftAndAlertEngine(engineOptions);
    engine.watch(fresh);
    return { ...paths, tracker: fresh, engine, policy };
  }
  saved.assertSame(fresh, policy);
  const tracker = RealTimeFairnessTracker.restore(saved.tracker, { store, clock });
  return {
    ...paths,
    tracker,
    engine: FairnessDriftAndAlertEngine.restore(saved.engine, tracker, engineOptions),
    policy,
  };
}

/** Returns the options of the tracker that counts the events of a request. */
export function trackerOptionsOf(request: MonitorRequest, timestamp: string | undefined): TrackerOptions {
  const { attributes, yPred, yTrue, id, sampleWeight } = request;
  return {
    columns: {
      yPred,
      yTrue,
      id,
      timestamp,
      weight: sampleWeight,
      protected: [...new Set(attributes.flat())],
      intersections: attributes.filter((columns) => columns.length > 1),
    },
    metrics: request.metric,
    windowSize: request.windowSize,
    labelHorizon: request.labelHorizon,
    minGroupSize: request.minGroupSize,
    decisionThreshold: request.scoreThreshold,
    positiveLabel: request.positiveLabel,
    yTruePositiveLabel: request.yTruePositiveLabel,
    naValues: request.naValues,
    // In files and on stdin numeric times may be seconds or milliseconds.
    timestampUnit: 'auto',
    errorScale: request.errorScale,
  };
}

/** Returns the options of the engine that raises the alarms of a request. */
export function engineOptionsOf(
  request: MonitorRequest,
  { stream }: RealTimeFairnessTracker,
  sinks: readonly AlertSink[],
): AlertEngineOptions {
  const { limit, alpha, persistence, cooldownMinutes, within, withinTime } = request;
  return {
    limits: limit === undefined ? {} : Object.fromEntries(stream.options.metrics.map(({ metric }) => [metric, limit])),
    alpha,
    persistence,
    cooldownMillis: cooldownMinutes === undefined ? undefined : cooldownMinutes * MINUTE_MILLIS,
    // The engine checks the names. The error of the engine lists the known names.
    detectors: request.detector as readonly DriftDetectorName[] | undefined,
    sinks,
    within: withinTime === undefined ? within : { time: withinTime },
  };
}

/** Returns the options on which the guarantee about false alarms depends. A resumed run must have the same options. */
function policyOf(options: AlertEngineOptions, { stream }: RealTimeFairnessTracker): MonitorPolicy {
  const filled = fillEngineOptions(options);
  return {
    alpha: filled.alpha,
    limits: Object.fromEntries(stream.options.metrics.map((metric) => [metric.metric, limitOf(metric, filled)])),
    detectors: filled.detectors.map(String),
    windows: filled.isRestarted ? 'restarted' : 'cumulative',
    ...(options.within === undefined ? {} : { within: options.within }),
  };
}

/** Returns a warning if very different groups stay within the limit. */
export function lenientLimit({ limit }: MonitorRequest, { stream }: RealTimeFairnessTracker): string[] {
  if (limit === undefined) return [];
  const found = stream.options.metrics.flatMap(({ metric }) => lenientValues(metric, '<=', limit) ?? []);
  return found
    .slice(0, 1)
    .map((values) => `Very different groups stay within the limit of ${String(limit)}, such as values of ${values}.`);
}

/**
 * Rejects a limit that no gap can exceed. Such a limit allows no alarm, so the run would seem to show that all is well.
 */
export function assertReachable({ limit }: MonitorRequest, { stream }: RealTimeFairnessTracker): void {
  if (limit === undefined) return;
  for (const { metric } of stream.options.metrics) {
    const range = rangeOfName(metric, { isSize: true });
    assertThreshold({ metric, threshold: limit, comparator: '<=' }, range, 'limit');
  }
}
