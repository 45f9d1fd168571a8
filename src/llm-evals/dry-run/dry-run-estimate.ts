import type { JudgeCounts } from '../outcome/judge.ts';
import type { ListedPrice } from './model-prices.ts';

/** The range of an estimate: its minimum, its expected value and its maximum. */
export interface EstimateRange {
  readonly low: number;
  readonly expected: number;
  readonly ceiling: number;
}

/** The requests to the judge that a run would send at most, and their estimated tokens and cost. */
export interface JudgeEstimate extends JudgeCounts {
  /** The judge's model, with its provider. */
  readonly model: string;
  /** The maximum number of requests. Answers that are equal after neutralization are judged once. */
  readonly requestCount: number;
  readonly estimatedInputTokens: EstimateRange;
  readonly estimatedOutputTokens: EstimateRange;
  /** The estimated cost in US dollars; null if the price of the judge's model is unknown. */
  readonly estimatedCostUsd: EstimateRange | null;
}

/** A part of the plan: one template of one evaluator. */
export interface DryRunPart {
  readonly evaluator: string;
  readonly template: string;
  /** The number of prompts of this part. */
  readonly planned: number;
  /**
   * The number of prompts of this part that need no request, because an earlier prompt of the plan has the same
   * request.
   */
  readonly shared: number;
  /** The number of prompts of this part whose answers are cached or recorded. */
  readonly cached: number;
  /** The number of requests that would be sent for the remaining prompts of this part. */
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: EstimateRange;
}

/** A metric that will be undefined for all possible answers. */
export interface UndefinedMetric {
  /** The name of the metric in the result, such as `rouge_l_excess.gender`. */
  readonly metric: string;
  readonly reason: string;
  /** How to get a value. */
  readonly suggestion: string;
}

/** The requests, tokens and cost that a run would need. */
export interface DryRunFields {
  /**
   * The number of requests that would be sent. Each planned request counts once. Requests whose answers are cached or
   * recorded do not count.
   */
  readonly requestCount: number;
  /** The number of answers that are cached or recorded. */
  readonly cachedCount: number;
  readonly estimatedInputTokens: number;
  readonly estimatedOutputTokens: EstimateRange;
  /** The estimated cost in US dollars; null if the model's price is unknown. */
  readonly estimatedCostUsd: EstimateRange | null;
  readonly breakdown: readonly DryRunPart[];
  /** The price used, and its source; null if the price is unknown. */
  readonly price: ListedPrice | null;
  /**
   * The SHA-256 of the sorted keys of all requests that would be sent. Two plans with the same digest send exactly the
   * same requests.
   */
  readonly planDigest: string;
  /** Descriptions of the limits that would stop the run early. An empty list if no limit would stop the run. */
  readonly limits: readonly string[];
  /** The metrics that will be undefined for all possible answers. An empty list if all metrics can be defined. */
  readonly undefinedMetrics: readonly UndefinedMetric[];
  readonly model: string;
  /** The requests to the judge, which are not included in the other counts; null if the run has no judge. */
  readonly judge: JudgeEstimate | null;
  /** The encoding that counted the input tokens, such as `o200k_base`; null if they are estimated. */
  readonly tokenizer: string | null;
  /** The command that installs the tokenizer of the model; null if it is installed, or if there is none. */
  readonly tokenizerInstall: string | null;
}

/** The requests, tokens and cost that a run would need; frozen. */
export interface DryRunEstimate extends DryRunFields {
  /** Renders the estimate as a Markdown page. */
  toMarkdown(): string;
}

/** Formats a number for reports: rounded to a whole number, with thousands separators. */
export function countText(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 0 });
}

/** Formats an amount in US dollars with two decimals. Amounts below ten cents have two significant digits. */
export function usdText(value: number): string {
  if (value === 0) return '$0';
  if (value < 0.1)
    return `$${value.toLocaleString('en-US', { maximumSignificantDigits: 2, maximumFractionDigits: 20 })}`;
  return `$${value.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}
