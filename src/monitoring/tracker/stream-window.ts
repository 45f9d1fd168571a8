import { groupShare, type KnownGroups } from './error-budget.ts';
import type { EventStream } from './event-stream.ts';
import type { GroupTable } from './group-table.ts';
import { emptySums, type MeasureSums, measureValue, sumMeasure } from './measured-groups.ts';
import type { WatchedMeasure } from './watched-metric.ts';

/** A stretch of a stream: the difference between its sums now and at its beginning. */
export interface StreamWindow {
  /** By attribute. */
  readonly now: readonly GroupTable[];
  /** By attribute; null for the whole stream. */
  readonly before: readonly GroupTable[] | null;
  /** Events in it. */
  readonly events: number;
}

/** The last `windowSize` events. */
export function slidingWindow(stream: EventStream): StreamWindow {
  return { now: stream.window.tables, before: null, events: stream.window.length };
}

/** All events. */
export function cumulativeWindow(stream: EventStream): StreamWindow {
  return { now: stream.tables, before: null, events: stream.events };
}

/** A group's measure in a window. */
export interface MeasuredGroup {
  readonly code: number;
  readonly sums: MeasureSums;
  readonly value: number;
}

/** The measure of every group of an attribute that has any event in its denominator. */
export function measureGroups(window: StreamWindow, attribute: number, measure: WatchedMeasure): MeasuredGroup[] {
  const now = window.now[attribute] as GroupTable;
  const before = window.before?.[attribute] ?? null;
  const found: MeasuredGroup[] = [];
  for (let code = 0; code < now.groups; code++) {
    const sums = sumMeasure(measure, now, before, code, emptySums());
    if (sums.n <= 0) continue;
    const value = measureValue(sums);
    if (!Number.isNaN(value)) found.push({ code, sums, value });
  }
  return found;
}

/** What is known of an attribute's groups, for their shares of the error budget. */
export function knownGroups(stream: EventStream, attribute: number): KnownGroups {
  return {
    early: Math.max(1, stream.early[attribute] as number),
    isClosed: (stream.options.attributes[attribute]?.declared ?? null) !== null,
  };
}

/** The alpha of one group's interval, of the alpha of its measure. */
export function groupAlpha(stream: EventStream, attribute: number, group: number, alpha: number): number {
  return alpha * groupShare(group, knownGroups(stream, attribute));
}
