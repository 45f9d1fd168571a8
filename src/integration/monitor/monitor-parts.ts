import type { AlertEngineOptions } from '../../monitoring/alarms/engine-options.ts';
import { FairnessDriftAndAlertEngine } from '../../monitoring/alarms/fairness-drift-and-alert-engine.ts';
import type { DriftDetectorName } from '../../monitoring/drift/create-drift-detector.ts';
import { openRecordStore } from '../../monitoring/records/open-record-store.ts';
import type { RecordStore } from '../../monitoring/records/record-store.ts';
import type { AlertSink } from '../../monitoring/sinks/alert-sink.ts';
import { ndjsonSink } from '../../monitoring/sinks/ndjson-sink.ts';
import { webhookSink } from '../../monitoring/sinks/webhook/webhook-sink.ts';
import { RealTimeFairnessTracker } from '../../monitoring/tracker/real-time-fairness-tracker.ts';
import type { TrackerOptions } from '../../monitoring/tracker/tracker-options.ts';
import type { MonitorRequest } from '../../schemas/monitor.ts';
import { readState } from './monitor-state.ts';

/** What a monitoring run is made of. */
export interface MonitorParts {
  readonly tracker: RealTimeFairnessTracker;
  readonly engine: FairnessDriftAndAlertEngine;
  readonly sinks: readonly AlertSink[];
  readonly store: RecordStore | undefined;
}

const MINUTE_MILLIS = 60_000;

/**
 * Makes tracker and engine as a request has them, going on from its state file where there is one.
 * @param timestamp the column of times that the data have, if any
 */
export async function openParts(request: MonitorRequest, timestamp: string | undefined): Promise<MonitorParts> {
  const saved = request.state === undefined ? undefined : await readState(request.state);
  const store = request.records === undefined ? undefined : openRecordStore(request.records);
  const sinks = [
    ...(request.alerts === undefined ? [] : [ndjsonSink(request.alerts)]),
    ...(request.webhook === undefined ? [] : [webhookSink({ url: request.webhook })]),
  ];
  const trackerOptions = { ...trackerOptionsOf(request, timestamp), store };
  const fresh = new RealTimeFairnessTracker(trackerOptions);
  const engineOptions = engineOptionsOf(request, fresh, sinks);
  if (saved === undefined)
    return { tracker: fresh, engine: new FairnessDriftAndAlertEngine(engineOptions), sinks, store };
  saved.assertSame(fresh);
  const tracker = RealTimeFairnessTracker.restore(saved.tracker, { store });
  return { tracker, engine: FairnessDriftAndAlertEngine.restore(saved.engine, tracker, engineOptions), sinks, store };
}

function trackerOptionsOf(request: MonitorRequest, timestamp: string | undefined): TrackerOptions {
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
    minGroupSize: request.minGroupSize,
    decisionThreshold: request.scoreThreshold,
    positiveLabel: request.positiveLabel,
    // In files and on stdin a number may count seconds as well.
    timestampUnit: 'auto',
    errorScale: request.errorScale,
  };
}

function engineOptionsOf(
  request: MonitorRequest,
  { stream }: RealTimeFairnessTracker,
  sinks: readonly AlertSink[],
): AlertEngineOptions {
  const { limit, alpha, persistence, cooldownMinutes } = request;
  return {
    limits: limit === undefined ? {} : Object.fromEntries(stream.options.metrics.map(({ metric }) => [metric, limit])),
    alpha,
    persistence,
    cooldownMillis: cooldownMinutes === undefined ? undefined : cooldownMinutes * MINUTE_MILLIS,
    // The engine checks the names and lists the known ones.
    detectors: request.detector as readonly DriftDetectorName[] | undefined,
    sinks,
  };
}
