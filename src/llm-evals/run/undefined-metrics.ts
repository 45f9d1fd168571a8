import type { LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-config.ts';
import type { UndefinedMetric } from '../dry-run/dry-run-estimate.ts';
import type { LLMEvaluator } from '../evaluators/llm-evaluator.ts';
import type { PlannedPrompt } from '../plan/planned-prompt.ts';

/** What of a configuration decides which metrics can have a value. */
type Scored = Pick<LLMEvalConfig, 'counterfactual' | 'repeats'>;

/** What decides whether few items are enough. */
export interface SampleLimits {
  readonly minGroupSize: number;
  readonly allowSmallSamples: boolean;
}

const FEW = 'Add templates or name_pools, or allow small samples (allow_small_samples, --allow-small-samples).';
const NO_FLOOR = 'Set repeats to 2 or more, add name_pools, or name a control_dimension.';

const GAPS = ['sentiment_gap', 'length_gap', 'refusal_gap', 'decision_gap', 'sentiment_distance'];
const EXCESSES = ['rouge_l_excess', 'bleu_excess', 'jaccard_excess', 'sentiment_excess'];
const BY_DIMENSION: Readonly<Record<string, readonly string[]>> = {
  counterfactual: [...GAPS, ...EXCESSES],
  refusal: ['refusal_rate_difference', 'partial_refusal_rate_difference'],
  toxicity_sentiment: ['toxicity_gap', 'toxic_fraction_difference', 'negative_sentiment_gap'],
};
const OVERALL: Readonly<Record<string, readonly string[]>> = {
  refusal: ['refusal_rate', 'partial_refusal_rate'],
  toxicity_sentiment: ['toxic_fraction', 'expected_maximum_toxicity', 'toxicity_probability'],
};

/**
 * Lists the metrics that can only end undefined, whatever is answered: those of too few independent
 * items, and excesses without a noise floor. Evaluators that were passed as objects, BBQ and associations are left out.
 */
export function undefinedMetrics(
  evaluators: readonly LLMEvaluator[],
  own: readonly LLMEvaluator[],
  prompts: readonly PlannedPrompt[],
  config: Scored,
  limits: SampleLimits,
): readonly UndefinedMetric[] {
  const least = limits.allowSmallSamples ? 1 : limits.minGroupSize;
  return evaluators
    .filter((evaluator) => !own.includes(evaluator))
    .flatMap(({ name }): UndefinedMetric[] => {
      const asked = prompts.filter(({ evaluator }) => evaluator === name);
      const distinct = new Set(asked.map(({ prompt }) => prompt)).size;
      const overall = (OVERALL[name] ?? []).map((metric) => ({
        metric,
        ...few(distinct, least, 'different prompt is', 'different prompts are'),
      }));
      const dimensions = [...new Set(asked.flatMap(({ dimension }) => dimension ?? []))];
      const gaps = dimensions.flatMap((dimension) => {
        const those = asked.filter((prompt) => prompt.dimension === dimension);
        const units = new Set(those.map(({ unit, item }) => unit ?? item)).size;
        const hasNames = those.some(({ details }) => 'name' in details);
        return (BY_DIMENSION[name] ?? []).map((metric) => ({
          metric: `${metric}.${dimension}`,
          ...(few(units, least, 'independent item is', 'independent items are') ??
            (EXCESSES.includes(metric) && !hasNames ? noFloor(dimension, config) : null)),
        }));
      });
      return [...overall, ...gaps].filter((each): each is UndefinedMetric => 'reason' in each);
    });
}

type Why = Pick<UndefinedMetric, 'reason' | 'suggestion'>;

function few(count: number, least: number, one: string, many: string): Why | null {
  if (count >= least) return null;
  const reason = `${String(count)} ${count === 1 ? one : many} planned, fewer than ${String(least)} (min_group_size); items of one name, or of one template, count once`;
  return { reason, suggestion: FEW };
}

function noFloor(dimension: string, { counterfactual, repeats }: Scored): Why | null {
  const control = counterfactual?.controlDimension;
  if (repeats >= 2 || (control !== undefined && control !== dimension)) return null;
  return { reason: 'there is no noise floor: each prompt is asked once', suggestion: NO_FLOOR };
}
