import { assertKnownOptions } from '../../internal/arguments.ts';
import type { MetricResult } from '../../metrics/index.ts';
import { addMetric } from './metric-entries.ts';
import type { RunEntries } from './run-entries.ts';
import { trackRun } from './track-run.ts';
import { TRACKING_OPTION_NAMES, type TrackingOptions } from './tracking-options.ts';
import { TrackingFault } from './tracking-server.ts';

/** One metric, several, or several under names of their own. */
export type TrackedMetrics = MetricResult | readonly MetricResult[] | Readonly<Record<string, MetricResult>>;

/**
 * Puts fairness metrics into a run on an MLflow tracking server, over its REST API.
 *
 * A metric m gives `m` (its value), and where they are known `m.ci_low`,
 * `m.ci_high`, `m.p_value` and `m.effect_size`; `m.n`, the rows that took part;
 * and of each group g `m.g.n` and `m.g.selection_rate` or whatever the metric
 * compares. Names are those of the metrics or of the record, after `prefix`. A
 * value that is undefined becomes the tag `m.undefined` with its reason, a group
 * that took no part the tag `m.g.excluded`. Characters that MLflow does not take
 * become `_`.
 *
 * Nothing is thrown. Without a server, or where it fails, the outcome is false
 * and the reason is logged at the level warn. A call is repeated up to three
 * times where the network fails or the server answers 429 or 5xx; all in all it
 * takes no longer than `totalTimeoutMillis`, and two seconds more to mark a run
 * as failed. Credentials are read from the variables that MLflow's own client
 * reads, and never logged.
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
  if (named.length === 0) throw new TrackingFault('no metrics were given');
  for (const [name, result] of named) addMetric(entries, `${prefix}${name}`, result);
}

function namedMetrics(metrics: TrackedMetrics): (readonly [name: string, result: MetricResult])[] {
  if (isList(metrics)) return metrics.map((result) => [result.metric, result]);
  return isResult(metrics) ? [[metrics.metric, metrics]] : Object.entries(metrics);
}

function isList(metrics: TrackedMetrics): metrics is readonly MetricResult[] {
  return Array.isArray(metrics);
}

/** Told by its form, so that a result from another copy of this package is one too. */
function isResult(metrics: object): metrics is MetricResult {
  return 'metric' in metrics && typeof metrics.metric === 'string';
}
