import type { EventStream } from '../tracker/event-stream.ts';
import { emptySums, measureValue, sumMeasure } from '../tracker/measured-groups.ts';
import type { WatchedMeasure } from '../tracker/watched-metric.ts';
import type { DetectorBank } from './detector-bank.ts';

/** When groups are suspected to have changed, and by how much. */
export interface ChangeEstimate {
  /** Milliseconds since 1970. */
  readonly time: number;
  /** The largest |after - before| of the groups, in [0, 1]; null for errors without a scale. */
  readonly driftScore: number | null;
}

/** The latest change that detectors suspect in some groups' measure; undefined where they found none. */
export function estimateChange(
  stream: EventStream,
  bank: DetectorBank,
  attribute: number,
  measure: WatchedMeasure,
  groups: readonly number[],
): ChangeEstimate | undefined {
  let latest = -Infinity;
  let moved: number | null = null;
  for (const group of groups) {
    const change = bank.changeOf(attribute, measure, group);
    if (change === undefined) continue;
    latest = Math.max(latest, change.time);
    const sums = sumMeasure(
      measure,
      stream.tables[attribute] as EventStream['tables'][number],
      null,
      group,
      emptySums(),
    );
    const after = (measureValue(sums) * sums.n - change.sum) / (sums.n - change.n);
    const before = change.sum / change.n;
    const scale = measure.kind === 'rate' ? 1 : stream.options.errorScale;
    if (scale === null || !Number.isFinite(after) || !Number.isFinite(before)) continue;
    moved = Math.max(moved ?? 0, Math.min(1, Math.abs(after - before) / scale));
  }
  return latest === -Infinity ? undefined : { time: latest, driftScore: moved };
}
