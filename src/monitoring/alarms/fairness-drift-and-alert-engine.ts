import { ValueError } from '../../exceptions/index.ts';
import { assertKnownOptions, invalidParameter, suggestNames } from '../../internal/arguments.ts';
import { formatTime } from '../records/record-time.ts';
import { shownKind } from '../require-kind.ts';
import type { EventStream } from '../tracker/event-stream.ts';
import { RealTimeFairnessTracker } from '../tracker/real-time-fairness-tracker.ts';
import { whileRestoring } from '../tracker/snapshot-schema.ts';
import type {
  AlertChange,
  AlertEvent,
  AlertHistory,
  AlertTransition,
  MonitorReading,
  MonitorState,
} from './alert-event.ts';
import { DetectorBank } from './detector-bank.ts';
import {
  ALERT_ENGINE_OPTION_NAMES,
  type AlertEngineOptions,
  assertLimitsDecide,
  type FilledEngineOptions,
  fillEngineOptions,
  limitOf,
} from './engine-options.ts';
import {
  ENGINE_SNAPSHOT_VERSION,
  type EngineSnapshot,
  type EngineStates,
  engineStates,
  isUnused,
  memoryOf,
  readEngineSnapshot,
} from './engine-snapshot.ts';
import { type LookOutcome, WatchedCombination } from './watched-combination.ts';

/** Alerts that are remembered once they are closed. */
const MAX_CLOSED = 1000;

/** One alert and what became of it. */
interface Entry {
  alert: AlertEvent;
  isOpen: boolean;
  isAcknowledged: boolean;
  readonly changes: { readonly change: AlertChange; readonly timestamp: string }[];
}

/** Changes of one alert that are remembered; an alarm that repeats for years keeps its first and its last. */
const MAX_CHANGES = 100;

/** All alerts of an engine, open ones and the last of those that were closed, in the order in which they were raised. */
class AlertLedger {
  readonly #entries = new Map<string, Entry>();

  /** Notes what happened to an alert; an alert that repeats takes the place of what it was. */
  note({ change, timestamp, alert }: AlertTransition): void {
    const entry = this.#entries.get(alert.id) ?? { alert, isOpen: true, isAcknowledged: false, changes: [] };
    entry.alert = alert;
    entry.changes.push(Object.freeze({ change, timestamp }));
    if (entry.changes.length > MAX_CHANGES) entry.changes.splice(1, 1);
    if (change === 'acknowledged') entry.isAcknowledged = true;
    if (change === 'resolved' || change === 'cleared') entry.isOpen = false;
    this.#entries.set(alert.id, entry);
    this.#forgetOldest();
  }

  /** An alert by its id. */
  find(id: string): AlertHistory | undefined {
    return this.#entries.get(id);
  }

  /** Every alert remembered, oldest first; copies. */
  list(): readonly AlertHistory[] {
    return Object.freeze(
      Array.from(this.#entries.values(), (entry) =>
        Object.freeze({ ...entry, changes: Object.freeze([...entry.changes]) }),
      ),
    );
  }

  /** Goes on from what {@link AlertLedger.list} told. */
  restore(alerts: readonly AlertHistory[]): void {
    for (const entry of alerts) this.#entries.set(entry.alert.id, { ...entry, changes: [...entry.changes] });
  }

  #forgetOldest(): void {
    const closed = [...this.#entries].filter(([, { isOpen }]) => !isOpen);
    for (const [id] of closed.slice(0, Math.max(0, closed.length - MAX_CLOSED))) this.#entries.delete(id);
  }
}

/** What one look at a stream brought. */
export interface EngineUpdate {
  /** Alarms raised at this look, and open ones that got worse or are told again. */
  readonly alerts: readonly AlertEvent[];
  /** Watches that have now held for `persistence` looks; each is told once. */
  readonly watches: readonly AlertEvent[];
  /** By attribute, then by metric. */
  readonly states: EngineStates;
}

export type { EngineSnapshot } from './engine-snapshot.ts';

/** What an engine has of the tracker that it watches. */
interface Watched {
  stream: EventStream;
  readonly bank: DetectorBank;
  readonly combinations: readonly WatchedCombination[];
  /** Events and late labels at the last look. */
  seen: string;
  last: readonly LookOutcome[];
}

/**
 * Raises an alarm where a gap between groups is above its limit, with an error
 * rate that holds however often it is asked: the probability that an engine ever
 * raises a false alarm is at most `alpha`, over all looks, attributes, metrics,
 * windows and groups together.
 *
 * Two tiers. An **alarm** stands on a lower bound of the gap that holds at all
 * times together (anytime-valid), and on nothing else. A **watch** stands on an
 * ordinary interval of the sliding window: it is faster, it may be wrong, and it
 * pages nobody. Four states: `within` the limit, `watch`, `breach` (an alarm is
 * open), `unknown` (the window cannot tell; see `explain`).
 *
 * The budget: each attribute and metric has an equal part; of it the whole stream
 * has half and the k-th fresh start 1/(k (k + 1)) of the other half, so that a change
 * after a long time is still seen; each measure (of equalized odds there are
 * two) and each group has its part of that. An alert names its share.
 *
 * While an alarm is open its breach is told again only when it got more severe,
 * or after `cooldownMillis` while the window still looks bad and nobody has
 * acknowledged it. It is cleared when a sliding window of nothing but later events
 * is within the limit at `persistence` looks in a row, or resolved by a person;
 * then only what comes afterwards is evidence.
 *
 * The guarantee rests on this: given who comes, each decision of a group is
 * positive with a chance that is the same throughout a window. Where a group's
 * rate moves within a window the bound is about its average there, and the
 * guarantee is no longer exact. For measures that need true labels, the order is
 * that in which labels come: it must not depend on what the decision was.
 * @example
 * ```ts
 * import { FairnessDriftAndAlertEngine, RealTimeFairnessTracker } from 'evenhand/monitoring';
 *
 * const tracker = new RealTimeFairnessTracker({ columns: { yPred: 'approved', protected: ['sex'] } });
 * const engine = new FairnessDriftAndAlertEngine({ limits: { demographic_parity_difference: 0.1 } });
 * engine.watch(tracker);
 * const approved = (row: number): number => Number(row % 10 < (row % 20 < 10 ? 3 : 6));
 * for (let row = 0; row < 2000; row++) {
 *   tracker.record({ approved: approved(row), sex: row % 20 < 10 ? 'female' : 'male' });
 * }
 * const { alerts, states } = engine.update(tracker);
 * console.log(states.sex.demographic_parity_difference, alerts[0].groups, alerts[0].low.toFixed(2));
 * // breach [ 'male', 'female' ] 0.18
 * ```
 */
export class FairnessDriftAndAlertEngine {
  readonly #given: AlertEngineOptions;
  readonly #options: FilledEngineOptions;
  readonly #ledger = new AlertLedger();
  #watched: Watched | undefined;
  #present: readonly MonitorState[] = [];
  #states: EngineStates = Object.freeze({});

  /** @throws {ValueError} naming the option at fault */
  constructor(options: AlertEngineOptions = {}) {
    assertKnownOptions('FairnessDriftAndAlertEngine', options, ALERT_ENGINE_OPTION_NAMES);
    this.#given = options;
    this.#options = fillEngineOptions(options);
  }

  /** The probability that it ever raises a false alarm. */
  get alpha(): number {
    return this.#options.alpha;
  }

  /** Every alarm that is remembered: open ones and the last 1,000 that were closed, oldest first. */
  get alerts(): readonly AlertHistory[] {
    return this.#ledger.list();
  }

  /** What it watches, once it does; for this module's own use. */
  get watched(): Readonly<Watched> | undefined {
    return this.#watched;
  }

  /**
   * Begins to watch a tracker: from now on its detectors of change see every
   * event. The first `update` does it too, but then they have missed what came before.
   * @throws {ValueError} for another tracker than the one it watches, and for a limit of a metric that is not watched
   */
  watch(tracker: RealTimeFairnessTracker): void {
    requireTracker(tracker);
    const { stream } = tracker;
    if (this.#watched?.stream === stream) return;
    if (this.#watched !== undefined) throw otherTracker();
    this.#begin(this.#prepare(stream));
  }

  /** What it needs of a stream. */
  #prepare(stream: EventStream): Watched {
    const { attributes, metrics } = stream.options;
    assertLimitsDecide(this.#options, metrics);
    const alpha = {
      engine: this.#options.alpha,
      combination: this.#options.alpha / (attributes.length * metrics.length),
    };
    const combinations = attributes.flatMap(({ name }, attribute) =>
      metrics.map(
        (metric) =>
          new WatchedCombination({ attribute, name, metric }, limitOf(metric, this.#options), alpha, this.#options),
      ),
    );
    const bank = new DetectorBank(stream, this.#options.detectors);
    return { stream, bank, combinations, seen: '', last: [] };
  }

  #begin(watched: Watched): void {
    if (this.#options.detectors.length > 0) watched.stream.observe(watched.bank);
    this.#watched = watched;
  }

  /**
   * Looks at the stream as it is now. May be asked as often as one likes: looking
   * costs no error. Without a new event or label nothing happens.
   * @throws {ValueError} for another tracker than the one it watches
   */
  update(tracker: RealTimeFairnessTracker): EngineUpdate {
    this.watch(tracker);
    const watched = this.#watched as Watched;
    const { stream, bank, combinations } = watched;
    const seen = `${String(stream.events)} ${String(stream.lateLabels)}`;
    if (seen === watched.seen || stream.events === 0) return this.#result([], []);
    watched.seen = seen;
    watched.last = combinations.map((combination) => combination.look(stream, bank));
    const alerts: AlertEvent[] = [];
    const watches: AlertEvent[] = [];
    for (const { change, alert, watch } of watched.last) {
      if (change !== null && alert !== null) this.#tell(change, alert, stream);
      if (change !== null && change !== 'cleared' && alert !== null) alerts.push(alert);
      if (watch !== null) watches.push(watch);
    }
    this.#showReadings(watched);
    return this.#result(alerts, watches);
  }

  /**
   * Notes that a person has seen an alarm: it is not told again, unless it gets more severe.
   * @throws {ValueError} for an id that no open alarm has
   */
  acknowledge(id: string): void {
    const { combination, stream, alert } = this.#open(id);
    combination.memory.isAcknowledged = true;
    this.#tell('acknowledged', alert, stream);
  }

  /**
   * Closes an alarm because a person has dealt with it: what came before is no
   * evidence any more, and a breach that goes on raises a new alarm.
   * @throws {ValueError} for an id that no open alarm has
   */
  resolve(id: string): void {
    const { combination, stream, alert } = this.#open(id);
    combination.close(stream);
    this.#tell('resolved', alert, stream);
  }

  /** Everything that it knows, as plain JSON; options and sinks are not part of it. */
  snapshot(): EngineSnapshot {
    return {
      version: ENGINE_SNAPSHOT_VERSION,
      combinations: (this.#watched?.combinations ?? []).map(({ name, metric, memory }) => ({
        attribute: name,
        metric: metric.metric,
        ...memory,
      })),
      alerts: this.#ledger.list(),
      detectors: this.#watched?.bank.state() ?? [],
      seen: this.#watched?.seen ?? '',
      present: this.#present,
    };
  }

  /**
   * Goes on exactly where a snapshot was taken.
   * @param tracker restored from a snapshot of the same moment
   * @param options those that the engine had
   * @throws {DataValidationError} for something that is no snapshot of ours, one that was changed, or one of another tracker
   */
  static restore(
    snapshot: EngineSnapshot,
    tracker: RealTimeFairnessTracker,
    options: AlertEngineOptions = {},
  ): FairnessDriftAndAlertEngine {
    assertKnownOptions('FairnessDriftAndAlertEngine.restore', options, ALERT_ENGINE_OPTION_NAMES);
    const engine = new FairnessDriftAndAlertEngine(options);
    requireTracker(tracker);
    const watched = engine.#prepare(tracker.stream);
    whileRestoring(() => {
      engine.#fill(readEngineSnapshot(snapshot, watched.stream, watched.combinations), watched);
      if (!isUnused(snapshot)) for (const combination of watched.combinations) combination.holdStart(watched.stream);
    });
    engine.#begin(watched);
    return engine;
  }

  /**
   * Returns an engine in the same state that sends nothing: its next `update` finds what this one would find, and this
   * one stays as it is. The copy does not follow later events, so use it for one look.
   */
  copy(): FairnessDriftAndAlertEngine {
    const engine = new FairnessDriftAndAlertEngine({ ...this.#given, sinks: [] });
    if (this.#watched === undefined) return engine;
    const watched = engine.#prepare(this.#watched.stream);
    engine.#fill(this.snapshot(), watched);
    engine.#watched = watched;
    return engine;
  }

  #fill(snapshot: EngineSnapshot, watched: Watched): void {
    if (isUnused(snapshot)) return;
    for (const combination of watched.combinations) {
      const { attribute: _, metric: __, ...memory } = memoryOf(snapshot, combination);
      combination.memory = memory;
    }
    watched.bank.restore(snapshot.detectors);
    watched.seen = snapshot.seen;
    this.#present = snapshot.present;
    this.#states = snapshot.present.length === 0 ? this.#states : engineStates(watched.combinations, snapshot.present);
    this.#ledger.restore(snapshot.alerts);
  }

  #result(alerts: readonly AlertEvent[], watches: readonly AlertEvent[]): EngineUpdate {
    const { combinations = [], last = [] } = this.#watched ?? {};
    const present = combinations.map(({ memory }, place) => {
      if (memory.open !== null) return 'breach';
      const state = last[place]?.state ?? this.#present[place] ?? 'unknown';
      // An alarm that was closed since the last look is no breach before the next.
      return state === 'breach' ? 'unknown' : state;
    });
    // Looks are many and changes few: the same states are the same object.
    if (present.some((state, place) => state !== this.#present[place]) || present.length !== this.#present.length) {
      this.#present = present;
      this.#states = engineStates(combinations, present);
    }
    return Object.freeze({ alerts: Object.freeze(alerts), watches: Object.freeze(watches), states: this.#states });
  }

  #tell(change: AlertChange, alert: AlertEvent, stream: EventStream): void {
    const transition = Object.freeze({ change, timestamp: formatTime(stream.time), alert });
    this.#ledger.note(transition);
    for (const sink of this.#options.sinks) sink.send(transition);
  }

  #showReadings({ stream, combinations, last }: Watched): void {
    const showing = this.#options.sinks.filter((sink) => sink.read !== undefined);
    if (showing.length === 0) return;
    const readings = combinations.map((combination, place): MonitorReading => {
      const { state, outcome } = last[place] as LookOutcome;
      return {
        attribute: combination.name,
        metric: combination.metric.metric,
        state,
        value: 'reading' in outcome ? outcome.reading.value : null,
        low: combination.bestBound(stream)?.low ?? null,
        limit: combination.limit,
        n: stream.window.length,
      };
    });
    for (const sink of showing) sink.read?.(readings);
  }

  #open(id: string): { combination: WatchedCombination; stream: EventStream; alert: AlertEvent } {
    const { combinations = [], stream } = this.#watched ?? {};
    const combination = combinations.find(({ memory }) => memory.open?.id === id);
    if (combination !== undefined && stream !== undefined) {
      return { combination, stream, alert: combination.memory.open as AlertEvent };
    }
    const open = combinations.flatMap(({ memory }) => (memory.open === null ? [] : [memory.open.id]));
    throw new ValueError(`There is no open alert with the id '${id}'.`, {
      context: { parameter: 'id', value: id },
      suggestion: suggestNames(typeof id === 'string' ? id : '', open, 'open alerts'),
    });
  }
}

function requireTracker(tracker: unknown): void {
  if (tracker instanceof RealTimeFairnessTracker) return;
  throw invalidParameter('tracker', 'be a RealTimeFairnessTracker', shownKind(tracker));
}

function otherTracker(): ValueError {
  return new ValueError('An engine watches one tracker, and was given another.', {
    suggestion:
      'Make an engine for each tracker; the error budget of each is its own. After a restart use FairnessDriftAndAlertEngine.restore.',
  });
}
