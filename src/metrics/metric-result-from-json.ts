import { MetricResult, type MetricResultJson } from './metric-result.ts';

/** A result from what its `toJSON` gave: null becomes NaN again, and an open end of an interval infinite. */
export function metricResultFromJson(json: MetricResultJson): MetricResult {
  return new MetricResult({
    metric: json.metric,
    value: json.value ?? NaN,
    ci: json.ci === null ? null : [json.ci[0], json.ci[1] ?? Infinity],
    ciLevel: json.ci_level,
    ciMethod: json.ci_method,
    effectSize: json.effect_size,
    effectSizeName: json.effect_size_name,
    pValue: json.p_value,
    pValueMethod: json.p_value_method,
    minimumDetectableGap: json.minimum_detectable_gap,
    method: json.method,
    referenceGroup: json.reference_group,
    agg: json.agg,
    compat: json.compat,
    nPerGroup: json.n_per_group,
    perGroup: json.per_group,
    perGroupCi: json.per_group_ci,
    excluded: json.excluded,
    nDropped: json.n_dropped,
    undefinedReason: json.undefined_reason,
    warnings: json.warnings,
    seed: json.seed,
  });
}
