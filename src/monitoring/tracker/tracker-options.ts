import { isMapping } from '../../internal/values.ts';
import { ValueError } from '../../exceptions/index.ts';
import { invalidParameter, oneOf, type OptionNames } from '../../internal/arguments.ts';
import { requireLevel, requireRate, requireWhole } from '../../stats/parameters.ts';
import { INTERSECTION_SEPARATOR } from '../../table/index.ts';
import type { RecordStore } from '../records/monitoring-record.ts';
import { requireFields, requireMethods, requireNumber, requireTexts, shownKind } from '../require-kind.ts';
import type { TimestampUnit } from './event-values.ts';
import { type WatchedMetric, watchedMetric } from './watched-metric.ts';

/** The fields of an event, or the columns of a batch, by what they mean. */
export interface TrackerColumns {
  /** Decisions 0 or 1, or scores in [0, 1]; for errors of regression any number. */
  readonly yPred: string;
  /** True labels, where they come with the event; later ones through `label`. */
  readonly yTrue?: string | undefined;
  /** Sensitive attributes, each watched by itself. */
  readonly protected: readonly string[];
  /** Crossings of them, each watched as one more attribute. */
  readonly intersections?: readonly (readonly string[])[] | undefined;
  /** What a later label names its event by. */
  readonly id?: string | undefined;
  /** When it happened: a Date, ISO 8601 text, or a number since 1970. */
  readonly timestamp?: string | undefined;
  /** How much an event counts, at least 0. */
  readonly weight?: string | undefined;
}

/** How a stream is tracked. */
export interface TrackerOptions {
  readonly columns: TrackerColumns;
  /**
   * Differences to compute.
   * @defaultValue demographic parity, and equalized odds where true labels can come
   */
  readonly metrics?: readonly string[] | undefined;
  /**
   * Events in the sliding window, at most 100,000,000.
   * @defaultValue 10000
   */
  readonly windowSize?: number | undefined;
  /**
   * Groups with fewer events in a window take no part in its gaps.
   * @defaultValue 30
   */
  readonly minGroupSize?: number | undefined;
  /**
   * Events with an id after which an event can no longer be labelled; bounds the memory of those that wait. At most
   * 100,000,000.
   * @defaultValue 100000
   */
  readonly labelHorizon?: number | undefined;
  /** Where records go as they are taken. The tracker does not close it. */
  readonly store?: RecordStore | undefined;
  /**
   * A score of at least this is a positive decision.
   * @defaultValue 0.5
   */
  readonly decisionThreshold?: number | undefined;
  /** The label that counts as 1 in decisions and true labels, where they are not 0 and 1; every other label is 0. */
  readonly positiveLabel?: string | undefined;
  /**
   * What a number that stands for a time counts; 'auto' goes by its size: seconds below 1e11, milliseconds below 1e14,
   * then micro- and nanoseconds.
   * @defaultValue 'milliseconds'
   */
  readonly timestampUnit?: TimestampUnit | undefined;
  /** The groups of an attribute, where all are known: events of others are refused and counted. */
  readonly groups?: Readonly<Record<string, readonly string[]>> | undefined;
  /** The largest absolute error that can be: anytime intervals of errors need one; larger errors count as this and are told. */
  readonly errorScale?: number | undefined;
  /**
   * Confidence level of records' intervals.
   * @defaultValue 0.95
   */
  readonly level?: number | undefined;
  /**
   * Events between fresh starts of the statistics that alarms look at.
   * @defaultValue 500
   */
  readonly restartEvery?: number | undefined;
  /**
   * Events between records taken into the history and the store. In a young stream they are closer: every 100 events up
   * to 10,000, then at every step of the second digit of their number.
   * @defaultValue `windowSize`
   */
  readonly recordEvery?: number | undefined;
  /**
   * The time of an event that has no timestamp, in milliseconds since 1970.
   * @defaultValue the clock of the machine
   */
  readonly clock?: (() => number) | undefined;
}

/** Lists the options of {@link TrackerOptions}. */
export const TRACKER_OPTION_NAMES: OptionNames<TrackerOptions> = {
  columns: true,
  metrics: true,
  windowSize: true,
  minGroupSize: true,
  labelHorizon: true,
  store: true,
  decisionThreshold: true,
  positiveLabel: true,
  timestampUnit: true,
  groups: true,
  errorScale: true,
  level: true,
  restartEvery: true,
  recordEvery: true,
  clock: true,
};

/** Tracker options with defaults filled in; what a snapshot keeps. */
export interface FilledTrackerOptions {
  readonly columns: TrackerColumns;
  /** Protected attributes, then crossings by the places of their parts. */
  readonly attributes: readonly TrackedAttribute[];
  readonly metrics: readonly WatchedMetric[];
  readonly windowSize: number;
  readonly minGroupSize: number;
  readonly labelHorizon: number;
  readonly decisionThreshold: number;
  readonly positiveLabel: string | null;
  readonly timestampUnit: TimestampUnit;
  readonly errorScale: number | null;
  readonly level: number;
  readonly restartEvery: number;
  readonly recordEvery: number;
}

/** An attribute, or a crossing of attributes. */
export interface TrackedAttribute {
  readonly name: string;
  /** The places of a crossing's attributes; empty for an attribute itself. */
  readonly parts: readonly number[];
  /** Its groups, where they were declared. */
  readonly declared: readonly string[] | null;
}

/** Events for which room is made at once: beyond, memory would burst before the first event. */
const MAX_KEPT = 100_000_000;

const DEFAULT_METRICS = ['demographic_parity_difference', 'equalized_odds_difference'];

/**
 * Fills the defaults and checks what was given.
 * @throws {ValueError} naming the option at fault
 */
export function fillTrackerOptions(options: TrackerOptions): FilledTrackerOptions {
  requireFields('options', options);
  requirePlaces(options);
  const columns = checkColumns(options.columns);
  const windowSize = requireKept('windowSize', options.windowSize ?? 10_000);
  return {
    columns,
    attributes: attributesOf(columns, groupsOf(options.groups ?? {})),
    metrics: metricsOf(columns, options.metrics),
    windowSize,
    minGroupSize: requireWhole('minGroupSize', options.minGroupSize ?? 30, 1),
    labelHorizon: requireKept('labelHorizon', options.labelHorizon ?? 100_000),
    decisionThreshold: requireRate(
      'decisionThreshold',
      requireNumber('decisionThreshold', options.decisionThreshold ?? 0.5),
    ),
    positiveLabel: positiveLabelOf(options.positiveLabel ?? null),
    timestampUnit: oneOf('timestampUnit', options.timestampUnit ?? 'milliseconds', ['milliseconds', 'auto']),
    errorScale: errorScaleOf(options.errorScale ?? null),
    level: requireLevel('level', requireNumber('level', options.level ?? 0.95)),
    restartEvery: requireWhole('restartEvery', options.restartEvery ?? 500, 1),
    recordEvery: requireWhole('recordEvery', options.recordEvery ?? windowSize, 1),
  };
}

/**
 * Checks where records go and what tells the time.
 * @throws {ValueError} for what is no store and no clock
 */
export function requirePlaces({ store, clock }: Pick<TrackerOptions, 'store' | 'clock'>): void {
  if (store !== undefined)
    requireMethods('store', store, ['append'], 'be a store of records, as openRecordStore opens');
  if (clock !== undefined && typeof clock !== 'function') {
    throw invalidParameter('clock', 'be a function that returns milliseconds since 1970', shownKind(clock));
  }
}

function requireKept(parameter: string, given: number): number {
  if (requireWhole(parameter, given, 1) <= MAX_KEPT) return given;
  throw invalidParameter(parameter, `be a whole number from 1 to ${String(MAX_KEPT)}`, given);
}

function positiveLabelOf(given: string | null): string | null {
  if (given === null || typeof given === 'string') return given;
  throw invalidParameter('positiveLabel', 'be a text', shownKind(given));
}

function errorScaleOf(given: number | null): number | null {
  if (given === null || (typeof given === 'number' && given > 0 && given < Infinity)) return given;
  throw invalidParameter('errorScale', 'be a finite number above 0', shownKind(given));
}

function groupsOf(given: Readonly<Record<string, readonly string[]>>): Readonly<Record<string, readonly string[]>> {
  for (const [name, labels] of Object.entries(requireFields('groups', given))) {
    const known = requireTexts(`groups.${name}`, labels, 'be a list of groups, as texts');
    if (new Set(known).size < known.length) {
      throw invalidParameter(`groups.${name}`, 'name every group once', known.slice(0, 20).join(', '));
    }
  }
  return given;
}

function checkColumns(columns: TrackerColumns): TrackerColumns {
  if (!isMapping(columns)) {
    throw invalidParameter('columns', "name the columns, as in { yPred: 'p', protected: ['sex'] }", shownKind(columns));
  }
  const names = requireTexts('columns.protected', columns.protected, "be a list of columns, as in ['sex']");
  const { yPred, yTrue, id, timestamp, weight, intersections } = columns;
  if (names.length === 0) throw invalidParameter('columns.protected', 'name at least one column', '[]');
  const roles = Object.entries({ yPred, yTrue, id, timestamp, weight });
  const named = [
    ...roles.flatMap(([role, name]) =>
      name === undefined && role !== 'yPred' ? [] : [[role, name as unknown] as const],
    ),
    ...names.map((name) => ['protected', name as unknown] as const),
  ];
  const roleOf = new Map<string, string>();
  for (const [role, name] of named) {
    if (typeof name !== 'string' || name === '') {
      throw invalidParameter(`columns.${role}`, 'be the name of a column', shownKind(name));
    }
    const earlier = roleOf.get(name);
    if (earlier !== undefined) {
      throw new ValueError(`The column '${name}' is named as columns.${earlier} and as columns.${role}.`, {
        code: 'duplicate-column',
        context: { parameter: 'columns', column: name, parameters: [`columns.${earlier}`, `columns.${role}`] },
        suggestion: 'Give every column one meaning.',
      });
    }
    roleOf.set(name, role);
  }
  // Always in one order, so that the columns of two trackers can be compared as text.
  return { yPred, yTrue, protected: names, intersections, id, timestamp, weight };
}

function attributesOf(
  columns: TrackerColumns,
  groups: Readonly<Record<string, readonly string[]>>,
): readonly TrackedAttribute[] {
  for (const name of Object.keys(groups)) placeOf(name, columns.protected, 'groups');
  const single = columns.protected.map((name) => ({
    name,
    parts: [],
    declared: Object.hasOwn(groups, name) ? (groups[name] as readonly string[]) : null,
  }));
  const crossed = crossingsOf(columns).map((names) => {
    if (new Set(names).size !== names.length || names.length < 2) {
      throw invalidParameter('columns.intersections', 'cross at least two different columns', names.join(', '));
    }
    return {
      name: names.join(INTERSECTION_SEPARATOR),
      parts: names.map((name) => placeOf(name, columns.protected, 'columns.intersections')),
      declared: null,
    };
  });
  return [...single, ...crossed];
}

function crossingsOf({ intersections = [] }: TrackerColumns): readonly (readonly string[])[] {
  const required = "be a list of lists of columns, as in [['sex', 'race']]";
  if (!Array.isArray(intersections))
    throw invalidParameter('columns.intersections', required, shownKind(intersections));
  return intersections.map((names) => requireTexts('columns.intersections', names, required));
}

function placeOf(name: string, known: readonly string[], parameter: string): number {
  const place = known.indexOf(name);
  if (place >= 0) return place;
  throw invalidParameter(parameter, `name columns that are protected (${known.join(', ')})`, name);
}

function metricsOf(columns: TrackerColumns, names: readonly string[] | undefined): readonly WatchedMetric[] {
  const canBeLabelled = columns.yTrue !== undefined || columns.id !== undefined;
  const metrics = requireTexts('metrics', names ?? DEFAULT_METRICS, 'be a list of metrics').map(watchedMetric);
  if (names === undefined) return metrics.filter(({ needsTruth }) => canBeLabelled || !needsTruth);
  if (metrics.length === 0) throw invalidParameter('metrics', 'name at least one metric', '[]');
  const blind = metrics.find(({ needsTruth }) => needsTruth && !canBeLabelled);
  if (blind === undefined) return [...new Map(metrics.map((metric) => [metric.metric, metric])).values()];
  throw new ValueError(`The metric '${blind.metric}' needs true labels, and no column brings them.`, {
    code: 'missing-argument',
    context: { parameter: 'metrics', value: blind.metric, parameters: ['columns.yTrue', 'columns.id'] },
    suggestion: 'Name columns.yTrue, or columns.id for labels that come later.',
  });
}
