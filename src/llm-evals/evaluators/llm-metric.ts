import { type LlmMetricFields, LlmMetricResult } from './llm-metric-result.ts';

/** What a metric of a language model's answers must say; the rest has a default. */
export type LlmMetricGiven = Pick<LlmMetricFields, 'metric' | 'evaluator' | 'value'> & Partial<LlmMetricFields>;

/**
 * A result from the fields that matter to it. A value that is no number needs its reason.
 */
export function llmMetric(given: LlmMetricGiven): LlmMetricResult {
  return new LlmMetricResult({ ...NOTHING, ...given });
}

const NOTHING: Omit<LlmMetricFields, 'metric' | 'evaluator' | 'value'> = {
  ci: null,
  ciLevel: null,
  ciMethod: null,
  effectSize: null,
  effectSizeName: null,
  pValue: null,
  pValueMethod: null,
  minimumDetectableGap: null,
  method: 'between_groups',
  referenceGroup: null,
  agg: null,
  compat: null,
  nPerGroup: {},
  perGroup: {},
  perGroupCi: null,
  excluded: {},
  first: null,
  second: null,
  nDropped: 0,
  missing: null,
  undefinedReason: null,
  warnings: [],
  seed: null,
  dimension: null,
  n: 0,
  exclusions: {},
  adjustedPValue: null,
  adjustment: null,
  noiseFloor: null,
  nullMean: null,
  nullQuantile: null,
  standardError: null,
  degrees: null,
  leastPValue: null,
  pairs: [],
};
