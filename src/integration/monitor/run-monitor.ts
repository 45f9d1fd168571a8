import { quoteArgument } from '../../document/provenance.ts';
import { capital, formatCount } from '../../internal/format.ts';
import { parseObject } from '../../internal/values.ts';
import { titleOf } from '../../io/engines/count-on-engine.ts';
import { hashInputFile } from '../../io/checksum.ts';
import { findFiles } from '../../io/find-files.ts';
import { readFirstRows } from '../../io/first-rows.ts';
import { loadData } from '../../io/load-data.ts';
import { assertLabelsCounted } from '../../io/positive-label.ts';
import { type QuerySource, withRelation } from '../../io/sql-source.ts';
import type { AlertEvent } from '../../monitoring/alarms/alert-event.ts';
import type { WatchedGap } from '../../monitoring/dashboard/take-gaps.ts';
import { type ExtraChecks, followLines, type UnreadableLine } from '../../monitoring/follow-lines.ts';
import { replay } from '../../monitoring/replay.ts';
import { replaySql } from '../../monitoring/replay-sql.ts';
import { alertToJson } from '../../monitoring/sinks/transition-json.ts';
import type { DataPaths, FileSource, FoundFiles } from '../../schemas/data-source.ts';
import type { MonitorRequest } from '../../schemas/monitor.ts';
import { countLabels, labelValue, readLabels, readTexts, type Table } from '../../table/index.ts';
import { dependentEventsNotes } from '../column-notes.ts';
import { KafkaLines } from './kafka-lines.ts';
import { assertLinesCounted, assertRowsCounted, countedSoFar, type FirstLine } from './assert-counted.ts';
import { type Found, idsOf, type MonitorHooks, type MonitorOutcome, outcomeOf } from './monitor-outcome.ts';
import {
  makeParts,
  type MonitorParts,
  type MonitorPaths,
  openPaths,
  savedTimestamp,
  USUAL_TIMESTAMP,
} from './monitor-parts.ts';
import { followShared, kafkaSourceOf, leaseMillisOf, outageMillisOf } from './shared-stream.ts';
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

/**
 * Monitors the events of a request: replays a file or rows of a database, or reads lines with events until the input ends. The dashboard and
 * the state are written at the end. For a stream, they are also written at every refresh. If a refresh fails, the next
 * refresh tries again.
 * @throws {ConfigValidationError | ValueError} if the request is invalid, before any line is read
 * @throws {DataValidationError} if data cannot be read, or nothing in the input can be counted
 */
export async function runMonitor(request: MonitorRequest, hooks: MonitorHooks): Promise<MonitorOutcome> {
  const paths = await openPaths(request);
  try {
    if (hooks.rows !== undefined) return await replayRows(request, paths, hooks.rows, hooks);
    if (request.csv !== undefined) return await replayFile(request, paths, request.csv, hooks);
    if (request.redis !== undefined) return await followShared(request, paths, hooks);
    return await followStream(request, paths, hooks);
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
  const { yPred, yTrue, sampleWeight, attributes, lookEvery, within } = request;
  const timestamp = savedTimestamp(request, paths.saved);
  const labels = [...new Set([...attributes.flat(), ...(within === undefined ? [] : [within])])];
  const needed = [yPred, yTrue, sampleWeight, timestamp, ...labels];
  const files = await findFiles(source);
  const loaded = await loadData(files, {
    columns: [...new Set(needed.filter((name) => name !== undefined))],
    labels,
    optionalColumns: paths.saved === undefined && timestamp === undefined ? [USUAL_TIMESTAMP] : [],
  });
  const { table, warnings } = readTexts(loaded, {
    groups: labels,
    target: yTrue,
    positiveLabel: truthLabelOf(request),
    predictions: { name: yPred, positiveLabel: request.positiveLabel },
    others: [sampleWeight].filter((name) => name !== undefined),
    naValues: request.naValues,
  });
  await assertLabelsInFile(request, files, table);
  const hasUsual = paths.saved === undefined && table.has(USUAL_TIMESTAMP);
  const used = timestamp ?? (hasUsual ? USUAL_TIMESTAMP : undefined);
  const counted = await countedFiles(request, files, paths.saved?.files);
  const parts = { ...makeParts(request, paths, used), files: counted.all };
  const { tracker, engine } = parts;
  const before = countedSoFar(tracker);
  const known = idsOf(parts.engine);
  const extraChecks = extraChecksOf(request);
  const result = await replay(table, { tracker, engine, lookEvery, extraChecks, onProgress: hooks.onProgress });
  assertRowsCounted(request, tracker, before, files.title);
  const remarks = [...warnings, ...counted.remarks, ...(await columnRemarks(request, used, files))];
  return finish(request, parts, { ...result, known, refusedLines: 0, remarks });
}

/** Matches names of columns that usually have the time of an event. */
const TIME_NAME =
  /^((event|decision|created|request)[ _-]?)?(time|date|datetime|timestamp|at|ts)$|^(zeit|datum|zeitpunkt|heure|fecha|hora)$/i;

/**
 * Remarks on columns that look like people or things with several events, since the guarantee on false alarms takes
 * events as independent; and on a column that looks like the time of events, if none is used.
 */
async function columnRemarks(
  { yPred, yTrue, sampleWeight, id, within, attributes }: MonitorRequest,
  timestamp: string | undefined,
  files: FoundFiles,
): Promise<string[]> {
  const used = [yPred, yTrue, sampleWeight, timestamp, id, within, ...attributes.flat()];
  const rows = await readFirstRows(files);
  if (rows === undefined) return [];
  const time = timestamp === undefined ? rows.names.find((name) => TIME_NAME.test(name) && !used.includes(name)) : undefined; // prettier-ignore
  return [
    ...dependentEventsNotes(rows, used.filter((name) => name !== undefined), id !== undefined).map((note) => `${capital(note)}.`), // prettier-ignore
    ...(time === undefined
      ? []
      : [`Events are taken in the order of the file, and their time is that of reading. If column '${time}' has their time, name it: --timestamp ${quoteArgument(time)}.`]), // prettier-ignore
  ];
}

/** Returns the checksums of all files of a state, and a warning for each file that an earlier run has counted. */
async function countedFiles(
  { state }: MonitorRequest,
  { files }: FoundFiles,
  earlier: readonly string[] = [],
): Promise<{ readonly all: readonly string[]; readonly remarks: readonly string[] }> {
  if (state === undefined) return { all: earlier, remarks: [] };
  const known = new Set(earlier);
  const hashed = await Promise.all(files.map(async ({ path, name }) => ({ name, sum: (await hashInputFile(path)).sha256 }))); // prettier-ignore
  return {
    all: [...known, ...hashed.flatMap(({ sum }) => sum ?? [])],
    remarks: hashed.flatMap(({ name, sum }) =>
      sum !== null && known.has(sum)
        ? [`An earlier run with this state has counted the content of '${name}', so its events count twice. If that is not intended, start again with a new state file and count each file once.`]
        : [],
    ), // prettier-ignore
  };
}

/** Replays rows that a database counts by time. */
async function replayRows(
  request: MonitorRequest,
  paths: MonitorPaths,
  rows: QuerySource,
  { onProgress }: MonitorHooks,
): Promise<MonitorOutcome> {
  const parts = makeParts(request, paths, savedTimestamp(request, paths.saved));
  const { tracker, engine } = parts;
  const before = countedSoFar(tracker);
  const known = idsOf(engine);
  const found = await replaySql(rows, {
    ...{ tracker, engine, lookEvery: request.lookEvery, onProgress, signal: rows.signal },
    areScores: request.scoreThreshold !== undefined,
    extraChecks: extraChecksOf(request),
  });
  assertRowsCounted(request, tracker, before, titleOf(rows));
  const remarks =
    found.nDropped === 0
      ? []
      : [`${formatCount(found.nDropped)} rows lack a time, a group or a decision, and were not counted.`];
  return finish(request, parts, { ...found, known, refusedLines: 0, remarks });
}

async function followStream(
  request: MonitorRequest,
  paths: MonitorPaths,
  hooks: MonitorHooks,
): Promise<MonitorOutcome> {
  const kafka = kafkaLinesOf(request, paths, hooks);
  const { lines, timestamp } =
    kafka === undefined
      ? await openStream(request, paths, hooks)
      : { lines: kafka.lines(), timestamp: savedTimestamp(request, paths.saved) };
  const parts = { ...makeParts(request, paths, timestamp), kafka };
  const before = countedSoFar(parts.tracker);
  const known = idsOf(parts.engine);
  const reported = new Set(known);
  const alerts: AlertEvent[] = [];
  const watches: AlertEvent[] = [];
  let first: FirstLine | undefined;
  const {
    last,
    refused,
    lines: read,
  } = await followLines(
    noting(lines, (line) => (first ??= line)),
    {
      tracker: parts.tracker,
      engine: parts.engine,
      lookEvery: request.lookEvery,
      extraChecks: extraChecksOf(request),
      onInvalidLine: (line, reason) => {
        if (kafka === undefined) hooks.onInvalidLine?.(line, reason);
        else hooks.onInvalidMessage?.(kafka.place.partition, kafka.place.position, reason);
      },
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
  if (hooks.isStopped?.() !== true && kafka?.failure === undefined)
    assertLinesCounted(request, parts.tracker, before, { lines: read, first });
  const preview = isPreview ? last : null;
  const { states } = last;
  const found = { alerts, watches, states, preview, known, refusedLines: refused, remarks: [] };
  return finish(request, parts, found, kafka?.failure === undefined ? [] : [kafka.failure.cause]);
}

/** Returns the topic that this process reads alone; undefined if events come from standard input. */
function kafkaLinesOf(
  request: MonitorRequest,
  { saved }: MonitorPaths,
  { signal = new AbortController().signal, onWarning }: MonitorHooks,
): KafkaLines | undefined {
  if (request.kafka === undefined) return undefined;
  return new KafkaLines(kafkaSourceOf(request), {
    leaseMillis: leaseMillisOf(request),
    outageMillis: outageMillisOf(request),
    untilEnd: request.untilEnd ?? false,
    positions: saved?.kafka?.positions ?? {},
    signal,
    onWarning: (warning) => onWarning?.(warning),
  });
}

async function finish(
  request: MonitorRequest,
  parts: MonitorParts,
  found: Found,
  failures: readonly unknown[] = [],
): Promise<MonitorOutcome> {
  const { written, problems } = await writeOutputs(request, parts);
  const { tracker, engine } = parts;
  const ended = { tracker, engine, shownEngine: shownEngine(request, parts) };
  return outcomeOf(request, parts, ended, found, { written, problems: [...failures, ...problems] });
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
async function* noting<Line extends string | UnreadableLine>(
  lines: AsyncIterable<Line>,
  note: (line: FirstLine) => void,
): AsyncGenerator<Line> {
  let number = 0;
  for await (const line of lines) {
    number++;
    if (typeof line === 'string' && line.trim() !== '') note({ number, text: line });
    yield line;
  }
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
