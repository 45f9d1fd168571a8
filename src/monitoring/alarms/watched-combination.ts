import { formatTime } from '../records/record-time.ts';
import type { EventStream } from '../tracker/event-stream.ts';
import { emptySums, measureValue, sumMeasure } from '../tracker/measure-intervals.ts';
import type { WatchedMeasure, WatchedMetric } from '../tracker/watched-metric.ts';
import type { AlertChange, AlertEvent, GapWithinStrata, MonitorState, Severity } from './alert-event.ts';
import { alarmReason, type AlertFacts, groupName, watchReason, withinSentence } from './alert-words.ts';
import { type AlphaBudget, type AnytimeBound, BoundFinder } from './anytime-bound.ts';
import { type DetectorBank, markAt } from './detector-bank.ts';
import type { FilledEngineOptions } from './engine-options.ts';
import type { CombinationMemory } from './engine-snapshot.ts';
import { type WatchReading, windowState } from './watch-tier.ts';
import { PairBoundFinder, PairReader } from './pair-bounds.ts';
import type { StratumPairs } from './stratum-pairs.ts';
import { WindowReader } from './window-reader.ts';

/** The lower bounds of the severity bands. The most severe band comes first. */
const BANDS: readonly (readonly [severity: Severity, from: number])[] = [
  ['critical', 0.1],
  ['high', 0.02],
  ['low', -Infinity],
];

/** The confidence and severity of a gap. */
type Weighed = Pick<AlertEvent, 'confidence' | 'severityScore' | 'severity'>;

/**
 * Computes confidence = 1 - min(1, half the interval's width / limit), and the severity score confidence x (value -
 * limit). The bands determine the severity from the score. Small groups have wide intervals, and therefore a lower
 * confidence and score. If the limit is 0, the confidence is 0 unless the width of the interval is 0.
 */
function weigh(value: number, low: number, high: number, limit: number): Weighed {
  const half = (high - low) / 2;
  const confidence = half === 0 ? 1 : 1 - Math.min(1, half / limit);
  const severityScore = confidence * Math.max(0, value - limit);
  const [severity] = BANDS.find(([, from]) => severityScore >= from) as (typeof BANDS)[number];
  return { confidence, severityScore, severity };
}

/** Returns whether the first severity is above the second. */
function isWorse(severity: Severity, than: Severity): boolean {
  const index = (one: Severity): number => BANDS.findIndex(([name]) => name === one);
  return index(severity) < index(than);
}

/** The result of one check of one combination. */
export interface CheckOutcome {
  readonly state: MonitorState;
  /** The gap in the sliding window; null if there is none. */
  readonly reading: WatchReading | null;
  /** The transition of the alarm of this combination; null if there is none. */
  readonly change: Extract<AlertChange, 'raised' | 'repeated' | 'cleared'> | null;
  readonly alert: AlertEvent | null;
  /** The watch to report, because it has held for `persistence` checks; null if there is none. */
  readonly watch: AlertEvent | null;
}

/** The parts of a combination in an engine with strata. */
interface StrataParts {
  /** The pairs whose gap is watched, for the combination of a gap within strata. */
  readonly pairs?: StratumPairs | undefined;
  /** The combination of the gap within strata that alerts show beside their own gap. */
  readonly within?: WatchedCombination | undefined;
}

/** One metric of one attribute. This class evaluates the evidence at every check, and has at most one open alarm. */
export class WatchedCombination {
  readonly attribute: number;
  readonly name: string;
  readonly metric: WatchedMetric;
  readonly limit: number;
  readonly alpha: AlphaBudget;
  memory: CombinationMemory = {
    open: null,
    isAcknowledged: false,
    reportedAt: 0,
    raisedAt: 0,
    calmLooks: 0,
    watchLooks: 0,
    watch: null,
    alarms: 0,
    watches: 0,
    firstStart: 0,
    closed: 0,
  };
  readonly #options: FilledEngineOptions;
  readonly #bounds: Pick<BoundFinder, 'strongest'>;
  readonly #window: Pick<WindowReader, 'read'>;
  readonly #isWithin: boolean;
  readonly #within: WatchedCombination | undefined;

  constructor(
    index: { readonly attribute: number; readonly name: string; readonly metric: WatchedMetric },
    limit: number,
    alpha: AlphaBudget,
    options: FilledEngineOptions,
    { pairs, within }: StrataParts = {},
  ) {
    this.attribute = index.attribute;
    this.name = index.name;
    this.metric = index.metric;
    this.limit = limit;
    this.alpha = alpha;
    this.#options = options;
    this.#isWithin = pairs !== undefined;
    this.#within = within;
    const { attribute, metric } = index;
    this.#bounds =
      pairs === undefined
        ? new BoundFinder(attribute, metric, alpha)
        : new PairBoundFinder(pairs, attribute, metric, alpha);
    this.#window = pairs === undefined ? new WindowReader(attribute, metric) : new PairReader(pairs, attribute, metric);
  }

  /** Checks the current stream. */
  look(stream: EventStream, bank: DetectorBank): CheckOutcome {
    const reading = this.#window.read(stream);
    const state = reading === null ? 'unknown' : windowState(reading, this.limit);
    const reported = this.memory.open === null ? this.#raise(stream, bank) : this.#follow(stream, bank, state);
    const isOpen = this.memory.open !== null;
    return {
      state: isOpen ? 'breach' : state,
      reading,
      change: reported?.change ?? null,
      alert: reported?.alert ?? null,
      watch: this.#watch(stream, bank, reading, !isOpen && state === 'watch'),
    };
  }

  /** Returns the best current lower bound of the gap. The bound may be below the limit. */
  bestBound(stream: EventStream): AnytimeBound | undefined {
    return this.#bound(stream, -Infinity);
  }

  /** Closes the open alarm. Earlier events no longer count as evidence. */
  close(stream: EventStream): void {
    this.memory.open = null;
    this.memory.isAcknowledged = false;
    this.memory.calmLooks = 0;
    this.memory.closed++;
    this.memory.firstStart = stream.starts.next;
    this.holdStart(stream);
  }

  /** If windows do not restart, makes the stream keep the sums at the start of the window. */
  holdStart(stream: EventStream): void {
    if (!this.#options.isRestarted) stream.starts.hold(this, this.memory.firstStart);
  }

  #bound(stream: EventStream, limit: number): AnytimeBound | undefined {
    const { firstStart, closed } = this.memory;
    return this.#bounds.strongest(stream, { isRestarted: this.#options.isRestarted, firstStart, closed }, limit);
  }

  #raise(stream: EventStream, bank: DetectorBank): { change: 'raised'; alert: AlertEvent } | undefined {
    const bound = this.#bound(stream, this.limit);
    if (bound === undefined) return undefined;
    this.memory.alarms++;
    this.memory.raisedAt = stream.events;
    const alert = this.#alarm(stream, bank, bound);
    this.#report(stream, alert);
    return { change: 'raised', alert };
  }

  /**
   * Repeats or clears the open alarm. The alarm is sent again when its severity increases, or when the cool-down is
   * over and the window is still above the limit. The alarm is cleared when the window stays within the limit.
   */
  #follow(
    stream: EventStream,
    bank: DetectorBank,
    state: MonitorState,
  ): { change: 'repeated' | 'cleared'; alert: AlertEvent } | undefined {
    const { memory } = this;
    const open = memory.open as AlertEvent;
    // A window can show that the breach is over only if all its events came after the alarm.
    const isLater = stream.events - memory.raisedAt >= stream.options.windowSize;
    memory.calmLooks = isLater && state === 'within' ? memory.calmLooks + 1 : 0;
    if (memory.calmLooks >= this.#options.persistence) {
      this.close(stream);
      return { change: 'cleared', alert: open };
    }
    const bound = this.#bound(stream, this.limit);
    if (bound === undefined) return undefined;
    const isDue = stream.time - memory.reportedAt >= this.#options.cooldownMillis;
    const { severity } = weigh(bound.values[0] - bound.values[1], bound.low, bound.high, this.limit);
    if (!isWorse(severity, open.severity) && (!isDue || memory.isAcknowledged || state !== 'watch')) return undefined;
    const alert = this.#alarm(stream, bank, bound);
    this.#report(stream, alert);
    return { change: 'repeated', alert };
  }

  #report(stream: EventStream, alert: AlertEvent): void {
    this.memory.open = alert;
    this.memory.reportedAt = stream.time;
  }

  #watch(stream: EventStream, bank: DetectorBank, reading: WatchReading | null, holds: boolean): AlertEvent | null {
    const { memory } = this;
    memory.watchLooks = holds ? memory.watchLooks + 1 : 0;
    if (!holds) memory.watch = null;
    if (memory.watchLooks !== this.#options.persistence || reading === null) return null;
    memory.watches++;
    memory.watch = this.#watchEvent(stream, bank, reading);
    return memory.watch;
  }

  #alarm(stream: EventStream, bank: DetectorBank, bound: AnytimeBound): AlertEvent {
    const startTime = timeOfStart(stream, bound.start.time);
    const facts = this.#facts(stream, bank, {
      ...bound,
      value: bound.values[0] - bound.values[1],
      windowEvents: stream.events - bound.start.events,
    });
    return this.#event(stream, facts, {
      id: `${this.#idStart()}${String(this.memory.alarms)}`,
      tier: 'alarm',
      high: bound.high,
      n: Math.min(...bound.counts),
      windowStart: formatTime(startTime),
      share: Object.freeze(bound.share),
      ...this.#withinOf(stream, facts.words, bound, alarmReason(facts.words, bound.share)),
    });
  }

  #idStart(): string {
    return `${this.name}:${this.metric.metric}:${this.#isWithin ? 'within:' : ''}`;
  }

  /** Returns the gap within strata at an alert, and the reason with a sentence about it. */
  #withinOf(
    stream: EventStream,
    { value, low, limit }: AlertFacts,
    { high, counts }: { readonly high: number; readonly counts: readonly number[] },
    reason: string,
  ): Pick<AlertEvent, 'within' | 'reason'> {
    if (this.#isWithin) {
      const within = { isReason: true, isAbove: low > limit, value, low, high, n: Math.min(...counts) };
      return { within: Object.freeze(within), reason };
    }
    if (this.#within === undefined) return { within: null, reason };
    const bound = this.#within.bestBound(stream);
    const within = Object.freeze<GapWithinStrata>({
      isReason: false,
      isAbove: bound !== undefined && bound.low > limit,
      value: bound === undefined ? null : bound.values[0] - bound.values[1],
      low: bound?.low ?? null,
      high: bound?.high ?? null,
      n: bound?.counts[0] ?? 0,
    });
    return { within, reason: `${reason} ${withinSentence(within, limit)}` };
  }

  #watchEvent(stream: EventStream, bank: DetectorBank, reading: WatchReading): AlertEvent {
    const { larger, smaller } = reading;
    const facts = this.#facts(stream, bank, {
      ...reading,
      groups: [larger.code, smaller.code],
      values: [larger.value, smaller.value],
      windowEvents: stream.window.length,
    });
    return this.#event(stream, facts, {
      id: `${this.#idStart()}watch:${String(this.memory.watches)}`,
      tier: 'watch',
      high: reading.high,
      n: Math.min(larger.sums.n, smaller.sums.n),
      windowStart: formatTime(windowStart(stream)),
      share: null,
      ...this.#withinOf(
        stream,
        facts.words,
        { high: reading.high, counts: [larger.sums.n, smaller.sums.n] },
        watchReason(facts.words),
      ),
    });
  }

  #facts(stream: EventStream, bank: DetectorBank, found: Found): Facts {
    const change = estimateChange(stream, bank, this.attribute, found.measure, found.groups);
    const [larger, smaller] = found.groups;
    const labels = stream.reader.groups[this.attribute]?.labels ?? [];
    return {
      groups: [labels[larger] ?? '', labels[smaller] ?? ''],
      driftScore: change?.driftScore ?? null,
      words: {
        attribute: this.name,
        isWithin: this.#isWithin,
        measure: found.measure.name,
        larger: groupName(stream, this.attribute, larger),
        smaller: groupName(stream, this.attribute, smaller),
        rates: found.values,
        value: found.value,
        low: found.low,
        limit: this.limit,
        windowEvents: found.windowEvents,
        changedAt: change === undefined ? null : formatTime(change.time),
      },
    };
  }

  #event(
    stream: EventStream,
    { groups, driftScore, words }: Facts,
    rest: Pick<AlertEvent, 'id' | 'tier' | 'high' | 'n' | 'windowStart' | 'share' | 'within' | 'reason'>,
  ): AlertEvent {
    const { value, low, limit, measure, changedAt, windowEvents } = words;
    return Object.freeze({
      ...rest,
      timestamp: formatTime(stream.time),
      metric: this.metric.metric,
      attribute: this.name,
      groups: Object.freeze(groups),
      measure,
      rates: Object.freeze([...words.rates] as const),
      value,
      low,
      limit,
      windowEvents,
      changedAt,
      driftScore,
      ...weigh(value, low, rest.high, limit),
    });
  }
}

/** The gap found in a window, for an alarm or a watch. */
type Found = Pick<AnytimeBound, 'measure' | 'groups' | 'values' | 'low'> & {
  readonly value: number;
  readonly windowEvents: number;
};

interface Facts {
  readonly groups: readonly [string, string];
  readonly driftScore: number | null;
  readonly words: AlertFacts;
}

/** Returns the time at which a window starts. For the start of the stream, returns the time of the first event. */
function timeOfStart(stream: EventStream, time: number): number {
  if (!Number.isNaN(time)) return time;
  return Number.isNaN(stream.firstTime) ? stream.time : stream.firstTime;
}

/**
 * Estimates the time at which the sliding window begins, by linear interpolation between the stored starts before and
 * after its first event.
 */
function windowStart(stream: EventStream): number {
  const marks = [...stream.starts.kept, stream].map(({ events, time }) => ({ n: events, time, sum: 0 }));
  return markAt(marks, stream.events - stream.window.length, timeOfStart(stream, NaN)).time;
}

/**
 * Returns the latest change that detectors suspect in a measure of the given groups; undefined if they found no change.
 * @returns the time of the change in milliseconds since 1970, and the largest |after - before| of the groups, in [0, 1]
 *   (null for errors without a scale)
 */
function estimateChange(
  stream: EventStream,
  bank: DetectorBank,
  attribute: number,
  measure: WatchedMeasure,
  groups: readonly number[],
): { readonly time: number; readonly driftScore: number | null } | undefined {
  const table = stream.tables[attribute] as EventStream['tables'][number];
  let latest = -Infinity;
  let moved: number | null = null;
  for (const group of groups) {
    const change = bank.changeOf(attribute, measure, group);
    if (change === undefined) continue;
    latest = Math.max(latest, change.time);
    const sums = sumMeasure(measure, table, null, group, emptySums());
    const after = (measureValue(sums) * sums.n - change.sum) / (sums.n - change.n);
    const before = change.sum / change.n;
    const scale = measure.kind === 'rate' ? 1 : stream.options.errorScale;
    if (scale === null || !Number.isFinite(after) || !Number.isFinite(before)) continue;
    moved = Math.max(moved ?? 0, Math.min(1, Math.abs(after - before) / scale));
  }
  return latest === -Infinity ? undefined : { time: latest, driftScore: moved };
}
