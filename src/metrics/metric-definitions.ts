import { MetricComputationError } from '../exceptions/index.ts';
import { nearestNames, suggestNames } from '../internal/arguments.ts';
import { findMeasure, MEASURE_NAMES, measureDefinition, type MeasureName } from './measures/index.ts';
import type { GapAggregate } from './options.ts';
import type { GroupStats } from './statistics/group-stats.ts';

/** The definition of a metric: its measures, and how it compares groups. */
export interface MetricDefinition {
  /** The name in snake_case. */
  readonly metric: string;
  readonly measures: readonly MeasureName[];
  readonly comparison: 'difference' | 'ratio';
  /** How several gaps are aggregated; undefined if the option `agg` determines this. */
  readonly agg?: GapAggregate;
  /** Whether the mean is computed from absolute gaps. The setting matters only for signed gaps (AIF360). */
  readonly absolute?: boolean;
}

/** The measures that each named metric compares. The keys are the metric names without `_difference` and `_ratio`. */
const COMPARED: Readonly<Record<string, readonly MeasureName[]>> = {
  demographic_parity: ['selection_rate'],
  equalized_odds: ['true_positive_rate', 'false_positive_rate'],
  equal_opportunity: ['true_positive_rate'],
  predictive_parity: ['precision'],
  accuracy_parity: ['accuracy'],
  mae_parity: ['mean_absolute_error'],
  rmse_parity: ['root_mean_squared_error'],
  calibration: ['expected_calibration_error'],
};

/** Metrics with names of another form than a measure followed by `_difference` or `_ratio`. */
const OTHERS: readonly MetricDefinition[] = [
  {
    metric: 'average_odds_difference',
    measures: ['false_positive_rate', 'true_positive_rate'],
    comparison: 'difference',
    agg: 'mean',
  },
  {
    metric: 'average_abs_odds_difference',
    measures: ['false_positive_rate', 'true_positive_rate'],
    comparison: 'difference',
    agg: 'mean',
    absolute: true,
  },
  {
    metric: 'average_predictive_value_difference',
    measures: ['precision', 'false_omission_rate'],
    comparison: 'difference',
    agg: 'mean',
  },
];

/** Maps the names that other libraries use for metrics to the names used here. */
const ALIASES: Readonly<Record<string, string>> = {
  statistical_parity_difference: 'demographic_parity_difference',
  mean_difference: 'base_rate_difference',
  disparate_impact: 'demographic_parity_ratio',
};

/**
 * The names of metrics that are not formed from a measure. In addition, every measure has a metric that ends with
 * `_difference` and a metric that ends with `_ratio`.
 */
export const NAMED_METRICS: readonly string[] = [
  ...Object.keys(COMPARED).flatMap((name) => [`${name}_difference`, `${name}_ratio`]),
  ...OTHERS.map(({ metric }) => metric),
];

const WHERE_LISTED = 'The section "The metrics" of docs/measuring.md explains all names.';

/** A cache of metrics by requested name. The cache stays small because only valid names are stored. */
const FOUND = new Map<string, MetricDefinition>();

/**
 * Returns a metric by its name: one of {@link NAMED_METRICS}, an alias, or a measure followed by `_difference` or
 * `_ratio`.
 * @throws {MetricComputationError} if the metric is unknown; the error suggests similar names
 */
export function metricDefinition(name: string): MetricDefinition {
  const found = findMetricDefinition(name);
  if (found !== undefined) return found;
  const known = [...NAMED_METRICS, ...MEASURE_NAMES.flatMap((one) => [`${one}_difference`, `${one}_ratio`])];
  const near = nearestNames(name, known);
  throw new MetricComputationError(`There is no metric named '${name}'.`, {
    context: { metric: name },
    suggestion: `${suggestNames(name, known, 'metrics', near)}${near.length > 0 ? '' : ` ${WHERE_LISTED}`}`,
  });
}

/** Returns a metric by its name, or undefined if there is none. */
export function findMetricDefinition(name: string): MetricDefinition | undefined {
  const known = FOUND.get(name);
  if (known !== undefined) return known;
  const found = findDefinition(name);
  if (found !== undefined) FOUND.set(name, Object.freeze(found));
  return found;
}

function findDefinition(name: string): MetricDefinition | undefined {
  const metric = Object.hasOwn(ALIASES, name) ? (ALIASES[name] as string) : name;
  const other = OTHERS.find((one) => one.metric === metric);
  if (other !== undefined) return other;
  const [, subject = '', comparison] = /^(.+)_(difference|ratio)$/.exec(metric) ?? [];
  const measure = findMeasure(subject);
  const measures = Object.hasOwn(COMPARED, subject) ? COMPARED[subject] : measure === undefined ? undefined : [measure];
  return measures === undefined ? undefined : { metric, measures, comparison: comparison as 'difference' | 'ratio' };
}

/** Returns the kind of statistics that a metric is computed from. */
export function metricKind({ measures }: MetricDefinition): GroupStats['kind'] {
  return measureDefinition(measures[0] ?? 'selection_rate').kind;
}

/** Returns whether a metric needs true labels or true values. */
export function metricNeedsTruth({ measures }: MetricDefinition): boolean {
  return measures.some((measure) => measureDefinition(measure).needsTruth);
}
