import { ValueError } from '../exceptions/index.ts';
import { assertKnownOptions, toCamelCase } from '../internal/arguments.ts';
import { isMapping, isPlainObject } from '../internal/values.ts';
import { isDeviceTensor, unwrap } from '../table/index.ts';
import { compareGroups } from './compare/compare-groups.ts';
import { type MetricDefinition, metricDefinition, metricKind, metricNeedsTruth } from './metric-definitions.ts';
import { selectionWarnings } from './compare/missing-rows.ts';
import type { MetricResult } from './metric-result.ts';
import { assertMacroKind, classNamesOf, parseAverage, predictionRows, rowsRead, scoreRows } from './metric-rows.ts';
import { type FilledMetricOptions, fillMetricOptions, METRIC_OPTION_NAMES, type MetricOptions } from './options.ts';
import { reduceClassification } from './reduce/reduce-classification.ts';
import { reduceRegression } from './reduce/reduce-regression.ts';
import { reduceScores } from './reduce/reduce-scores.ts';
import { rowReadings } from './reduce/row-readings.ts';
import { ARGUMENT_OPTION_NAMES, METRIC_ROWS_NAMES, type MetricRows, type RowOptions } from './row-options.ts';
import { mergeStats } from './statistics/combine-stats.ts';
import type { ClassStats, GroupStats } from './statistics/group-stats.ts';

/**
 * Computes any metric from per-group statistics.
 * @param name `demographic_parity_difference`, or any measure followed by `_difference` or `_ratio`
 * @param stats statistics of the kind that the metric needs: counts of decisions, moments of numbers, or scores
 * @throws {ValueError} if the metric or an option is unknown, or the statistics are of the wrong kind
 * @throws {MetricComputationError} if the metric needs true labels but the statistics contain none
 * @example
 * ```ts
 * import { metricOf, reduceClassification } from 'evenhand/metrics';
 *
 * const stats = reduceClassification({ yPred: [1, 1, 1, 0], sensitive: ['a', 'a', 'b', 'b'] });
 * console.log(metricOf('demographic_parity_ratio', stats, { minGroupSize: 2 }).value);
 * // 0.5
 * ```
 */
export function metricOf(name: string, stats: GroupStats, options?: MetricOptions): MetricResult {
  assertKnownOptions('metricOf', options, METRIC_OPTION_NAMES);
  return metricOfClasses(name, [{ stats, className: undefined }], options);
}

/** Computes a metric of a multiclass outcome from the one-vs-rest statistics of each class. See {@link metricOf}. */
export function metricOfClasses(name: string, classes: readonly ClassStats[], options?: MetricOptions): MetricResult {
  assertKnownOptions('metricOfClasses', options, METRIC_OPTION_NAMES);
  return compareGroups(classes, metricDefinition(name), fillMetricOptions(options));
}

/**
 * Computes any metric from rows in memory. There is also a function for each metric, which gives the same result.
 * @param name for example `equalized_odds_ratio`, or any measure followed by `_difference` or `_ratio`
 * @param rows the columns that the metric needs, and `sensitive`
 * @throws {ValueError} if the metric or an option is unknown
 * @throws {DataValidationError} if a value is invalid
 * @throws {MetricComputationError} if a column that the metric needs is missing
 * @example
 * ```ts
 * import { computeMetric } from 'evenhand/metrics';
 *
 * const rows = { yTrue: [1, 1, 0, 1], yPred: [1, 1, 1, 0], sensitive: ['a', 'a', 'b', 'b'] };
 * console.log(computeMetric('accuracy_difference', rows, { minGroupSize: 2 }).value);
 * // 1
 * ```
 */
export function computeMetric(name: string, rows: MetricRows, options: MetricOptions = {}): MetricResult {
  assertKnownOptions('computeMetric', rows, METRIC_ROWS_NAMES);
  assertKnownOptions('computeMetric', options, METRIC_OPTION_NAMES);
  return metricOfRows(name, rows, options);
}

/**
 * Computes a metric for the public functions of single metrics. The arguments are the columns, and one object with both
 * row options and metric options.
 * @throws {ValueError} if an option is unknown; the error names the function
 */
export function metricOfArguments(
  metric: string,
  columns: Omit<MetricRows, keyof RowOptions>,
  options: MetricOptions & RowOptions,
): MetricResult {
  const name = toCamelCase(metric);
  if (!isSensitive(columns.sensitive)) throw missingColumn(name, Object.keys(columns));
  assertKnownOptions(name, options, ARGUMENT_OPTION_NAMES);
  return metricOfRows(metric, { ...options, ...columns }, options);
}

/** Returns false if groups are not given, or the options are in their position because a column is missing. */
function isSensitive(sensitive: unknown): boolean {
  if (!isPlainObject(sensitive)) return sensitive !== undefined;
  const isOption = ([name, value]: [string, unknown]): boolean =>
    Object.hasOwn(ARGUMENT_OPTION_NAMES, name) && typeof value !== 'object';
  return !Object.entries(sensitive).some(isOption);
}

function missingColumn(name: string, columns: readonly string[]): ValueError {
  const missing = columns.includes('yTrue') ? 'yTrue' : 'sensitive';
  return new ValueError(`${missing} is missing: ${name}(${columns.join(', ')}, options).`, {
    context: { parameter: missing },
    suggestion: 'Pass the columns in this order.',
  });
}

function metricOfRows(name: string, rows: MetricRows, options: MetricOptions): MetricResult {
  const definition = metricDefinition(name);
  return compareRows(classesOf(definition, rows), definition, fillMetricOptions(options));
}

/** Computes a metric alone, with the warnings about its rows that a validation has once for all metrics. */
export function compareRows(
  classes: readonly ClassStats[],
  definition: MetricDefinition,
  options: FilledMetricOptions,
): MetricResult {
  // Of several classes, each is compared with all others.
  const rows = classes.length === 1 ? classes : [];
  const warnings = rows.flatMap(({ stats }) => selectionWarnings(stats, metricNeedsTruth(definition)));
  return compareGroups(classes, definition, options, warnings);
}

function classesOf(definition: MetricDefinition, given: MetricRows): ClassStats[] {
  const { metric } = definition;
  const kind = metricKind(definition);
  const rows = rowsRead(given, metricNeedsTruth(definition));
  if (parseAverage(given.average) === 'macro') {
    assertMacroKind(kind, metric);
    return classNamesOf(rows).map((className) => ({
      className,
      stats: reduceRows('classification', { ...rows, positiveLabel: className }, metric),
    }));
  }
  const stats = reduceRows(kind, rows, metric);
  return [{ stats, className: undefined }];
}

/** Computes the statistics of rows, and records how labels and texts in the rows were interpreted. */
export function reduceRows(kind: GroupStats['kind'], rows: MetricRows, metric: string): GroupStats {
  const read = withoutTensors(rows);
  return { ...countRows(kind, read, metric), readings: rowReadings(kind, read) };
}

/** Returns rows in which each 1-D tensor is read once, instead of once to count it and once to describe it. */
function withoutTensors<Rows extends object>(rows: Rows): Rows {
  const read = Object.entries(rows).map(([name, source]: [string, unknown]) => {
    if (isDeviceTensor(source) && source.shape.length === 1) return [name, unwrap(source, name)] as const;
    const isTable = name === 'sensitive' && isMapping(source) && Object.getPrototypeOf(source) === Object.prototype;
    return [name, isTable && !('kind' in source) ? withoutTensors(source) : source] as const;
  });
  return Object.fromEntries(read) as Rows;
}

/**
 * Computes the statistics of rows like {@link reduceRows}, but without a record of how labels and texts were
 * interpreted.
 */
export function countRows(kind: GroupStats['kind'], rows: MetricRows, metric: string): GroupStats {
  switch (kind) {
    case 'classification':
      return reduceClassification(predictionRows(rows, metric));
    case 'regression':
      return reduceRegression(predictionRows(rows, metric));
    case 'scores':
      return reduceScores(scoreRows(rows, metric));
  }
}

/**
 * Returns new statistics that also include the given rows, for example rows from a stream. The rows may contain new
 * groups. The cost depends on the number of added rows and on the number of groups, so add many rows at once instead of
 * one at a time.
 * @param rows the columns that statistics of this kind need
 * @throws {DataValidationError} if a value is invalid, or no row can be used
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
