import type { MonitorState } from '../alarms/alert-event.ts';
import { type EngineStates, strataName } from '../alarms/engine-snapshot.ts';
import type { FairnessDriftAndAlertEngine } from '../alarms/fairness-drift-and-alert-engine.ts';
import { PairReader } from '../alarms/pair-bounds.ts';
import { readWindow, type WatchReading } from '../alarms/watch-tier.ts';
import type { WatchedCombination } from '../alarms/watched-combination.ts';
import type { EventStream } from '../tracker/event-stream.ts';
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

/**
 * Returns the gap of every metric that an engine watches, in the current sliding window of its tracker. If the engine has
 * strata, the gaps within strata follow.
 */
export function takeGaps(
  { stream }: RealTimeFairnessTracker,
  { watched }: FairnessDriftAndAlertEngine,
  states: EngineStates,
): readonly WatchedGap[] {
  const { combinations = [] } = watched ?? {};
  const overall = combinations.map((one): WatchedGap => {
    const found = readWindow(stream, one.attribute, one.metric);
    const facts = { metric: one.metric.metric, windowEvents: stream.window.length };
    return 'missing' in found
      ? gapOf(stream, one, states, facts, null, found.missing.measure.name)
      : gapOf(stream, one, states, facts, found.reading);
  });
  return [...overall, ...takeGapsWithin(stream, { watched }, states)];
}

/** Returns the current gap within strata of every metric; none if the engine has no strata. */
export function takeGapsWithin(
  stream: EventStream,
  { watched }: Pick<FairnessDriftAndAlertEngine, 'watched'>,
  states: EngineStates,
): readonly WatchedGap[] {
  const { strata = [], pairs } = watched ?? {};
  if (pairs === undefined || pairs === null) return [];
  return strata.map((one): WatchedGap => {
    const reader = new PairReader(pairs, one.attribute, one.metric);
    const windowEvents = stream.events - reader.startOf(stream).events;
    return gapOf(stream, one, states, { metric: strataName(one.metric), windowEvents }, reader.read(stream));
  });
}

function gapOf(
  stream: EventStream,
  { attribute, name, metric: { measures }, limit }: WatchedCombination,
  states: EngineStates,
  facts: Pick<WatchedGap, 'metric' | 'windowEvents'>,
  reading: WatchReading | null,
  unread = measures[0]?.name ?? '',
): WatchedGap {
  const { metric, windowEvents } = facts;
  const rest = { attribute: name, metric, state: states[name]?.[metric] ?? ('unknown' as const), windowEvents, limit };
  if (reading === null) {
    return { ...rest, value: null, low: null, high: null, groups: null, rates: null, n: null, measure: unread };
  }
  const { measure, larger, smaller, value, low, high } = reading;
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
}
