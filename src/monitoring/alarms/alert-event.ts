/**
 * The severity of an alert. The severity depends on the severity score, which is the confidence times the excess of the
 * gap over the limit. The bands of the score begin at 0, 0.02 and 0.10.
 */
export type Severity = 'low' | 'high' | 'critical';

/** All states that a metric can have. */
export const MONITOR_STATES = ['within', 'watch', 'breach', 'unknown'] as const;

/** The state of a metric for one attribute. */
export type MonitorState = (typeof MONITOR_STATES)[number];

/** The part of the error budget that the bound of an alert uses. */
export interface AlphaShare {
  /** The error budget of the engine: the probability that it ever raises a false alarm. */
  readonly engine: number;
  /** The share of the engine's budget that this combination of attribute and metric has. */
  readonly combination: number;
  /** The share of the combination's budget that this window has. */
  readonly window: number;
  /**
   * The share of the window's budget that the bound of each of the two groups has. If the two groups have different
   * shares, this is the smaller one.
   */
  readonly group: number;
}

/** A gap within strata, with a bound that holds at all times simultaneously. Undefined numbers are null. */
export interface GapWithinStrata {
  /**
   * Whether the alert is about this gap. If not, the alert is about the gap of the complete stream, and this is the
   * current gap within strata beside it.
   */
  readonly isReason: boolean;
  /** Whether the lower bound of the gap within strata is above the limit. */
  readonly isAbove: boolean;
  readonly value: number | null;
  readonly low: number | null;
  readonly high: number | null;
  /** The number of pairs of events within strata. */
  readonly n: number;
}

/**
 * An alert about a gap that was found above its limit. Frozen.
 *
 * An alarm is based on a lower bound that holds at all times simultaneously. A watch is based on an ordinary interval.
 * It may be wrong, so it should not page anyone.
 */
export interface AlertEvent {
  /** An identifier that is stable within an engine, such as `sex:demographic_parity_difference:1`. */
  readonly id: string;
  readonly tier: 'alarm' | 'watch';
  /** The time of the alert (ISO 8601 in UTC). */
  readonly timestamp: string;
  readonly metric: string;
  readonly attribute: string;
  /** The two groups that differ most. The group with the larger rate comes first. */
  readonly groups: readonly [larger: string, smaller: string];
  /** The measure in which the groups differ, such as `selection_rate` or `true_positive_rate`. */
  readonly measure: string;
  /** The rates of both groups, in the order of `groups`. */
  readonly rates: readonly [larger: number, smaller: number];
  /** The gap. */
  readonly value: number;
  readonly low: number;
  readonly high: number;
  readonly limit: number;
  /** The number of events in the denominator of the smaller group. */
  readonly n: number;
  readonly severity: Severity;
  /** The severity score: confidence x (value - limit). */
  readonly severityScore: number;
  /**
   * The confidence: 1 - min(1, half the interval's width / limit). The confidence is lower for smaller groups. The
   * confidence does not affect whether an alert is raised.
   */
  readonly confidence: number;
  /**
   * How much the rates have changed since the suspected change: the larger of the two groups' values |after - before|,
   * in [0, 1]. Null if no change was found.
   */
  readonly driftScore: number | null;
  /**
   * The time at which the change probably began, as estimated by a detector (ISO 8601). Null if no detector found a
   * change.
   */
  readonly changedAt: string | null;
  /** The time at which the evidence window begins (ISO 8601). */
  readonly windowStart: string;
  /** The number of events in the evidence window. */
  readonly windowEvents: number;
  /** The shares of the error budget that the alert uses. Null for a watch, which has no guarantee over many checks. */
  readonly share: AlphaShare | null;
  /** The gap within strata; null if the engine has no strata, or the metric is not a rate. */
  readonly within: GapWithinStrata | null;
  /** A description of the alert in a sentence. */
  readonly reason: string;
}

/** All kinds of transitions of an alert. */
export const ALERT_CHANGES = ['raised', 'repeated', 'acknowledged', 'resolved', 'cleared'] as const;

/** A kind of transition of an alert. */
export type AlertChange = (typeof ALERT_CHANGES)[number];

/**
 * A transition of an alert. The monitor raises, repeats or clears an alert because of new data. A person acknowledges
 * or resolves an alert.
 */
export interface AlertTransition {
  readonly change: AlertChange;
  /** The time of the transition (ISO 8601 in UTC). */
  readonly timestamp: string;
  readonly alert: AlertEvent;
}

/** The current values of one metric of one attribute, as a monitoring system shows them in a gauge. */
export interface MonitorReading {
  readonly attribute: string;
  readonly metric: string;
  readonly state: MonitorState;
  /** The gap in the sliding window; null if it is undefined. */
  readonly value: number | null;
  /** The best lower bound of the gap that holds at all times; null if there is no such bound. */
  readonly low: number | null;
  readonly limit: number;
  readonly n: number;
}

/**
 * A destination of alerts. A failing sink must not stop the monitor. The sink reports its failures to the log and in
 * {@link AlertSink.failures}.
 */
export interface AlertSink {
  /** The name of the sink in messages, such as `webhook`. */
  readonly name: string;
  /** Receives a transition of an alert. The delivery may continue in the background. */
  send(transition: AlertTransition): void;
  /** Receives the current values after every update. Sinks that show no values do not implement this method. */
  read?(readings: readonly MonitorReading[]): void;
  /** The number of transitions that could not be delivered so far. */
  readonly failures: number;
  /** Waits until every transition has been delivered, or until its delivery has finally failed. */
  close(): Promise<void>;
}

/** An alert with all its transitions. */
export interface AlertHistory {
  readonly alert: AlertEvent;
  readonly isOpen: boolean;
  readonly isAcknowledged: boolean;
  readonly changes: readonly { readonly change: AlertChange; readonly timestamp: string }[];
}
