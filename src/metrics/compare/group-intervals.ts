import { criticalValue } from '../../stats/normal-quantile.ts';
import { type Interval, wilsonInterval } from '../../stats/proportion-interval.ts';
import type { GroupMeasure } from '../measures/index.ts';

/** A group's own interval of a measure: Wilson's for rates, normal for means; null where it has none. */
export function groupInterval({ values, sampling }: GroupMeasure, group: number, level: number): Interval | null {
  const value = values[group] as number;
  if (sampling.kind === 'none' || Number.isNaN(value)) return null;
  if (sampling.kind === 'rates') {
    const trials = sampling.effectiveCounts[group] as number;
    // A level next to 1 has no critical value.
    if (!Number.isFinite(trials) || !Number.isFinite(criticalValue(level))) return null;
    return wilsonInterval(trials * value, trials, level);
  }
  const half = criticalValue(level) * (sampling.standardErrors[group] as number);
  if (!Number.isFinite(half)) return null;
  return sampling.ceiling === undefined
    ? [value - half, value + half]
    : [Math.max(0, value - half), Math.min(sampling.ceiling, value + half)];
}
