import type { Interval } from '../../stats/proportion-interval.ts';
import type { MonitoringRecord, MonitoringWindow } from '../records/monitoring-record.ts';
import { formatTime } from '../records/record-time.ts';
import type { EventStream } from './event-stream.ts';
import { anytimeInterval, ordinaryGapInterval, ordinaryInterval } from './measure-intervals.ts';
import {
  cumulativeWindow,
  groupAlpha,
  type MeasuredGroup,
  measureGroups,
  slidingWindow,
  type StreamWindow,
} from './stream-window.ts';
import type { WatchedMeasure, WatchedMetric } from './watched-metric.ts';

/** One measure, with its values and intervals for all groups of an attribute. */
interface MeasuredAttribute {
  readonly measure: WatchedMeasure;
  readonly groups: readonly MeasuredGroup[];
  /** The interval of each group, in the same order. */
  readonly intervals: readonly (Interval | null)[];
}

/**
 * Returns the records of a stream over one window at one time. For every attribute and metric, the records of the
 * groups come first, followed by the record of the gap.
 */
export function takeRecords(stream: EventStream, kind: MonitoringWindow, time: number): readonly MonitoringRecord[] {
  const records: MonitoringRecord[] = [];
  stream.options.attributes.forEach((_, attribute) => {
    const seen = new Set<string>();
    for (const metric of stream.options.metrics) {
      // Two metrics may share a measure. The groups of a shared measure are recorded once.
      for (const record of takeAttribute(stream, kind, time, attribute, metric)) {
        if (record.group === null || !seen.has(record.metric)) records.push(record);
      }
      for (const { name } of metric.measures) seen.add(name);
    }
  });
  return Object.freeze(records);
}

/** Returns the records of one metric of one attribute: the records of the groups, followed by the record of the gap. */
export function takeAttribute(
  stream: EventStream,
  kind: MonitoringWindow,
  time: number,
  attribute: number,
  metric: WatchedMetric,
): readonly MonitoringRecord[] {
  const window = kind === 'sliding' ? slidingWindow(stream) : cumulativeWindow(stream);
  // The two rates of equalized odds each get half of the error probability.
  const alpha = (1 - stream.options.level) / metric.measures.length;
  const measured = metric.measures.map((measure) => measureAttribute(stream, window, kind, attribute, measure, alpha));
  const timestamp = formatTime(time);
  const name = stream.options.attributes[attribute]?.name ?? '';
  const labels = stream.reader.groups[attribute]?.labels ?? [];
  const records: MonitoringRecord[] = [];
  // A loop without intermediate lists, because there can be thousands of groups.
  for (const { measure, groups, intervals } of measured) {
    for (let index = 0; index < groups.length; index++) {
      const { code, value, sums } = groups[index] as MeasuredGroup;
      const interval = intervals[index] ?? null;
      records.push(
        Object.freeze({
          timestamp,
          metric: measure.name,
          attribute: name,
          group: labels[code] ?? '',
          window: kind,
          value,
          n: sums.n,
          low: interval === null ? null : interval[0],
          high: interval === null ? null : interval[1],
        }),
      );
    }
  }
  const gap = gapOf(stream, window, kind, metric, measured, alpha);
  records.push(Object.freeze({ timestamp, metric: metric.metric, attribute: name, group: null, window: kind, ...gap }));
  return records;
}

function measureAttribute(
  stream: EventStream,
  window: StreamWindow,
  kind: MonitoringWindow,
  attribute: number,
  measure: WatchedMeasure,
  alpha: number,
): MeasuredAttribute {
  const basis = { hasWeights: stream.shape.hasWeights, errorScale: stream.options.errorScale };
  const intervalOf = ({ code, sums }: MeasuredGroup): Interval | null =>
    kind === 'sliding'
      ? ordinaryInterval(measure, sums, stream.options.level)
      : anytimeInterval(measure, sums, groupAlpha(stream, attribute, code, alpha), basis);
  const groups = measureGroups(window, attribute, measure);
  return { measure, groups, intervals: groups.map(intervalOf) };
}

/** Returns the largest gap over a metric's measures, among groups that are large enough. */
function gapOf(
  stream: EventStream,
  window: StreamWindow,
  kind: MonitoringWindow,
  metric: WatchedMetric,
  measured: readonly MeasuredAttribute[],
  alpha: number,
): Pick<MonitoringRecord, 'value' | 'n' | 'low' | 'high'> {
  let value: number | null = null;
  let ends: Interval | null = [0, 0];
  for (const { measure, groups, intervals } of measured) {
    const isLarge = ({ sums }: MeasuredGroup): boolean => sums.n >= stream.options.minGroupSize;
    const large = groups.filter(isLarge);
    if (large.length < 2) {
      value = null;
      ends = null;
      break;
    }
    const values = large.map((group) => group.value);
    value = Math.max(value ?? 0, Math.max(...values) - Math.min(...values));
    const interval =
      kind === 'sliding'
        ? ordinaryGapInterval(measure, large, 1 - alpha)
        : anytimeGap(intervals.filter((_, index) => isLarge(groups[index] as MeasuredGroup)));
    ends = ends === null || interval === null ? null : [Math.max(ends[0], interval[0]), Math.max(ends[1], interval[1])];
  }
  const rate = metric.measures.every((measure) => measure.kind === 'rate');
  const high = ends === null ? null : rate ? Math.min(1, ends[1]) : ends[1];
  return { value, n: window.events, low: ends?.[0] ?? null, high };
}

/**
 * Computes bounds of the gap from simultaneous intervals of all groups: [max(0, largest low - smallest high), largest
 * high - smallest low].
 */
function anytimeGap(intervals: readonly (Interval | null)[]): Interval | null {
  const ends = intervals.filter((interval) => interval !== null);
  if (ends.length < intervals.length) return null;
  const [lows, highs] = [ends.map(([low]) => low), ends.map(([, high]) => high)];
  return [Math.max(0, Math.max(...lows) - Math.min(...highs)), Math.max(...highs) - Math.min(...lows)];
}
