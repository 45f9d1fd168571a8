import { createRandom } from '../internal/random.ts';
import { gapIntervals } from '../stats/index.ts';
import { type ClassificationRateName, groupRate, type GroupRate, overallRate } from './group-rates.ts';
import type { ClassificationStats } from './group-stats.ts';
import { type Exclusion, type GroupRates, MetricResult } from './metric-result.ts';
import type { FilledMetricOptions } from './options.ts';

/** A denominator under this is reported as thin. */
const THIN_DENOMINATOR = 10;

/** A metric that compares rates of groups. */
export interface RateGapMetric {
  readonly metric: string;
  readonly rates: readonly ClassificationRateName[];
  /** Whether its rates need true labels, so that rows without one do not count. */
  readonly needsTruth: boolean;
}

/** A rate with the groups, by index, that have it and are large enough. */
interface ComparedRate {
  readonly rate: GroupRate;
  readonly groups: readonly number[];
}

/**
 * The gap of one or several rates over groups, with its interval, effect size
 * and exclusions: the one place where rates become a difference.
 */
export function rateGap(stats: ClassificationStats, metric: RateGapMetric, options: FilledMetricOptions): MetricResult {
  const rates = metric.rates.map((name) => groupRate(stats, name));
  const labelOf = (group: number): string => stats.labels[group] as string;
  const rowsPerGroup = countRows(stats, rates, metric.needsTruth);
  const excluded = new Map<string, Exclusion>();
  const large = stats.labels.flatMap((label, group) => {
    const n = rowsPerGroup[group] as number;
    if (n >= options.minGroupSize) return [group];
    excluded.set(label, { n, reason: `fewer than ${String(options.minGroupSize)} rows (minGroupSize)` });
    return [];
  });
  const compared = rates.map((rate): ComparedRate => {
    const groups = large.filter(
      (group) =>
        (rate.denominatorCounts[group] as number) >= options.minDenominator && (rate.denominators[group] as number) > 0,
    );
    for (const group of large) {
      if (groups.includes(group)) continue;
      noteMissingRate(excluded, labelOf(group), rate, group, rowsPerGroup[group] as number, options);
    }
    return { rate, groups };
  });
  const undefinedReason = whyUndefined(compared, large.length, options);
  const isDefined = undefinedReason === null;
  const gaps = compared.map((one) => gapOf(one, options));
  const interval =
    isDefined && options.withCi && canHaveInterval(compared, options) ? intervalOf(compared, options) : null;
  const effectSize = isDefined && options.withEffectSize ? riskRatio(compared) : null;
  return new MetricResult({
    metric: metric.metric,
    value: isDefined ? aggregate(gaps, options) : NaN,
    ci: interval?.ci ?? null,
    ciLevel: interval === null ? null : options.ciLevel,
    ciMethod: interval?.method ?? null,
    effectSize,
    pValue: null,
    nPerGroup: Object.fromEntries(large.map((group) => [labelOf(group), rowsPerGroup[group] as number])),
    perGroup: Object.fromEntries(large.map((group) => [labelOf(group), ratesOf(compared, group)])),
    excluded: Object.fromEntries(excluded),
    nDropped: stats.nDropped + (metric.needsTruth ? rowsWithoutTruth(stats) : 0),
    undefinedReason,
    warnings: [
      ...thinWarnings(compared, stats.labels),
      ...(isDefined && options.withEffectSize && effectSize === null ? ['no risk ratio: the smallest rate is 0'] : []),
      ...(isDefined && options.withCi && interval === null
        ? [
            options.method === 'between_groups'
              ? 'no interval: the weights are too large to be squared'
              : `no interval: not available for method '${options.method}'`,
          ]
        : []),
    ],
    seed: interval === null ? null : options.seed,
  });
}

function countRows(stats: ClassificationStats, rates: readonly GroupRate[], needsTruth: boolean): Float64Array {
  const all = groupRate(stats, 'selection_rate').denominatorCounts;
  if (!needsTruth) return all;
  return all.map((_, group) => rates.reduce((sum, rate) => sum + (rate.denominatorCounts[group] as number), 0));
}

function rowsWithoutTruth(stats: ClassificationStats): number {
  const all = groupRate(stats, 'selection_rate').denominatorCounts;
  const labelled = (['true_positive_rate', 'false_positive_rate'] as const).map((name) => groupRate(stats, name));
  return all.reduce(
    (sum, n, group) => sum + labelled.reduce((rest, rate) => rest - (rate.denominatorCounts[group] as number), n),
    0,
  );
}

function noteMissingRate(
  excluded: Map<string, Exclusion>,
  label: string,
  rate: GroupRate,
  group: number,
  n: number,
  { minDenominator }: FilledMetricOptions,
): void {
  const found = String(rate.denominatorCounts[group]);
  const why =
    (rate.denominatorCounts[group] as number) >= minDenominator
      ? 'their weights are all 0'
      : `at least ${String(minDenominator)} needed`;
  const reason = `no ${rate.name.replaceAll('_', ' ')}: ${found} ${rate.denominatorName}, ${why}`;
  const earlier = excluded.get(label)?.reason;
  excluded.set(label, { n, reason: earlier === undefined ? reason : `${earlier}; ${reason}` });
}

/** Every rate needs two groups; otherwise there is nothing to compare. */
function whyUndefined(
  compared: readonly ComparedRate[],
  large: number,
  { minGroupSize }: FilledMetricOptions,
): string | null {
  if (large < 2) {
    return `${large === 0 ? 'no group' : 'only one group'} with at least ${String(minGroupSize)} rows; two are needed`;
  }
  const short = compared.find(({ groups }) => groups.length < 2);
  const isFinite = compared.every(({ rate, groups }) =>
    groups.every((group) => Number.isFinite(rate.denominators[group])),
  );
  if (!isFinite) return 'the weights are too large to be added up';
  if (short === undefined) return null;
  return `${short.groups.length === 0 ? 'no group has' : 'only one group has'} a ${short.rate.name.replaceAll('_', ' ')}; two are needed`;
}

function gapOf({ rate, groups }: ComparedRate, { method }: FilledMetricOptions): number {
  const values = groups.map((group) => rate.values[group] as number);
  if (method === 'between_groups') return Math.max(...values) - Math.min(...values);
  const overall = overallRate(rate);
  return Math.max(...values.map((value) => Math.abs(value - overall)));
}

/** Worst case or mean over the rates; a single rate is both. */
function aggregate(values: readonly number[], { agg }: FilledMetricOptions): number {
  if (agg === 'worst_case') return Math.max(...values);
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Groups against all rows together have no interval yet, nor have weights whose squares leave float64. */
function canHaveInterval(compared: readonly ComparedRate[], { method }: FilledMetricOptions): boolean {
  return (
    method === 'between_groups' &&
    compared.every(({ rate, groups }) => groups.every((group) => Number.isFinite(rate.effectiveCounts[group])))
  );
}

function intervalOf(
  compared: readonly ComparedRate[],
  options: FilledMetricOptions,
): { ci: readonly [number, number]; method: string } {
  const families = compared.map(({ rate, groups }) => {
    const trials = groups.map((group) => rate.effectiveCounts[group] as number);
    return {
      kind: 'rates' as const,
      trials,
      successes: trials.map((n, index) => n * (rate.values[groups[index] as number] as number)),
    };
  });
  const { intervals, method } = gapIntervals(families, {
    level: options.ciLevel,
    samples: options.ciSamples,
    random: createRandom(options.seed),
  });
  const end = (index: 0 | 1): number =>
    aggregate(
      intervals.map((interval) => interval[index]),
      options,
    );
  return { ci: [end(0), end(1)], method };
}

/** The largest of the rates' ratios of extremes; null where a smallest rate is 0. */
function riskRatio(compared: readonly ComparedRate[]): number | null {
  const ratios = compared.map(({ rate, groups }) => {
    const values = groups.map((group) => rate.values[group] as number);
    return Math.max(...values) / Math.min(...values);
  });
  // 0 of 0 says nothing; the other rate may still have a ratio.
  const largest = Math.max(...ratios.filter((ratio) => !Number.isNaN(ratio)));
  return Number.isFinite(largest) ? largest : null;
}

function ratesOf(compared: readonly ComparedRate[], group: number): GroupRates {
  return Object.fromEntries(
    compared.map(({ rate, groups }) => [rate.name, groups.includes(group) ? (rate.values[group] as number) : null]),
  );
}

function thinWarnings(compared: readonly ComparedRate[], labels: readonly string[]): string[] {
  return compared.flatMap(({ rate, groups }) =>
    groups
      .filter((group) => (rate.denominatorCounts[group] as number) < THIN_DENOMINATOR)
      .map(
        (group) =>
          `the ${rate.name.replaceAll('_', ' ')} of ${labels[group] as string} rests on only ${String(rate.denominatorCounts[group])} ${rate.denominatorName}`,
      ),
  );
}
