import { scaleErrors } from '../../stats/cluster-gap.ts';
import { clusterErrors, type ClusterMeasure } from '../statistics/cluster-stats.ts';
import { REGRESSION_QUANTITIES, type RegressionQuantity, type RegressionStats } from '../statistics/group-stats.ts';
import { effectiveCount, type GroupMeasure, type MeanSampling, type MeasureDefinition } from './group-measure.ts';

/**
 * Computes the mean of a quantity in every group; NaN if a group has no weight, infinite if the sum overflows float64.
 */
function meanOf(
  stats: RegressionStats,
  name: string,
  quantity: RegressionQuantity,
): GroupMeasure & { sampling: MeanSampling } {
  const { mean, m2, m3 } = stats.moments[quantity];
  const sizes = stats.weights.map((weight, group) => effectiveCount(weight, stats.squaredWeights[group] as number));
  const variance = (group: number): number => (m2[group] as number) / (stats.weights[group] as number);
  return {
    name,
    values: mean.map((value, group) => {
      const weight = stats.weights[group] as number;
      if (weight === 0 || weight === Infinity) return NaN;
      return Number.isNaN(value) ? Infinity : value;
    }),
    denominatorCounts: stats.counts,
    denominatorName: 'rows',
    sampling: {
      kind: 'means',
      sizes,
      // s / sqrt(n), with s^2 = m2 / (n - 1) in effective rows. One row has no standard error.
      standardErrors: sizes.map((n, group) => (n > 1 ? Math.sqrt(variance(group) / (n - 1)) : NaN)),
      clusters: stats.clusters && clusterErrors(stats.clusters, meanInfluence(stats, quantity)),
      skewness: sizes.map((_, group) => {
        const deviation = Math.sqrt(variance(group));
        return deviation === 0 ? 0 : (m3[group] as number) / (stats.weights[group] as number) / deviation ** 3;
      }),
    },
  };
}

/**
 * Returns the influence of the totals in a cluster on a mean, [groups, 6]. The totals are the weight, and the weighted
 * sums of the quantities minus their shifts c: the influence of sum w (q - mean) is that of sum w (q - c) - (mean - c) w.
 */
function meanInfluence({ clusters, weights, moments }: RegressionStats, quantity: RegressionQuantity): ClusterMeasure {
  const size = 1 + REGRESSION_QUANTITIES.length;
  const at = REGRESSION_QUANTITIES.indexOf(quantity);
  const shift = (clusters?.totals.kind === 'products' && clusters.totals.shifts?.[at]) || 0;
  const influence = new Float64Array(weights.length * size);
  const needed = new Float64Array(influence.length);
  weights.forEach((weight, group) => {
    influence[group * size] = (shift - (moments[quantity].mean[group] as number)) / weight;
    influence[group * size + 1 + at] = 1 / weight;
    needed[group * size] = 1;
  });
  return { influence, needed: [needed] };
}

/**
 * Computes the root mean squared error. The standard error of the RMSE is the standard error of the mean squared error,
 * divided by the derivative 2 RMSE.
 */
function rootMeanSquaredError(stats: RegressionStats): GroupMeasure {
  const { sampling, ...squared } = meanOf(stats, 'root_mean_squared_error', 'squaredError');
  const values = squared.values.map(Math.sqrt);
  return {
    ...squared,
    values,
    sampling: {
      kind: 'means',
      sizes: sampling.sizes,
      standardErrors: values.map((value, group) =>
        value === 0 ? 0 : (sampling.standardErrors[group] as number) / (2 * value),
      ),
      clusters:
        sampling.clusters &&
        scaleErrors(
          sampling.clusters,
          values.map((value) => (value === 0 ? 0 : 1 / (2 * value))),
        ),
    },
  };
}

/**
 * True values are treated as constant if their relative standard deviation is below this limit, because so small a
 * variation may be a rounding error.
 */
const NO_VARIATION = 1e-12;

/** Computes R^2 = 1 - sum w e^2 / sum w (y - mean y)^2; NaN if the true values of a group do not vary. */
function rSquared(stats: RegressionStats): GroupMeasure {
  const { mean } = stats.moments.squaredError;
  const { m2, mean: level } = stats.moments.truth;
  const varies = (group: number): boolean =>
    (m2[group] as number) > (stats.weights[group] as number) * (NO_VARIATION * (level[group] as number)) ** 2;
  return {
    name: 'r2',
    values: mean.map((value, group) =>
      varies(group) ? 1 - (value * (stats.weights[group] as number)) / (m2[group] as number) : NaN,
    ),
    denominatorCounts: stats.counts,
    denominatorName: 'rows',
    sampling: { kind: 'none', whyMissing: 'all with the same true value' },
  };
}

function meanDefinition(name: string, quantity: RegressionQuantity): MeasureDefinition<RegressionStats> {
  return {
    kind: 'regression',
    needsTruth: quantity !== 'prediction',
    measure: (stats) => meanOf(stats, name, quantity),
  };
}

/** The measures of predicted numbers, by name. */
export const ERROR_MEASURES = {
  mean_absolute_error: meanDefinition('mean_absolute_error', 'absoluteError'),
  mean_squared_error: meanDefinition('mean_squared_error', 'squaredError'),
  root_mean_squared_error: { kind: 'regression', needsTruth: true, measure: rootMeanSquaredError },
  mean_error: meanDefinition('mean_error', 'error'),
  mean_prediction: meanDefinition('mean_prediction', 'prediction'),
  r2: { kind: 'regression', needsTruth: true, measure: rSquared },
} as const satisfies Record<string, MeasureDefinition<RegressionStats>>;
