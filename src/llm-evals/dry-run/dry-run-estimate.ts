/** A number that is not known before: at least, most likely, at most. */
export interface EstimateRange {
  readonly low: number;
  readonly expected: number;
  readonly ceiling: number;
}

/** A part of the plan: one template of one evaluator. */
export interface DryRunPart {
  readonly evaluator: string;
  readonly template: string;
  /** Prompts that the evaluator needs answers to. */
  readonly planned: number;
  /** Of these, answers that another part asks for too. */
  readonly shared: number;
  /** Of these, answers that are known already. */
  readonly cached: number;
  /** What is left: requests that would be sent. */
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: EstimateRange;
}

/** A metric that can only end undefined, whatever is answered. */
export interface UndefinedMetric {
  /** Its name in the result: `rouge_l_excess.gender`. */
  readonly metric: string;
  readonly reason: string;
  /** How to get a value. */
  readonly suggestion: string;
}

/** What a run would send, and what that may take. */
export interface DryRunFields {
  /** Requests that would be sent: planned, each once, less those whose answers are known. */
  readonly requestCount: number;
  /** Answers that are known already. */
  readonly cachedCount: number;
  readonly estimatedInputTokens: number;
  readonly estimatedOutputTokens: EstimateRange;
  /** null where the model's price is not known. */
  readonly estimatedCostUsd: EstimateRange | null;
  readonly breakdown: readonly DryRunPart[];
  /** The price that was taken, and where it is from; null where it is not known. */
  readonly price: {
    readonly input: number;
    readonly output: number;
    readonly asOf: string;
    readonly source: string;
  } | null;
  /** SHA-256 of the keys of all requests that would be sent, sorted: the same as a run's that sends just these. */
  readonly planDigest: string;
  /** What the run's own limits would stop before its end; empty where nothing. */
  readonly limits: readonly string[];
  /** Metrics that can only end undefined; empty where all can have a value. */
  readonly undefinedMetrics: readonly UndefinedMetric[];
  readonly model: string;
}

/** What a run would send, and what that may take; frozen. */
export interface DryRunEstimate extends DryRunFields {
  /** The estimate as a Markdown page. */
  toMarkdown(): string;
}

/** A whole number as reports show it. */
export function countText(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 0 });
}

/** US dollars: in cents, below ten cents with two digits that count. */
export function usdText(value: number): string {
  if (value === 0) return '$0';
  if (value < 0.1)
    return `$${value.toLocaleString('en-US', { maximumSignificantDigits: 2, maximumFractionDigits: 20 })}`;
  return `$${value.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}
