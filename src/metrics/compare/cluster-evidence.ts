import {
  type ClusterErrors,
  type ClusterFamily,
  pairErrors,
  pickErrors,
  scaleErrors,
} from '../../stats/cluster-gap.ts';
import { tOfNormal } from '../../stats/gap-family.ts';
import { criticalValue } from '../../stats/normal.ts';
import { type Interval, wilsonInterval } from '../../stats/proportion-interval.ts';
import { rateVariance } from '../measures/decision-rates.ts';
import type { GroupMeasure } from '../measures/index.ts';
import { counted } from '../../internal/format.ts';
import { takeValues } from '../../internal/values.ts';
import type { GroupStats } from '../statistics/group-stats.ts';
import type { ComparedMeasure } from './gap.ts';
import type { MetricDefinition } from '../metric-definitions.ts';

/** Returns the errors of a measure if rows come in clusters; undefined if rows are independent. */
export function errorsOf({ sampling }: GroupMeasure): ClusterErrors | undefined {
  return sampling.kind === 'none' ? undefined : sampling.clusters;
}

/** Returns the data of a measure that `clusterGapIntervals` needs, or the reason why an interval is not available. */
export function clusterFamily(
  measure: GroupMeasure,
  clusters: ClusterErrors,
  groups: readonly number[],
  comparison: MetricDefinition['comparison'],
): ClusterFamily | string {
  const { sampling } = measure;
  if (sampling.kind === 'means' && sampling.whyNoErrors !== undefined) return sampling.whyNoErrors;
  const given = takeValues(measure.values, groups);
  const errors = pickErrors(clusters, groups);
  if (!errors.variances.every(Number.isFinite)) return ONE_CLUSTER;
  const isRate = sampling.kind === 'rates';
  const ceiling = isRate ? 1 : sampling.kind === 'means' ? (sampling.ceiling ?? Infinity) : Infinity;
  if (comparison === 'difference')
    return { ...(isRate ? steadyErrors(given, errors) : errors), values: given, ceiling };
  if (!isRate && !given.every((value) => value > 0)) return 'a ratio of numbers that are not all positive';
  // Half a success and half a failure are added, so that a rate of 0 has a logarithm.
  const values = isRate
    ? given.map((rate, group) => {
        const trials = trialsOf(rate, errors, group);
        return (rate * trials + 0.5) / (trials + 1);
      })
    : given;
  const steady = isRate ? steadyErrors(given, errors) : errors;
  return {
    ...scaleErrors(
      steady,
      values.map((value) => 1 / value),
    ),
    values: values.map(Math.log),
    ceiling: Infinity,
  };
}

const ONE_CLUSTER = 'the rows that a group needs are all in one cluster';

/**
 * Returns the number of independent rows that would determine a rate as well as the clusters do, R (1 - R) / variance. If
 * the rate is the same in all clusters, nothing is known about the rows within a cluster, so that each cluster counts as
 * one row.
 */
function trialsOf(rate: number, { variances, clusters }: ClusterErrors, group: number): number {
  const variance = variances[group] as number;
  return variance > 0 ? (rate * (1 - rate)) / variance : (clusters[group] as number);
}

/** Returns the errors of rates, with a success and a failure added as for independent rows, so that none is 0. */
function steadyErrors(rates: Float64Array, errors: ClusterErrors): ClusterErrors {
  const steady = rates.map((rate, group) => rateVariance(rate, trialsOf(rate, errors, group)));
  const factors = steady.map((variance, group) => {
    const raw = errors.variances[group] as number;
    return raw > 0 ? Math.sqrt(variance / raw) : 1;
  });
  return { ...scaleErrors(errors, factors), variances: steady };
}

/** Returns the interval of one group's measure: Wilson's interval for a rate, Student's t for a mean. */
export function clusterInterval(
  { values, sampling }: Pick<GroupMeasure, 'values' | 'sampling'>,
  errors: ClusterErrors,
  group: number,
  level: number,
): Interval | null {
  const value = values[group] as number;
  const variance = errors.variances[group] as number;
  const normal = criticalValue(level);
  if (sampling.kind === 'none' || !Number.isFinite(variance) || !Number.isFinite(normal)) return null;
  const t = tOfNormal(normal, errors.degrees[group] as number);
  // As in Korn and Graubard (1998), fewer rows make up for the uncertain variance.
  if (sampling.kind === 'rates') {
    const trials = trialsOf(value, errors, group) * (normal / t) ** 2;
    return wilsonInterval(trials * value, trials, level);
  }
  const half = t * Math.sqrt(variance);
  return sampling.ceiling === undefined
    ? [value - half, value + half]
    : [Math.max(0, value - half), Math.min(sampling.ceiling, value + half)];
}

/** The effective number of clusters below which a group gets a warning; docs/statistics.md shows the coverage below it. */
const FEW_CLUSTERS = 20;

/** Warns of groups with few clusters, and of strata whose variance is not known. */
export function clusterWarnings(
  compared: readonly ComparedMeasure[],
  stats: Pick<GroupStats, 'clusters' | 'labels'>,
): string[] {
  if (stats.clusters === undefined) return [];
  const { lonely } = stats.clusters;
  const few = compared.flatMap(({ measure, groups }) => {
    const clusters = errorsOf(measure)?.clusters;
    if (clusters === undefined) return [];
    return groups
      .map((group) => ({ label: stats.labels[group] as string, count: Math.floor(clusters[group] as number) }))
      .filter(({ count }) => count < FEW_CLUSTERS);
  });
  const fewest = new Map<string, number>();
  for (const { label, count } of few) fewest.set(label, Math.min(count, fewest.get(label) ?? Infinity));
  return [
    ...Array.from(
      fewest,
      ([label, count]) =>
        `the rows of ${label} count as about ${counted(count, 'cluster')} of equal size, so that its intervals may be too narrow`,
    ),
    ...(lonely === 0
      ? []
      : [
          `${counted(lonely, 'stratum has', 'strata have')} only one cluster; it is compared with the mean of all clusters`,
        ]),
  ];
}

/** Returns the standard error of the difference of two groups, or null if it is not known. */
export function clusterErrorBetween(
  { values, sampling }: Pick<GroupMeasure, 'values' | 'sampling'>,
  errors: ClusterErrors,
  high: number,
  low: number,
): number | null {
  const steady = sampling.kind === 'rates' ? steadyErrors(values, errors) : errors;
  const { error } = pairErrors(steady)(high, low);
  return Number.isFinite(error) ? error : null;
}
