import { assertKnownOptions } from '../../internal/arguments.ts';
import type { MetricResult } from '../../metrics/index.ts';
import { addMetric, type RunEntries } from './run-entries.ts';
import { TRACKING_OPTION_NAMES, type TrackingOptions, trackRun } from './track-run.ts';
import { TrackingFailure } from './tracking-server.ts';

/** One metric, a list of metrics, or metrics by name. */
export type TrackedMetrics = MetricResult | readonly MetricResult[] | Readonly<Record<string, MetricResult>>;

/**
 * Logs fairness metrics to a run on an MLflow tracking server, over its REST API.
 *
 * A metric m is logged as:
 * - `m`: its value
 * - `m.ci_low`, `m.ci_high`, `m.p_value` and `m.effect_size`, if known
 * - `m.n`: the number of rows compared
 * - `m.g.n` and `m.g.selection_rate` (or the measure that the metric compares) for each group g
 * - the tag `m.undefined` with the reason, if the value is undefined
 * - the tag `m.g.excluded` with the reason, if group g is excluded
 *
 * In each name, m is `prefix` followed by the name of the metric or by the key of the metric in the record. Characters
 * that MLflow does not accept become `_`.
 *
 * The function does not throw. If there is no server or the server fails, the result is false and the reason is logged
 * as a warning. A call is repeated up to three times if the network fails or the server responds with 429 or 5xx. All
 * calls together take at most `totalTimeoutMillis`, plus two seconds to mark a run as failed. Credentials are read from
 * the environment variables of the MLflow client, and never logged.
 * @returns whether everything was logged
 * @see https://mlflow.org/docs/latest/api_reference/rest-api.html
 * @example
 * ```ts
 * import { demographicParityDifference } from 'evenhand';
 * import { logFairnessMetrics } from 'evenhand/integration';
 *
 * const result = demographicParityDifference([1, 0, 1, 0], ['a', 'a', 'b', 'b'], { minGroupSize: 2 });
 * console.log(await logFairnessMetrics(result, { trackingUri: 'file:./mlruns' }));
 * // false
 * ```
 */
export async function logFairnessMetrics(metrics: TrackedMetrics, options: TrackingOptions = {}): Promise<boolean> {
  assertKnownOptions('logFairnessMetrics', options, TRACKING_OPTION_NAMES);
  const { logged } = await trackRun((entries) => {
    addAll(entries, metrics, options.prefix ?? '');
  }, options);
  return logged;
}

function addAll(entries: RunEntries, metrics: TrackedMetrics, prefix: string): void {
  const named = namedMetrics(metrics);
  if (named.length === 0) throw new TrackingFailure('no metrics were given');
  for (const [name, result] of named) addMetric(entries, `${prefix}${name}`, result);
}

function namedMetrics(metrics: TrackedMetrics): (readonly [name: string, result: MetricResult])[] {
  if (isList(metrics)) return metrics.map((result) => [result.metric, result]);
  return isResult(metrics) ? [[metrics.metric, metrics]] : Object.entries(metrics);
}

function isList(metrics: TrackedMetrics): metrics is readonly MetricResult[] {
  return Array.isArray(metrics);
}

/**
 * Returns whether a value has the fields of a metric result. Results from another copy of this package are also
 * recognized.
 */
function isResult(metrics: object): metrics is MetricResult {
  return 'metric' in metrics && typeof metrics.metric === 'string';
}
