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
  strataName,
} from './engine-snapshot.ts';
import { StratumPairs } from './stratum-pairs.ts';
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

/** Returns the state of each combination after the latest check. */
function presentStates(
  combinations: readonly WatchedCombination[],
  last: readonly CheckOutcome[],
  earlier: readonly MonitorState[],
): MonitorState[] {
  return combinations.map(({ memory }, index) => {
    if (memory.open !== null) return 'breach';
    const state = last[index]?.state ?? earlier[index] ?? 'unknown';
    // If an alarm was closed since the last check, the state is not a breach until the next check.
    return state === 'breach' ? 'unknown' : state;
  });
}

function isOther(present: readonly MonitorState[], earlier: readonly MonitorState[]): boolean {
  return present.length !== earlier.length || present.some((state, index) => state !== earlier[index]);
}

/** The parts of an engine that depend on the tracker that it watches. */
interface Watched {
  stream: EventStream;
  readonly bank: DetectorBank;
  readonly combinations: readonly WatchedCombination[];
  /** The combinations of the gaps within strata, and the pairs of events that they use. */
  readonly strata: readonly WatchedCombination[];
  readonly pairs: StratumPairs | null;
  /** The numbers of events and late labels that had been counted at the last check. */
  seen: string;
  last: readonly CheckOutcome[];
  lastWithin: readonly CheckOutcome[];
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
 * With `within`, each metric of rates also has an alarm for the gap within strata: periods of time, or the labels of a
 * column. Each event forms a pair with an event of another group in the same stratum, so a mix of groups that changes
 * together with the rates causes no gap. The gap is the mean difference of the pairs, a Mantel-Haenszel type mean of the
 * differences in the strata. Each of the two alarms has half of the budget of its metric. Both have their own ids and
 * states, and an alert about the gap of the complete stream also shows the gap within strata.
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
  #presentWithin: readonly MonitorState[] = [];
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
    const share = this.#options.alpha / (attributes.length * metrics.length);
    const pairs = this.#options.strata === null ? null : new StratumPairs(stream, this.#options.strata);
    const combinations: WatchedCombination[] = [];
    const strata: WatchedCombination[] = [];
    for (const [attribute, { name }] of attributes.entries()) {
      for (const metric of metrics) {
        const index = { attribute, name, metric };
        const limit = limitOf(metric, this.#options);
        const isPaired = pairs !== null && metric.measures.every(({ kind }) => kind === 'rate');
        // The gap of the complete stream and the gap within strata each have half of the share of their metric.
        const alpha = { engine: this.#options.alpha, combination: isPaired ? share / 2 : share };
        const within = isPaired ? new WatchedCombination(index, limit, alpha, this.#options, { pairs }) : undefined;
        if (within !== undefined) strata.push(within);
        combinations.push(new WatchedCombination(index, limit, alpha, this.#options, { within }));
      }
    }
    const bank = new DetectorBank(stream, this.#options.detectors);
    return { stream, bank, combinations, strata, pairs, seen: '', last: [], lastWithin: [] };
  }

  #begin(watched: Watched): void {
    watched.pairs?.begin();
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
    const { stream, bank, combinations, strata } = watched;
    const seen = `${String(stream.events)} ${String(stream.lateLabels)}`;
    if (seen === watched.seen || stream.events === 0) return this.#result([], []);
    watched.seen = seen;
    watched.last = combinations.map((combination) => combination.look(stream, bank));
    watched.lastWithin = strata.map((combination) => combination.look(stream, bank));
    const alerts: AlertEvent[] = [];
    const watches: AlertEvent[] = [];
    for (const { change, alert, watch } of [...watched.last, ...watched.lastWithin]) {
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
    const { combinations = [], strata = [], pairs = null } = this.#watched ?? {};
    const memories = (list: readonly WatchedCombination[]): EngineSnapshot['combinations'] =>
      list.map(({ name, metric, memory }) => ({ attribute: name, metric: metric.metric, ...memory }));
    return {
      version: ENGINE_SNAPSHOT_VERSION,
      combinations: memories(combinations),
      alerts: [...this.#ledger.list()],
      detectors: this.#watched?.bank.state() ?? [],
      seen: this.#watched?.seen ?? '',
      present: [...this.#present],
      strata:
        pairs === null
          ? null
          : { combinations: memories(strata), pairs: pairs.state(), present: [...this.#presentWithin] },
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
      const read = readEngineSnapshot(snapshot, watched.stream, watched);
      engine.#fill(read, watched);
      if (isUnused(read)) return;
      for (const combination of [...watched.combinations, ...watched.strata]) combination.holdStart(watched.stream);
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
    const fill = (list: readonly WatchedCombination[], from: Pick<EngineSnapshot, 'combinations'>): void => {
      for (const combination of list) {
        const { attribute: _, metric: __, ...memory } = memoryOf(from, combination);
        combination.memory = memory;
      }
    };
    fill(watched.combinations, snapshot);
    if (snapshot.strata !== null) {
      fill(watched.strata, snapshot.strata);
      watched.pairs?.restore(snapshot.strata.pairs);
      this.#presentWithin = snapshot.strata.present;
    }
    watched.bank.restore(snapshot.detectors);
    watched.seen = snapshot.seen;
    this.#present = snapshot.present;
    if (snapshot.present.length > 0) {
      this.#states = engineStates(watched, snapshot.present, this.#presentWithin);
    }
    this.#ledger.restore(snapshot.alerts);
  }

  #result(alerts: readonly AlertEvent[], watches: readonly AlertEvent[]): EngineUpdate {
    const { combinations = [], strata = [], last = [], lastWithin = [] } = this.#watched ?? {};
    const present = presentStates(combinations, last, this.#present);
    const within = presentStates(strata, lastWithin, this.#presentWithin);
    // Checks are frequent and changes are rare. If no state has changed, the same object is returned again.
    if (isOther(present, this.#present) || isOther(within, this.#presentWithin)) {
      this.#present = present;
      this.#presentWithin = within;
      this.#states = engineStates({ combinations, strata }, present, within);
    }
    return Object.freeze({ alerts: Object.freeze(alerts), watches: Object.freeze(watches), states: this.#states });
  }

  #report(change: AlertChange, alert: AlertEvent, stream: EventStream): void {
    const transition = Object.freeze({ change, timestamp: formatTime(stream.time), alert });
    this.#ledger.note(transition);
    for (const sink of this.#options.sinks) sink.send(transition);
  }

  #showReadings({ stream, combinations, last, strata, lastWithin }: Watched): void {
    const showing = this.#options.sinks.filter((sink) => sink.read !== undefined);
    if (showing.length === 0) return;
    const readings = [...combinations, ...strata].map((combination, index): MonitorReading => {
      const { state, reading } = [...last, ...lastWithin][index] as CheckOutcome;
      return {
        attribute: combination.name,
        metric: index < combinations.length ? combination.metric.metric : strataName(combination.metric),
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
    const { combinations: overall = [], strata = [], stream } = this.#watched ?? {};
    const combinations = [...overall, ...strata];
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
