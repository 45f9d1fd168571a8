import type { OnProgress } from '../../internal/progress.ts';
import { loadData } from '../../io/load-data.ts';
import type { AlertEvent } from '../../monitoring/alarms/alert-event.ts';
import type { EngineUpdate } from '../../monitoring/alarms/fairness-drift-and-alert-engine.ts';
import { FairnessReportingDashboard } from '../../monitoring/dashboard/fairness-reporting-dashboard.ts';
import type { MonitoringView } from '../../monitoring/dashboard/monitoring-view.ts';
import { takeView } from '../../monitoring/dashboard/take-view.ts';
import { followLines } from '../../monitoring/follow-lines.ts';
import { replay } from '../../monitoring/replay.ts';
import { alertToJson } from '../../monitoring/sinks/transition-json.ts';
import type { MonitorRequest } from '../../schemas/monitor.ts';
import { type MonitorParts, openParts } from './monitor-parts.ts';
import { writeState } from './monitor-state.ts';

/** Where a monitoring run gets its events and tells what it finds. */
export interface MonitorHooks {
  /** Lines of JSON, one event each; read where the request names no file. */
  readonly lines: AsyncIterable<string>;
  /** Milliseconds since 1970, for when the dashboard is written anew. */
  readonly clock: () => number;
  /** Called with each look at lines that brought an alert or a watch. */
  readonly onUpdate?: ((update: EngineUpdate) => void) | undefined;
  /** Called with each line that could not be counted, and why. */
  readonly onFault?: ((line: number, reason: string) => void) | undefined;
  readonly onProgress?: OnProgress | undefined;
}

/** What a monitoring run found. */
export interface MonitorOutcome {
  /** Alarms as they were told, repeats included. */
  readonly alerts: readonly AlertEvent[];
  readonly watches: readonly AlertEvent[];
  readonly states: EngineUpdate['states'];
  /** Alarms that are open at the end, those of earlier runs included. */
  readonly openAlarms: number;
  /** Everything as a dashboard shows it. */
  readonly view: MonitoringView;
  /** Lines that could not be counted. */
  readonly refusedLines: number;
  /** Files written. */
  readonly written: readonly string[];
  /** Records and messages that did not get to where they should be, in sentences. */
  readonly losses: readonly string[];
}

/** The column that holds the time, where none is named and the data have one of that name. */
const USUAL_TIMESTAMP = 'timestamp';

/**
 * Watches a stream as a request has it: replays a file, or follows lines of
 * events until they end. Dashboard and state are written at the end, and while
 * lines are followed at every refresh.
 */
export async function runMonitor(request: MonitorRequest, hooks: MonitorHooks): Promise<MonitorOutcome> {
  return request.csv === undefined ? followStream(request, hooks) : replayFile(request, request.csv, hooks);
}

async function replayFile(request: MonitorRequest, path: string, hooks: MonitorHooks): Promise<MonitorOutcome> {
  const { yPred, yTrue, sampleWeight, timestamp, attributes } = request;
  const needed = [yPred, yTrue, sampleWeight, timestamp, ...attributes.flat()];
  const table = await loadData(path, {
    columns: [...new Set(needed.filter((name) => name !== undefined))],
    optionalColumns: timestamp === undefined ? [USUAL_TIMESTAMP] : [],
  });
  const parts = await openParts(request, timestamp ?? (table.has(USUAL_TIMESTAMP) ? USUAL_TIMESTAMP : undefined));
  const { lookEvery } = request;
  const result = await replay(table, { ...parts, lookEvery, onProgress: hooks.onProgress });
  return finish(request, parts, { ...result, refusedLines: 0 });
}

async function followStream(request: MonitorRequest, hooks: MonitorHooks): Promise<MonitorOutcome> {
  const { lines, timestamp } = await usualTimestamp(hooks.lines, request.timestamp);
  const parts = await openParts(request, timestamp);
  const alerts: AlertEvent[] = [];
  const watches: AlertEvent[] = [];
  let nextRefresh = hooks.clock() + 1000 * request.refreshSeconds;
  const { last, refused } = await followLines(lines, {
    ...parts,
    lookEvery: request.lookEvery,
    onFault: hooks.onFault,
    onUpdate: (update) => {
      alerts.push(...update.alerts);
      watches.push(...update.watches);
      hooks.onUpdate?.(update);
    },
    onLook: async () => {
      if (hooks.clock() < nextRefresh) return;
      await writeOutputs(request, parts);
      nextRefresh = hooks.clock() + 1000 * request.refreshSeconds;
    },
  });
  parts.tracker.flush();
  return finish(request, parts, { alerts, watches, states: last.states, refusedLines: refused });
}

/** Looks into the first line for a time, where none is named. */
async function usualTimestamp(
  lines: AsyncIterable<string>,
  named: string | undefined,
): Promise<{ readonly lines: AsyncIterable<string>; readonly timestamp: string | undefined }> {
  if (named !== undefined) return { lines, timestamp: named };
  const rest = lines[Symbol.asyncIterator]();
  const first = await rest.next();
  const all = async function* (): AsyncGenerator<string> {
    if (first.done === true) return;
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => rest };
  };
  const hasTime = first.done !== true && first.value.includes(`"${USUAL_TIMESTAMP}"`);
  return { lines: all(), timestamp: hasTime ? USUAL_TIMESTAMP : undefined };
}

async function finish(
  request: MonitorRequest,
  parts: MonitorParts,
  found: Pick<MonitorOutcome, 'alerts' | 'watches' | 'states' | 'refusedLines'>,
): Promise<MonitorOutcome> {
  const written = await writeOutputs(request, parts);
  await Promise.all(parts.sinks.map((sink) => sink.close()));
  parts.store?.close();
  return {
    alerts: found.alerts,
    watches: found.watches,
    states: found.states,
    refusedLines: found.refusedLines,
    openAlarms: parts.engine.alerts.filter(({ isOpen }) => isOpen).length,
    view: takeView(parts.tracker, parts.engine),
    written: [...written, ...[request.records, request.alerts].filter((path) => path !== undefined)],
    losses: lossesOf(parts),
  };
}

async function writeOutputs(request: MonitorRequest, { tracker, engine }: MonitorParts): Promise<string[]> {
  const written: string[] = [];
  if (request.outputDir !== undefined) {
    const saved = await new FairnessReportingDashboard({ tracker, engine }).save(request.outputDir);
    written.push(saved.dashboard, saved.report, saved.activeAlerts);
  }
  if (request.state !== undefined) {
    await writeState(request.state, tracker, engine);
    written.push(request.state);
  }
  return written;
}

function lossesOf({ sinks, store }: MonitorParts): string[] {
  const status = store?.status();
  const lost = (status?.pending ?? 0) + (status?.dropped ?? 0);
  return [
    ...(lost > 0 ? [`${String(lost)} records could not be written: ${status?.problem ?? 'unknown'}.`] : []),
    ...sinks
      .filter(({ failures }) => failures > 0)
      .map(({ name, failures }) => `${String(failures)} messages could not be delivered by ${name}.`),
  ];
}

/** What a run found as plain JSON: alerts, watches and states. */
export function monitorToJson({ alerts, watches, states }: MonitorOutcome): Record<string, unknown> {
  return { alerts: alerts.map(alertToJson), watches: watches.map(alertToJson), states };
}
