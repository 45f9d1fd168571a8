import { formatNumber } from '../../internal/format.ts';
import type { MetricDefinition } from '../metric-definitions.ts';
import { metricNeedsTruth } from '../metric-definitions.ts';
import { type Exclusion, type GroupIntervals, type GroupRates, MetricResult } from '../metric-result.ts';
import type { FilledMetricOptions } from '../options.ts';
import type { ClassificationStats } from '../statistics/group-stats.ts';
import { rowsPerGroup } from '../statistics/rows-per-group.ts';
import { readingWarnings } from '../../table/index.ts';
import { referenceIndex } from './compat.ts';
import { type Bounds, suppressedBounds } from './worst-case.ts';

/** Returns whether small counts were left out of statistics. */
export function isSuppressed(stats: object): stats is ClassificationStats & { readonly minCell: number } {
  return 'minCell' in stats && stats.minCell !== undefined;
}

/**
 * Compares groups by a metric, if small counts were left out: the result has bounds on the metric. Its value is defined
 * only if both bounds are equal. There is no interval.
 */
export function compareSuppressed(
  stats: ClassificationStats & { readonly minCell: number },
  definition: MetricDefinition,
  options: FilledMetricOptions,
): MetricResult {
  const { minCell, labels } = stats;
  const rows = rowsPerGroup(stats, metricNeedsTruth(definition));
  const isLarge = (group: number): boolean => (rows[group] as number) >= options.minGroupSize;
  const groups = labels.flatMap((_, group) => (isLarge(group) ? [group] : []));
  const anchor = options.method === 'to_reference' ? referenceIndex(stats, rows, options) : undefined;
  const found =
    groups.length < 2 || (anchor !== undefined && !groups.includes(anchor))
      ? null
      : suppressedBounds(stats, groups, anchor, definition, options);
  const bounds = found?.metric;
  const isExact = bounds !== undefined && bounds[0] === bounds[1];
  const label = (group: number): string => labels[group] as string;
  const entries = <T>(make: (own: Bounds) => T): Record<string, Record<string, T>> =>
    Object.fromEntries(
      groups.map((group) => [
        label(group),
        Object.fromEntries(
          definition.measures.map((name, measure) => [name, make(found?.byMeasure[measure]?.[group] ?? [NaN, NaN])]),
        ),
      ]),
    );
  return new MetricResult({
    metric: definition.metric,
    value: isExact ? bounds[0] : NaN,
    ...{ ci: null, ciLevel: null, ciMethod: null, effectSize: null, effectSizeName: null },
    ...{ pValue: null, pValueMethod: null, minimumDetectableGap: null },
    method: options.method,
    referenceGroup: anchor === undefined ? null : label(anchor),
    agg: definition.measures.length > 1 ? (definition.agg ?? options.agg) : null,
    compat: options.compat ?? null,
    nPerGroup: Object.fromEntries(groups.map((group) => [label(group), rows[group] as number])),
    perGroup:
      found === null
        ? {}
        : (entries(([low, high]) => (low === high ? low : null)) satisfies Record<string, GroupRates>),
    perGroupCi: null,
    excluded: Object.fromEntries(
      labels.flatMap((name, group): [string, Exclusion][] =>
        isLarge(group) ? [] : [[name, smallGroup(rows[group] as number, options.minGroupSize)]],
      ),
    ),
    ...{ first: null, second: null, missing: null, seed: null },
    nDropped: stats.nDropped,
    undefinedReason: isExact ? null : reasonOf(bounds, groups.length, minCell, definition),
    ...(bounds === undefined ? {} : { bounds }),
    ...(found === null ? {} : { perGroupBounds: entries((own) => own) satisfies Record<string, GroupIntervals> }),
    warnings: [
      ...readingWarnings(stats.readings ?? []),
      `counts below ${String(minCell)} are left out: rates have bounds, group sizes are those of the other counts, and a group without larger counts does not appear`,
    ],
  });
}

function smallGroup(n: number, minGroupSize: number): Exclusion {
  const reason = `fewer than ${String(minGroupSize)} rows in counts that are not left out`;
  return { n, reason, numerator: null, denominator: null };
}

function reasonOf(bounds: Bounds | undefined, groups: number, minCell: number, { metric }: MetricDefinition): string {
  if (bounds !== undefined) {
    const [low, high] = bounds.map((end) => formatNumber(end, 4));
    return `counts below ${String(minCell)} are left out, so that the value is between ${low ?? ''} and ${high ?? ''}`;
  }
  if (groups < 2) return 'fewer than two groups are large enough without the counts that are left out';
  return `counts below ${String(minCell)} are left out, and ${metric} has no bounds with these options`;
}
