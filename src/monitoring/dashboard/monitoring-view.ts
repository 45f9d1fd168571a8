import type { AlertHistory, MonitorState } from '../alarms/alert-event.ts';
import type { MonitoringRecord } from '../records/monitoring-record.ts';
import type { LabelCoverage, StreamFaults } from '../tracker/event-block.ts';

/** One metric of one attribute, as it stands. */
export interface WatchedMetric {
  readonly attribute: string;
  readonly metric: string;
  readonly state: MonitorState;
  /** Why it is in this state, and what is missing where it is unknown ("about 1,200 more of group 'a' needed"). */
  readonly sentence: string;
  readonly limit: number;
  /** What the engine may spend on this metric of its false-alarm probability. */
  readonly alpha: number;
  /** The gap and its records of groups in the sliding window now; those of every measure that the metric compares. */
  readonly now: readonly MonitoringRecord[];
  /** The same over all events, with intervals that hold at all times. */
  readonly overall: readonly MonitoringRecord[];
}

/** A crossing of two attributes: one cell for each group that occurs. */
export interface CrossedCells {
  /** The attribute's name: `sex||race`. */
  readonly attribute: string;
  readonly rowAttribute: string;
  readonly columnAttribute: string;
  readonly measure: string;
  readonly cells: readonly {
    readonly row: string;
    readonly column: string;
    readonly n: number;
    /** The rate over all events; null where it is undefined. */
    readonly value: number | null;
  }[];
}

/** All that a dashboard shows: plain data, taken at one time. */
export interface MonitoringView {
  /** ISO 8601: the time of the latest event; null before the first. */
  readonly timestamp: string | null;
  readonly firstTimestamp: string | null;
  readonly nEvents: number;
  readonly windowSize: number;
  readonly minGroupSize: number;
  readonly level: number;
  /** The engine's budget of false alarms. */
  readonly alpha: number;
  readonly watched: readonly WatchedMetric[];
  /** Records by time, oldest first, thinned to what a picture can show; both windows, groups and gaps. */
  readonly history: readonly MonitoringRecord[];
  readonly alerts: readonly AlertHistory[];
  readonly coverage: readonly LabelCoverage[];
  readonly crossings: readonly CrossedCells[];
  readonly faults: StreamFaults;
  /** Notes that a reader must not miss. */
  readonly notes: readonly string[];
}
