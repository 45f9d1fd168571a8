import type { AlertHistory, MonitorState } from '../alarms/alert-event.ts';
import type { MonitoringRecord } from '../records/monitoring-record.ts';
import type { WatchedGap } from './take-gaps.ts';
import type { LabelCoverage, StreamProblems } from '../tracker/event-block.ts';

/** The current state of one metric of one attribute. */
export interface WatchedMetric {
  readonly attribute: string;
  readonly metric: string;
  readonly state: MonitorState;
  /**
   * Why the metric is in this state, and what is missing if the state is unknown ("about 1,200 more events of group
   * 'a' are needed").
   */
  readonly sentence: string;
  readonly limit: number;
  /** The part of the engine's false-alarm probability that this metric has. */
  readonly alpha: number;
  /** The current records in the sliding window: the gap, and the groups for every measure that the metric compares. */
  readonly now: readonly MonitoringRecord[];
  /** The current records over all events: the gap and the groups, with intervals that hold at all times. */
  readonly overall: readonly MonitoringRecord[];
}

/** An intersection of two attributes. Each combination of groups that occurs has one cell. */
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
    /** The rate over all events; null if it is undefined. */
    readonly value: number | null;
  }[];
}

/** The content of a dashboard at one time, as plain data. */
export interface MonitoringView {
  /** The time of the latest event, in ISO 8601; null before the first event. */
  readonly timestamp: string | null;
  readonly firstTimestamp: string | null;
  readonly nEvents: number;
  readonly windowSize: number;
  readonly minGroupSize: number;
  readonly level: number;
  /** The engine's error budget for false alarms. */
  readonly alpha: number;
  readonly watched: readonly WatchedMetric[];
  /** The current gaps within strata; absent if the engine has no strata. */
  readonly within?: readonly WatchedGap[] | undefined;
  /**
   * The past records of groups and gaps, both over all events and in the sliding window, oldest first. The number of
   * timestamps is limited to what a chart can show.
   */
  readonly history: readonly MonitoringRecord[];
  readonly alerts: readonly AlertHistory[];
  readonly coverage: readonly LabelCoverage[];
  readonly crossings: readonly CrossedCells[];
  readonly faults: StreamProblems;
  /** Important notes for the reader. */
  readonly notes: readonly string[];
}
