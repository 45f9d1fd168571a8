import { isMapping } from '../../internal/values.ts';
import { ValueError } from '../../exceptions/index.ts';
import { type FilledOptions, invalidParameter, oneOf, type OptionNames } from '../../internal/arguments.ts';
import { DEFAULT_MIN_GROUP_SIZE } from '../../schemas/min-group-size.ts';
import { requireLevel, requireRate, requireInteger } from '../../stats/parameters.ts';
import { INTERSECTION_SEPARATOR } from '../../table/index.ts';
import type { RecordStore } from '../records/monitoring-record.ts';
import { requireFields, requireMethods, requireNumber, requireTexts, shownKind } from '../require-kind.ts';
import type { TimestampUnit } from './event-values.ts';
import { type WatchedMetric, watchedMetric } from './watched-metric.ts';

/** The field names of an event or the column names of a batch, by role. */
export interface TrackerColumns {
  /**
   * The field with predictions: decisions 0 or 1, scores in [0, 1], or any number if regression errors are monitored.
   */
  readonly yPred: string;
  /** The field with the true label, if it arrives with the event. Labels that arrive later are set with `label`. */
  readonly yTrue?: string | undefined;
  /** The fields with sensitive attributes. Each attribute is monitored separately. */
  readonly protected: readonly string[];
  /** Intersections of the protected attributes. Each intersection is monitored as an additional attribute. */
  readonly intersections?: readonly (readonly string[])[] | undefined;
  /** The field with the id of the event. A label that arrives later refers to the event by this id. */
  readonly id?: string | undefined;
  /** The field with the time of the event: a Date, ISO 8601 text, or a number since 1970. */
  readonly timestamp?: string | undefined;
  /** The field with the weight of the event, at least 0. */
  readonly weight?: string | undefined;
}

/** Options of {@link RealTimeFairnessTracker}. */
export interface TrackerOptions {
  readonly columns: TrackerColumns;
  /**
   * The names of the difference metrics to monitor.
   * @defaultValue demographic parity; also equalized odds if true labels can arrive
   */
  readonly metrics?: readonly string[] | undefined;
  /**
   * The number of events in the sliding window, at most 100,000,000.
   * @defaultValue 10000
   */
  readonly windowSize?: number | undefined;
  /**
   * Groups with fewer events in a window are excluded from its gaps.
   * @defaultValue 30
   */
  readonly minGroupSize?: number | undefined;
  /**
   * An event can no longer be labelled after this number of later events with ids. The maximum is 100,000,000. This
   * number limits the memory that events without a label use.
   * @defaultValue 100000
   */
  readonly labelHorizon?: number | undefined;
  /** The store to which every new record is written. The tracker does not close the store. */
  readonly store?: RecordStore | undefined;
  /**
   * Scores of at least this value are positive decisions.
   * @defaultValue 0.5
   */
  readonly decisionThreshold?: number | undefined;
  /** The label that counts as 1, if decisions and true labels are not 0 and 1. Every other label counts as 0. */
  readonly positiveLabel?: string | undefined;
  /**
   * The label that counts as 1 in true labels, if true labels and decisions use different labels.
   * @defaultValue `positiveLabel`
   */
  readonly yTruePositiveLabel?: string | undefined;
  /**
   * Texts that mean a missing value, in all columns. A number is missing if one of the texts is the same number.
   * @defaultValue `MISSING_TEXTS`, and only the empty text in sensitive columns and ids
   */
  readonly naValues?: readonly string[] | undefined;
  /**
   * The unit of timestamps given as numbers. 'auto' infers it from the size of the number: seconds below 1e11,
   * milliseconds below 1e14, then microseconds and nanoseconds.
   * @defaultValue 'milliseconds'
   */
  readonly timestampUnit?: TimestampUnit | undefined;
  /**
   * The groups of an attribute, if all groups are known. Events of other groups are excluded from the attribute and
   * counted in `faults`.
   */
  readonly groups?: Readonly<Record<string, readonly string[]>> | undefined;
  /**
   * The largest possible absolute error. Anytime-valid intervals of errors require this option. Larger errors are
   * reduced to this value and counted in `faults`.
   */
  readonly errorScale?: number | undefined;
  /**
   * The confidence level of the intervals of records.
   * @defaultValue 0.95
   */
  readonly level?: number | undefined;
  /**
   * The number of events between restarts of the statistics that alarms use.
   * @defaultValue 500
   */
  readonly restartEvery?: number | undefined;
  /**
   * The number of events between records added to the history and the store. At the beginning of a stream, records are
   * more frequent: every 100 events up to 10,000, then whenever the second digit of the number of events changes.
   * @defaultValue `windowSize`
   */
  readonly recordEvery?: number | undefined;
  /**
   * Returns the time of an event without a timestamp, in milliseconds since 1970.
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
  yTruePositiveLabel: true,
  naValues: true,
  timestampUnit: true,
  groups: true,
  errorScale: true,
  level: true,
  restartEvery: true,
  recordEvery: true,
  clock: true,
};

/** Tracker options with defaults filled in; part of snapshots. */
export interface FilledTrackerOptions extends FilledOptions<
  Omit<
    TrackerOptions,
    'metrics' | 'groups' | 'positiveLabel' | 'yTruePositiveLabel' | 'naValues' | 'errorScale' | 'store' | 'clock'
  >
> {
  /** The protected attributes, followed by the intersections. */
  readonly attributes: readonly TrackedAttribute[];
  readonly metrics: readonly WatchedMetric[];
  readonly positiveLabel: string | null;
  readonly yTruePositiveLabel: string | null;
  readonly naValues: readonly string[] | undefined;
  readonly errorScale: number | null;
}

/** An attribute, or an intersection of attributes. */
export interface TrackedAttribute {
  readonly name: string;
  /** The indices of the attributes that an intersection crosses; empty for a single attribute. */
  readonly parts: readonly number[];
  /** The declared groups; null if no groups were declared. */
  readonly declared: readonly string[] | null;
}

/**
 * The maximum number of events for which memory is allocated in advance. A larger number could exhaust memory before
 * the first event.
 */
const MAX_KEPT = 100_000_000;

const DEFAULT_METRICS = ['demographic_parity_difference', 'equalized_odds_difference'];

/**
 * Checks the options and fills in defaults.
 * @throws {ValueError} if an option is invalid; the error names the option
 */
export function fillTrackerOptions(options: TrackerOptions): FilledTrackerOptions {
  requireFields('options', options);
  requirePositions(options);
  const columns = checkColumns(options.columns);
  const windowSize = requireKept('windowSize', options.windowSize ?? 10_000);
  return {
    columns,
    attributes: attributesOf(columns, groupsOf(options.groups ?? {})),
    metrics: metricsOf(columns, options.metrics),
    windowSize,
    minGroupSize: requireInteger('minGroupSize', options.minGroupSize ?? DEFAULT_MIN_GROUP_SIZE, 1),
    labelHorizon: requireKept('labelHorizon', options.labelHorizon ?? 100_000),
    decisionThreshold: requireRate(
      'decisionThreshold',
      requireNumber('decisionThreshold', options.decisionThreshold ?? 0.5),
    ),
    positiveLabel: labelOf('positiveLabel', options.positiveLabel ?? null),
    yTruePositiveLabel: truthLabelOf(options),
    naValues:
      options.naValues === undefined ? undefined : requireTexts('naValues', options.naValues, 'be a list of texts'),
    timestampUnit: oneOf('timestampUnit', options.timestampUnit ?? 'milliseconds', ['milliseconds', 'auto']),
    errorScale: errorScaleOf(options.errorScale ?? null),
    level: requireLevel('level', requireNumber('level', options.level ?? 0.95)),
    restartEvery: requireInteger('restartEvery', options.restartEvery ?? 500, 1),
    recordEvery: requireInteger('recordEvery', options.recordEvery ?? windowSize, 1),
  };
}

/**
 * Checks the store and the clock.
 * @throws {ValueError} if the store or the clock is invalid
 */
export function requirePositions({ store, clock }: Pick<TrackerOptions, 'store' | 'clock'>): void {
  if (store !== undefined)
    requireMethods('store', store, ['append'], 'be a record store, as returned by openRecordStore');
  if (clock !== undefined && typeof clock !== 'function') {
    throw invalidParameter('clock', 'be a function that returns milliseconds since 1970', shownKind(clock));
  }
}

function requireKept(parameter: string, given: number): number {
  if (requireInteger(parameter, given, 1) <= MAX_KEPT) return given;
  throw invalidParameter(parameter, `be a whole number from 1 to ${String(MAX_KEPT)}`, given);
}

function labelOf(parameter: string, given: string | null): string | null {
  if (given === null || typeof given === 'string') return given;
  throw invalidParameter(parameter, 'be a text', shownKind(given));
}

/** Rejects a label of true labels if no true labels can arrive. */
function truthLabelOf({ columns, yTruePositiveLabel }: TrackerOptions): string | null {
  const label = labelOf('yTruePositiveLabel', yTruePositiveLabel ?? null);
  if (label === null || columns.yTrue !== undefined || columns.id !== undefined) return label;
  throw new ValueError('yTruePositiveLabel names a label of the true labels, but no column provides them.', {
    code: 'missing-argument',
    context: { parameter: 'yTruePositiveLabel', value: label, parameters: ['columns.yTrue', 'columns.id'] },
    suggestion: 'Set columns.yTrue, or columns.id for labels that arrive later.',
  });
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
      throw new ValueError(`The column '${name}' has two roles: columns.${earlier} and columns.${role}.`, {
        code: 'duplicate-column',
        context: { parameter: 'columns', column: name, parameters: [`columns.${earlier}`, `columns.${role}`] },
        suggestion: 'Use every column for a single role.',
      });
    }
    roleOf.set(name, role);
  }
  // The order is fixed, so that the columns of two trackers can be compared as text.
  return { yPred, yTrue, protected: names, intersections, id, timestamp, weight };
}

function attributesOf(
  columns: TrackerColumns,
  groups: Readonly<Record<string, readonly string[]>>,
): readonly TrackedAttribute[] {
  for (const name of Object.keys(groups)) positionOf(name, columns.protected, 'groups');
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
      parts: names.map((name) => positionOf(name, columns.protected, 'columns.intersections')),
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

function positionOf(name: string, known: readonly string[], parameter: string): number {
  const index = known.indexOf(name);
  if (index >= 0) return index;
  throw invalidParameter(parameter, `name protected columns (${known.join(', ')})`, name);
}

function metricsOf(columns: TrackerColumns, names: readonly string[] | undefined): readonly WatchedMetric[] {
  const canBeLabelled = columns.yTrue !== undefined || columns.id !== undefined;
  const metrics = requireTexts('metrics', names ?? DEFAULT_METRICS, 'be a list of metrics').map(watchedMetric);
  if (names === undefined) return metrics.filter(({ needsTruth }) => canBeLabelled || !needsTruth);
  if (metrics.length === 0) throw invalidParameter('metrics', 'name at least one metric', '[]');
  const blind = metrics.find(({ needsTruth }) => needsTruth && !canBeLabelled);
  if (blind === undefined) return [...new Map(metrics.map((metric) => [metric.metric, metric])).values()];
  throw new ValueError(`The metric '${blind.metric}' needs true labels, but no column provides them.`, {
    code: 'missing-argument',
    context: { parameter: 'metrics', value: blind.metric, parameters: ['columns.yTrue', 'columns.id'] },
    suggestion: 'Set columns.yTrue, or columns.id for labels that arrive later.',
  });
}
