import type { DryRunFields, EstimateRange } from './dry-run-estimate.ts';

/** A {@link DryRunFields} on the wire. */
export interface DryRunJson {
  readonly model: string;
  readonly request_count: number;
  readonly cached_count: number;
  readonly estimated_input_tokens: number;
  readonly estimated_output_tokens: EstimateRange;
  readonly estimated_cost_usd: EstimateRange | null;
  readonly price: {
    readonly input: number;
    readonly output: number;
    readonly as_of: string;
    readonly source: string;
  } | null;
  readonly breakdown: readonly DryRunPartJson[];
  readonly limits: readonly string[];
  readonly undefined_metrics: readonly {
    readonly metric: string;
    readonly reason: string;
    readonly suggestion: string;
  }[];
  readonly plan_digest: string;
}

/** A part of a dry run on the wire. */
export interface DryRunPartJson {
  readonly evaluator: string;
  readonly template: string;
  readonly planned: number;
  readonly shared: number;
  readonly cached: number;
  readonly requests: number;
  readonly input_tokens: number;
  readonly output_tokens: EstimateRange;
}

/** Converts a dry run to its wire format: snake_case, with an unknown cost as null. */
export function dryRunToJson(fields: DryRunFields): DryRunJson {
  const { price } = fields;
  return {
    model: fields.model,
    request_count: fields.requestCount,
    cached_count: fields.cachedCount,
    estimated_input_tokens: fields.estimatedInputTokens,
    estimated_output_tokens: fields.estimatedOutputTokens,
    estimated_cost_usd: fields.estimatedCostUsd,
    price: price && { input: price.input, output: price.output, as_of: price.asOf, source: price.source },
    breakdown: fields.breakdown.map(({ inputTokens, outputTokens, ...part }) => ({
      ...part,
      input_tokens: inputTokens,
      output_tokens: outputTokens,
    })),
    limits: fields.limits,
    undefined_metrics: fields.undefinedMetrics.map(({ metric, reason, suggestion }) => ({
      metric,
      reason,
      suggestion,
    })),
    plan_digest: fields.planDigest,
  };
}
