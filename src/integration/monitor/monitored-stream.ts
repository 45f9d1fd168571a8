import { FairnessToolkitError } from '../../exceptions/index.ts';
import { nextTurn } from '../../internal/next-turn.ts';
import { findJsonProblem, isNestedDeeper } from '../../internal/strict-json.ts';
import { isMapping, parseObject } from '../../internal/values.ts';
import { truthOfCell } from '../../metrics/statistics/group-stats.ts';
import type { AlertEvent } from '../../monitoring/alarms/alert-event.ts';
import type { EngineUpdate } from '../../monitoring/alarms/fairness-drift-and-alert-engine.ts';
import type { EngineSnapshot } from '../../monitoring/alarms/engine-snapshot.ts';
import type { MonitoringView } from '../../monitoring/dashboard/monitoring-view.ts';
import { takeGaps } from '../../monitoring/dashboard/take-gaps.ts';
import { contradictedLabels, notesOf, repeatedIds, takeView } from '../../monitoring/dashboard/take-view.ts';
import { isDue, positionOf } from '../../monitoring/follow-lines.ts';
import type { LabelledEvent } from '../../monitoring/tracker/late-labels.ts';
import { RealTimeFairnessTracker, type TrackerSnapshot } from '../../monitoring/tracker/real-time-fairness-tracker.ts';
import type { MonitorRequest } from '../../schemas/monitor.ts';
import { lenientLimit, makeParts, type MonitorParts, trackerOptionsOf, USUAL_TIMESTAMP } from './monitor-parts.ts';
import { monitorToJson } from './run-monitor.ts';

/** The kind of lines of a stream: events, or true labels of earlier events. */
export type LineKind = 'events' | 'labels';

/** An event or a label, with only the fields that the stream uses. */
export type StreamRow = Readonly<Record<string, unknown>>;

/** A line that cannot be counted. */
export interface InvalidLine {
  /** The index of the line, from 0, without blank lines. */
  readonly index: number;
  readonly reason: string;
}

/** Checked lines. */
export interface CheckedLines {
  /** The rows that the stream has not seen yet. */
  readonly rows: readonly StreamRow[];
  /** The number of rows whose id the stream knows already: a repeated event, or a second label. */
  readonly repeated: number;
  /** The number of labels for ids that the stream does not know, or not any more. */
  readonly unknown: number;
}

/** Events of which none has a field that names a group. Nothing of them can be compared. */
export interface UngroupedLines {
  /** The sensitive field that no event has. */
  readonly missing: string;
  /** The fields of the first event. */
  readonly fields: readonly string[];
}

/** The result of counting rows. */
export interface AppliedRows {
  /** The number of problems with these rows by reason, as in {@link MonitoredStream.facts}. */
  readonly faults: Readonly<Record<string, number>>;
  readonly alerts: readonly AlertEvent[];
  readonly watches: readonly AlertEvent[];
}

/** The state of a stream as plain JSON. */
export interface SavedStream {
  readonly tracker: TrackerSnapshot;
  readonly engine: EngineSnapshot;
  readonly policy: MonitorParts['policy'];
  readonly alerts: readonly AlertEvent[];
  readonly watches: readonly AlertEvent[];
}

/** Parts of a stream that are given when it is opened. */
export interface MonitoredStreamOptions {
  /** Columns, metrics and limits. The column of ids is required. */
  readonly request: MonitorRequest & { readonly id: string };
  /** The column of times; undefined if events are timed when they arrive. */
  readonly timestamp: string | undefined;
}

/** The maximum number of reported invalid lines. */
const MAX_INVALID = 20;
/** The maximum depth of an event. */
const MAX_DEPTH = 8;
/** The maximum number of alerts, and of watches, that a stream lists. */
const MAX_ALERTS = 1000;
/** The number of rows that are counted without a pause. */
const ROWS_AT_ONCE = 200;
/** The number of rows after which the tracker that only checks values is replaced, because it stores groups. */
const CHECKS = 10_000;

/**
 * A monitored stream of events that arrive in batches, for a service. Lines are checked before they are counted, so that
 * a batch is counted completely or not at all. The result depends only on the lines, their order and their times.
 */
export class MonitoredStream {
  readonly request: MonitoredStreamOptions['request'];
  readonly timestamp: string | undefined;
  readonly #parts: MonitorParts;
  readonly #columns: readonly string[];
  readonly #sensitive: readonly string[];
  readonly #labelKeys: ReadonlySet<string>;
  #alerts: AlertEvent[];
  #watches: AlertEvent[];
  #checker: RealTimeFairnessTracker | undefined;
  #checks = 0;
  #now = 0;
  /** The number of events since the start of the process whose id was counted before. */
  #repeated = 0;
  /** The number of labels since the start of the process that contradict a counted label of the same event. */
  #contradicted = 0;

  /**
   * @param saved the state of an earlier process
   * @throws {ConfigValidationError | ValueError} if an option is not valid
   * @throws {DataValidationError} if the state is damaged
   */
  constructor({ request, timestamp }: MonitoredStreamOptions, saved?: SavedStream) {
    this.request = request;
    this.timestamp = timestamp;
    const state =
      saved === undefined ? undefined : { ...saved, assertSame: () => undefined, assertTopic: () => undefined };
    const paths = { saved: state, store: undefined, file: undefined, sinks: [], close: () => Promise.resolve() };
    this.#parts = makeParts(request, paths, timestamp, () => this.#now);
    this.#alerts = [...(saved?.alerts ?? [])];
    this.#watches = [...(saved?.watches ?? [])];
    const { yPred, yTrue, id, sampleWeight, attributes, within } = request;
    const named = [id, yPred, yTrue, sampleWeight, timestamp, within, ...attributes.flat()];
    this.#columns = [...new Set(named.filter((name) => name !== undefined))];
    this.#sensitive = [...new Set(attributes.flat())];
    this.#labelKeys = new Set([id, ...this.#sensitive, ...(within === undefined ? [] : [within])]);
  }

  /** Returns the column of times for a stream that begins with a line: `timestamp`, if the line has this field. */
  static timestampOf({ timestamp }: MonitorRequest, line: string): string | undefined {
    if (timestamp !== undefined) return timestamp;
    const first = parsed(line);
    return isMapping(first) && Object.hasOwn(first, USUAL_TIMESTAMP) ? USUAL_TIMESTAMP : undefined;
  }

  /** The number of counted events, and of labels that arrived after their event. */
  get counts(): { readonly events: number; readonly labels: number } {
    const { events, lateLabels } = this.#parts.tracker.stream;
    return { events, labels: lateLabels };
  }

  /**
   * Checks lines with events or labels, and counts nothing.
   * @param ids the ids of checked rows that are not counted yet; the ids of these lines are added
   */
  async check(
    kind: LineKind,
    lines: readonly string[],
    ids: Set<string> = new Set(),
  ): Promise<CheckedLines | UngroupedLines | readonly InvalidLine[]> {
    const invalid: InvalidLine[] = [];
    const own = new Map<string, { readonly row: StreamRow; readonly index: number }>();
    const rows: StreamRow[] = [];
    const absent = new Set(kind === 'events' ? this.#sensitive : []);
    let repeated = 0;
    let unknown = 0;
    let contradicted = 0;
    for (const [index, line] of lines.entries()) {
      if (index % ROWS_AT_ONCE === ROWS_AT_ONCE - 1) await nextTurn();
      const row = this.#read(kind, line);
      if (typeof row === 'string') {
        invalid.push({ index, reason: row });
        if (invalid.length === MAX_INVALID) break;
        continue;
      }
      for (const name of absent) if (Object.hasOwn(row, name)) absent.delete(name);
      const id = String(row[this.request.id]);
      const same = own.get(id);
      if (kind === 'events' && same !== undefined && JSON.stringify(same.row) !== JSON.stringify(row)) {
        invalid.push({ index, reason: otherEvent(this.request.id, id, same.index) });
        if (invalid.length === MAX_INVALID) break;
        continue;
      }
      const known = this.#parts.tracker.stream.labels?.find(id);
      const isRepeated =
        ids.has(id) || same !== undefined || (kind === 'events' ? known !== undefined : known?.isLabelled === true);
      if (kind === 'labels' && this.#contradicts(row, same?.row, known)) contradicted++;
      if (isRepeated) repeated++;
      else if (kind === 'labels' && known === undefined) unknown++;
      else rows.push(row);
      own.set(id, { row, index });
    }
    if (invalid.length > 0) return invalid;
    const [missing] = absent;
    if (missing !== undefined) return { missing, fields: Object.keys(parseObject(lines[0] ?? '') ?? {}) };
    for (const id of own.keys()) ids.add(id);
    if (kind === 'events') this.#repeated += repeated;
    this.#contradicted += contradicted;
    return { rows, repeated, unknown };
  }

  /**
   * Counts rows that {@link check} returned. A check of the engine runs whenever enough events are counted.
   * @param time the time of arrival in milliseconds since 1970
   */
  async apply(kind: LineKind, rows: readonly StreamRow[], time: number): Promise<AppliedRows> {
    const alerts: AlertEvent[] = [];
    const watches: AlertEvent[] = [];
    const before = this.#parts.tracker.faults;
    for (const [index, row] of rows.entries()) {
      if (index % ROWS_AT_ONCE === ROWS_AT_ONCE - 1) await nextTurn();
      const update = this.#count(kind, row, time);
      alerts.push(...(update?.alerts ?? []));
      watches.push(...(update?.watches ?? []));
    }
    this.#alerts = [...this.#alerts, ...alerts].slice(-MAX_ALERTS);
    this.#watches = [...this.#watches, ...watches].slice(-MAX_ALERTS);
    return { faults: newProblems(before, this.#parts.tracker.faults), alerts, watches };
  }

  /**
   * Returns the state as plain JSON, in the form of `evenhand monitor --state FILE --json`. `preview` is the result of a
   * check that is not counted.
   */
  toJson(): Record<string, unknown> {
    const { tracker, engine } = this.#parts;
    const preview = engine.copy().update(tracker);
    const { states } = preview;
    const gaps = takeGaps(tracker, engine, states);
    return monitorToJson({ alerts: this.#alerts, watches: this.#watches, states, gaps, preview });
  }

  /** Returns the time of the latest event, the numbers of problems by reason, and warnings. */
  facts(): {
    readonly timestamp: string | null;
    readonly faults: Readonly<Record<string, number>>;
    readonly warnings: readonly string[];
  } {
    const { tracker } = this.#parts;
    const { timestamp, faults } = tracker;
    const warnings = [
      ...notesOf(tracker),
      ...lenientLimit(this.request, tracker),
      ...repeatedIds(this.#repeated, tracker.stream.events),
      ...contradictedLabels(this.#contradicted),
    ];
    return { timestamp, faults: { ...faults }, warnings };
  }

  /** Returns the content of the dashboard. */
  view(): MonitoringView {
    const { tracker, engine } = this.#parts;
    return takeView(tracker, engine.copy());
  }

  snapshot(): SavedStream {
    const { tracker, engine, policy } = this.#parts;
    return {
      tracker: tracker.snapshot(),
      engine: engine.snapshot(),
      policy,
      alerts: this.#alerts,
      watches: this.#watches,
    };
  }

  #count(kind: LineKind, row: StreamRow, time: number): EngineUpdate | undefined {
    const { tracker, engine } = this.#parts;
    const { id, yTrue = '', lookEvery = LOOK_EVERY } = this.request;
    const before = positionOf(tracker);
    this.#now = time;
    try {
      if (kind === 'events') tracker.record(row);
      else tracker.label(row[id] as string | number, row[yTrue]);
    } catch (error) {
      // The values were checked. A version of this package with stricter checks may still refuse an old row.
      if (!FairnessToolkitError.isInstance(error)) throw error;
    }
    return isDue(tracker, before, lookEvery) ? engine.update(tracker) : undefined;
  }

  /** Returns whether a label differs from an earlier one of the same request, or from the counted one. */
  #contradicts(row: StreamRow, same: StreamRow | undefined, known: LabelledEvent | undefined): boolean {
    const { yTrue = '' } = this.request;
    if (same !== undefined) return same[yTrue] !== row[yTrue];
    const { stream } = this.#parts.tracker;
    if (known?.isLabelled !== true || !stream.watches('rate')) return false;
    const truth = stream.reader.readTruth(row[yTrue], { column: yTrue, row: undefined });
    return !Number.isNaN(truth) && truth !== truthOfCell(known.cell);
  }

  /** Returns the row in a line, or the reason why it cannot be counted. */
  #read(kind: LineKind, line: string): StreamRow | string {
    const { id, yPred, yTrue } = this.request;
    const event = isNestedDeeper(line, MAX_DEPTH) ? undefined : parsed(line);
    if (!isMapping(event)) return 'it is not a JSON object';
    const problem = findJsonProblem(line, this.#labelKeys);
    if (problem !== undefined) return `${problem.pointer} ${problem.reason}`;
    const key = event[id];
    if ((typeof key !== 'string' && typeof key !== 'number') || key === '') {
      return `its '${id}', which identifies the event, is ${key === undefined || key === null ? 'missing' : 'not a text or a number'}`;
    }
    const needed = kind === 'events' ? yPred : (yTrue ?? '');
    if (!Object.hasOwn(event, needed)) return `it has no '${needed}'`;
    const columns = kind === 'events' ? this.#columns : [id, needed];
    const row = Object.fromEntries(
      columns.flatMap((name) => (Object.hasOwn(event, name) ? [[name, event[name]]] : [])),
    );
    return this.#problemOf(kind, row) ?? row;
  }

  /** Returns the problem of a row's values, found by a tracker that counts nothing else. */
  #problemOf(kind: LineKind, row: StreamRow): string | undefined {
    const { id: _, yTrue = '', ...rest } = this.request;
    if (this.#checks++ % CHECKS === 0) this.#checker = undefined;
    this.#checker ??= new RealTimeFairnessTracker({
      ...trackerOptionsOf({ ...rest, yTrue: this.request.yTrue }, this.timestamp),
      windowSize: this.#parts.tracker.stream.options.minGroupSize,
      clock: () => 0,
    });
    this.#checker.stream.reader.stratumColumn = this.request.within;
    if (kind === 'labels' && (row[yTrue] === null || row[yTrue] === '')) return `its '${yTrue}' is missing`;
    try {
      if (kind === 'events') this.#checker.stream.reader.readEvent(row);
      else this.#checker.label('', row[yTrue]);
      return undefined;
    } catch (error) {
      if (FairnessToolkitError.isInstance(error)) return error.message.replace(/\.$/, '');
      throw error;
    }
  }
}

/** The default number of events between two checks, as in `monitor`. */
const LOOK_EVERY = 100;

/** Returns how much each number of problems has grown. */
function newProblems(
  before: Readonly<Record<string, number>>,
  now: Readonly<Record<string, number>>,
): Record<string, number> {
  const added = Object.entries(now).map(([reason, count]) => [reason, count - (before[reason] ?? 0)] as const);
  return Object.fromEntries(added.filter(([, count]) => count > 0));
}

function otherEvent(name: string, id: string, earlier: number): string {
  return `its '${name}' is '${id}', as in line ${String(earlier + 1)}, which has other values. Each event needs an id of its own: the id of a person, for example, is none`;
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
