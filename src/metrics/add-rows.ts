import { reduceRows } from './compute-metric.ts';
import type { MetricRows } from './row-options.ts';
import { mergeStats } from './statistics/combine-stats.ts';
import type { GroupStats } from './statistics/group-stats.ts';

/**
 * Statistics with more rows in them, as a stream brings them; new groups are
 * welcome. Costs the rows that are added and the groups that there are, so that
 * many rows at a time are cheaper than one by one.
 * @param rows the columns that statistics of this kind are made of
 * @throws {DataValidationError} for values that cannot be used, or no usable row
 * @example
 * ```ts
 * import { addRows, metricOf, reduceClassification } from 'evenhand/metrics';
 *
 * let stats = reduceClassification({ yPred: [1, 0], sensitive: ['a', 'b'] });
 * stats = addRows(stats, { yPred: [1, 1], sensitive: ['a', 'b'] });
 * console.log(metricOf('demographic_parity_difference', stats, { minGroupSize: 2, withCi: false }).value);
 * // 0.5
 * ```
 */
export function addRows<Stats extends GroupStats>(stats: Stats, rows: MetricRows): Stats {
  return mergeStats<GroupStats>(stats, reduceRows(stats.kind, rows, 'addRows')) as Stats;
}
