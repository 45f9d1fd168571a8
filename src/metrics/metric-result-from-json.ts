import { MetricResult, type MetricResultJson } from './metric-result.ts';
import type { MissingRows } from './metric-result-fields.ts';

/** A result that was written before these fields were. */
type EarlierJson = Omit<MetricResultJson, NewField> & Partial<Pick<MetricResultJson, NewField>>;

type NewField = 'first' | 'second' | 'missing';

/** A result from what its `toJSON` gave: null becomes NaN again, and an open end of an interval infinite. */
export function metricResultFromJson(json: EarlierJson): MetricResult {
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
    first: json.first ?? null,
    second: json.second ?? null,
    nDropped: json.n_dropped,
    missing: missingFromJson(json.missing ?? null),
    undefinedReason: json.undefined_reason,
    warnings: json.warnings,
    seed: json.seed,
  });
}

function missingFromJson(json: MetricResultJson['missing']): MissingRows | null {
  if (json === null) return null;
  return { n: json.n, byGroup: json.by_group, pValue: json.p_value, worstCase: json.worst_case };
}
