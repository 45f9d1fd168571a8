import { capital, counted, formatCount } from '../../internal/format.ts';
import { sumOf } from '../../internal/values.ts';
import { unlikeWeightWarnings } from '../../metrics/compare/exclusions.ts';
import { selectedLabels } from '../../metrics/compare/missing-rows.ts';
import { CELLS_BY_DECISION, CELLS_PER_GROUP, cellIndex, cellsWith } from '../../metrics/statistics/group-stats.ts';
import { alikeGroupWarnings } from '../../table/index.ts';
import type { AlertEvent, AlertHistory } from '../alarms/alert-event.ts';
import { missingSentence, stateSentence } from '../alarms/alert-words.ts';
import type { FairnessDriftAndAlertEngine } from '../alarms/fairness-drift-and-alert-engine.ts';
import { readWindow } from '../alarms/watch-tier.ts';
import type { WatchedCombination } from '../alarms/watched-combination.ts';
import { RecordLog } from '../records/record-log.ts';
import { formatTime } from '../records/record-time.ts';
import type { EventStream } from '../tracker/event-stream.ts';
import type { GroupTable } from '../tracker/group-table.ts';
import { CrossedCodes } from '../tracker/group-codes.ts';
import type { RealTimeFairnessTracker } from '../tracker/real-time-fairness-tracker.ts';
import { cumulativeWindow, measureGroups } from '../tracker/stream-window.ts';
import { takeAttribute } from '../tracker/take-records.ts';
import { takeGapsWithin } from './take-gaps.ts';
import type { CrossedCells, MonitoringView, WatchedMetric } from './monitoring-view.ts';

/** The maximum number of past timestamps in a chart. */
const MAX_TIMES = 400;

/** Returns the current state of a tracker and its engine as plain data. This runs a check of the engine. */
export function takeView(tracker: RealTimeFairnessTracker, engine: FairnessDriftAndAlertEngine): MonitoringView {
  const { stream } = tracker;
  const { options } = stream;
  const { states } = engine.update(tracker);
  const combinations = engine.watched?.combinations ?? [];
  const history = RecordLog.restore(tracker.history.state());
  history.thin(MAX_TIMES);
  return Object.freeze({
    timestamp: tracker.timestamp,
    firstTimestamp: Number.isNaN(stream.firstTime) ? null : formatTime(stream.firstTime),
    nEvents: stream.events,
    windowSize: options.windowSize,
    minGroupSize: options.minGroupSize,
    level: options.level,
    alpha: engine.alpha,
    watched: combinations.map((one) => watchedMetric(stream, one, states[one.name]?.[one.metric.metric] ?? 'unknown')),
    ...((engine.watched?.pairs ?? null) === null ? {} : { within: takeGapsWithin(stream, engine, states) }),
    history: history.toRecords(),
    alerts: [...engine.alerts, ...combinations.flatMap(({ memory }) => openWatch(memory.watch))],
    coverage: tracker.labelCoverage(),
    crossings: options.attributes.flatMap(({ parts }, attribute) =>
      parts.length === 2 ? [crossedCells(stream, attribute, parts)] : [],
    ),
    faults: tracker.faults,
    notes: notesOf(tracker),
  });
}

function watchedMetric(
  stream: EventStream,
  { attribute, name, metric, limit, alpha, memory }: WatchedCombination,
  state: WatchedMetric['state'],
): WatchedMetric {
  const outcome = readWindow(stream, attribute, metric);
  const window =
    'missing' in outcome
      ? missingSentence(stream, attribute, outcome.missing)
      : stateSentence(stream, attribute, outcome.reading, limit);
  return {
    attribute: name,
    metric: metric.metric,
    state,
    sentence: memory.open === null ? window : twoWindows(memory.open, window),
    limit,
    alpha: alpha.combination,
    now: takeAttribute(stream, 'sliding', stream.time, attribute, metric),
    overall: takeAttribute(stream, 'cumulative', stream.time, attribute, metric),
  };
}

/**
 * Describes the evidence of an alarm and, separately, the sliding window. They have different numbers, because they
 * cover different events.
 */
function twoWindows({ reason }: AlertEvent, window: string): string {
  return `Evidence of the alarm: ${reason} Sliding window now: ${window}`;
}

/**
 * Converts an open watch to an alert with a history. A watch has no history of its own, because it is removed as soon
 * as its condition no longer holds.
 */
function openWatch(watch: AlertEvent | null): AlertHistory[] {
  if (watch === null) return [];
  const { timestamp } = watch;
  return [{ alert: watch, isOpen: true, isAcknowledged: false, changes: [{ change: 'raised', timestamp }] }];
}

function crossedCells(stream: EventStream, attribute: number, parts: readonly number[]): CrossedCells {
  const { attributes, metrics } = stream.options;
  const groups = stream.reader.groups[attribute] as CrossedCodes;
  const [rows, columns] = parts.map((part) => stream.reader.groups[part]?.labels ?? []) as [string[], string[]];
  const measure = (metrics[0] as EventStream['options']['metrics'][number]).measures[0];
  const found = measure === undefined ? [] : measureGroups(cumulativeWindow(stream), attribute, measure);
  const byCode = new Map(found.map((group) => [group.code, group]));
  return {
    attribute: attributes[attribute]?.name ?? '',
    rowAttribute: attributes[parts[0] as number]?.name ?? '',
    columnAttribute: attributes[parts[1] as number]?.name ?? '',
    measure: measure?.name ?? '',
    cells: groups.parts().map(([row, column], code) => ({
      row: rows[row as number] ?? '',
      column: columns[column as number] ?? '',
      n: byCode.get(code)?.sums.n ?? 0,
      value: byCode.get(code)?.value ?? null,
    })),
  };
}

/** Returns important notes for the reader of results. Each note is a sentence. */
export function notesOf(tracker: RealTimeFairnessTracker): string[] {
  const { options, shape } = tracker.stream;
  const watchesErrors = tracker.stream.watches('error');
  return [
    ...unusedSentences(unusedEvents(tracker)),
    ...unseenLabels(tracker),
    ...oneDecision(tracker),
    ...oneDecisionLabelled(tracker),
    ...weightsOfDecisions(tracker),
    ...severalNegatives(tracker),
    ...repeatedIds(tracker.faults['duplicate_id'] ?? 0, tracker.stream.events),
    ...alikeGroups(tracker),
    ...(watchesErrors && options.errorScale === null
      ? [
          'Errors have no interval that holds at all times, so they raise no alarm. Set errorScale to the largest possible error.',
        ]
      : []),
    ...(watchesErrors && shape.hasWeights
      ? ['Weighted errors have no interval that holds at all times, so they raise no alarm.']
      : []),
  ];
}

/** How many events of a stream do not count in its metrics. */
export interface UnusedEvents {
  /** The number of events that arrived. */
  readonly total: number;
  /** The number of events without a prediction or a weight, which count in no metric. */
  readonly leftOut: number;
  /** The attributes in which events have no usable group, and the number of these events. No intersections. */
  readonly ungrouped: readonly { readonly attribute: string; readonly events: number }[];
  /** The largest number of events that a single attribute cannot use. */
  readonly most: number;
}

/** Counts the events that could not be used. */
export function unusedEvents(tracker: RealTimeFairnessTracker): UnusedEvents {
  const { stream, faults: problems } = tracker;
  const coverage = tracker.labelCoverage();
  const leftOut = (problems['missing_prediction'] ?? 0) + (problems['missing_weight'] ?? 0);
  const ungrouped = stream.options.attributes.flatMap(({ name, parts }) => {
    const grouped = coverage.reduce((sum, { attribute, n }) => sum + (attribute === name ? n : 0), 0);
    const events = stream.events - grouped;
    return parts.length > 0 || events <= 0 ? [] : [{ attribute: name, events }];
  });
  const most = leftOut + Math.max(0, ...ungrouped.map(({ events }) => events));
  return { total: stream.events + leftOut, leftOut, ungrouped, most };
}

function unusedSentences({ total, leftOut, ungrouped }: UnusedEvents): string[] {
  const some = (events: number): string => `${formatCount(events)} of ${counted(total, 'event')}`;
  const text = (events: number, one: string, many: string): string => (events === 1 ? one : many);
  return [
    ...(leftOut === 0
      ? []
      : [
          `${some(leftOut)} ${text(leftOut, 'has no prediction or no weight, and is', 'have no prediction or no weight, and are')} not counted.`,
        ]),
    ...ungrouped.map(
      ({ attribute, events }) =>
        `${some(events)} ${text(events, 'has', 'have')} no usable group in '${attribute}', so its metrics do not count ${text(events, 'it', 'them')}.`,
    ),
  ];
}

/** Returns whether an event of a stream is in one of some cells. */
function holdsCells({ tables }: EventStream, cells: readonly number[]): boolean {
  return tables.some(({ data, stride, groups }) =>
    Array.from({ length: groups }, (_, group) => group * stride).some((at) =>
      cells.some((cell) => (data[at + cell] ?? 0) > 0),
    ),
  );
}

/** Returns warnings about labels that no event had. */
export function unseenLabels({ stream }: RealTimeFairnessTracker): string[] {
  const { positiveLabel, yTruePositiveLabel } = stream.options;
  const holds = (cells: readonly number[]): boolean => holdsCells(stream, cells);
  const truthLabel = yTruePositiveLabel ?? positiveLabel;
  const { columns } = stream.options;
  // With an id, labels may still arrive.
  const awaitsTruth = stream.watches('rate') && columns.yTrue !== undefined && columns.id === undefined;
  const [prediction, truth] = outcomeNames(stream.options);
  const noneIn = (column: string, label: string): string => `No event has the positive label '${label}' in ${column}.`;
  return [
    ...(positiveLabel !== null && stream.events > 0 && !holds(CELLS_BY_DECISION.positive)
      ? [noneIn(prediction, positiveLabel)]
      : []),
    ...(truthLabel !== null && holds(cellsWith([0])) && !holds(cellsWith([1])) ? [noneIn(truth, truthLabel)] : []),
    ...(awaitsTruth && stream.events > 0 && !holds(cellsWith([0, 1]))
      ? [`No event has a true label in ${truth}. Labels that arrive after their events need an id (--id, id).`]
      : []),
  ];
}

/** The smallest number of equal decisions that is no coincidence. */
const MIN_EQUAL = 100;

/** Returns a warning if all decisions of a stream are equal, so that no gap can appear. */
function oneDecision({ stream }: RealTimeFairnessTracker): string[] {
  const { columns, positiveLabel } = stream.options;
  if (!stream.watches('rate') || stream.events < MIN_EQUAL) return [];
  const isOnly = (decision: 'positive' | 'negative'): boolean =>
    holdsCells(stream, CELLS_BY_DECISION[decision]) &&
    !holdsCells(stream, CELLS_BY_DECISION[decision === 'positive' ? 'negative' : 'positive']);
  // A positive label that no event has is already noted.
  const possible = positiveLabel === null ? (['positive', 'negative'] as const) : (['positive'] as const);
  const only = possible.find(isOnly);
  return only === undefined
    ? []
    : [`All decisions in '${columns.yPred}' are ${only}, so that no gap of decisions can appear.`];
}

/** Returns a warning if only events with one decision get a true label. Labels of recent events may still arrive. */
function oneDecisionLabelled({ stream }: RealTimeFairnessTracker): string[] {
  const { columns } = stream.options;
  if (columns.yTrue === undefined || !stream.watches('rate') || stream.events < MIN_EQUAL) return [];
  const [table] = stream.tables;
  if (table === undefined) return [];
  return selectedLabels((truth, decision) => totalOf(table, cellIndex(truth, decision))).map((note) => `${capital(note)}.`); // prettier-ignore
}

/** Returns a warning if the weights of events seem to follow from their decisions. */
function weightsOfDecisions({ stream }: RealTimeFairnessTracker): string[] {
  const [table] = stream.tables;
  if (table?.shape.hasWeights !== true || !stream.watches('rate') || stream.events < MIN_EQUAL) return [];
  // The sums of weights follow the counts of the cells.
  const totals = (offset: number): [positive: number, negative: number] =>
    (['positive', 'negative'] as const).map((decision) =>
      sumOf(CELLS_BY_DECISION[decision].map((cell) => totalOf(table, offset + cell))),
    ) as [number, number];
  return unlikeWeightWarnings(totals(CELLS_PER_GROUP), totals(0)).map((note) => `${capital(note)}.`);
}

function totalOf({ data, groups, stride }: GroupTable, field: number): number {
  return sumOf(Array.from({ length: groups }, (_, group) => data[group * stride + field] as number));
}

/**
 * Returns a warning if more events repeat an id than are counted. Requests that are sent again repeat ids, too.
 * @param repeated the number of events whose id was counted before
 * @param events the number of counted events
 */
export function repeatedIds(repeated: number, events: number): string[] {
  if (repeated <= events) return [];
  return [
    `${counted(repeated, 'event has', 'events have')} an id that was counted before, and ${repeated === 1 ? 'is' : 'are'} not counted again. If the id names a person or a thing with several events, name another field.`,
  ];
}

/** Returns a warning if labels differ from the label of their event that was counted first, which stays. */
export function contradictedLabels(contradicted: number): string[] {
  if (contradicted === 0) return [];
  return [
    `${counted(contradicted, 'label differs', 'labels differ')} from a label that was sent before for the same event, and ${contradicted === 1 ? 'is' : 'are'} not counted: the first label stays. Send final labels only; corrected labels need a new stream.`,
  ];
}

/** Returns warnings about outcomes of which several labels count as negative: one may mean a missing value. */
function severalNegatives({ stream }: RealTimeFairnessTracker): string[] {
  const { predictions, truths } = stream.reader.negatives;
  const names = outcomeNames(stream.options);
  return [predictions, truths].flatMap((labels, index) =>
    labels.size < 2
      ? []
      : [
          `Several labels of ${names[index] as string} count as negative: ${[...labels].map((label) => `'${label}'`).join(', ')}. If one means a missing value, list it in --na-values (naValues, na_values).`,
        ],
  );
}

function outcomeNames({ columns }: EventStream['options']): readonly [prediction: string, truth: string] {
  return [`'${columns.yPred}'`, columns.yTrue === undefined ? 'the true labels' : `'${columns.yTrue}'`];
}

/** Returns warnings about groups whose labels look alike. Intersections have the groups of their attributes. */
function alikeGroups(tracker: RealTimeFairnessTracker): string[] {
  const coverage = tracker.labelCoverage();
  return tracker.stream.options.attributes.flatMap(({ name, parts }) => {
    if (parts.length > 0) return [];
    const groups = coverage.filter(({ attribute }) => attribute === name);
    const labels = groups.map(({ group, n }) => ({ label: group, count: n }));
    return alikeGroupWarnings(name, labels, 'event').map((warning) => `${capital(warning)}.`);
  });
}
