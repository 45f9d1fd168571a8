import { snakeFields, type SnakeFields } from '../../internal/arguments.ts';
import type { DryRunFields, DryRunPart, JudgeEstimate } from './dry-run-estimate.ts';
import type { ListedPrice } from './model-prices.ts';

/** The wire format of {@link DryRunFields}. */
export interface DryRunJson extends SnakeFields<Omit<DryRunFields, 'breakdown' | 'price' | 'judge'>> {
  readonly judge: SnakeFields<JudgeEstimate> | null;
  readonly price: SnakeFields<ListedPrice> | null;
  readonly breakdown: readonly DryRunPartJson[];
}

/** The wire format of a part of a dry run. */
export type DryRunPartJson = SnakeFields<DryRunPart>;

/** Converts a dry run to its wire format, in snake_case. An unknown cost is null. */
export function dryRunToJson(fields: DryRunFields): DryRunJson {
  const { model, requestCount, cachedCount, estimatedInputTokens, estimatedOutputTokens, estimatedCostUsd } = fields;
  const { price, breakdown, limits, undefinedMetrics, planDigest, judge, tokenizer, tokenizerInstall } = fields;
  return {
    ...snakeFields({ model, requestCount, cachedCount, estimatedInputTokens, estimatedOutputTokens, estimatedCostUsd }),
    price: price && { input: price.input, output: price.output, as_of: price.asOf, source: price.source },
    breakdown: breakdown.map((part) => snakeFields(part)),
    limits,
    undefined_metrics: undefinedMetrics.map(({ metric, reason, suggestion }) => ({ metric, reason, suggestion })),
    plan_digest: planDigest,
    judge: judge && snakeFields(judge),
    tokenizer,
    tokenizer_install: tokenizerInstall,
  };
}
