import { ValueError } from '../../exceptions/index.ts';
import { assertKnownOptions, suggestNames } from '../../internal/arguments.ts';
import { formatTime } from '../records/record-time.ts';
import { requireInstance } from '../require-kind.ts';
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
import { type CheckOutcome, WatchedCombination } from './watched-combination.ts';

/** The maximum number of closed alerts in the history. */
const MAX_CLOSED = 1000;

/**
 * The maximum number of transitions that are stored for each alert. If an alarm is repeated often, only its first and
 * latest transitions are stored.
 */
const MAX_CHANGES = 100;

/** All open alerts and the latest closed alerts, in the order in which they were raised. */
class AlertLedger {
  readonly #entries = new Map<string, AlertHistory>();

  /** Records a transition of an alert. If an alert is repeated, its new values replace its earlier ones. */
  note({ change, timestamp, alert }: AlertTransition): void {
    const { isOpen = true, isAcknowledged = false, changes: earlier = [] } = this.#entries.get(alert.id) ?? {};
    const changes = [...earlier, Object.freeze({ change, timestamp })];
    if (changes.length > MAX_CHANGES) changes.splice(1, 1);
    this.#keep({
      alert,
      isOpen: isOpen && change !== 'resolved' && change !== 'cleared',
      isAcknowledged: isAcknowledged || change === 'acknowledged',
      changes,
    });
    this.#forgetOldest();
  }

  /** Returns all stored alerts, oldest first. */
  list(): readonly AlertHistory[] {
    return Object.freeze([...this.#entries.values()]);
  }

  /** Restores a list that {@link AlertLedger.list} returned. */
  restore(alerts: readonly AlertHistory[]): void {
    for (const entry of alerts) this.#keep(entry);
  }

  #keep(entry: AlertHistory): void {
    this.#entries.set(entry.alert.id, Object.freeze({ ...entry, changes: Object.freeze([...entry.changes]) }));
  }

  #forgetOldest(): void {
    const closed = [...this.#entries].filter(([, { isOpen }]) => !isOpen);
    for (const [id] of closed.slice(0, Math.max(0, closed.length - MAX_CLOSED))) this.#entries.delete(id);
  }
}

/** The result of one check of a stream. */
export interface EngineUpdate {
  /** The alarms that were raised at this check, and open alarms that are sent again. */
  readonly alerts: readonly AlertEvent[];
  /** The watches that have held for `persistence` checks. Each watch is reported once. */
  readonly watches: readonly AlertEvent[];
  /** The states, first by attribute and then by metric. */
  readonly states: EngineStates;
}

export type { EngineSnapshot } from './engine-snapshot.ts';

/** The parts of an engine that depend on the tracker that it watches. */
interface Watched {
  stream: EventStream;
  readonly bank: DetectorBank;
  readonly combinations: readonly WatchedCombination[];
  /** The numbers of events and late labels that had been counted at the last check. */
  seen: string;
  last: readonly CheckOutcome[];
}

/**
 * Raises an alarm when a gap between groups is above its limit. The probability that an engine ever raises a false
 * alarm is at most `alpha`, over all checks, attributes, metrics, windows and groups. This error rate holds for any
 * number of checks.
 *
 * There are two tiers. An **alarm** is based only on a lower bound of the gap that holds at all times simultaneously
 * (anytime-valid). A **watch** is based on an ordinary interval of the sliding window. A watch is faster than an alarm,
 * but it may be wrong and should not page anyone. There are four states: `within` the limit, `watch`, `breach` (an
 * alarm is open) and `unknown` (the window is inconclusive).
 *
 * Every combination of an attribute and a metric has an equal share of the error budget. Half of this share is for the
 * full stream. The window of the k-th restart has 1/(k (k + 1)) of the other half, so that late changes are still
 * detected. The share of each window is divided among its measures (equalized odds has two) and groups. An alert
 * reports these shares.
 *
 * An open alarm is sent again only when its severity increases, or after `cooldownMillis` while the window is still
 * above the limit and nobody has acknowledged the alarm. An open alarm is cleared when a sliding window of only later
 * events is within the limit at `persistence` consecutive checks. A person can also resolve an alarm. After an alarm is
 * closed, only later events count as evidence.
 *
 * The guarantee assumes that, given the group of each event, the probability of a positive decision is constant within
 * a window. If a group's rate changes within a window, the bound applies to the average rate in that window, and the
 * guarantee is no longer exact. For measures that need true labels, events are ordered by the arrival of their labels.
 * This order must not depend on the decisions.
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

  /** @throws {ValueError} if an option is invalid; the error contains its name */
  constructor(options: AlertEngineOptions = {}) {
    assertKnownOptions('FairnessDriftAndAlertEngine', options, ALERT_ENGINE_OPTION_NAMES);
    this.#given = options;
    this.#options = fillEngineOptions(options);
  }

  /** The probability that the engine ever raises a false alarm. */
  get alpha(): number {
    return this.#options.alpha;
  }

  /** The open alarms and the last 1,000 closed alarms, oldest first. */
  get alerts(): readonly AlertHistory[] {
    return this.#ledger.list();
  }

  /** The watched tracker with its combinations. Undefined before `watch` is called. Internal to this module. */
  get watched(): Readonly<Watched> | undefined {
    return this.#watched;
  }

  /**
   * Starts to watch a tracker. From then on, the engine's change detectors receive every event. If `watch` is not
   * called, the first `update` starts to watch the tracker, but the detectors then miss the earlier events.
   * @throws {ValueError} if the engine already watches another tracker, or if a limit is for a metric that is not
   * monitored
   */
  watch(tracker: RealTimeFairnessTracker): void {
    requireInstance('tracker', tracker, RealTimeFairnessTracker);
    const { stream } = tracker;
    if (this.#watched?.stream === stream) return;
    if (this.#watched !== undefined) {
      throw new ValueError('This engine already watches another tracker.', {
        suggestion:
          'Create one engine per tracker, because each engine has its own error budget. After a restart, use FairnessDriftAndAlertEngine.restore.',
      });
    }
    this.#begin(this.#prepare(stream));
  }

  /** Creates the parts of the engine for a stream. */
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
   * Checks the current stream. You can call this method as often as you like, because checks do not use up the error
   * budget. A check changes nothing if there is no new event or label.
   * @throws {ValueError} if the engine watches another tracker
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
      if (change !== null && alert !== null) this.#report(change, alert, stream);
      if (change !== null && change !== 'cleared' && alert !== null) alerts.push(alert);
      if (watch !== null) watches.push(watch);
    }
    this.#showReadings(watched);
    return this.#result(alerts, watches);
  }

  /**
   * Records that a person has seen an alarm. The alarm is not sent again, unless its severity increases.
   * @throws {ValueError} if there is no open alarm with this id
   */
  acknowledge(id: string): void {
    const { combination, stream, alert } = this.#open(id);
    combination.memory.isAcknowledged = true;
    this.#report('acknowledged', alert, stream);
  }

  /**
   * Closes an alarm after a person has dealt with the problem. Earlier events no longer count as evidence. If the
   * breach continues, a new alarm is raised.
   * @throws {ValueError} if there is no open alarm with this id
   */
  resolve(id: string): void {
    const { combination, stream, alert } = this.#open(id);
    combination.close(stream);
    this.#report('resolved', alert, stream);
  }

  /** Returns the complete state, except options and sinks, as plain JSON. */
  snapshot(): EngineSnapshot {
    return {
      version: ENGINE_SNAPSHOT_VERSION,
      combinations: (this.#watched?.combinations ?? []).map(({ name, metric, memory }) => ({
        attribute: name,
        metric: metric.metric,
        ...memory,
      })),
      alerts: [...this.#ledger.list()],
      detectors: this.#watched?.bank.state() ?? [],
      seen: this.#watched?.seen ?? '',
      present: [...this.#present],
    };
  }

  /**
   * Creates an engine that continues exactly at the point where a snapshot was taken.
   * @param tracker a tracker restored from a snapshot taken at the same time
   * @param options the options of the original engine
   * @throws {DataValidationError} if the argument is not a snapshot of an engine, if it was changed, or if it belongs
   * to another tracker
   */
  static restore(
    snapshot: EngineSnapshot,
    tracker: RealTimeFairnessTracker,
    options: AlertEngineOptions = {},
  ): FairnessDriftAndAlertEngine {
    assertKnownOptions('FairnessDriftAndAlertEngine.restore', options, ALERT_ENGINE_OPTION_NAMES);
    const engine = new FairnessDriftAndAlertEngine(options);
    requireInstance('tracker', tracker, RealTimeFairnessTracker);
    const watched = engine.#prepare(tracker.stream);
    whileRestoring(() => {
      engine.#fill(readEngineSnapshot(snapshot, watched.stream, watched.combinations), watched);
      if (!isUnused(snapshot)) for (const combination of watched.combinations) combination.holdStart(watched.stream);
    });
    engine.#begin(watched);
    return engine;
  }

  /**
   * Returns an engine in the same state that sends nothing. The next `update` of the copy returns what this engine
   * would return, and leaves this engine unchanged. The copy does not receive later events, so use it for only one
   * check.
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
    const present = combinations.map(({ memory }, index) => {
      if (memory.open !== null) return 'breach';
      const state = last[index]?.state ?? this.#present[index] ?? 'unknown';
      // If an alarm was closed since the last check, the state is not a breach until the next check.
      return state === 'breach' ? 'unknown' : state;
    });
    // Checks are frequent and changes are rare. If no state has changed, the same object is returned again.
    if (present.some((state, index) => state !== this.#present[index]) || present.length !== this.#present.length) {
      this.#present = present;
      this.#states = engineStates(combinations, present);
    }
    return Object.freeze({ alerts: Object.freeze(alerts), watches: Object.freeze(watches), states: this.#states });
  }

  #report(change: AlertChange, alert: AlertEvent, stream: EventStream): void {
    const transition = Object.freeze({ change, timestamp: formatTime(stream.time), alert });
    this.#ledger.note(transition);
    for (const sink of this.#options.sinks) sink.send(transition);
  }

  #showReadings({ stream, combinations, last }: Watched): void {
    const showing = this.#options.sinks.filter((sink) => sink.read !== undefined);
    if (showing.length === 0) return;
    const readings = combinations.map((combination, index): MonitorReading => {
      const { state, reading } = last[index] as CheckOutcome;
      return {
        attribute: combination.name,
        metric: combination.metric.metric,
        state,
        value: reading?.value ?? null,
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
