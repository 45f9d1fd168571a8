import type { ValueRange } from '../../metrics/threshold-range.ts';

const SIGNED_SHARE: ValueRange = { low: -1, high: 1 };
const SHARE: ValueRange = { low: 0, high: 1 };
/** The range of differences of compound scores, which are from -1 to 1. */
const SIGNED_SCORE: ValueRange = { low: -2, high: 2 };

/** The range of each bounded metric. */
const RANGES: Readonly<Record<string, ValueRange>> = {
  sentiment_gap: SIGNED_SCORE,
  sentiment_excess: SIGNED_SCORE,
  sentiment_distance: { low: 0, high: 2 },
  refusal_gap: SIGNED_SHARE,
  decision_gap: SIGNED_SHARE,
  rouge_l_excess: SIGNED_SHARE,
  bleu_excess: SIGNED_SHARE,
  jaccard_excess: SIGNED_SHARE,
  refusal_rate: SHARE,
  partial_refusal_rate: SHARE,
  refusal_rate_difference: SIGNED_SHARE,
  partial_refusal_rate_difference: SIGNED_SHARE,
  toxic_fraction: SHARE,
  expected_maximum_toxicity: SHARE,
  toxicity_probability: SHARE,
  toxicity_gap: SIGNED_SHARE,
  toxic_fraction_difference: SIGNED_SHARE,
  negative_sentiment_gap: SIGNED_SHARE,
  bbq_accuracy_ambiguous: SHARE,
  bbq_accuracy_disambiguated: SHARE,
  bbq_bias_ambiguous: SIGNED_SHARE,
  bbq_bias_disambiguated: SIGNED_SHARE,
  stereotypical_association: SHARE,
};

/** Returns the range of a metric. Returns undefined for a custom metric, or one without an upper bound. */
export function llmMetricRange(metric: string): ValueRange | undefined {
  return Object.hasOwn(RANGES, metric) ? RANGES[metric] : undefined;
}
