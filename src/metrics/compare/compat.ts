import { meanOf } from '../../internal/values.ts';
import { DataValidationError, ValueError } from '../../exceptions/index.ts';
import { type GroupMeasure, measureDefinition, type MeasureName } from '../measures/index.ts';
import { type MetricDefinition, metricKind } from '../metric-definitions.ts';
import { missingColumn } from '../metric-rows.ts';
import type { FilledMetricOptions } from '../options.ts';
import { type GroupStats, makeTables } from '../statistics/group-stats.ts';
import { poolGroups, regroup } from '../statistics/regroup-stats.ts';

/*
 * This module contains all special cases that reproduce the conventions of other libraries.
 *
 * fairlearn (0.14): a rate of a label or a decision is 0 if its denominator is empty. A group without any other value
 * (all of its weights are 0, or it has no ROC AUC) is NaN, which pandas skips. The overall value of decisions includes
 * rows without a group. A ratio of 0 to 0 is NaN. The worst of several ratios is Python's `min`, which ignores a NaN that
 * comes after a number.
 *
 * AIF360 (0.6): rows are pooled into two groups, privileged and unprivileged. Differences are signed: unprivileged
 * minus privileged. Ratios divide by the privileged rate, even if it is 0. A rate with an empty denominator is NaN.
 *
 * Aequitas (1.0): every group is compared with a reference group, by ratio.
 */

/** The labels of the two groups that AIF360 compares. */
const UNPRIVILEGED = 'unprivileged';
const PRIVILEGED = 'privileged';

/**
 * Regroups statistics in the same way as the selected library. If no library is selected, returns the statistics
 * unchanged.
 */
export function groupsOfCompat<Stats extends GroupStats>(stats: Stats, options: FilledMetricOptions): Stats {
  if (options.compat !== 'aif360') return stats;
  if (options.referenceGroup === undefined) {
    throw new ValueError("compat: 'aif360' needs the privileged group.", {
      context: { parameter: 'referenceGroup' },
      suggestion: `Give the name of this group as referenceGroup. The groups are ${stats.labels.map((label) => `'${label}'`).join(', ')}.`,
    });
  }
  const isPrivileged = referenceMask(stats.labels, options.referenceGroup);
  return regroup(stats, isPrivileged, [UNPRIVILEGED, PRIVILEGED]);
}

/** The rates of all rows. In fairlearn they are NaN or an error if all weights are 0. */
const RATES_OF_ALL_ROWS: readonly string[] = ['selection_rate', 'accuracy', 'error_rate', 'base_rate'];

/** The measures for which scikit-learn has a value where this package has none, so that the gap is unknown. */
const OTHERWISE_DEFINED: readonly string[] = ['balanced_accuracy', 'r2'];

/** Returns whether the selected library ignores a group without a value when it compares groups. */
export function skipsGroup({ name, values }: GroupMeasure, group: number, { compat }: FilledMetricOptions): boolean {
  return compat === 'fairlearn' && Number.isNaN(values[group]) && !OTHERWISE_DEFINED.includes(name);
}

/**
 * Returns a measure with the values that the selected library would compute. In fairlearn, a rate of a label or a
 * decision is 0 if its denominator is empty.
 */
export function measureOfCompat(measure: GroupMeasure, { compat }: FilledMetricOptions): GroupMeasure {
  const { sampling } = measure;
  const isShare = sampling.kind === 'rates' || (sampling.kind === 'means' && measure.name === 'f1');
  if (compat !== 'fairlearn' || !isShare || RATES_OF_ALL_ROWS.includes(measure.name)) return measure;
  const denominators = sampling.kind === 'rates' ? sampling.denominators : sampling.sizes;
  const isEmpty = (group: number): boolean => denominators[group] === 0;
  return { ...measure, values: measure.values.map((value, group) => (isEmpty(group) ? 0 : value)) };
}

/** Computes a measure of all rows together, in the same way as the selected library. */
export function overallOfCompat(
  measure: (stats: GroupStats) => GroupMeasure,
  stats: GroupStats,
  options: FilledMetricOptions,
): number {
  return measureOfCompat(measure(allRows(stats, options)), options).values[0] as number;
}

/** Pools the statistics of all rows. As in fairlearn, rows without a group are included if fairlearn is selected. */
function allRows(stats: GroupStats, { compat }: FilledMetricOptions): GroupStats {
  const pooled = poolGroups(stats);
  if (compat !== 'fairlearn' || pooled.kind !== 'classification') return pooled;
  const { ungrouped } = pooled;
  const tables = makeTables((name) => pooled[name].map((value, cell) => value + (ungrouped[name][cell] as number)));
  return { ...pooled, ...tables };
}

/** Returns the index of the reference group: the group given by name, or the largest. */
export function referenceIndex(stats: GroupStats, rows: Float64Array, options: FilledMetricOptions): number {
  if (options.compat === 'aif360') return stats.labels.indexOf(PRIVILEGED);
  const [first, ...more] = options.referenceGroup ?? [];
  if (first === undefined) return rows.indexOf(rows.reduce((most, n) => Math.max(most, n), 0));
  const mask = referenceMask(stats.labels, [first, ...more]);
  if (more.length > 0) {
    throw new ValueError(
      `Several reference groups are allowed only with compat: 'aif360'. Got ${String(1 + more.length)}.`,
      {
        context: { parameter: 'referenceGroup' },
        suggestion: 'Give one reference group.',
      },
    );
  }
  return mask.indexOf(1);
}

function referenceMask(labels: readonly string[], names: readonly string[]): Int32Array {
  const unknown = names.find((name) => !labels.includes(name));
  if (unknown !== undefined) {
    throw new DataValidationError(`There is no group '${unknown}' to use as the reference group.`, {
      code: 'unknown-label',
      context: { parameter: 'referenceGroup', labels },
      suggestion: `The groups are ${labels.map((label) => `'${label}'`).join(', ')}.`,
    });
  }
  return Int32Array.from(labels, (label) => Number(names.includes(label)));
}

/** Returns the minimum as Python's `min` computes it: every comparison with NaN is false. */
export function pythonMin(values: readonly number[]): number {
  return values.reduce((min, value) => (value < min ? value : min));
}

/** Returns the mean of the values that are not NaN, as in pandas. */
export function pandasMean(values: readonly number[]): number {
  return meanOf(values.filter((value) => !Number.isNaN(value)));
}

/** @throws {ValueError} if the statistics are not of the kind that the metric needs */
export function assertKind(stats: GroupStats, definition: MetricDefinition): void {
  const { metric } = definition;
  const kind = metricKind(definition);
  if (stats.kind === kind) return;
  throw new ValueError(`${metric} needs statistics of the kind '${kind}'. Got '${stats.kind}' instead.`, {
    context: { metric, kind: stats.kind },
    suggestion:
      'Compute the statistics with reduceClassification (decisions), reduceRegression (numbers) or reduceScores (scores).',
  });
}

/** @throws {MetricComputationError} if a measure needs true labels but the statistics contain none */
export function assertTruth(statistics: readonly GroupStats[], metric: string, measures: readonly MeasureName[]): void {
  const needy = measures.map(measureDefinition).filter(({ needsTruth }) => needsTruth);
  const blind = needy.some(({ kind }) => statistics.some((stats) => stats.kind === kind && !stats.hasTruth));
  if (blind) throw missingColumn(metric, 'true labels', 'yTrue');
}
