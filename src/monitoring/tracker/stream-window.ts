import { groupShare, type KnownGroups } from './error-budget.ts';
import type { EventStream } from './event-stream.ts';
import type { GroupTable } from './group-table.ts';
import { emptySums, type MeasureSums, measureValue, sumMeasure } from './measured-groups.ts';
import type { WatchedMeasure } from './watched-metric.ts';

/** The sums of a window of a stream. */
export interface StreamWindow {
  /** By attribute. */
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

/** Returns a measure for every group of an attribute that has events in the measure's denominator. */
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

/** Returns the alpha of one group's interval, given the alpha of its measure. */
export function groupAlpha(stream: EventStream, attribute: number, group: number, alpha: number): number {
  return alpha * groupShare(group, knownGroups(stream, attribute));
}
