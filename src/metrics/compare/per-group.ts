import type { GroupIntervals, GroupRates } from '../metric-result-fields.ts';
import type { FilledMetricOptions } from '../options.ts';
import type { ComparedMeasure } from './gap.ts';
import { groupInterval } from './group-intervals.ts';

/** The measures of every group that takes part, and against a reference its disparity. */
export function perGroup(
  compared: readonly ComparedMeasure[],
  large: readonly number[],
  label: (group: number) => string,
  classes: number,
): Record<string, GroupRates> {
  const rates = new Map<number, Record<string, number | null>>(large.map((group) => [group, {}]));
  for (const { measure, groups, anchor, anchorGroup } of compared) {
    for (const own of rates.values()) own[measure.name] ??= null;
    for (const group of groups) {
      const own = rates.get(group) as Record<string, number | null>;
      const value = measure.values[group] as number;
      own[measure.name] = Number.isFinite(value) ? value : null;
      if (anchorGroup === undefined || anchor === undefined || classes > 1) continue;
      const disparity = value / anchor;
      own[`${measure.name}_disparity`] = Number.isFinite(disparity) ? disparity : null;
    }
  }
  return Object.fromEntries(Array.from(rates, ([group, own]) => [label(group), own]));
}

/** Each group's own intervals. */
export function intervalsPerGroup(
  compared: readonly ComparedMeasure[],
  large: readonly number[],
  label: (group: number) => string,
  { ciLevel }: FilledMetricOptions,
): Record<string, GroupIntervals> {
  const intervals = new Map<number, Record<string, readonly [number, number] | null>>(
    large.map((group) => [group, {}]),
  );
  for (const { measure, groups } of compared) {
    for (const own of intervals.values()) own[measure.name] ??= null;
    for (const group of groups) {
      const own = intervals.get(group) as Record<string, readonly [number, number] | null>;
      own[measure.name] = groupInterval(measure, group, ciLevel);
    }
  }
  return Object.fromEntries(Array.from(intervals, ([group, own]) => [label(group), own]));
}
