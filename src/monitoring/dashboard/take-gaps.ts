import type { MonitorState } from '../alarms/alert-event.ts';
import type { EngineStates } from '../alarms/engine-snapshot.ts';
import type { FairnessDriftAndAlertEngine } from '../alarms/fairness-drift-and-alert-engine.ts';
import { readWindow } from '../alarms/watch-tier.ts';
import type { RealTimeFairnessTracker } from '../tracker/real-time-fairness-tracker.ts';

/** The gap of one metric of one attribute in the sliding window. Undefined values are null. */
export interface WatchedGap {
  readonly attribute: string;
  readonly metric: string;
  readonly state: MonitorState;
  /** The largest difference between two groups, and its ordinary interval at the tracker's level. */
  readonly value: number | null;
  readonly low: number | null;
  readonly high: number | null;
  /**
   * The two groups that differ most, the group with the higher rate first. `rates` contains the rates of these groups
   * in the same order.
   */
  readonly groups: readonly [string, string] | null;
  readonly rates: readonly [number, number] | null;
  /** The compared measure, such as `selection_rate`. */
  readonly measure: string;
  /** The number of events of the smaller of the two groups. */
  readonly n: number | null;
  readonly windowEvents: number;
  readonly limit: number;
}

/** Returns the gap of every metric that an engine watches, in the current sliding window of its tracker. */
export function takeGaps(
  { stream }: RealTimeFairnessTracker,
  { watched }: FairnessDriftAndAlertEngine,
  states: EngineStates,
): readonly WatchedGap[] {
  return (watched?.combinations ?? []).map(({ attribute, name, metric, limit }): WatchedGap => {
    const outcome = readWindow(stream, attribute, metric);
    const rest = {
      attribute: name,
      metric: metric.metric,
      state: states[name]?.[metric.metric] ?? 'unknown',
      windowEvents: stream.window.length,
      limit,
    };
    if ('missing' in outcome) {
      const undefinedGap = { value: null, low: null, high: null, groups: null, rates: null, n: null };
      return { ...rest, ...undefinedGap, measure: outcome.missing.measure.name };
    }
    const { measure, larger, smaller, value, low, high } = outcome.reading;
    const labels = stream.reader.groups[attribute]?.labels ?? [];
    return {
      ...rest,
      value,
      low,
      high,
      groups: [labels[larger.code] ?? '', labels[smaller.code] ?? ''],
      rates: [larger.value, smaller.value],
      measure: measure.name,
      n: Math.min(larger.sums.n, smaller.sums.n),
    };
  });
}
