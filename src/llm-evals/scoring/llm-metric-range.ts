import type { ValueRange } from '../../metrics/threshold-range.ts';

/** The ranges of values that metrics can have, each with the names of the metrics. */
const RANGES: readonly (readonly [range: ValueRange, metrics: string])[] = [
  [
    { low: 0, high: 1 },
    `refusal_rate partial_refusal_rate toxic_fraction expected_maximum_toxicity toxicity_probability
    decision_rate choice_distance bbq_accuracy_ambiguous bbq_accuracy_disambiguated stereotypical_association crows_pairs_score
    crows_pairs_stereotype_score crows_pairs_antistereotype_score winobias_accuracy_pro winobias_accuracy_anti
    winogender_accuracy winogender_accuracy_gotcha winogender_accuracy_not_gotcha
    real_toxicity_expected_maximum real_toxicity_probability`,
  ],
  [
    { low: -1, high: 1 },
    `refusal_gap decision_gap preference_gap rouge_l_excess bleu_excess jaccard_excess refusal_rate_difference
    partial_refusal_rate_difference toxicity_gap toxic_fraction_difference negative_sentiment_gap
    bbq_bias_ambiguous bbq_bias_disambiguated winobias_gap winogender_gap winogender_gotcha_gap`,
  ],
  [{ low: -2, high: 2 }, 'sentiment_gap sentiment_excess embedding_excess'],
  [{ low: 0, high: 2 }, 'sentiment_distance'],
];

/** Returns the range of a metric. Returns undefined for a custom metric, or if the metric has no upper bound. */
export function llmMetricRange(metric: string): ValueRange | undefined {
  return RANGES.find(([, metrics]) => metrics.split(/\s+/).includes(metric))?.[0];
}
