import type { EventStream } from './event-stream.ts';
import type { GroupTable } from './group-table.ts';
import { emptySums, type MeasureSums, measureValue, sumMeasure } from './measure-intervals.ts';
import type { WatchedMeasure } from './watched-metric.ts';

/**
 * The part of an error budget that is reserved: for groups that appear after the first events, or for windows that
 * begin after the first closed alarm.
 */
const RESERVE = 0.2;

/** The known groups of an attribute. */
export interface KnownGroups {
  /** The number of declared groups or, without a declaration, of groups that appeared in the first events. */
  readonly early: number;
  /** Whether only declared groups are counted. */
  readonly isClosed: boolean;
}

/**
 * Returns the share of a measure's error budget for one group's interval. The shares of all groups, including future
 * groups, add up to at most 1.
 *
 * Declared groups have equal shares, 1/K. If groups are not declared, each of the K early groups has 0.8/K, and the
 * j-th later group has 0.2/(j (j + 1)). The shares of later groups add up to at most 0.2. Shares may depend on the
 * order in which groups appear, because the tests are about outcomes and not about groups.
 * @param group the group's code: the number of groups that appeared before it
 */
export function groupShare(group: number, { early, isClosed }: KnownGroups): number {
  if (isClosed) return 1 / early;
  if (group < early) return (1 - RESERVE) / early;
  const late = group - early + 1;
  return RESERVE / (late * (late + 1));
}

/**
 * Returns the share of a metric's error budget for windows that begin at one start. The full stream gets half of the
 * budget, and the k-th restart gets 1/(k (k + 1)) of the other half. In an endless stream, all shares add up to 1. A
 * later start has a smaller share and therefore wider intervals, but the width grows only with the logarithm of the
 * start's index.
 * @param start the start's index; 0 is the beginning of the stream
 */
export function startShare(start: number): number {
  return start === 0 ? 0.5 : 0.5 / (start * (start + 1));
}

/**
 * Returns a window's share of the error budget if statistics do not restart. In this case, a window grows until its
 * alarm is closed. Then a new window begins. The first window has the share 0.8, and the window after the j-th closed
 * alarm has the share 0.2/(j (j + 1)).
 * @param closed the number of alarms closed so far
 */
export function growingShare(closed: number): number {
  return closed === 0 ? 1 - RESERVE : RESERVE / (closed * (closed + 1));
}

/** The sums of a window of a stream. */
export interface StreamWindow {
  /** The sums of the window, one table per attribute. */
  readonly tables: readonly GroupTable[];
  /** The number of events in the window. */
  readonly events: number;
}

/** Returns the window of the last `windowSize` events. */
export function slidingWindow(stream: EventStream): StreamWindow {
  return { tables: stream.window.tables, events: stream.window.length };
}

/** Returns the window of all events. */
export function cumulativeWindow(stream: EventStream): StreamWindow {
  return { tables: stream.tables, events: stream.events };
}

/** A group's measure in a window. */
export interface MeasuredGroup {
  readonly code: number;
  readonly sums: MeasureSums;
  readonly value: number;
}

/** Returns a measure for all groups of an attribute that have events in the measure's denominator. */
export function measureGroups(window: StreamWindow, attribute: number, measure: WatchedMeasure): MeasuredGroup[] {
  const table = window.tables[attribute] as GroupTable;
  const found: MeasuredGroup[] = [];
  for (let code = 0; code < table.groups; code++) {
    const sums = sumMeasure(measure, table, null, code, emptySums());
    if (sums.n <= 0) continue;
    const value = measureValue(sums);
    if (!Number.isNaN(value)) found.push({ code, sums, value });
  }
  return found;
}

/** Returns the known groups of an attribute, which determine the groups' shares of the error budget. */
export function knownGroups(stream: EventStream, attribute: number): KnownGroups {
  return {
    early: Math.max(1, stream.early[attribute] as number),
    isClosed: (stream.options.attributes[attribute]?.declared ?? null) !== null,
  };
}

/** Returns the alpha for the interval of one group, given the alpha of the measure. */
export function groupAlpha(stream: EventStream, attribute: number, group: number, alpha: number): number {
  return alpha * groupShare(group, knownGroups(stream, attribute));
}
