/** How much an alert matters: confidence x excess over the limit, in bands that begin at 0, 0.02 and 0.10. */
export type Severity = 'low' | 'high' | 'critical';

/** What is known of one metric of one attribute. */
export type MonitorState = 'within' | 'watch' | 'breach' | 'unknown';

/** The part of the error budget that one bound of an alert was computed at. */
export interface AlphaShare {
  /** The engine's budget: the probability that it ever raises a false alarm. */
  readonly engine: number;
  /** What this attribute and metric have of it. */
  readonly combination: number;
  /** What this window has of that. */
  readonly window: number;
  /** What the bounds of both groups have of that; the smaller, where they differ. */
  readonly group: number;
}

/**
 * A gap that was found above its limit. Frozen.
 *
 * An alarm stands on a lower bound that holds at all times together; a watch
 * stands on an ordinary interval, may be wrong, and pages nobody.
 */
export interface AlertEvent {
  /** Stable within an engine: `sex:demographic_parity_difference:1`. */
  readonly id: string;
  readonly tier: 'alarm' | 'watch';
  /** ISO 8601 in UTC. */
  readonly timestamp: string;
  readonly metric: string;
  readonly attribute: string;
  /** The two groups that are furthest apart: the one with the larger rate, then the smaller. */
  readonly groups: readonly [larger: string, smaller: string];
  /** The measure that they differ in: `selection_rate`, `true_positive_rate`. */
  readonly measure: string;
  /** The rates of both, in the order of `groups`. */
  readonly rates: readonly [larger: number, smaller: number];
  /** The gap. */
  readonly value: number;
  readonly low: number;
  readonly high: number;
  readonly limit: number;
  /** Events behind the smaller of the two rates' denominators. */
  readonly n: number;
  readonly severity: Severity;
  /** confidence x (value - limit). */
  readonly severityScore: number;
  /** 1 - min(1, half the interval's width / limit): smaller groups lower it. It decides nothing. */
  readonly confidence: number;
  /** How far the rates of both groups moved since the suspected change: the larger of the two |after - before|, in [0, 1]; null where no change was found. */
  readonly driftScore: number | null;
  /** When a detector suspects that the change began, ISO 8601; null where none found one. */
  readonly changedAt: string | null;
  /** When the window of the evidence begins, ISO 8601, and how many events it holds. */
  readonly windowStart: string;
  readonly windowEvents: number;
  /** Null for a watch, which has no guarantee over many looks. */
  readonly share: AlphaShare | null;
  /** One sentence in plain words. */
  readonly reason: string;
}

/** What may happen to an alert after it was raised. */
export type AlertChange = 'raised' | 'repeated' | 'acknowledged' | 'resolved' | 'cleared';

/** Something that happened to an alert: raised or repeated by the data, acknowledged or resolved by a person, cleared by the data. */
export interface AlertTransition {
  readonly change: AlertChange;
  /** ISO 8601 in UTC. */
  readonly timestamp: string;
  readonly alert: AlertEvent;
}

/** Numbers that are watched, at one time; what gauges show. */
export interface MonitorReading {
  readonly attribute: string;
  readonly metric: string;
  readonly state: MonitorState;
  /** The gap in the sliding window; null where it is undefined. */
  readonly value: number | null;
  /** The best lower bound of the gap that holds at all times; null where there is none. */
  readonly low: number | null;
  readonly limit: number;
  readonly n: number;
}

/** Where alerts go. A sink that fails must not stop the monitor: it tells its failure to the log and in {@link AlertSink.failures}. */
export interface AlertSink {
  /** Its name in messages: `webhook`. */
  readonly name: string;
  /** Takes what happened to an alert; may work on in the background. */
  send(transition: AlertTransition): void;
  /** Takes the present numbers after every update, where the sink shows them. */
  read?(readings: readonly MonitorReading[]): void;
  /** Transitions that could not be delivered so far. */
  readonly failures: number;
  /** Waits until everything sent has been delivered or given up. */
  close(): Promise<void>;
}

/** An alert with what became of it. */
export interface AlertHistory {
  readonly alert: AlertEvent;
  readonly isOpen: boolean;
  readonly isAcknowledged: boolean;
  readonly changes: readonly { readonly change: AlertChange; readonly timestamp: string }[];
}
