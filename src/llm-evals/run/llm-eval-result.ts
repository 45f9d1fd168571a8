import type { LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-config.ts';
import type { DryRunEstimate } from '../dry-run/dry-run-estimate.ts';
import type { LlmMetricResult } from '../evaluators/llm-metric-result.ts';
import type { Transcript } from '../transcript/transcript.ts';

/** What ended a run before its plan was done. */
export type StopReason = 'requests' | 'tokens' | 'cost' | 'minutes' | 'cancelled';

/** What a run was to take. */
export interface PlannedSpending {
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** null where the model's price is not known. */
  readonly costUsd: number | null;
}

/** What a run took. */
export interface ActualSpending {
  /** Requests sent, repeated ones too. */
  readonly requests: number;
  /** Requests that were sent again after a fault. */
  readonly retries: number;
  /** Answers that came. */
  readonly answered: number;
  /** Answers that were known already. */
  readonly cached: number;
  /** Prompts without an answer because every attempt failed. */
  readonly failed: number;
  /** Prompts that were not sent. */
  readonly notSent: number;
  /** As the provider counts, of what was sent now. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Answers of which the provider gave no count; theirs are estimated. */
  readonly uncounted: number;
  /** null where the model's price is not known. */
  readonly costUsd: number | null;
  readonly seconds: number;
}

/** What came of an evaluation. Frozen. */
export interface LlmEvalResult {
  /** By name: `sentiment_gap.gender`. */
  readonly metrics: Readonly<Record<string, LlmMetricResult>>;
  readonly dryRun: DryRunEstimate;
  /** An entry for each answer that an evaluator asked for. */
  readonly transcripts: readonly Transcript[];
  readonly planned: PlannedSpending;
  readonly actual: ActualSpending;
  /** What ended it early; null where its plan was done. */
  readonly stopped: StopReason | null;
  readonly config: LLMEvalConfig;
  /** The id of the client that was passed and answered instead of the configuration's provider; null without one. */
  readonly client?: string | null;
  readonly seed: number;
  /** What a careful reader should know. */
  readonly warnings: readonly string[];
}
