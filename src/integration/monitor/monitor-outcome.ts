import type { OnProgress } from '../../internal/progress.ts';
import type { QuerySource } from '../../io/sql-source.ts';
import type { AlertEvent, AlertHistory } from '../../monitoring/alarms/alert-event.ts';
import type { FairnessDriftAndAlertEngine } from '../../monitoring/alarms/fairness-drift-and-alert-engine.ts';
import type { MonitoringView } from '../../monitoring/dashboard/monitoring-view.ts';
import { takeGaps, type WatchedGap } from '../../monitoring/dashboard/take-gaps.ts';
import { takeView, unseenLabels, type UnusedEvents, unusedEvents } from '../../monitoring/dashboard/take-view.ts';
import type { ReplayResult } from '../../monitoring/replay.ts';
import type { RealTimeFairnessTracker } from '../../monitoring/tracker/real-time-fairness-tracker.ts';
import type { MonitorRequest } from '../../schemas/monitor.ts';
import { lenientLimit, type MonitorPaths } from './monitor-parts.ts';
import type { WriteOutcome } from './write-outputs.ts';

/** The source of events of a monitoring run, and its callbacks. */
export interface MonitorHooks {
  /** The rows of a database to replay, which are counted by time. */
  readonly rows?: QuerySource | undefined;
  /**
   * Opens the stream of JSON lines, each with one event. The function is called only if the request names no file and no
   * broker, after all other checks.
   */
  readonly openLines: () => AsyncIterable<string>;
  /** Returns whether the input ended because the user stopped the run. */
  readonly isStopped?: (() => boolean) | undefined;
  /** Called for each alarm of a stream. `isRepeat` is true if the alarm was reported before. */
  readonly onAlarm?: ((alert: AlertEvent, isRepeat: boolean) => void) | undefined;
  readonly onWatch?: ((alert: AlertEvent) => void) | undefined;
  /** Called for each line that could not be counted, with the reason. */
  readonly onInvalidLine?: ((line: number, reason: string) => void) | undefined;
  /** The same for a message of a stream at a broker: its partition, and its offset or entry id. */
  readonly onInvalidMessage?: ((partition: string, position: string, reason: string) => void) | undefined;
  /** Called with sentences about a broker that does not answer, and about lost messages. */
  readonly onWarning?: ((warning: string) => void) | undefined;
  /** Ends a stream at a broker. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called if outputs cannot be written at a refresh. The callback is not called again until a refresh has succeeded.
   */
  readonly onProblem?: ((problem: string) => void) | undefined;
  readonly onProgress?: OnProgress | undefined;
}

/** The outcome of a monitoring run. */
export interface MonitorOutcome extends Pick<ReplayResult, 'alerts' | 'watches' | 'states' | 'preview'> {
  /** The alarms raised in this run. Each alarm has its state at the time when it was raised. */
  readonly raised: readonly AlertEvent[];
  /** Alarms of earlier runs that are open at the end. */
  readonly stillOpen: readonly AlertHistory[];
  /** Whether the run raised an alarm, or an alarm is open at the end of the run. */
  readonly isAlarmed: boolean;
  /** The gap of each metric in the sliding window, at the end. */
  readonly gaps: readonly WatchedGap[];
  /** The content of the dashboard. */
  readonly view: MonitoringView;
  /** The number of events in the sliding window. */
  readonly windowEvents: number;
  readonly unused: UnusedEvents;
  /** Warnings about labels that no event had. */
  readonly unseen: readonly string[];
  /** The number of lines that could not be counted. */
  readonly refusedLines: number;
  /** The files that were written. */
  readonly written: readonly string[];
  /** Warnings about lost outputs and suspicious input. Each warning is a sentence. */
  readonly warnings: readonly string[];
  /** Errors of outputs that could not be written at the end. */
  readonly problems: readonly unknown[];
}

/** What a run has found, before its outputs are written. */
export interface Found extends Pick<MonitorOutcome, 'alerts' | 'watches' | 'states' | 'preview' | 'refusedLines'> {
  /** Identifiers of the alarms that were known before the run. */
  readonly known: ReadonlySet<string>;
  readonly remarks: readonly string[];
}

/** The stream and its alarms at the end of a run. */
export interface EndedStream {
  readonly tracker: RealTimeFairnessTracker;
  readonly engine: FairnessDriftAndAlertEngine;
  /** The engine for the dashboard, which may be changed. */
  readonly shownEngine: FairnessDriftAndAlertEngine;
}

/** Returns the identifiers of all alarms of an engine. */
export function idsOf(engine: FairnessDriftAndAlertEngine): ReadonlySet<string> {
  return new Set(engine.alerts.map(({ alert }) => alert.id));
}

/** Closes the outputs of a run, and returns its outcome. */
export async function outcomeOf(
  request: MonitorRequest,
  paths: MonitorPaths,
  { tracker, engine, shownEngine }: EndedStream,
  { known, remarks, ...found }: Found,
  { written, problems }: WriteOutcome,
): Promise<MonitorOutcome> {
  // The outputs are closed here, since the number of failed deliveries is known only afterwards.
  await paths.close();
  const { alerts, states, preview } = found;
  const unseen = unseenLabels(tracker);
  const isNew = ({ id }: AlertEvent): boolean => !known.has(id);
  const open = engine.alerts.filter(({ isOpen }) => isOpen);
  return {
    ...found,
    raised: alerts.filter((alert, index) => isNew(alert) && alerts.findIndex(({ id }) => id === alert.id) === index),
    stillOpen: open.filter(({ alert }) => known.has(alert.id)),
    isAlarmed: [alerts, open, preview?.alerts ?? []].some(({ length }) => length > 0),
    view: takeView(tracker, shownEngine),
    gaps: takeGaps(tracker, engine, states),
    unused: unusedEvents(tracker),
    unseen,
    windowEvents: tracker.stream.window.length,
    written: [...written, ...appended(request, paths)],
    warnings: [...unseen, ...lenientLimit(request, tracker), ...earlyTimes(tracker), ...remarks, ...lossesOf(paths)],
    problems,
  };
}

/** The time before which no decision of a model was monitored, in milliseconds since 1970: 1990. */
const FIRST_YEAR = Date.UTC(1990);

/** Warns if all events are older than they can be: usually, numbers such as 20260131 were read as times. */
function earlyTimes({ stream: { latestTime } }: RealTimeFairnessTracker): string[] {
  if (!(latestTime < FIRST_YEAR)) return [];
  return [
    `The latest event is of ${new Date(latestTime).toISOString().slice(0, 10)}. Numbers are read as seconds or milliseconds since 1970: write dates as text, such as 2026-01-31T09:30:00Z.`,
  ];
}

/** Returns the record file and the alert file. A file is omitted if any of its entries were lost. */
function appended({ records, alerts }: MonitorRequest, paths: MonitorPaths): string[] {
  return [
    ...(records === undefined || lostRecords(paths) > 0 ? [] : [records]),
    ...(alerts === undefined || (paths.file?.failures ?? 0) > 0 ? [] : [alerts]),
  ];
}

function lostRecords({ store }: MonitorPaths): number {
  const status = store?.status();
  return (status?.pending ?? 0) + (status?.dropped ?? 0);
}

function lossesOf(paths: MonitorPaths): string[] {
  const lost = lostRecords(paths);
  return [
    ...(lost > 0
      ? [`${String(lost)} records could not be written: ${paths.store?.status().problem ?? 'unknown'}.`]
      : []),
    ...paths.sinks
      .filter(({ failures }) => failures > 0)
      .map(({ name, failures }) => `${String(failures)} messages could not be delivered by ${name}.`),
  ];
}
