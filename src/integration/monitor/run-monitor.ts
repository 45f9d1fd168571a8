import { parseObject } from '../../internal/values.ts';
import type { OnProgress } from '../../internal/progress.ts';
import { findFiles } from '../../io/find-files.ts';
import { loadData } from '../../io/load-data.ts';
import { assertLabelsCounted } from '../../io/positive-label.ts';
import { CELLS_BY_DECISION, cellsWith } from '../../metrics/statistics/group-stats.ts';
import { withRelation } from '../../io/sql-source.ts';
import type { AlertEvent, AlertHistory } from '../../monitoring/alarms/alert-event.ts';
import type { MonitoringView } from '../../monitoring/dashboard/monitoring-view.ts';
import { takeGaps, type WatchedGap } from '../../monitoring/dashboard/take-gaps.ts';
import { takeView } from '../../monitoring/dashboard/take-view.ts';
import { type ExtraChecks, followLines } from '../../monitoring/follow-lines.ts';
import { replay, type ReplayResult } from '../../monitoring/replay.ts';
import { alertToJson } from '../../monitoring/sinks/transition-json.ts';
import type { RealTimeFairnessTracker } from '../../monitoring/tracker/real-time-fairness-tracker.ts';
import type { DataPaths, FileSource, FoundFiles } from '../../schemas/data-source.ts';
import type { MonitorRequest } from '../../schemas/monitor.ts';
import { countLabels, labelValue, readLabels, readTexts, type Table } from '../../table/index.ts';
import { assertLinesCounted, assertRowsCounted, countedSoFar, type FirstLine } from './assert-counted.ts';
import {
  makeParts,
  type MonitorParts,
  type MonitorPaths,
  openPaths,
  savedTimestamp,
  USUAL_TIMESTAMP,
} from './monitor-parts.ts';
import { refresher, shownEngine, writeOutputs } from './write-outputs.ts';

/** Returns the label that counts as 1 in the true labels. */
function truthLabelOf({ positiveLabel, yTruePositiveLabel }: MonitorRequest): string | undefined {
  return yTruePositiveLabel ?? positiveLabel;
}

/**
 * Checks that the positive labels occur in a file, as `validate` does.
 * @throws {DataValidationError} if one does not; the error lists the labels found
 */
async function assertLabelsInFile(request: MonitorRequest, files: FoundFiles, table: Table): Promise<void> {
  const { positiveLabel, yTruePositiveLabel, yPred, yTrue, naValues } = request;
  const named = (name: string, label: string | undefined): Parameters<typeof assertLabelsCounted>[2]['yPred'] => {
    const { column, rule } = readLabels(table.column(name), name, label, naValues);
    const read = { ...rule, positiveLabel: label };
    const states = new Set<number | undefined>(countLabels(column).map((one) => labelValue(one.label, read)));
    return { name, has: (state) => states.has(state), isRead: label !== undefined };
  };
  const columns = {
    positiveLabel,
    yTruePositiveLabel,
    yPred: named(yPred, positiveLabel),
    yTrue: yTrue === undefined ? undefined : named(yTrue, truthLabelOf(request)),
  };
  await withRelation(files, (session, relation) => assertLabelsCounted(session, relation, columns));
}

/** Returns warnings about positive labels that no event of a stream had. */
function strangeLabels(request: MonitorRequest, { stream }: RealTimeFairnessTracker): string[] {
  const holds = (cells: readonly number[]): boolean =>
    stream.tables.some(({ data, stride, groups }) =>
      Array.from({ length: groups }, (_, group) => group * stride).some((at) =>
        cells.some((cell) => (data[at + cell] ?? 0) > 0),
      ),
    );
  const { positiveLabel, yPred, yTrue } = request;
  const truthLabel = truthLabelOf(request);
  const noneIn = (column: string, label: string): string =>
    `No event has the positive label '${label}' in '${column}'.`;
  const isSilent = stream.events > 0 && !holds(CELLS_BY_DECISION.positive);
  const isUntrue = holds(cellsWith([0])) && !holds(cellsWith([1]));
  return [
    ...(positiveLabel !== undefined && isSilent ? [noneIn(yPred, positiveLabel)] : []),
    ...(yTrue !== undefined && truthLabel !== undefined && isUntrue ? [noneIn(yTrue, truthLabel)] : []),
  ];
}

/** The maximum number of lines that are searched for the first event, which shows the names of the fields. */
const MAX_HELD = 10_000;

/** All lines of a stream. Also contains the first event, if one of the first lines is an event. */
interface LinesWithFirst {
  readonly lines: AsyncIterable<string>;
  readonly event: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Reads a stream until its first event, and returns that event and all lines. Lines that are not events, such as blank
 * lines and labels, are skipped.
 */
async function withFirstEvent(
  lines: AsyncIterable<string>,
  { yPred }: Pick<MonitorRequest, 'yPred'>,
): Promise<LinesWithFirst> {
  const rest = lines[Symbol.asyncIterator]();
  const held: string[] = [];
  let event: LinesWithFirst['event'];
  while (event === undefined && held.length < MAX_HELD) {
    const next = await rest.next();
    if (next.done === true) break;
    held.push(next.value);
    const found = parseObject(next.value);
    if (found !== undefined && Object.hasOwn(found, yPred)) event = found;
  }
  return { lines: chain(held, rest), event };
}

async function* chain(held: readonly string[], rest: AsyncIterator<string>): AsyncGenerator<string> {
  yield* held;
  yield* { [Symbol.asyncIterator]: () => rest };
}

/** The source of events of a monitoring run, and its callbacks. */
export interface MonitorHooks {
  /**
   * Opens the stream of JSON lines, each with one event. The function is called only if the request names no file,
   * after all other checks.
   */
  readonly openLines: () => AsyncIterable<string>;
  /** Returns whether the input ended because the user stopped the run. */
  readonly isStopped?: (() => boolean) | undefined;
  /** Called for each alarm of a stream. `isRepeat` is true if the alarm was reported before. */
  readonly onAlarm?: ((alert: AlertEvent, isRepeat: boolean) => void) | undefined;
  readonly onWatch?: ((alert: AlertEvent) => void) | undefined;
  /** Called for each line that could not be counted, with the reason. */
  readonly onInvalidLine?: ((line: number, reason: string) => void) | undefined;
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
  /** The number of lines that could not be counted. */
  readonly refusedLines: number;
  /** The files that were written. */
  readonly written: readonly string[];
  /** Warnings about lost outputs and suspicious input. Each warning is a sentence. */
  readonly warnings: readonly string[];
  /** Errors of outputs that could not be written at the end. */
  readonly problems: readonly unknown[];
}

/**
 * Monitors the events of a request: replays a file, or reads lines with events until the input ends. The dashboard and
 * the state are written at the end. For a stream, they are also written at every refresh. If a refresh fails, the next
 * refresh tries again.
 * @throws {ConfigValidationError | ValueError} if the request is invalid, before any line is read
 * @throws {DataValidationError} if data cannot be read, or nothing in the input can be counted
 */
export async function runMonitor(request: MonitorRequest, hooks: MonitorHooks): Promise<MonitorOutcome> {
  const paths = await openPaths(request);
  try {
    return await (request.csv === undefined
      ? followStream(request, paths, hooks)
      : replayFile(request, paths, request.csv, hooks));
  } finally {
    await paths.close();
  }
}

async function replayFile(
  request: MonitorRequest,
  paths: MonitorPaths,
  source: DataPaths | FileSource,
  hooks: MonitorHooks,
): Promise<MonitorOutcome> {
  const { yPred, yTrue, sampleWeight, attributes, lookEvery } = request;
  const timestamp = savedTimestamp(request, paths.saved);
  const needed = [yPred, yTrue, sampleWeight, timestamp, ...attributes.flat()];
  const files = await findFiles(source);
  const loaded = await loadData(files, {
    columns: [...new Set(needed.filter((name) => name !== undefined))],
    labels: attributes.flat(),
    optionalColumns: paths.saved === undefined && timestamp === undefined ? [USUAL_TIMESTAMP] : [],
  });
  const { table, warnings } = readTexts(loaded, {
    groups: attributes.flat(),
    target: yTrue,
    positiveLabel: truthLabelOf(request),
    predictions: { name: yPred, positiveLabel: request.positiveLabel },
    others: [sampleWeight].filter((name) => name !== undefined),
    naValues: request.naValues,
  });
  await assertLabelsInFile(request, files, table);
  const hasUsual = paths.saved === undefined && table.has(USUAL_TIMESTAMP);
  const parts = makeParts(request, paths, timestamp ?? (hasUsual ? USUAL_TIMESTAMP : undefined));
  const { tracker, engine } = parts;
  const before = countedSoFar(tracker);
  const known = idsOf(parts);
  const extraChecks = extraChecksOf(request);
  const result = await replay(table, { tracker, engine, lookEvery, extraChecks, onProgress: hooks.onProgress });
  assertRowsCounted(request, tracker, before, files.title);
  return finish(request, parts, { ...result, known, refusedLines: 0, remarks: warnings });
}

async function followStream(
  request: MonitorRequest,
  paths: MonitorPaths,
  hooks: MonitorHooks,
): Promise<MonitorOutcome> {
  const { lines, timestamp } = await openStream(request, paths, hooks);
  const parts = makeParts(request, paths, timestamp);
  const before = countedSoFar(parts.tracker);
  const known = idsOf(parts);
  const reported = new Set(known);
  const alerts: AlertEvent[] = [];
  const watches: AlertEvent[] = [];
  let first: FirstLine | undefined;
  const { last, refused } = await followLines(
    noting(lines, (line) => (first ??= line)),
    {
      tracker: parts.tracker,
      engine: parts.engine,
      lookEvery: request.lookEvery,
      extraChecks: extraChecksOf(request),
      onInvalidLine: hooks.onInvalidLine,
      onPreview: (update) => {
        // The alarm is reported here for the first time. The counted check reports the same alarm again as a repeat.
        for (const alert of update.alerts) if (!reported.has(alert.id)) hooks.onAlarm?.(alert, false);
        for (const { id } of update.alerts) reported.add(id);
      },
      onUpdate: (update) => {
        alerts.push(...update.alerts);
        watches.push(...update.watches);
        for (const alert of update.alerts) {
          hooks.onAlarm?.(alert, reported.has(alert.id));
          reported.add(alert.id);
        }
        for (const watch of update.watches) hooks.onWatch?.(watch);
      },
      refreshMillis: 1000 * request.refreshSeconds,
      onRefresh: refresher(request, parts, hooks.onProblem),
    },
  );
  const isPreview = extraChecksOf(request) === 'previewed';
  if (!isPreview) parts.tracker.flush();
  if (hooks.isStopped?.() !== true) assertLinesCounted(request, parts.tracker, before, first);
  const remarks = strangeLabels(request, parts.tracker);
  const preview = isPreview ? last : null;
  const { states } = last;
  return finish(request, parts, { alerts, watches, states, preview, known, refusedLines: refused, remarks });
}

/**
 * Returns how checks in addition to the regular checks are handled. With a saved state, only the events of the stream
 * determine the times of checks and records. Then an interrupted and resumed run has the same findings as a run without
 * interruption.
 */
function extraChecksOf({ state }: MonitorRequest): ExtraChecks {
  return state === undefined ? 'counted' : 'previewed';
}

/**
 * Opens the lines. The timestamp column comes from the state. Without a state, the default column is used if the first
 * event contains it.
 */
async function openStream(
  request: MonitorRequest,
  { saved }: MonitorPaths,
  { openLines }: MonitorHooks,
): Promise<{ readonly lines: AsyncIterable<string>; readonly timestamp: string | undefined }> {
  const timestamp = savedTimestamp(request, saved);
  if (saved !== undefined || timestamp !== undefined) return { lines: openLines(), timestamp };
  const { lines, event } = await withFirstEvent(openLines(), request);
  const hasUsual = event !== undefined && Object.hasOwn(event, USUAL_TIMESTAMP);
  return { lines, timestamp: hasUsual ? USUAL_TIMESTAMP : undefined };
}

/**
 * Yields the lines unchanged and calls `note` with each non-blank line.
 * @yields each line
 */
async function* noting(lines: AsyncIterable<string>, note: (line: FirstLine) => void): AsyncGenerator<string> {
  let number = 0;
  for await (const text of lines) {
    number++;
    if (text.trim() !== '') note({ number, text });
    yield text;
  }
}

const idsOf = ({ engine }: MonitorParts): ReadonlySet<string> => new Set(engine.alerts.map(({ alert }) => alert.id));

interface Found extends Pick<MonitorOutcome, 'alerts' | 'watches' | 'states' | 'preview' | 'refusedLines'> {
  /** Identifiers of the alarms that were known before the run. */
  readonly known: ReadonlySet<string>;
  readonly remarks: readonly string[];
}

async function finish(
  request: MonitorRequest,
  parts: MonitorParts,
  { known, remarks, ...found }: Found,
): Promise<MonitorOutcome> {
  const { written, problems } = await writeOutputs(request, parts);
  // The outputs are closed here too, since the number of failed deliveries is known only afterwards.
  await parts.close();
  const { alerts, states, preview } = found;
  const isNew = ({ id }: AlertEvent): boolean => !known.has(id);
  const open = parts.engine.alerts.filter(({ isOpen }) => isOpen);
  return {
    ...found,
    raised: alerts.filter((alert, index) => isNew(alert) && alerts.findIndex(({ id }) => id === alert.id) === index),
    stillOpen: open.filter(({ alert }) => known.has(alert.id)),
    isAlarmed: [alerts, open, preview?.alerts ?? []].some(({ length }) => length > 0),
    view: takeView(parts.tracker, shownEngine(request, parts)),
    gaps: takeGaps(parts.tracker, parts.engine, states),
    windowEvents: parts.tracker.stream.window.length,
    written: [...written, ...appended(request, parts)],
    warnings: [...remarks, ...lossesOf(parts)],
    problems,
  };
}

/** Returns the record file and the alert file. A file is omitted if any of its entries were lost. */
function appended({ records, alerts }: MonitorRequest, parts: MonitorParts): string[] {
  return [
    ...(records === undefined || lostRecords(parts) > 0 ? [] : [records]),
    ...(alerts === undefined || (parts.file?.failures ?? 0) > 0 ? [] : [alerts]),
  ];
}

function lostRecords({ store }: MonitorPaths): number {
  const status = store?.status();
  return (status?.pending ?? 0) + (status?.dropped ?? 0);
}

function lossesOf(parts: MonitorParts): string[] {
  const lost = lostRecords(parts);
  return [
    ...(lost > 0
      ? [`${String(lost)} records could not be written: ${parts.store?.status().problem ?? 'unknown'}.`]
      : []),
    ...parts.sinks
      .filter(({ failures }) => failures > 0)
      .map(({ name, failures }) => `${String(failures)} messages could not be delivered by ${name}.`),
  ];
}

/**
 * Returns the outcome of a run as plain JSON: alerts, watches and states, and the gap of each metric with its interval
 * and groups. With a saved state, `preview` contains the findings of an additional check at the end, which the next run
 * repeats.
 */
export function monitorToJson({
  alerts,
  watches,
  states,
  gaps,
  preview,
}: Pick<MonitorOutcome, 'alerts' | 'watches' | 'states' | 'gaps' | 'preview'>): Record<string, unknown> {
  return {
    alerts: alerts.map(alertToJson),
    watches: watches.map(alertToJson),
    states,
    metrics: gapsToJson(gaps),
    ...(preview === null
      ? {}
      : { preview: { alerts: preview.alerts.map(alertToJson), watches: preview.watches.map(alertToJson) } }),
  };
}

/** Groups the gaps by attribute and then by metric, in the same form as the states. */
function gapsToJson(gaps: readonly WatchedGap[]): Record<string, unknown> {
  const byAttribute = new Map<string, Map<string, unknown>>();
  for (const { attribute, metric, windowEvents, limit, ...gap } of gaps) {
    const metrics = byAttribute.get(attribute) ?? new Map<string, unknown>();
    byAttribute.set(attribute, metrics.set(metric, { ...gap, window_events: windowEvents, limit }));
  }
  return Object.fromEntries(Array.from(byAttribute, ([name, metrics]) => [name, Object.fromEntries(metrics)]));
}
