import { ordinaryGapInterval } from '../tracker/measure-intervals.ts';
import type { EventStream } from '../tracker/event-stream.ts';
import { type MeasuredGroup, measureGroups, slidingWindow } from '../tracker/stream-window.ts';
import type { WatchedMeasure, WatchedMetric } from '../tracker/watched-metric.ts';

/**
 * The gap of a metric in the sliding window, with an ordinary interval. The interval is valid for a single check, but
 * over many checks it is occasionally wrong.
 */
export interface WatchReading {
  readonly measure: WatchedMeasure;
  /** The two groups with the largest difference. */
  readonly larger: MeasuredGroup;
  readonly smaller: MeasuredGroup;
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** The reason why the gap of a metric could not be computed. */
export interface NoReading {
  readonly measure: WatchedMeasure;
  /** The groups that have too few events, largest group first. */
  readonly tooSmall: readonly MeasuredGroup[];
  /** Groups with enough events. */
  readonly large: readonly MeasuredGroup[];
}

/** The gap in the sliding window, or the reason why there is no gap. */
export type WatchOutcome = { readonly reading: WatchReading } | { readonly missing: NoReading };

/**
 * Reads the sliding window. Returns the measure with the largest gap, and the largest lower and upper bound over all
 * measures.
 */
export function readWindow(stream: EventStream, attribute: number, metric: WatchedMetric): WatchOutcome {
  const { minGroupSize, level } = stream.options;
  const alpha = (1 - level) / metric.measures.length;
  let widest: WatchReading | undefined;
  let low = 0;
  let high = 0;
  for (const measure of metric.measures) {
    const groups = measureGroups(slidingWindow(stream), attribute, measure);
    const large = groups.filter(({ sums }) => sums.n >= minGroupSize);
    const interval = large.length < 2 ? null : ordinaryGapInterval(measure, large, 1 - alpha);
    if (interval === null) {
      const tooSmall = groups.filter(({ sums }) => sums.n < minGroupSize).sort((a, b) => b.sums.n - a.sums.n);
      return { missing: { measure, tooSmall, large } };
    }
    low = Math.max(low, interval[0]);
    high = Math.max(high, interval[1]);
    const larger = large.reduce((most, group) => (group.value > most.value ? group : most));
    const smaller = large.reduce((min, group) => (group.value < min.value ? group : min));
    const value = larger.value - smaller.value;
    if (widest === undefined || value > widest.value) widest = { measure, larger, smaller, value, low: 0, high: 0 };
  }
  return { reading: { ...(widest as WatchReading), low, high } };
}

/** Returns the state of a gap in the sliding window. */
export function windowState({ low, high }: WatchReading, limit: number): 'within' | 'watch' | 'unknown' {
  if (high <= limit) return 'within';
  return low > limit ? 'watch' : 'unknown';
}
