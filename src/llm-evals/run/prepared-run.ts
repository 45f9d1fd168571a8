import type { LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-document.ts';
import type { ResponseCache } from '../cache/response-cache.ts';
import type { AnswerRecord } from '../client/transcript.ts';
import type { DryRunEstimate } from '../dry-run/dry-run-estimate.ts';
import type { TokenCounter } from '../dry-run/token-counter.ts';
import type { ListedPrice } from '../dry-run/model-prices.ts';
import type { SplitMetrics } from '../outcome/metric-functions.ts';
import type { LLMRequest, RequestPlan } from '../plan/planned-prompt.ts';
import type { LLMEvaluator } from '../scoring/llm-evaluator.ts';
import type { CollectedAnswers } from './llm-eval-result.ts';

/** A run that is ready to send its first request: its plan, the known answers and the estimate. */
export interface PreparedRun {
  readonly config: LLMEvalConfig;
  readonly evaluators: readonly LLMEvaluator[];
  readonly plan: RequestPlan;
  readonly known: KnownAnswers;
  readonly cache: ResponseCache | null;
  readonly price: ListedPrice | null;
  /** The maximum number of tokens of an answer. */
  readonly maxTokens: number;
  readonly estimate: DryRunEstimate;
  /** The counter of input tokens, for the estimate and the budget. */
  readonly tokens: TokenCounter;
  /** Whether the run only replays answers, and sends no requests. */
  readonly isReplay: boolean;
  /** The id of the client that was passed; null if no client was passed. */
  readonly client: string | null;
  /** The collected answers that the run scores; null if a model is asked. */
  readonly collected: CollectedAnswers | null;
  /** Notes about the rows of a file of answers or prompts. */
  readonly notes: readonly string[];
  /** The custom metrics. */
  readonly metrics: SplitMetrics;
  /** Looks up the answers of further requests, such as grades, in the sources of this run. */
  readonly findKnown: (
    requests: readonly LLMRequest[],
    cache: ResponseCache | null,
    model: string,
  ) => Promise<KnownAnswers>;
}

/** The answers of a plan that are cached or recorded. */
export interface KnownAnswers {
  readonly records: ReadonlyMap<string, AnswerRecord>;
  readonly missing: readonly LLMRequest[];
}
