import type { ComparedGroup, ComparedValue } from '../../charts/compared-groups.ts';
import type { MetricResult } from '../../metrics/metric-result.ts';
import { measuresOf } from '../html/metric-charts.ts';
import { own, unitOf } from '../html/report-numbers.ts';

/** A measure of every group, before and after. */
export interface GroupComparison {
  readonly measure: string;
  readonly unit: 'share' | 'number';
  /** Of the groups' own intervals; null where they have none. */
  readonly level: number | null;
  readonly groups: readonly ComparedGroup[];
}

type Results = Readonly<Record<string, MetricResult>>;

/** Each measure that the metrics of one attribute compare, once, with every group that has it before or after. */
export function compareGroups(baseline: Results, final: Results): GroupComparison[] {
  const seen = new Set<string>();
  return Object.entries(final).flatMap(([metric, after]) => {
    const before = own(baseline, metric);
    const measures = new Set([...(before === undefined ? [] : measuresOf(before)), ...measuresOf(after)]);
    return [...measures].flatMap((measure): GroupComparison[] => {
      if (seen.size === seen.add(measure).size) return [];
      const groups = groupsOf(before, after, measure);
      const hasIntervals = groups.some((group) =>
        [group.before, group.after].some((side) => (side?.ci ?? null) !== null),
      );
      const level = hasIntervals ? after.ciLevel : null;
      return groups.length === 0 ? [] : [{ measure, unit: unitOf(measure), level, groups }];
    });
  });
}

function groupsOf(before: MetricResult | undefined, after: MetricResult, measure: string): ComparedGroup[] {
  const labels = new Set([...Object.keys(before?.perGroup ?? {}), ...Object.keys(after.perGroup)]);
  return [...labels].flatMap((label): ComparedGroup[] => {
    const [from, to] = [valueOf(before, label, measure), valueOf(after, label, measure)];
    if (from === null && to === null) return [];
    const n = own(after.nPerGroup, label) ?? own(before?.nPerGroup, label) ?? 0;
    return [{ label, n, before: from, after: to }];
  });
}

function valueOf(result: MetricResult | undefined, label: string, measure: string): ComparedValue | null {
  const value = own(own(result?.perGroup, label), measure) ?? null;
  if (value === null || !Number.isFinite(value)) return null;
  return { value, ci: own(own(result?.perGroupCi, label), measure) ?? null };
}
