import { createRandom } from '../internal/random.ts';
import { gapIntervals } from '../stats/index.ts';
import type { ColumnSource, SensitiveSource } from '../table/index.ts';
import type { RegressionStats } from './group-stats.ts';
import { type Exclusion, MetricResult } from './metric-result.ts';
import { fillMetricOptions, type MetricOptions } from './options.ts';
import { reduceRegression } from './reduce-rows.ts';
import type { RowOptions } from './row-options.ts';

/** The metric as a function of per-group statistics. */
export function maeParityDifferenceOf(stats: RegressionStats, options?: MetricOptions): MetricResult {
  const filled = fillMetricOptions(options);
  const excluded = new Map<string, Exclusion>();
  const groups = stats.labels.flatMap((label, group) => {
    const n = stats.counts[group] as number;
    if (n >= filled.minGroupSize && (stats.weights[group] as number) > 0) return [group];
    const reason =
      n < filled.minGroupSize
        ? `fewer than ${String(filled.minGroupSize)} rows (minGroupSize)`
        : 'its weights are all 0';
    excluded.set(label, { n, reason });
    return [];
  });
  const means = groups.map((group) => (stats.absoluteErrors[group] as number) / (stats.weights[group] as number));
  const undefinedReason =
    groups.length >= 2
      ? means.every(Number.isFinite)
        ? null
        : 'the errors are too large to be added up'
      : `${groups.length === 0 ? 'no group' : 'only one group'} with at least ${String(filled.minGroupSize)} rows; two are needed`;
  const overall = sum(stats.absoluteErrors) / sum(stats.weights);
  const value =
    filled.method === 'between_groups'
      ? Math.max(...means) - Math.min(...means)
      : Math.max(...means.map((mean) => Math.abs(mean - overall)));
  const spreads = groups.map((group, index) => errorSpread(stats, group, means[index] as number));
  // One row says nothing of the spread of its group, nor do numbers that leave float64.
  const hasSpread = spreads.every(({ deviation, n }) => n > 1 && Number.isFinite(deviation));
  const withCi = undefinedReason === null && filled.withCi && filled.method === 'between_groups' && hasSpread;
  const interval = withCi
    ? gapIntervals(
        [{ kind: 'means', means, standardErrors: spreads.map(({ deviation, n }) => deviation / Math.sqrt(n)) }],
        { level: filled.ciLevel, samples: filled.ciSamples, random: createRandom(filled.seed) },
      )
    : undefined;
  const label = (group: number): string => stats.labels[group] as string;
  return new MetricResult({
    metric: 'mae_parity_difference',
    value: undefinedReason === null ? value : NaN,
    ci: interval?.intervals[0] ?? null,
    ciLevel: interval === undefined ? null : filled.ciLevel,
    ciMethod: interval?.method ?? null,
    effectSize: undefinedReason === null && filled.withEffectSize ? extremesCohensD(means, spreads) : null,
    pValue: null,
    nPerGroup: Object.fromEntries(groups.map((group) => [label(group), stats.counts[group] as number])),
    perGroup: Object.fromEntries(
      groups.map((group, index) => [label(group), { mean_absolute_error: means[index] as number }]),
    ),
    excluded: Object.fromEntries(excluded),
    nDropped: stats.nDropped,
    undefinedReason,
    warnings:
      undefinedReason === null && filled.withCi && !withCi
        ? ['no interval: not available here (one row in a group, errors too large, or another method)']
        : [],
    seed: interval === undefined ? null : filled.seed,
  });
}

/** The standard deviation of a group's absolute errors, and the effective rows behind it. */
interface Spread {
  readonly deviation: number;
  readonly n: number;
}

function errorSpread(stats: RegressionStats, group: number, mean: number): Spread {
  const weight = stats.weights[group] as number;
  const n = (weight * weight) / (stats.squaredWeights[group] as number);
  const variance = (stats.squaredErrors[group] as number) / weight - mean * mean;
  // Rounding can take the variance of equal errors below zero.
  return { deviation: Math.sqrt((Math.max(0, variance) * n) / Math.max(1, n - 1)), n };
}

/** Cohen's d of the groups with the largest and the smallest mean error; null without spread. */
function extremesCohensD(means: readonly number[], spreads: readonly Spread[]): number | null {
  const high = means.indexOf(Math.max(...means));
  const low = means.indexOf(Math.min(...means));
  const a = spreads[high] as Spread;
  const b = spreads[low] as Spread;
  const pooled = Math.sqrt(
    ((a.n - 1) * a.deviation * a.deviation + (b.n - 1) * b.deviation * b.deviation) / (a.n + b.n - 2),
  );
  const d = ((means[high] as number) - (means[low] as number)) / pooled;
  return Number.isFinite(d) ? d : null;
}

function sum(values: Float64Array): number {
  return values.reduce((total, value) => total + value, 0);
}

/**
 * MAE parity difference, for regression: the largest minus the smallest mean
 * absolute error over groups,
 *
 *     max_g mean(|yPred - yTrue| | g) - min_g mean(|yPred - yTrue| | g), in [0, inf), in the target's units.
 *
 * Groups under `minGroupSize` rows are excluded and listed; with fewer than two
 * left the value is NaN and `undefinedReason` says why.
 * @param yTrue true values, [n], finite
 * @param yPred predicted values, [n], finite
 * @param sensitive group of each row, [n], or an object of several attributes to cross
 * @throws {DataValidationError} where lengths differ, a value is text or infinite, or all rows lack a value
 * @example
 * ```ts
 * import { maeParityDifference } from 'evenhand/metrics';
 *
 * const result = maeParityDifference([1, 2, 3, 4], [1, 2, 4, 6], ['a', 'a', 'b', 'b'], { minGroupSize: 2 });
 * console.log(result.value);
 * // 1.5
 * ```
 */
export function maeParityDifference(
  yTrue: ColumnSource,
  yPred: ColumnSource,
  sensitive: SensitiveSource,
  options: MetricOptions & RowOptions = {},
): MetricResult {
  const { sampleWeight, nanPolicy } = options;
  return maeParityDifferenceOf(reduceRegression({ yTrue, yPred, sensitive, sampleWeight, nanPolicy }), options);
}
