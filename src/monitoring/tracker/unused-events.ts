import type { RealTimeFairnessTracker } from './real-time-fairness-tracker.ts';

/** How many events of a stream do not count in its metrics. */
export interface UnusedEvents {
  /** The number of events that arrived. */
  readonly total: number;
  /** The number of events without a prediction or a weight, which count in no metric. */
  readonly leftOut: number;
  /** The attributes in which events have no usable group, and the number of these events. No intersections. */
  readonly ungrouped: readonly { readonly attribute: string; readonly events: number }[];
  /** The largest number of events that a single attribute cannot use. */
  readonly most: number;
}

/** Counts the events that could not be used. */
export function unusedEvents(tracker: RealTimeFairnessTracker): UnusedEvents {
  const { stream, faults: problems } = tracker;
  const coverage = tracker.labelCoverage();
  const leftOut = (problems['missing_prediction'] ?? 0) + (problems['missing_weight'] ?? 0);
  const ungrouped = stream.options.attributes.flatMap(({ name, parts }) => {
    const grouped = coverage.reduce((sum, { attribute, n }) => sum + (attribute === name ? n : 0), 0);
    const events = stream.events - grouped;
    return parts.length > 0 || events <= 0 ? [] : [{ attribute: name, events }];
  });
  const most = leftOut + Math.max(0, ...ungrouped.map(({ events }) => events));
  return { total: stream.events + leftOut, leftOut, ungrouped, most };
}
